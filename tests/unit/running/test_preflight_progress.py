"""Preflight says what the engine does that takes long, and hears Cancel there: a download, features of a backbone."""

import pytest

from tests.unit.class_folders import draw_classes
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.control import Cancelled
from workbench.running.preflight import preflight


@pytest.fixture
def config(tmp_path):
    """A run whose backbone is frozen and whose features are kept."""
    draw_classes(tmp_path / "images", "ant", "bee", "cat", count=8)
    return RunConfig(
        name="kept", device="cpu", dataset=Choice(name="folder", params={"folder": str(tmp_path / "images")}),
        backbone=Choice(name="squeezenet1_0", params={"frozen": "all"}),
        training=TrainingParams(epochs=1, batch_size=8, keep_features=True),
    )  # fmt: skip


def test_preflight_tells_what_the_engine_does_before_the_first_step(config):
    heard = []
    preflight(config, lambda *words: heard.append(words))
    doing = [text for text, *_ in heard]
    assert doing.index("Building the model") < doing.index("Computing the features of the frozen backbone")
    assert doing[-2:] == ["Trying a few steps", "Estimating time and disk space"]


def test_preflight_is_cancelled_while_the_engine_computes_features(config):
    asked = []

    def hear(text, done, total):
        if text == "Computing the features of the frozen backbone":
            asked.append(text)

    with pytest.raises(Cancelled):
        preflight(config, hear, lambda: bool(asked))
    assert len(asked) == 1
