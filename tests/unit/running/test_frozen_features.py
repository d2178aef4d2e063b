"""Training a head on features that a frozen backbone computes once, in evaluation mode."""

import numpy as np
import pytest
import torch

from workbench.config import RunConfig
from workbench.control import Control
from workbench.entries import catalog
from workbench.events import Evaluated
from workbench.progress import quiet
from workbench.running import engine as engines
from workbench.running.building import load_data
from workbench.running.engine import Engine

SHORT = {
    "dataset": {"name": "digits"}, "backbone": {"name": "conv4", "width": 4},
    "embedding": {"dim": 8, "batch_norm": True}, "augmentation": {"name": "none"}, "sampler": {"name": "random"},
    "evaluation": {"probe_size": 32, "probe_every": 8, "untrained": False},
}  # fmt: skip


def config_of(**training):
    return RunConfig.model_validate(
        SHORT | {"training": {"epochs": 1, "batch_size": 64, "backbone_lr": 0.0, **training}}
    )


def run_of(config, folder):
    events = []
    engine = Engine(config, load_data(config, quiet), folder, Control(), events.append)
    engine.run()
    return engine, events


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "features"


def test_features_are_those_of_the_frozen_backbone_and_are_kept(tmp_path, cache):
    config = config_of(keep_features=True)
    engine, events = run_of(config, tmp_path)
    backbone = engine.parts.model.backbone.state_dict()
    plain = Engine(config_of(), load_data(config, quiet), tmp_path, Control(), events.append)
    rows, model = np.arange(5), plain.parts.model.eval()
    with torch.no_grad():
        expected = model.features(plain.feed.images(rows))
    assert torch.allclose(engine.feed.images(rows), expected, atol=1e-5)
    assert all(torch.equal(weight, backbone[name]) for name, weight in model.backbone.state_dict().items())
    assert any(isinstance(event, Evaluated) for event in events)
    assert len(list(cache.glob("*.npy"))) == 1
    (path,) = cache.glob("*.npy")
    path.write_bytes(b"no array")  # a damaged file is computed anew
    second = Engine(config, load_data(config, quiet), tmp_path, Control(), events.append)
    assert np.allclose(second.data.features, engine.data.features)
    np.save(path, second.data.features + 1)
    third = Engine(config, load_data(config, quiet), tmp_path, Control(), events.append)
    assert np.array_equal(third.data.features, second.data.features + 1), "read, not computed"


def test_other_weights_have_features_of_their_own(tmp_path, cache):
    for seed in (0, 1):
        config = config_of(keep_features=True).model_copy(update={"seed": seed})
        Engine(config, load_data(config, quiet), tmp_path, Control(), lambda event: None)
    assert len(list(cache.glob("*.npy"))) == 2


def test_a_trained_network_takes_images(tmp_path, cache):
    config = config_of(keep_features=True)
    engine = Engine(config, load_data(config, quiet), tmp_path, Control(), lambda event: None)
    model = engine.parts.model.eval()
    images = torch.rand(2, 1, 16, 16)
    with torch.no_grad():
        assert torch.equal(model(images), model(model.features(images)))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"training": {"keep_features": True}}, "set the backbone learning rate to 0"),
        (
            {"training": {"keep_features": True, "backbone_lr": 0.0}, "augmentation": {"name": "shift"}},
            "without augmentation",
        ),
    ],
)
def test_a_network_that_learns_or_sees_other_images_is_refused(values, sentence):
    _, errors = RunConfig.from_values(SHORT | values, catalog.current())
    assert sentence in errors["training.keep_features"]
