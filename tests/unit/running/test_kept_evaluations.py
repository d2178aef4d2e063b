"""A run keeps the embeddings of all its evaluations, or of the untrained, the best and the last one."""

from contextlib import closing

import numpy as np
import pytest

from workbench.comparing.measures import read_measures
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Keep
from workbench.running import launch
from workbench.running.facts.disk_use import disk_use
from workbench.running.preflight import preflight
from workbench.training import trainer
from workbench.workspace import Workspace
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.measured.unkept import keeps_all
from workbench.workspace.news import Place, watched
from workbench.workspace.recorder import Recorder

EPOCHS = 5


class Killed(BaseException):
    """The process is gone."""


def config(keep, **evaluation):
    return RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8), backbone=Choice(name="conv4", params={"width": 8}),
        training=TrainingParams(epochs=EPOCHS, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, keep=keep, **evaluation),
    )  # fmt: skip


def go(workspace, run_id, *, resume=False, heard=lambda event: None):
    recorder = Recorder(workspace, run_id)

    def hear(event):
        heard(event)
        recorder(event)

    try:
        launch.run(workspace, run_id, Control(), hear, recorder, resume=resume)
        recorder.flush()
    finally:
        recorder.close()


def epochs_of(workspace, run_id):
    return [evaluation.epoch for evaluation in workspace.evaluations(run_id)]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A workspace with a run that keeps all and one that keeps the best and the last, their numbers, and the epochs
    that the second has stored whenever it says what to keep. Only read.
    """
    stored = list[list[int]]()

    def look(event):
        if isinstance(event, Keep):
            stored.append(epochs_of(workspace, sparse))

    with Workspace(tmp_path_factory.mktemp("both") / "space", create=True) as workspace:
        whole, sparse = (launch.prepare_run(config(keep), workspace) for keep in ("all", "best and last"))
        go(workspace, whole)
        go(workspace, sparse, heard=look)
        yield workspace, whole, sparse, stored


def test_the_untrained_the_best_and_the_last_stay_with_all_curves(both):
    workspace, whole, sparse, stored = both
    best = workspace.run(whole).best_epoch
    assert epochs_of(workspace, whole) == list(range(EPOCHS + 1))
    assert epochs_of(workspace, sparse) == sorted({0, best, EPOCHS})
    use = disk_use(config("best and last"), checkpoint=0, width=8, samples=9, vectors=0)
    assert max(map(len, stored)) <= use.fewest + use.superseded == 5
    for curve in ("test/MAP@R", "test/recall@1"):
        for told, kept in zip(workspace.scalars(whole, curve), workspace.scalars(sparse, curve), strict=True):
            np.testing.assert_array_equal(told, kept)
    assert workspace.run(sparse).best == workspace.run(whole).best


@pytest.mark.parametrize("at", ["after", *(pytest.param(at, marks=pytest.mark.slow) for at in ("before", "end"))])
def test_a_killed_run_that_goes_on_keeps_the_same(workspace, both, monkeypatch, at):
    """The process is killed before or after it deletes what the third evaluation superseded, or the last one."""
    others, _, alone, _ = both
    killed = launch.prepare_run(config("best and last"), workspace)
    steps = trainer.train_step

    def kill(event):
        third = isinstance(event, Keep) and 3 in event.epochs and at == "before"
        if third or (at == "end" and isinstance(event, Keep) and event.epochs == (0, EPOCHS)):
            raise Killed

    def step(parts, *batch):
        if at == "after" and 3 in epochs_of(workspace, killed):
            raise Killed
        return steps(parts, *batch)

    with monkeypatch.context() as changed:
        changed.setattr(trainer, "train_step", step)
        with pytest.raises(Killed):
            go(workspace, killed, heard=kill)
    workspace.set_status(killed, "interrupted")
    workspace.take_over(killed)
    go(workspace, killed, resume=True)
    assert epochs_of(workspace, killed) == epochs_of(others, alone)
    stored = {path.name for path in workspace.folder(killed).glob("*.np[yz]")}
    assert stored == {path.name for path in others.folder(alone).glob("*.np[yz]")}


@pytest.mark.parametrize(
    ("keep", "wider"),
    [("best and last", {}), ("all", {"store_training": True, "every": 2, "untrained": False})],
)
def test_preflight_says_what_a_run_leaves_on_the_disk(workspace, keep, wider):
    asked = config(keep, **wider)
    use, run_id = preflight(asked).disk, launch.prepare_run(asked, workspace)
    go(workspace, run_id)
    count, folder = len(workspace.evaluations(run_id)), workspace.folder(run_id)
    arrays, checkpoints = (sum(path.stat().st_size for path in folder.glob(kind)) for kind in ("*.np[yz]", "*.pt"))
    rows = bytes_of_evaluations(workspace)
    assert count <= use.evaluations
    assert arrays + rows == pytest.approx(count * use.evaluation, rel=0.1)
    assert checkpoints == pytest.approx(use.checkpoints, rel=0.2)


def bytes_of_evaluations(workspace):
    """By how much the database shrinks without them."""
    workspace.close()
    with closing(sqlite3.connect(workspace.database)) as db:
        sizes = []
        for sql in ("pragma user_version", "delete from queries", "delete from evaluation_sums"):
            db.execute(sql)
            db.commit()
            db.execute("vacuum")
            db.execute("pragma wal_checkpoint(truncate)")
            sizes.append(workspace.database.stat().st_size)
    return sizes[0] - sizes[-1]


def test_curves_over_epochs_have_what_was_not_kept(both):
    workspace, whole, sparse, _ = both
    runs = {run.id: run for run in workspace.runs()}
    measured = read_measures(workspace, runs.values())
    assert [evaluation.epoch for evaluation in measured[sparse].evaluations] == list(range(EPOCHS + 1))
    assert [evaluation.epoch for evaluation in measured[sparse].evaluations if evaluation.kept] == epochs_of(
        workspace, sparse
    )
    for metric in ("MAP@R", "recall@1", "recall@8", "P@R"):
        values = [[measured[run_id].value(metric, epoch) for epoch in range(EPOCHS + 1)] for run_id in (whole, sparse)]
        assert values[0] == values[1]
        assert None not in values[0]
    with closing(watched(workspace.path)) as watch:
        followed = watch.look(Place(sparse)).after.followed
    assert [evaluation.epoch for evaluation in followed.evaluations] == epochs_of(workspace, sparse)
    assert [evaluation.epoch for evaluation in followed.measured] == list(range(EPOCHS + 1))


@pytest.mark.parametrize(
    "text",
    ["", "[", "evaluation = 3", "x = 1", '[evaluation]\nkeep = "all"', "[ # best and last", 'name = "best and last"'],
)
def test_a_config_of_another_form_keeps_all(text):
    assert keeps_all(text)
