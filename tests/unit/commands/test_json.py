"""Every command that lists or tells facts prints them as JSON, too."""

import json
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from tests.unit.entries.test_plugins import GOOD
from workbench.cli import cli
from workbench.commands.training import place as commands
from workbench.places import records
from workbench.places.contract import Finding
from workbench.places.place import SshPlace
from workbench.sweeps.plan import sweep_presets
from workbench.sweeps.space import read
from workbench.workspace import Workspace

ACTING = {
    "sample", "sweep pause", "sweep resume", "sweep retry", "sweep cancel",
    "benchmark methods", "benchmark fair", "place follow", "place stop", "place resume", "place fetch", "place add",
    "place remove", "place data", "place install", "trash add", "trash restore", "trash empty", "annotate", "ingest",
    "checkpoints delete", "checkpoints bring-back", "report", "index", "export", "import", "test", "plugins add",
    "plugins remove", "new loss", "install-desktop",
}  # fmt: skip
LISTS = ("list runs", "list presets", "sweep list", "sweep presets", "place list", "plugins list")


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """Neither places nor plug-ins, and an empty workspace."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "plugins.txt"))
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    Workspace(tmp_path / "space", create=True).close()


def every_command(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from every_command(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def test_a_command_has_json_unless_it_acts():
    with_json = {name for name, command in every_command(cli) if any("--json" in one.opts for one in command.params)}
    assert {name for name, _ in every_command(cli)} - with_json == ACTING


@pytest.mark.parametrize("words", LISTS)
def test_the_json_of_a_list_is_all_that_is_printed(words):
    done = CliRunner().invoke(cli, [*words.split(), "--json"])
    json.loads(done.stdout, parse_constant=pytest.fail)
    assert (done.exit_code, done.stderr) == (0, "")


def test_json_of_the_papers_sweeps_has_what_param_takes():
    listed = json.loads(CliRunner().invoke(cli, ["sweep", "presets", "--json"]).stdout)
    assert [preset["name"] for preset in listed] == [preset.key for preset in sweep_presets()]
    for preset, stored in zip(listed, sweep_presets(), strict=True):
        again = tuple(read(f"{field}={values}") for field, values in preset["parameters"].items())
        assert again == stored.parameters


def test_json_of_plug_ins_has_their_folders_entries_and_problems(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "good.py").write_text(GOOD.format(name="sound"))
    (folder / "broken.py").write_text("x = 1")
    assert CliRunner().invoke(cli, ["plugins", "add", str(folder)]).exit_code == 0
    listed = json.loads(CliRunner().invoke(cli, ["plugins", "list", "--json"]).stdout)
    assert listed["folders"] == [str(folder)]
    good, broken = listed["plugins"]
    assert good == {"origin": str(folder / "good.py"), "entries": ["loss/sound"], "problem": ""}
    assert (broken["origin"], broken["entries"]) == (str(folder / "broken.py"), [])
    assert "It registers nothing." in broken["problem"]


@pytest.mark.parametrize("good", [True, False])
def test_json_of_a_check_has_every_finding_with_the_same_status(good, monkeypatch):
    class Checked:
        def check(self):
            return [Finding("Connection", "answers"), Finding("Workbench there", "is of another version", good=good)]

    monkeypatch.setattr(commands, "launcher_of", lambda place: Checked())
    records.store(SshPlace(name="lab", host="lab"))
    done = CliRunner().invoke(cli, ["place", "check", "lab", "--json"])
    assert json.loads(done.stdout) == [
        {"what": "Connection", "said": "answers", "good": True, "doubtful": False},
        {"what": "Workbench there", "said": "is of another version", "good": good, "doubtful": False},
    ]
    assert done.exit_code == CliRunner().invoke(cli, ["place", "check", "lab"]).exit_code == int(not good)
