"""A step of training, its augmentation and the average of weights do not wait for a GPU, and do not mix devices."""

import pytest
import torch
from packaging.version import Version
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.pretended_gpu import NEEDS_CUDA_BUILD, NoWaits, WaitError, on_pretended_gpu, pretended_gpu
from workbench import registry
from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams, TrainingParams
from workbench.datasets.batches.augment import colour_turn
from workbench.losses import build_loss
from workbench.losses.batch import labels_in_range
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.shared_norm import SharedNorm
from workbench.training.trainer import Parts, train_step
from workbench.training.weight_average import WeightAverage

pytestmark = NEEDS_CUDA_BUILD
N = 8
CASES = [
    ("none", {}),
    ("shift", {}),
    ("crop_flip", {}),
    ("crop_flip", {"jitter": 0.2, "hue": 0.1}),
    ("crop_flip", {"jitter": 0.2, "hue": 0.1, "jitter_order": "random"}),
    ("crop_flip", {"fixed": True, "jitter": 0.2}),
    ("crop_flip", {"crops_of": "whole", "hue": 0.1}),
]


@pytest.fixture
def no_gradient_kept(monkeypatch):
    """Autograd knows no pretended GPU: every weight gets a gradient of its size instead."""
    weights = []

    def backward(value):
        for weight in weights:
            weight.grad = torch.empty_like(weight)

    monkeypatch.setattr(torch.Tensor, "backward", backward)
    return weights


@pytest.mark.parametrize(("name", "params"), CASES)
def test_an_augmentation_does_not_wait_after_its_first_batch(name, params):
    registry.discover("workbench.datasets")
    entry = registry.entry("augmentation", name)
    augmentation = entry.build(entry.params(**params))
    try:
        with FakeTensorMode():
            images = torch.rand(N, 3, 32, 32, device="cuda")
            augmentation(images, torch.Generator())  # constants are copied once
            with NoWaits():
                changed = augmentation(images, torch.Generator())
    finally:
        colour_turn.cache_clear()  # these would be pretended, too
    assert changed.device.type == "cuda"


def parts_of(settings, model, loss, average):
    for module in (model, loss, average.module):
        on_pretended_gpu(module)
    optimiser = build_optimiser(settings, model, loss)
    schedule = build_schedule(settings, optimiser, 10)
    device = torch.device("cuda")
    return Parts(model, loss, optimiser, schedule, device, precision="float32", clip_norm=1.0, average=average)


@pytest.mark.skipif(
    Version(torch.__version__) < Version("2.12"),
    reason="the pretended GPU of torch 2.11 refuses to read the count of WeightAverage, which is on the CPU",
)
@pytest.mark.parametrize("optimiser", ["sgd", "adam", "adamw"])
def test_a_step_does_not_wait(optimiser, no_gradient_kept):
    model = build_model("resnet18", {}, EmbeddingParams(dim=16), 3)
    loss, average = build_loss("norm_ce", num_classes=4, embedding_dim=16), WeightAverage(model, 0.9)
    average.update_parameters(model)  # the first call copies, later ones average
    with labels_in_range(), pretended_gpu():
        parts = parts_of(TrainingParams(optimiser=optimiser), model, loss, average)
        no_gradient_kept += parts.weights
        for _ in range(2):
            labels = torch.zeros(N, dtype=torch.int64, device="cuda")
            value = train_step(parts, torch.rand(N, 3, 32, 32, device="cuda"), labels, lambda: None)
        assert value.device.type == "cuda"
        with pytest.raises(WaitError):
            value.item()


@pytest.mark.parametrize("sizes", [[4, 4], [3, 5]])
def test_batch_norm_over_ranks_does_not_wait(sizes, monkeypatch):
    def moments(images, *rest):  # torch has no pretended version of it
        return images.sum((0, 2, 3)), images.sum((0, 2, 3))

    monkeypatch.setattr(torch, "batch_norm_update_stats", moments)
    with pretended_gpu(), torch.no_grad(), SharedNorm(lambda own: torch.stack([own] * 2), sizes, 0):
        norm = on_pretended_gpu(torch.nn.BatchNorm2d(6))
        assert norm(torch.randn(sizes[0], 6, 5, 5, device="cuda")).device.type == "cuda"
