"""A run whose checkpoints are missing, though nobody deleted them here, is not begun anew over its own curves."""

import shutil

import pytest

from tests.waits import HANG
from workbench.commands.training.run_folder import run_in_folder
from workbench.commands.training.run_here import Manner
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Ended, Saved, Scalar, Status
from workbench.problem import Problem
from workbench.running import launch
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.deleted_checkpoints import CannotGoOn
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder

SENTENCE = "cannot continue: its checkpoints are missing"
TINY = {
    "device": "cpu", "dataset": Choice(name="digits", params={"image_size": 8}),
    "backbone": Choice(name="conv4", params={"width": 8}),
    "embedding": EmbeddingParams(dim=8), "evaluation": EvaluationParams(probe_size=60, neighbours=5),
    "training": TrainingParams(epochs=2, batch_size=256, optimiser="sgd"),
}  # fmt: skip


def tell(recorder, *, save=True):
    """The events of a run that was interrupted after an epoch; its checkpoints are files of a few bytes."""
    recorder(Status("Training"))
    recorder(Scalar("batch/loss", 1, 0.5))
    if save:
        for kind in ("best", "last"):
            path = recorder.folder / f"{kind}.pt"
            path.write_bytes(b"weights")
            recorder(Saved(kind, path, 1, 1))
    recorder(Ended("stopped"))


def stopped(workspace, *, save=True):
    run_id = workspace.create_run(RunConfig())
    tell(Recorder(workspace, run_id), save=save)
    return run_id


def lose(folder):
    for name in ("last.pt", "best.pt"):
        (folder / name).unlink()


def trained(workspace, run_id, *, resume=False):
    """How it ended."""
    job = launch.make_job(workspace, run_id, Control(), resume=resume).start()
    assert job.join(HANG)
    return job.ended


def points(workspace, run_id):
    return workspace.scalars(run_id, "batch/loss")[1].tolist()


def test_the_run_is_refused_and_keeps_what_it_has(workspace):
    run_id = stopped(workspace)
    lose(workspace.folder(run_id))
    with pytest.raises(CannotGoOn, match=f"Run {run_id} {SENTENCE}") as refused:
        workspace.take_over(run_id)
    assert refused.value.kept == "Its curves and evaluations are kept."
    assert str(workspace.folder(run_id)) in refused.value.todo
    assert workspace.run(run_id).status == "stopped"
    assert points(workspace, run_id) == [0.5]


@pytest.mark.parametrize("gone", ["the folder", "the rows"])
def test_the_journal_and_the_database_each_know_that_there_were_some(gone, workspace):
    run_id = stopped(workspace)
    lose(workspace.folder(run_id))
    if gone == "the folder":
        shutil.rmtree(workspace.folder(run_id))
    else:
        with workspace.writing() as db:
            db.execute("delete from artefacts")
    with pytest.raises(CannotGoOn, match=SENTENCE):
        workspace.take_over(run_id)


def test_a_run_that_saved_none_begins_anew_and_so_does_one_that_began_anew_before(workspace):
    workspace.take_over(stopped(workspace, save=False))
    run_id = stopped(workspace)
    lose(workspace.folder(run_id))
    with workspace.writing() as db:
        db.execute("delete from artefacts")
    with (workspace.folder(run_id) / journal.NAME).open("a", encoding="utf-8") as file:
        file.write('{"forget": -1}\n')
    assert not journal.has_saved(workspace.folder(run_id))
    workspace.take_over(run_id)


def test_an_unreadable_line_of_the_journal_says_nothing(workspace):
    folder = workspace.folder(stopped(workspace))
    with (folder / journal.NAME).open("ab") as file:
        file.write(b'{"forget": -1\n\xff"checkpoint"\n' + b"[" * 10_000 + b'"forget"\n{"forget": 0}\n')
    assert journal.has_saved(folder)


def test_an_imported_folder_that_came_without_them_is_refused_here(workspace, tmp_path):
    folder = tmp_path / "run"
    travelling.make(folder, RunConfig())
    tell(FolderRecorder(folder))
    lose(folder)
    run_id = ingest(workspace, folder).run_id
    with pytest.raises(CannotGoOn, match=SENTENCE):
        workspace.take_over(run_id)
    assert points(workspace, run_id) == [0.5]


@pytest.mark.parametrize("left", [(), ("best.pt",)])
def test_training_refuses_it_too_and_goes_on_from_the_best_one_with_a_note(left, workspace):
    run_id = launch.prepare_run(RunConfig(**TINY), workspace)
    assert trained(workspace, run_id).status == "done"
    before = workspace.scalars(run_id, "probe/ce")[0].tolist()
    workspace.take_over(run_id)
    for name in {"last.pt", "best.pt"} - set(left):
        (workspace.folder(run_id) / name).unlink()
    ended = trained(workspace, run_id, resume=True)
    if left:
        assert ended.status == "done"
        assert "There is no last.pt. The run went on from best.pt, at step " in workspace.run(run_id).note
    else:
        assert SENTENCE in ended.problem
    assert workspace.scalars(run_id, "probe/ce")[0].tolist() == before


def test_a_run_folder_without_them_is_refused_and_one_without_its_journal_goes_on(tmp_path):
    config, folder = RunConfig(**TINY), tmp_path / "run"
    assert run_in_folder(config, folder, Manner(quiet=True)) == 0
    size = (folder / "last.pt").stat().st_size
    lines = (folder / journal.NAME).read_bytes()
    (folder / journal.NAME).unlink()
    assert run_in_folder(config, folder, Manner(resume=True, quiet=True)) == 0
    assert b'"scalars"' not in (folder / journal.NAME).read_bytes(), "it was at its end, and nothing was trained again"
    assert (folder / "last.pt").stat().st_size == size
    (folder / journal.NAME).write_bytes(lines.replace(b'"status": "done"', b'"status": "stopped"'))
    lose(folder)
    with pytest.raises(Problem, match=SENTENCE):
        run_in_folder(config, folder, Manner(resume=True, quiet=True))
    assert b'"forget"' not in (folder / journal.NAME).read_bytes()
