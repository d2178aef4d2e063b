"""Numbers of runs and sweeps, and folders, as every command takes them; defaults in the help."""

import re
import shlex

import click
import pytest

from workbench import cli
from workbench.commands.arguments import Group
from workbench.fair.plan import CONDITIONS
from workbench.results.triage import LEAST
from workbench.workspace import Workspace

NUMBERED = (
    ["compare"], ["deploy"], ["export"], ["geometry"], ["index"], ["label"], ["pair"], ["report"], ["robustness"],
    ["search"], ["test"], ["triage"],
    ["place", "fetch"], ["place", "resume"], ["place", "stop"],
    ["sweep", "cancel"], ["sweep", "pause"], ["sweep", "resume"], ["sweep", "retry"], ["sweep", "run"],
    ["sweep", "show"],
)  # fmt: skip

GROUPS = ("benchmark", "checkpoints", "new", "place", "plugins", "sweep", "trash")


@pytest.fixture
def space(tmp_path):
    Workspace(tmp_path / "space", create=True).close()
    return str(tmp_path / "space")


@pytest.mark.parametrize("command", NUMBERED, ids=" ".join)
@pytest.mark.parametrize(
    ("number", "said"),
    [("9" * 20, "is larger than any run or sweep number can be."), ("one", "'one' is not a whole number.")],
)
def test_what_is_no_number_is_wrong_usage(command, number, said, space, capsys):
    assert cli.main([*command, number, "--workspace", space]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["report", "7"], ["sweep", "show", "7"]], ids=" ".join)
def test_a_shown_command_can_be_typed_as_it_stands(wrong, tmp_path, capsys):
    """It names the workspace, also one in a folder whose name has a space."""
    folder = tmp_path / "my runs"
    Workspace(folder, create=True).close()
    assert cli.main([*wrong, "--workspace", str(folder)]) == 2
    command = re.search("`(.+)`", capsys.readouterr().err)[1]
    program, *words = shlex.split(command)
    assert (program, words[-1]) == ("workbench", str(folder))
    assert cli.main(words) == 0


def test_the_folder_of_a_template_is_named_as_a_shell_reads_it(tmp_path, capsys):
    folder = tmp_path / "my losses"
    assert cli.main(["new", "loss", "my_loss", "--into", str(folder)]) == 0
    assert shlex.split(capsys.readouterr().out.rpartition("use it with: ")[2])[-1] == str(folder)


@pytest.mark.parametrize("command", [[], *([name] for name in GROUPS)], ids=" ".join)
def test_the_list_of_commands_has_whole_sentences(command, capsys):
    assert cli.main([*command, "--help"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.endswith("...") and "Usage" not in line] == []


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["run", "sample-digits", "--resume"], 1), (["import", "none.npy"], 2),
        (["import", __file__, "--labels", "none"], 2),
    ],
)  # fmt: skip
def test_a_command_that_finds_nothing_makes_no_workspace(words, status, tmp_path, capsys):
    assert cli.main([*words, "--workspace", str(tmp_path / "misspelt")]) == status
    assert capsys.readouterr().err
    assert not (tmp_path / "misspelt").exists()


def test_the_largest_number_is_looked_for(space, capsys):
    assert cli.main(["compare", str(2**63 - 1), "--workspace", space]) == 2
    assert f"There is no run {2**63 - 1} in" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["run", "sample-digits", "-w", ""], ["run", "sample-digits", "--folder", ""], ["export", "1", "--out", ""],
     ["report", "1", "--out", ""], ["deploy", "1", "--store", "int8", "--export", ""], ["plugins", "add", ""]],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_name_is_not_the_working_folder(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(command) == 2
    assert "The name of the folder is empty." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list", "runs", "-w", "A", "--workspace=B"], "--workspace takes one value, but was given A and B."),
        (
            ["run", "sample-digits", "--folder", "A", "--folder", "B"],
            "--folder takes one value, but was given A and B.",
        ),
        (["sweep", "resume", "1", "--devices", "cpu", "--devices", "cuda"], "separated by commas, but was given"),
        (
            ["run", "sample-digits", "--set", "seed=1", "--set", "name=x=y", "--set", "seed=2"],
            "--set gives seed two values",
        ),
        (
            ["place", "add", "lab", "--ssh", "here", "--set", "devices=cpu", "--set", "devices=cuda"],
            "devices two values",
        ),
        (["annotate", "1", "--note", "A", "--note", "B", "--note", "C"], "takes one value, but was given A, B and C."),
        (
            ["place", "stop", "1", "--how", "saved", "--how", "at-once", "--how", "saved"],
            "was given saved and at-once.",
        ),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_of_two_values_of_an_option_none_is_passed_over(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    assert cli.main(words) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [["report", "1", "--title"], ["import", __file__, "--name"], ["search", "1", "--text"],
     ["search", "1", "--class-names"], ["annotate", "1", "--note"]],
    ids=" ".join,
)  # fmt: skip
def test_bytes_that_are_no_letters_are_refused(words, space, capsys):
    assert cli.main([*words, "caf\udce9", "--workspace", space]) == 2
    assert "is not Unicode text." in capsys.readouterr().err


def test_an_option_may_have_the_same_value_twice(space, capsys):
    assert cli.main(["list", "runs", "-w", space, "--workspace", space]) == 0
    twice = ["--set", "split.nothing=1", "--set", "split.nothing=1", "-w", space]
    assert cli.main(["run", "sample-digits", *twice]) == 2
    assert "There is no such field" in capsys.readouterr().err


def test_every_group_of_commands_refuses_two_values():
    groups = {name: command for name, command in cli.cli.commands.items() if isinstance(command, click.Group)}
    assert sorted(groups) == list(GROUPS)
    assert [name for name, group in {"": cli.cli, **groups}.items() if not isinstance(group, Group)] == []


def test_defaults_that_the_help_names_are_those_of_the_program(capsys):
    cli.main(["triage", "--help"])
    assert f"{LEAST} by default" in " ".join(capsys.readouterr().out.split())
    cli.main(["benchmark", "fair", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert {fixed.steps for fixed in CONDITIONS.values()} == {300}
    assert "300 by default" in told
    assert {name: fixed.folds for name, fixed in CONDITIONS.items()} == {"omniglot": 4, "mnist": 2, "caltech": 4}
    assert "by default 4, of mnist 2" in told


def helps(command, path):
    """Each command below this one, by the words that call it, with its help in 80 columns."""
    context = click.Context(command, info_name=path, terminal_width=80)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from helps(command.get_command(context, name), f"{path} {name}")


def test_every_help_fits_into_80_columns_and_its_usage_into_one_line():
    shown = dict(helps(cli.cli, "workbench"))
    assert len(shown) > 40
    assert [path for path, text in shown.items() if max(map(len, text.splitlines())) > 80] == []
    assert [path for path, text in shown.items() if "\n" in text.partition("\n\n")[0]] == []
