"""`workbench checkpoints`: the runs by size, and their checkpoints deleted after a yes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.travelling_runs import in_folder
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.workspace import Workspace

MB = 1_000_000


@pytest.fixture
def space(tmp_path, monkeypatch):
    """The default workspace has three runs; the last trains."""
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number, status in enumerate(("done", "failed", "running"), 1):
            workspace.create_run(RunConfig(name=f"run {number}"))
            workspace.file(number, "last.pt").write_bytes(bytes(number * MB))
            workspace.file(number, "best.pt").write_bytes(bytes(MB))
            workspace.set_status(number, status)
        yield workspace


def done(*words, **options):
    return CliRunner().invoke(cli, ["checkpoints", *words], **options)


def listed():
    return json.loads(done("list", "--json").stdout)


def test_the_largest_run_is_first_with_its_checkpoints(space):
    assert [(run["run"], run["last"], run["best"], run["deleted"]) for run in listed()] == [
        (number, number * MB, MB, None) for number in (3, 2, 1)
    ]
    assert all(run["last"] + run["best"] < run["bytes"] for run in listed())
    head, first, *_ = done("list").stdout.splitlines()
    assert head.split() == ["run", "folder", "last", "best", "deleted", "on", "name"]
    assert first.split()[0] == "3"
    assert first.split()[3:] == ["3", "MB", "1", "MB", "–", "run", "3"]


def test_they_are_deleted_after_a_yes_that_says_what_is_freed_and_lost(space):
    kept = done("delete", "1", "2", input="n\n").stdout
    assert "Delete the checkpoints of 2 runs: 5 MB? [y/N]" in kept
    assert "cannot be resumed" in kept
    assert kept.endswith("Nothing was deleted.\n")
    assert done("delete", "1", "2", input="").exit_code == 1, "nobody answered"
    assert space.has_file(1, "last.pt")
    assert done("delete", "1", "2", input="y\n").stdout.endswith("Deleted the checkpoints of 2 runs: 5 MB.\n")
    assert [space.has_file(1, name) for name in ("last.pt", "best.pt")] == [False, False]
    assert done("delete", "1").stdout == "There is no checkpoint to delete.\n"
    assert {run["run"]: run["deleted"] is None for run in listed()} == {3: True, 2: False, 1: False}
    assert [row.split()[-3][:2] for row in done("list").stdout.splitlines()[1:]] == ["–", "20", "20"]


def test_the_best_one_is_kept_where_that_is_asked(space):
    assert done("delete", "2", "--keep-best", "--yes").stdout.endswith("the last checkpoint of 1 run: 2 MB.\n")
    assert [space.has_file(2, name) for name in ("last.pt", "best.pt")] == [False, True]


def test_a_run_that_trains_is_named_and_the_others_are_done(space):
    said = done("delete", "1", "3", "--yes")
    assert said.exit_code == 1
    assert said.stderr == "Run 3 has not ended: it is running. It keeps its checkpoints.\n"
    assert [space.has_file(number, "last.pt") for number in (1, 3)] == [False, True]


def test_a_file_in_use_is_named_and_the_rest_is_counted(space, monkeypatch):
    whole = Path.unlink

    def unlink(path, missing_ok=False):
        if path.name == "last.pt":
            raise PermissionError(13, "Permission denied", str(path))
        whole(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    said = done("delete", "1", "--yes")
    assert "Deleted the checkpoints of 1 run: 1 MB." in said.stdout
    kept = "It keeps its checkpoints, except those that are counted above.\n"
    assert said.stderr == f"Of run 1 last.pt (Permission denied) cannot be deleted. {kept}"


def test_what_was_deleted_of_an_imported_run_comes_again_when_it_is_asked_for(space, tmp_path):
    in_folder(tmp_path / "run")

    def ingested(*options):
        return CliRunner().invoke(cli, ["ingest", str(tmp_path / "run"), *options])

    assert "2 checkpoints" in ingested().stdout
    assert done("delete", "4", "--yes").exit_code == 0
    assert ingested().stderr == (
        f"{tmp_path / 'run'}, run 4: its checkpoints were deleted here; --deleted-checkpoints brings back what is "
        "there.\n"
    )
    assert not space.has_file(4, "last.pt")
    assert ingested("--deleted-checkpoints").stdout.startswith("Run 4 (done): 2 checkpoints from")
    assert space.has_file(4, "last.pt")


def test_one_number_that_there_is_not_deletes_nothing(space):
    assert done("delete", "1", "9", "--yes").exit_code == 2
    assert space.has_file(1, "last.pt")
