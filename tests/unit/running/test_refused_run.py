"""A run whose data refuse it stays in the list: what is said of it agrees with that."""

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.workspace import Workspace

CONFIG = """
[dataset]
name = "folder"
folder = "{folder}"
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(CONFIG.format(folder=(tmp_path / "no such folder").as_posix()), "utf-8")
    return path


def test_a_refused_run_is_kept_as_failed_and_said_to_be(config, tmp_path):
    said = CliRunner().invoke(cli, ["run", str(config), "-w", str(tmp_path / "space")])
    assert said.exit_code == 1
    assert "Nothing was trained; run 1 is kept as failed." in said.output
    assert "Nothing was started" not in said.output
    with Workspace(tmp_path / "space") as workspace:
        (run,) = workspace.runs()
        assert run.status == "failed"
        assert "Nothing was trained" in run.problem


def test_a_run_that_cannot_go_on_keeps_what_it_had(config, tmp_path):
    words = ["run", str(config), "-w", str(tmp_path / "space")]
    CliRunner().invoke(cli, words)
    assert "What run 1 had is kept." in CliRunner().invoke(cli, [*words, "--resume"]).output


def test_so_is_one_in_a_folder(config, tmp_path):
    said = CliRunner().invoke(cli, ["run", str(config), "--folder", str(tmp_path / "travels")])
    assert "Nothing was trained; the run in this folder is kept as failed." in said.output
