"""What the papers' recipes train: rates and decay of every weight, warm-up, clipping, and what is frozen or waits."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from workbench.config import Choice
from workbench.datasets.image_set import ImageSet
from workbench.datasets.split import Split
from workbench.running.building import Data, build_parts
from workbench.settings.presets import presets
from workbench.training.trainer import train_step

RECIPES = {preset.key: preset.config for preset in presets()}
LABELS = np.repeat(np.arange(6), 4)
SIDES = {"bn_inception": 64, "resnet50": 32, "timm": 160}  # px, as small as the network takes
STEPS = 7  # of an epoch


@dataclass(frozen=True)
class Stated:
    """What a recipe states."""

    optimiser: type[torch.optim.Optimizer]
    lr: float
    decay: float
    of_vectors: float  # decay of biases and scales
    clip: float = 0.0
    warm_up: int = 0  # steps
    of_loss: float = 1.0  # rate of the loss's own weights, as a multiple
    alone: int = 0  # steps of the head alone
    defaults: tuple[tuple[str, object], ...] = ()


ADAM, ADAMW, SGD = torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD
CCP = {"decay": 1e-4, "of_vectors": 1e-4, "clip": 10.0, "defaults": (("betas", (0.9, 0.99)), ("eps", 1e-7))}
CE = {"decay": 5e-4, "of_vectors": 0.0, "warm_up": 100}
SHOPS = (("momentum", 0.99), ("nesterov", True))
STATED = {
    "cub-ce": Stated(SGD, 0.02, **CE, defaults=(("momentum", 0.0), ("nesterov", False))),
    "cars-ce": Stated(SGD, 0.05, **CE, defaults=(("momentum", 0.0), ("nesterov", False))),
    "sop-ce": Stated(SGD, 0.003, **CE, defaults=SHOPS),
    "inshop-ce": Stated(SGD, 0.003, **CE, defaults=SHOPS),
    "cub-ccp": Stated(ADAM, 1e-5, **CCP),
    "sop-ccp-512": Stated(ADAM, 1e-4, **CCP),
    "cub-proxy-anchor": Stated(ADAM, 1e-5, **CCP, of_loss=100.0, alone=STEPS),
    "cub-hyp-vit": Stated(ADAMW, 1e-5, 0.01, 0.01, 3 / 72, defaults=(("betas", (0.9, 0.999)),)),
    "inshop-vit-s": Stated(ADAMW, 1e-5, 0.01, 0.01, 3 / 2, defaults=(("betas", (0.9, 0.999)),)),
}


def made(key):
    """The recipe's parts with random weights for six classes of small images, and a batch; a small ViT is as good."""
    config = RECIPES[key]
    side = SIDES[config.backbone.name]
    backbone = config.backbone.params | {"weights": "none"}
    if config.backbone.name == "timm":
        backbone["model"] = "test_vit"
    config = config.model_copy(update={"device": "cpu", "backbone": Choice(name=config.backbone.name, params=backbone)})
    pixels = np.zeros((len(LABELS), side, side, 3), np.uint8)
    paths, names = [f"{row}.png" for row in range(len(LABELS))], [str(label) for label in range(6)]
    images = ImageSet("made", None, paths, LABELS, names, 3, side, pixels.__getitem__)
    rows = np.arange(len(LABELS))
    data = Data(images, pixels, Path(), Split(rows, rows, classes_disjoint=False))
    parts = build_parts(config, data, STEPS * config.training.epochs)
    batch = torch.rand(len(LABELS), 3, side, side, generator=torch.Generator().manual_seed(0))
    return parts, batch, torch.from_numpy(LABELS)


@pytest.mark.parametrize("key", STATED)
def test_every_weight_has_the_rate_and_the_decay_that_the_recipe_states(key):
    stated, (parts, _, _) = STATED[key], made(key)
    assert type(parts.optimiser) is stated.optimiser
    assert {name: parts.optimiser.defaults[name] for name, _ in stated.defaults} == dict(stated.defaults)
    groups = {id(weight): group for group in parts.optimiser.param_groups for weight in group["params"]}
    of_loss = {id(weight) for weight in parts.loss.parameters()}
    assert len(groups) == sum(len(group["params"]) for group in parts.optimiser.param_groups), "each once"
    for weight in parts.weights:
        if not weight.requires_grad:
            assert id(weight) not in groups
            continue
        group, times = groups[id(weight)], stated.of_loss if id(weight) in of_loss else 1.0
        assert group["initial_lr"] == pytest.approx(stated.lr * times)
        assert group["weight_decay"] == (stated.decay if weight.ndim > 1 else stated.of_vectors)
    first = 1 / stated.warm_up if stated.warm_up else 1.0
    assert parts.schedule.get_last_lr() == pytest.approx([group["initial_lr"] * first for group in groups_of(parts)])
    parts.go_to(stated.warm_up)
    share = stated.warm_up / (STEPS * RECIPES[key].training.epochs)
    after = (1 + math.cos(math.pi * share)) / 2  # the cosine has begun with the warm-up
    assert [group["lr"] for group in groups_of(parts)] == pytest.approx(
        [group["initial_lr"] * after for group in groups_of(parts)]
    )


def groups_of(parts):
    return parts.optimiser.param_groups


@pytest.mark.parametrize("key", ["cub-ce", "cub-ccp", "cub-proxy-anchor"])
def test_batch_norm_that_is_frozen_neither_learns_nor_counts(key):
    parts, batch, labels = made(key)
    norms = [layer for layer in parts.model.backbone.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    assert norms
    assert not any(weight.requires_grad for layer in norms for weight in layer.parameters())
    before = [layer.running_mean.clone() for layer in norms]
    train_step(parts, batch, labels, lambda: None)
    assert all(torch.equal(was, layer.running_mean) for was, layer in zip(before, norms, strict=True))


@pytest.mark.parametrize("key", ["cub-ccp", "cub-hyp-vit", "inshop-vit-s"])
def test_a_long_gradient_is_cut_to_the_norm_that_the_recipe_states(key):
    parts, batch, labels = made(key)
    pull = 1e6 * torch.ones(())
    train_step(parts, batch, labels, lambda: pull * sum(weight.sum() for weight in parts.weights))
    lengths = torch.stack([weight.grad.norm() for weight in parts.weights if weight.grad is not None])
    assert lengths.norm().item() == pytest.approx(STATED[key].clip, rel=1e-3)


def test_in_the_first_epoch_of_a_proxy_baseline_only_head_and_proxies_learn():
    parts, batch, labels = made("cub-proxy-anchor")
    assert parts.head_steps == STATED["cub-proxy-anchor"].alone
    network = [weight for weight in parts.model.backbone.parameters() if weight.requires_grad]
    others = [*parts.model.head.parameters(), *parts.loss.parameters()]
    for step in (0, STEPS - 1, STEPS):
        parts.go_to(step)
        before = [weight.detach().clone() for weight in (*network, *others)]
        train_step(parts, batch, labels, lambda: None)
        moved = [not torch.equal(was, now) for was, now in zip(before, (*network, *others), strict=True)]
        assert any(moved[: len(network)]) == (step >= STEPS), step
        assert all(moved[len(network) :]), step
