"""An evaluation says how far it is, in events and in the row of its run: large test sets take minutes."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Ended, Progress, Status
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

DOINGS = {
    "Evaluating": {},
    "Finding the neighbours": {},
    "Embedding the training set": {"store_training": True},
    "Computing features for the linear probe": {"linear_probe": True},
}


@pytest.mark.parametrize("doing", DOINGS)
def test_an_evaluation_says_how_far_it_is(tmp_path, doing):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
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
    assert far == sorted(far) or doing.startswith("Computing"), "both sets are computed"


def test_training_is_said_before_the_first_step_and_after_an_evaluation(tmp_path):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=2, batch_size=256), evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip
    said = []
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        listen = lambda event: said.append(event) if isinstance(event, (Status, Progress)) else None  # noqa: E731
        make_job(workspace, run_id, Control(), listen).start().join()
    steps = [at for at, event in enumerate(said) if isinstance(event, Progress)]
    assert said[steps[0] - 1] == Status("Training"), "a first step may take a minute"
    texts = [event.text for event in said if isinstance(event, Status)]
    assert texts[-1] != "Training", "nothing follows the last epoch"
    between = texts[texts.index("Training") + 1 :]
    assert "Training" in between
    assert "Evaluating" in between[: between.index("Training")]


def test_a_cancel_is_heard_while_images_for_the_proxies_are_embedded(tmp_path):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
        loss=Choice(name="ccp", params={"pool": 60, "pool_images": "augmented"}), sampler=Choice(name="classes_images"),
        training=TrainingParams(epochs=1, batch_size=32), evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip
    control, of_pool = Control(), []

    def listen(event):
        if isinstance(event, Status) and event.text == "Embedding images for the proxies" and event.total == 600:
            of_pool.append(event.done)
            control.cancel()

    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        make_job(workspace, run_id, control, listen).start().join()
        assert workspace.run(run_id).status == "cancelled"
    assert of_pool == [0], "its second part was not begun"


def test_the_probe_before_training_says_how_far_it_is_and_hears_a_cancel(tmp_path):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1), evaluation=EvaluationParams(probe_size=256, untrained=False),
    )  # fmt: skip
    control, said = Control(), []

    def listen(event):
        if isinstance(event, Status) and event.text == "Measuring CE and SPCE on the probe":
            said.append((event.done, event.total))
            if event.done:
                control.cancel()

    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        make_job(workspace, run_id, control, listen).start().join()
        assert workspace.run(run_id).status == "cancelled"
    assert said == [(0, 0), (64, 256)]


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
