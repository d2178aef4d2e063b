"""A batch in chunks has the value and the gradient of the whole batch, for every registered loss."""

import copy
from functools import partial

import pytest
import torch
from torch import nn

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams, RunConfig, TrainingParams
from workbench.losses import build_loss, list_losses
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.trainer import Parts, train_step
from workbench.training.two_passes import TwoPasses, refuse_batch_norm, refuse_coupling

N, K, D = 22, 4, 6
CPU = torch.device("cpu")


class Network(nn.Module):
    """Features of each image alone; a head with batch-norm, which compares them."""

    def __init__(self, chance=0.0):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Flatten(), nn.Linear(12, 9), nn.LayerNorm(9), nn.Dropout(chance), nn.GELU(), nn.Linear(9, 8)
        )
        self.head = nn.Sequential(nn.Linear(8, D), nn.BatchNorm1d(D, affine=False))
        self.features = self.backbone.forward

    def forward(self, images):
        return self.head(self.features(images))


def step(name, chunk, dtype=torch.float64):
    """The value of one step, and the gradients that it left on network and loss."""
    torch.manual_seed(0)
    of_images = name == "nt_xent"
    classes = N if of_images else K
    model, loss = Network().to(dtype), build_loss(name, num_classes=classes, embedding_dim=D).to(dtype)
    images, labels = torch.randn(N, 3, 2, 2, dtype=dtype), torch.arange(N) % K
    optimiser = torch.optim.SGD([*model.parameters(), *loss.parameters()], lr=0.1)
    parts = Parts(
        model, loss, optimiser, build_schedule(TrainingParams(), optimiser, 10), CPU, chunk=chunk,
        views=2 if of_images else 0,
    )  # fmt: skip
    values = []
    for _ in range(2):  # the second step of a loss that remembers the first
        torch.manual_seed(1)
        values.append(train_step(parts, images, labels, lambda: None))
    return torch.stack(values), [torch.zeros(1) if w.grad is None else w.grad for w in parts.weights]


@pytest.mark.parametrize("name", list_losses())
def test_chunks_give_the_step_of_the_whole_batch(name):
    values, gradients = step(name, chunk=0)
    for chunk in (5, 11):
        chunked, of_chunks = step(name, chunk)
        torch.testing.assert_close(chunked, values, rtol=1e-6, atol=1e-9)
        for gradient, other in zip(gradients, of_chunks, strict=True):
            torch.testing.assert_close(other, gradient, rtol=1e-6, atol=1e-9)


class OfAPlugin(Loss):
    """Compares all pairs of a batch, and remembers the batch before."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones((), dtype=torch.float64))
        self.register_buffer("before", torch.zeros(D, dtype=torch.float64))

    def forward(self, embeddings, labels):
        alike = labels[:, None] == labels
        value = (self.scale * embeddings @ embeddings.T).sigmoid().sub(alike.double()).square().sum()
        value = value + (embeddings - self.before).norm(dim=1).var()
        self.before = embeddings.detach().mean(0)
        return value


def added(model, others):
    """What a companion adds: embeddings of other images, by a plain pass."""
    return model(others).square().mean()


def test_the_loss_of_a_plugin_and_what_its_companion_adds_are_those_of_the_whole_batch():
    seen = []
    for chunk in (0, 5, 11):
        torch.manual_seed(0)
        model, loss = Network().double(), OfAPlugin()
        images, labels, others = torch.randn(N, 12).double(), torch.arange(N) % K, torch.randn(7, 12).double()
        optimiser = torch.optim.SGD([*model.parameters(), *loss.parameters()], lr=0.1)
        parts = Parts(model, loss, optimiser, build_schedule(TrainingParams(), optimiser, 10), CPU, chunk=chunk)
        penalty = partial(added, model, others)
        values = [train_step(parts, images, labels, penalty) for _ in range(2)]
        seen.append([torch.stack(values), *(weight.grad for weight in parts.weights)])
    for chunked in seen[1:]:
        for found, expected in zip(chunked, seen[0], strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


class Mixing(nn.Module):
    """A layer of a plug-in's backbone that no type tells: it subtracts the mean of the batch."""

    def forward(self, features):
        return features - features.mean(0)


class Detached(nn.Module):
    """It subtracts the mean of the batch, too, and lets no gradient pass through it."""

    def forward(self, features):
        return features - features.detach().mean(0)


class Running(nn.Module):
    """It divides by a running mean of norms, to which each batch adds a little."""

    def __init__(self):
        super().__init__()
        self.register_buffer("norm", torch.ones(()))

    def forward(self, features):
        self.norm.mul_(0.9).add_(0.1 * features.detach().norm(dim=1).mean())
        return features / self.norm


class Faint(nn.Module):
    """It adds to each image's features those of the next one, times a number below what replacing that image shows."""

    def forward(self, features):
        return features + 1e-7 * features.roll(1, 0)


@pytest.mark.parametrize("layer", [Mixing, Detached, Running, Faint])
def test_any_layer_that_compares_images_is_refused(layer):
    images = torch.randn(2, 3, 2, 2)
    model = Network(chance=0.5).train()
    refuse_coupling(model, images)
    model.backbone.append(layer())
    refuse_batch_norm(model.backbone)
    with pytest.raises(Problem, match="depend on the others of its batch"):
        refuse_coupling(model, images)


@pytest.mark.parametrize(
    ("name", "params", "allowed"),
    [
        ("conv4", {}, False), ("resnet18", {"frozen_batch_norm": True}, True), ("squeezenet1_0", {}, True),
        ("timm", {"model": "test_vit"}, True),
    ],
)  # fmt: skip
def test_looking_for_such_layers_leaves_the_model_as_it_was(name, params, allowed):
    model = build_model(name, params, EmbeddingParams(), 3).eval()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    torch.manual_seed(3)
    drawn = torch.rand(4)
    torch.manual_seed(3)
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    if allowed:
        refuse_coupling(model, images)
    else:
        with pytest.raises(Problem, match="depend on the others"):
            refuse_coupling(model, images)
    assert torch.equal(torch.rand(4), drawn)
    assert not any(module.training for module in model.modules())
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())


def test_layers_that_draw_at_random_draw_the_same_numbers_twice():
    torch.manual_seed(0)
    model = Network(chance=0.5).train()
    images = torch.randn(N, 3, 2, 2)
    torch.manual_seed(1)
    kept = torch.cat([model.features(chunk) for chunk in images.split(5)])  # one graph over all chunks
    model.head(kept).square().sum().backward()
    torch.rand(2)  # as a loss that draws its pairs
    expected = [w.grad.clone() for w in model.parameters()]
    after = torch.rand(3)
    model.zero_grad()
    torch.manual_seed(1)
    passes = TwoPasses(model, images, 5, CPU, "float32")
    passes.embeddings().square().sum().backward()
    torch.rand(2)
    passes.backward()
    assert torch.equal(torch.rand(3), after), "random numbers go on as after the first pass and the loss"
    for weight, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(weight.grad, gradient)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_transformer_takes_the_step_in_every_precision(precision):
    torch.manual_seed(0)
    first = build_model("timm", {"model": "test_vit", "drop_path": 0.0}, EmbeddingParams(dim=8), 3)
    second, images = copy.deepcopy(first), torch.rand(6, 3, 32, 32)
    grown = []
    for model, chunk in ((first, 0), (second, 4)):
        torch.manual_seed(0)
        loss = build_loss("norm_ce", num_classes=3, embedding_dim=8)
        settings = TrainingParams(optimiser="sgd", lr=0.1)
        optimiser = build_optimiser(settings, model, loss)
        parts = Parts(
            model, loss, optimiser, build_schedule(settings, optimiser, 10), CPU, chunk=chunk, precision=precision
        )
        train_step(parts, images, torch.arange(6) % 3, lambda: None)
        grown.append(torch.cat([weight.grad.flatten() for weight in model.parameters()]))
    assert torch.nn.functional.cosine_similarity(*grown, dim=0) > (0.99999 if precision == "float32" else 0.98)
    assert grown[0].norm() == pytest.approx(grown[1].norm().item(), rel=1e-5 if precision == "float32" else 0.05)


def test_a_frozen_backbone_is_not_computed_again():
    model = Network()
    model.backbone.requires_grad_(False)
    images = torch.randn(6, 3, 2, 2)
    passes = TwoPasses(model, images, 2, CPU, "float32")
    passes.embeddings().square().sum().backward()
    passes.backward()
    assert model.head[0].weight.grad is not None
    assert all(weight.grad is None for weight in model.backbone.parameters())


@pytest.mark.parametrize(
    ("name", "params", "allowed"),
    [
        ("conv4", {}, False), ("resnet18", {}, False), ("resnet18", {"frozen_batch_norm": True}, True),
        ("squeezenet1_0", {}, True), ("timm", {"model": "test_vit"}, True),
        ("timm", {"model": "test_efficientnet"}, False),
    ],
)  # fmt: skip
def test_batch_norm_that_is_trained_is_refused(name, params, allowed):
    backbone = build_model(name, params, EmbeddingParams(), 3).backbone.eval()
    modes = [module.training for module in backbone.modules()]
    if allowed:
        refuse_batch_norm(backbone)
    else:
        with pytest.raises(Problem, match="batch-norm, which compares all images"):
            refuse_batch_norm(backbone)
    assert [module.training for module in backbone.modules()] == modes


def test_the_config_has_it_and_old_ones_do_without():
    assert RunConfig().training.chunk == 0
    assert "chunk" not in RunConfig.recorded("[training]\nlr = 0.1\n").model_dump(exclude_unset=True)["training"]
