"""`workbench trash` and `workbench annotate`: runs are put away, brought back, deleted and described."""

import json

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import RunConfig
from workbench.workspace import Workspace


@pytest.fixture
def space(tmp_path, monkeypatch):
    """The default workspace has three runs; the last trains."""
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number, status in enumerate(("done", "failed", "running"), 1):
            workspace.create_run(RunConfig(name=f"run {number}"))
            workspace.set_status(number, status)
        yield workspace


def done(*words, **options):
    return CliRunner().invoke(cli, words, **options)


def in_trash():
    return [run["run"] for run in json.loads(done("trash", "list", "--json").stdout)]


def test_runs_are_put_into_the_trash_and_brought_back(space):
    moved = done("trash", "add", "1", "2")
    assert (moved.exit_code, moved.stdout) == (0, "In the trash: runs 1, 2.\n")
    assert in_trash() == [2, 1]
    assert "run 1" in done("trash", "list").stdout
    assert done("trash", "restore", "1").stdout == "In the list again: run 1.\n"
    assert done("trash", "restore").stdout == "In the list again: run 2.\n"
    assert in_trash() == []


def test_a_run_that_trains_stays_and_the_others_go(space):
    moved = done("trash", "add", "1", "3", "1")
    assert (moved.exit_code, in_trash()) == (1, [1])
    assert "In the trash: run 1." in moved.stdout
    assert "run 3. End them first." in moved.stderr


def test_of_runs_that_all_stay_none_is_said_to_be_in_the_trash(space):
    moved = done("trash", "add", "3")
    assert (moved.exit_code, moved.stdout) == (1, "")
    assert moved.stderr.startswith("Not moved, because they train, are queued or have been deleted: run 3.")


def test_one_number_that_there_is_not_moves_nothing(space):
    assert done("trash", "add", "1", "9").exit_code != 0
    assert in_trash() == []


def test_a_run_is_deleted_only_from_the_trash_and_after_a_yes(space):
    space.trash_several([1, 2])
    refused = done("trash", "empty", "1", "3", "--yes")
    assert (refused.exit_code, refused.stderr) == (1, "Not in the trash: run 3. Nothing was changed.\n")
    kept = done("trash", "empty", "1", input="n\n")
    assert "Delete permanently: run 1? [y/N]" in kept.stdout
    assert kept.stdout.endswith("Nothing was deleted.\n")
    assert done("trash", "empty", input="").exit_code == 1, "nobody answered"
    assert in_trash() == [2, 1]
    assert done("trash", "empty", "1", input="y\n").stdout.endswith("Deleted: 1 of 1.\n")
    assert done("trash", "empty", "--yes").stdout == "Deleted: 1 of 1.\n"
    assert [run.id for run in space.runs()] == [3]


@pytest.mark.parametrize("command", ["list", "restore", "empty"])
def test_an_empty_trash_is_said(space, command):
    said = done("trash", command)
    assert (said.exit_code, (said.stdout + said.stderr).strip()) == (0, "The trash is empty.")


def test_many_runs_are_counted(space):
    for _ in range(22):
        space.set_status(space.create_run(RunConfig()), "done")
    said = done("trash", "add", *map(str, range(4, 26))).stdout
    assert said.endswith("22, 23 and 2 more.\n")


def test_names_notes_and_tags_are_changed_and_the_rest_stays(space):
    space.set_tags(1, ["old", "kept"])
    said = done("annotate", "1", "2", "--tag", " new ", "--untag", "old", "--note", "why")
    assert said.stdout == "   1  run 1  [kept, new]  why\n   2  run 2  [new]  why\n"
    assert [space.run(number).note for number in (1, 2)] == ["why", "why"]
    assert done("annotate", "1", "--name", "Best").stdout == "   1  Best  [kept, new]  why\n"
    assert (space.run(1).name, space.run(1).note) == ("Best", "why")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--name", " "], "It is empty."),
        (["--tag", ""], "It is empty."),
        (["--name", "two\nlines"], "more than one line"),
        (["--name", "n" * 201], "It has 201 characters"),
        (["--name", "\udcff"], "is not Unicode text"),
        (["--note", "\udcff"], "is not Unicode text"),
        (["--untag", "\udcff"], "is not Unicode text"),
        (["--tag", "a,b"], "Write --tag once for each"),
        (["--tag", "a", "--untag", " a"], "with --tag and with --untag"),
    ],
)
def test_what_a_run_cannot_have_is_refused_and_nothing_changed(space, words, said):
    other = [] if "--name" in words else ["--name", "other"]
    refused = done("annotate", "1", *other, *words)
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert (space.run(1).name, space.run(1).note, space.run(1).tags) == ("run 1", "", ())


def test_tags_are_given_and_taken_several_at_once(space):
    space.set_tags(1, ["a", "b", "c"])
    words = ["--untag", "a", "--untag", "b", "--tag", "d", "--tag", "e"]
    assert done("annotate", "1", *words).stdout == "   1  run 1  [c, d, e]\n"


def test_a_name_as_long_as_in_the_window_is_taken(space):
    assert done("annotate", "1", "--name", "n" * 200).exit_code == 0
    assert space.run(1).name == "n" * 200


def test_a_run_stays_in_its_line(space):
    space.rename(1, "two\nlines")
    space.set_tags(1, ["a\nb"])
    assert done("annotate", "1").stdout == "   1  two lines  [a b]\n"
