"""A batch that does not fit: the run is kept, the next smaller batch is proposed, on every way to a first step."""

import pytest
import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.entries import catalog
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.running import building
from workbench.running.launch import make_job, prepare_run
from workbench.running.preflight import preflight
from workbench.workspace import Workspace

SMALL = RunConfig(
    device="cpu", split=Choice(name="random"), backbone=Choice(name="conv4", params={"width": 4}),
    training=TrainingParams(epochs=1, batch_size=48), evaluation=EvaluationParams(probe_size=0, untrained=False),
)  # fmt: skip


@pytest.fixture
def full(monkeypatch):
    """No loss gets the memory that it asks for."""

    def build(*names, **params):
        class Large(Loss):
            def forward(self, embeddings, labels):
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB.")

        return Large()

    monkeypatch.setattr(building, "build_loss", build)


def test_the_run_is_kept_and_the_next_smaller_batch_proposed(full, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        number = prepare_run(SMALL, workspace)
        make_job(workspace, number, Control()).start().join()
        run = workspace.run(number)
        assert run.status == "failed"
        assert "A batch of 48 images does not fit into the memory of cpu." in run.problem
        assert "The run and its checkpoints are kept." in run.problem
        assert "Try a batch of 24." in run.problem


def test_preflight_says_so_before_anything_is_started(full):
    with pytest.raises(Problem, match="A batch of 48 images does not fit") as caught:
        preflight(SMALL)
    assert caught.value.todo == "Try a batch of 24."
    assert (caught.value.kept, caught.value.field, caught.value.fits) == (
        "Nothing was started.", "training.batch_size", 24
    )  # fmt: skip


@pytest.mark.parametrize(
    ("batch", "of_each", "fits"), [(36, 4, 16), (24, 8, None), (48, 16, None), (2, 1, None), (40, 4, 20)]
)
def test_a_proposed_batch_is_one_that_sampler_and_loss_take(full, batch, of_each, fits):
    config = SMALL.model_copy(
        update={
            "loss": Choice(name="contrastive"),
            "sampler": Choice(name="classes_images", params={"images_per_class": of_each}),
            "training": TrainingParams(epochs=1, batch_size=batch),
        }
    )
    if of_each == 1:
        config = config.model_copy(update={"loss": Choice(name="ce")})
    with pytest.raises(Problem, match="does not fit") as caught:
        preflight(config)
    assert caught.value.fits == fits
    smaller = "smaller images, or a smaller network" if fits is None else f"a batch of {fits}"
    assert caught.value.todo == f"Try {smaller}."
    if fits is not None:
        assert fits < batch
        training = config.training.model_copy(update={"batch_size": fits})
        assert config.model_copy(update={"training": training}).check(catalog.current()) == {}
