"""A run that is asked to stop ends with a whole epoch that is evaluated, whenever it is asked."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Scalar
from workbench.running import launch
from workbench.running.engine import Engine
from workbench.workspace import Workspace

EPOCHS, ASKED, STEPS = 5, 2, 3  # steps of an epoch


def config(every):
    return RunConfig(
        device="cpu", split=Choice(name="random"), embedding=EmbeddingParams(dim=8),
        backbone=Choice(name="conv4", params={"width": 8}), training=TrainingParams(epochs=EPOCHS, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, every=every),
    )  # fmt: skip


@pytest.mark.parametrize(("every", "evaluated"), [(1, [0, 1, 2]), (4, [0, 2])])
@pytest.mark.parametrize("asked", ["in the epoch", "while it is saved"])
def test_the_epoch_is_evaluated_and_the_last_one(tmp_path, monkeypatch, every, evaluated, asked):
    control, save = Control(), Engine.save

    def saved(engine, name, epoch):
        if asked == "while it is saved" and (name, epoch) == ("last", ASKED):
            control.stop()
        save(engine, name, epoch)

    def hear(event):
        if asked == "in the epoch" and isinstance(event, Scalar) and event.name == "batch/loss" and event.step > STEPS:
            control.stop()

    monkeypatch.setattr(Engine, "save", saved)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = launch.prepare_run(config(every), workspace)
        launch.make_job(workspace, run_id, control, hear).start().join()
        run = workspace.run(run_id)
        assert (run.status, run.epoch, run.done) == ("stopped", ASKED, ASKED * STEPS)
        assert [evaluation.epoch for evaluation in workspace.evaluations(run_id)] == evaluated
