"""An evaluation says how far it is, in events and in the row of its run: large test halves take minutes."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Ended, Status
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

DOINGS = {
    "Evaluating": {},
    "Finding the neighbours": {},
    "Embedding the training half": {"store_training": True},
    "Computing features for the linear probe": {"linear_probe": True},
}


@pytest.mark.parametrize("doing", DOINGS)
def test_an_evaluation_says_how_far_it_is(tmp_path, doing):
    config = RunConfig(
        device="cpu", split=Choice(name="random"), embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, untrained=False, **DOINGS[doing]),
    )  # fmt: skip
    said = []
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        listen = lambda event: said.append(event) if isinstance(event, Status) and event.text == doing else None  # noqa: E731
        make_job(workspace, run_id, Control(), listen).start().join()
    far = [(event.done, event.total) for event in said if event.total]
    assert far
    assert all(0 < done <= total for done, total in far)
    assert far == sorted(far) or doing.startswith("Computing"), "both halves are computed"


def test_the_row_of_a_run_has_how_far_it_is(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig())
        recorder = Recorder(workspace, run_id)
        for event, phase in (
            (Status("Decoding 3,120 images", 1040, 3120), "Decoding 3,120 images, 33%"),
            (Status("Evaluating"), "Evaluating"),
        ):
            recorder(event)
            recorder.flush()
            assert workspace.run(run_id).phase == phase
        recorder(Ended("done"))
