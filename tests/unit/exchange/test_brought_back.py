"""Lost checkpoints of a run come back from an export or a copy of its workspace, known by their content alone."""

import shutil

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.exchange.formats import export_run
from workbench.problem import Problem
from workbench.running import trained_network
from workbench.workspace import Workspace
from workbench.workspace.arriving import brought_back
from workbench.workspace.arriving.brought_back import bring_back, lost

BOTH = ["last.pt", "best.pt"]


@pytest.fixture
def trained(trained_space, tmp_path):
    """A copy of the workspace with a run of one epoch."""
    with Workspace(shutil.copytree(trained_space, tmp_path / "space")) as workspace:
        yield workspace


def files_of(workspace):
    return [workspace.file(1, name).read_bytes() if workspace.has_file(1, name) else b"" for name in BOTH]


def rows_of(workspace):
    with workspace.reading() as db:
        sql = "select path, bytes, blake2b, step from artefacts where kind = 'checkpoint' order by path"
        return db.execute(sql).fetchall()


def test_an_export_gives_them_back_and_all_that_needs_them_works_again(trained, tmp_path):
    whole, rows = files_of(trained), rows_of(trained)
    export_run(trained, 1, ["run"], tmp_path / "out")
    trained.delete_checkpoints([1])
    assert [one.name for one in lost(trained, 1)] == BOTH
    assert [one.name for one in bring_back(trained, 1, tmp_path / "out")] == BOTH
    assert (files_of(trained), rows_of(trained)) == (whole, rows)
    assert lost(trained, 1) == []
    assert trained_network.trained(trained, 1)


def test_a_copy_of_the_workspace_gives_back_what_is_missing_without_a_note(trained, trained_space):
    whole = files_of(trained)
    for name in BOTH:
        trained.file(1, name).unlink()
    came = bring_back(trained, 1, trained_space)  # its runs are two folders below
    assert ([one.name for one in came], files_of(trained)) == (BOTH, whole)


def test_one_that_is_there_is_left_alone(trained, trained_space):
    trained.delete_checkpoints([1], keep_best=True)
    trained.file(1, "best.pt").write_bytes(b"of this run now")
    assert [one.name for one in bring_back(trained, 1, trained_space)] == ["last.pt"]
    assert files_of(trained)[1] == b"of this run now"


def test_a_file_of_another_content_is_not_taken(trained, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name, content in zip(BOTH, files_of(trained), strict=True):
        (out / name).write_bytes(content[:-1] + b"?")
    trained.delete_checkpoints([1])
    with pytest.raises(Problem, match=r"holds no checkpoint of run 1: no file there has the content"):
        bring_back(trained, 1, out)
    assert files_of(trained) == [b"", b""]
    assert sorted(path.name for path in trained.folder(1).iterdir() if "copies" in path.name) == []


def test_what_did_not_save_any_or_has_not_ended_is_refused(trained, trained_space):
    with pytest.raises(Problem, match="Run 1 has its checkpoints"):
        bring_back(trained, 1, trained_space)
    trained.delete_checkpoints([1])
    trained.set_status(1, "running")
    with pytest.raises(Problem, match="Run 1 has not ended: it is running"):
        bring_back(trained, 1, trained_space)
    other = trained.create_run(RunConfig.recorded(trained.run(1).config))
    with pytest.raises(Problem, match=f"Run {other} has no checkpoint, and it is not known which it had"):
        bring_back(trained, other, trained_space)


def test_a_cancel_in_a_copy_leaves_nothing_half(trained, trained_space):
    trained.delete_checkpoints([1])

    def progress(text, done, total):
        if text.startswith("Copying"):
            raise Cancelled

    with pytest.raises(Cancelled):
        bring_back(trained, 1, trained_space, progress)
    assert files_of(trained) == [b"", b""]
    assert [path.name for path in trained.folder(1).iterdir() if path.name.endswith(".part")] == []


def test_the_command_says_what_came(trained, trained_space):
    trained.delete_checkpoints([1])
    words = ["checkpoints", "bring-back", "1", str(trained_space), "--workspace", str(trained.path)]
    first = CliRunner().invoke(cli, words)
    assert first.stdout.startswith("Brought back for run 1: last.pt and best.pt, ")
    assert files_of(trained)[0]
    again = CliRunner().invoke(cli, words)
    assert (again.exit_code, again.stderr) == (1, "Run 1 has its checkpoints. Nothing was changed.\n")


def test_a_kill_before_the_file_is_in_place_leaves_a_checkpoint_that_comes_the_next_time(
    trained, trained_space, monkeypatch
):
    rows = rows_of(trained)
    trained.delete_checkpoints([1])

    def killed(*moved):
        raise SystemExit(9)

    with monkeypatch.context() as dying:
        dying.setattr(brought_back, "move", killed)
        with pytest.raises(SystemExit):
            bring_back(trained, 1, trained_space)
    assert [one.name for one in bring_back(trained, 1, trained_space)] == BOTH
    assert rows_of(trained) == rows
