"""A range test trains a network of the config at rising rates, on the training set alone, and leaves nothing."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tests.trained_sample import sample_values, trained
from tests.unit.class_folders import draw_classes
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.control import Cancelled
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.running.building import load_data
from workbench.running.rate_range import RateTest, find_rate, measure
from workbench.settings.changed import read_config
from workbench.workspace import Workspace


def digits(*changes: str) -> RunConfig:
    return read_config("sample-digits", ("device=cpu", "backbone.width=4", *changes))


def in_pairs(*changes: str) -> RunConfig:
    return digits("sampler.name=classes_images", "training.batch_size=40", *changes)


@pytest.fixture
def groups():
    """The rates of the optimiser's groups before each of its steps."""
    rates = []
    handle = register_optimizer_step_pre_hook(
        lambda optimiser, *_: rates.append([group["lr"] for group in optimiser.param_groups])
    )
    yield rates
    handle.remove()


def test_every_group_has_its_multiple_of_a_rate_that_rises(groups):
    config = digits(
        "training.backbone_lr=0.1", "training.warmup_steps=50", "training.lr=0.5", "training.head_epochs=3",
        "loss.name=proxy_anchor", "loss.proxy_lr=100.0", "sampler.name=classes_images", "training.batch_size=40",
    )  # fmt: skip
    test = find_rate(config, steps=20, first=1e-6, last=1e-3)
    assert test.rates == pytest.approx(np.geomspace(1e-6, 1e-3, 20))
    for rates, rate in zip(groups, test.rates, strict=True):
        assert sorted({round(lr / rate, 6) for lr in rates}) == [0.1, 1.0, 100.0]


def test_the_same_config_gives_the_same_curve_and_another_seed_another():
    first, again, other = (find_rate(digits(f"seed={seed}"), steps=20) for seed in (0, 0, 1))
    assert first.losses == again.losses != other.losses


def test_the_first_losses_are_those_of_a_run_that_does_not_move():
    still = find_rate(digits(), steps=20, first=1e-12, last=2e-12)
    moving = find_rate(digits(), steps=20, first=1e-12, last=1.0)
    assert moving.losses[0] == still.losses[0]
    assert min(moving.losses) < min(still.losses) - 0.5


def test_the_points_are_told_one_by_one():
    heard = []
    test = find_rate(digits(), steps=20, point=lambda *values: heard.append(values))
    assert heard == list(zip(test.rates, test.losses, test.smooth, strict=True))


class Watched(np.ndarray):
    """Pixels that note which rows are read."""

    rows: set[int]

    def __getitem__(self, index):
        if isinstance(index, np.ndarray):
            self.rows |= set(index.tolist())
        return super().__getitem__(index)

    def __array_finalize__(self, source):
        self.rows = getattr(source, "rows", set())


@pytest.mark.parametrize("held_out", ["0.0", "0.2"])
def test_no_image_of_the_test_half_and_no_held_out_one_is_read(held_out):
    config = in_pairs(
        "split.name=classes", f"split.validation={held_out}", "loss.name=ccp", "loss.check_every=1",
        "training.batch_size=16",
    )  # fmt: skip
    data = load_data(config, lambda *_: None)
    pixels = np.array(data.pixels).view(Watched)
    watched = dataclasses.replace(data, pixels=pixels)
    measure(config, watched, steps=20, first=1e-6, last=1, progress=lambda *_: None, point=lambda *_: None)
    assert pixels.rows
    assert pixels.rows <= set(data.split.train.tolist())
    assert len(data.split.test), "what was passed is not changed"


def test_features_of_a_frozen_backbone_are_computed_of_the_training_half_alone(tmp_path, monkeypatch):
    draw_classes(tmp_path / "images", "ant", "bee", "cat", count=8)
    config = RunConfig(
        name="kept", device="cpu", dataset=Choice(name="folder", params={"folder": str(tmp_path / "images")}),
        backbone=Choice(name="squeezenet1_0", params={"frozen": "all"}),
        training=TrainingParams(epochs=1, batch_size=8, keep_features=True, backbone_lr=0.0),
    )  # fmt: skip
    seen = []
    embedded = SimpleNamespace(count=0)
    forward = torch.nn.Conv2d.forward

    def count(module, images):
        embedded.count += len(images) if module.in_channels == 3 else 0
        return forward(module, images)

    monkeypatch.setattr(torch.nn.Conv2d, "forward", count)
    data = load_data(config, lambda *_: None)
    test = find_rate(config, steps=20, progress=lambda text, *_: seen.append(text))
    assert "Computing the features of the frozen backbone" in seen
    assert embedded.count == len(data.split.train) < len(data.images.paths)
    assert np.isfinite(test.losses[:5]).all()


@pytest.mark.parametrize("loss", ["xbm", "ccp", "rankmi", "proxy_anchor"])
def test_losses_with_memories_proxies_and_companions(loss):
    assert np.isfinite(find_rate(in_pairs(f"loss.name={loss}"), steps=20).losses[:10]).all()


def test_two_passes_have_the_curve_of_one():
    changes = (
        "device=cpu", "sampler.name=classes_images", "training.batch_size=40", "loss.name=spce",
        "embedding.batch_norm=false", "backbone.name=timm", "backbone.model=test_vit", "dataset.image_size=16",
    )  # fmt: skip
    one, two = (
        find_rate(read_config("sample-digits", (*changes, f"training.chunk={chunk}")), steps=20, first=1e-6, last=1e-3)
        for chunk in (0, 20)
    )
    assert two.losses == pytest.approx(one.losses, rel=1e-3)


def test_the_memory_of_a_loss_is_used_from_the_first_step_on():
    """Its warm-up is longer than the test."""
    with_memory = find_rate(in_pairs("loss.name=xbm", "loss.warm_up=1000"), steps=20, first=1e-9, last=2e-9)
    at_once = find_rate(in_pairs("loss.name=xbm", "loss.warm_up=0"), steps=20, first=1e-9, last=2e-9)
    assert with_memory.losses == at_once.losses


def test_a_loss_without_a_warm_up_skips_nothing():
    loss = Loss()
    loss.skip_warm_up()
    assert not loss.state_dict()


def test_a_loss_that_diverges_ends_the_test():
    test = find_rate(digits(), last=100.0)
    assert test.ended_early
    assert len(test.rates) == len(test.losses) < test.steps


def test_a_small_training_half_has_fewer_steps(tmp_path):
    draw_classes(tmp_path / "images", "ant", "bee", "cat", count=20)
    config = RunConfig(
        name="small", device="cpu", backbone=Choice(name="conv4", params={"width": 4}),
        dataset=Choice(name="folder", params={"folder": str(tmp_path / "images"), "image_size": 16}),
        training=TrainingParams(epochs=1, batch_size=8),
    )  # fmt: skip
    steps = find_rate(config, first=1e-9, last=2e-9).steps
    assert 20 <= steps < 100


def test_a_cancel_is_heard_within_a_step():
    done = []

    def hear(text, step, total):
        if text == "Trying rates" and len(done) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        find_rate(digits(), progress=hear, point=lambda *point: done.append(point))
    assert len(done) == 3


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"first": 1.0, "last": 0.1}, "1 to 0.1 do not"), ({"first": 0.0}, "0 to 10 do not"),
        ({"last": 1000.0}, "1e-06 to 1000 do not"), ({"steps": 5}, "A test of 5 steps is too short"),
    ],
)  # fmt: skip
def test_a_range_that_cannot_be_is_a_sentence(named, said):
    with pytest.raises(Problem, match=said):
        find_rate(digits(), **named)


def test_what_a_run_refuses_the_test_refuses():
    with pytest.raises(Problem, match="needs more classes than the 10 of the training set"):
        find_rate(in_pairs("training.batch_size=64"))


def test_a_rate_that_is_suggested_trains_better_than_one_a_hundred_times_larger(tmp_path):
    values = sample_values(1)
    values["device"] = "cpu"
    values["evaluation"] |= {"probe_size": 0, "untrained": False}
    test: RateTest = find_rate(RunConfig.model_validate(values))
    assert test.suggestion.rate is not None
    scores = []
    with Workspace(tmp_path / "space", create=True) as workspace:
        for rate in (test.suggestion.rate, 100 * test.suggestion.rate):
            values["training"]["lr"] = rate
            scores.append(workspace.evaluations(trained(workspace, values))[-1].metrics["MAP@R"])
    assert scores[0] > scores[1] + 0.1
