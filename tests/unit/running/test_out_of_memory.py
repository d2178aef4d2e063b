"""A batch that does not fit: the run is kept, the next smaller batch is proposed, on every way to a first step."""

import weakref

import numpy as np
import pytest
import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.entries import catalog
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running import building
from workbench.running.launch import make_job, prepare_run
from workbench.running.preflight import preflight
from workbench.training.probe import embed
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


def test_the_error_of_a_step_lets_go_of_its_activations(monkeypatch):
    held = []

    class Large(Loss):
        def forward(self, embeddings, labels):
            activations = torch.zeros(1000)
            held.append(weakref.ref(activations))
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")

    monkeypatch.setattr(building, "build_loss", lambda *names, **params: Large())
    with pytest.raises(Problem, match="does not fit into the memory") as caught:
        preflight(SMALL)
    assert caught.value.__context__ is not None, "the Problem keeps the error, and that kept the activations"
    assert held[0]() is None


def test_after_a_preflight_the_window_holds_no_network(monkeypatch):
    built = []
    real = building.build_model

    def build(*arguments):
        built.append(real(*arguments))
        return built[-1]

    monkeypatch.setattr(building, "build_model", build)
    preflight(SMALL)
    assert sum(tensor.nbytes for tensor in built[0].state_dict().values()) == 0


def test_a_network_that_does_not_fit_is_refused_before_anything_is_tried(monkeypatch):
    def full(*arguments):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(building, "build_model", full)
    with pytest.raises(Problem, match="network and its data do not fit into the memory of the device"):
        preflight(SMALL)


def test_embedding_takes_smaller_parts_where_memory_is_short():
    seen = []

    def by(images):
        if len(images) > 20:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        seen.append(len(images))
        return images.flatten(1)[:, :3]

    config = SMALL.model_copy(update={"augmentation": Choice(name="none")})
    data = building.load_data(config, quiet)
    augmentation = building.build_entry("augmentation", config)
    rows = data.split.train
    feed = building.build_feed(data, rows, building.training_labels(data), augmentation, torch.device("cpu"))
    found = embed(torch.nn.Identity(), feed, augmentation, by=by)
    assert torch.equal(found, feed.images(np.arange(len(feed))).flatten(1)[:, :3])
    assert max(seen) == 16
    with pytest.raises(torch.OutOfMemoryError):
        embed(torch.nn.Identity(), feed, augmentation, by=lambda images: by(torch.zeros(21)))
