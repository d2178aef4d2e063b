"""Images wider than 2:1 whose class is told by their sides alone: crops of the whole image learn it, squares cannot."""

import numpy as np
import pytest
from PIL import Image

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Evaluated
from workbench.running.building import load_data
from workbench.running.engine import Engine

CLASSES, OF_EACH, HIGH, WIDE = 4, 24, 32, 100
COLOURS = np.array([[150, 100, 100], [100, 150, 100], [100, 100, 150], [140, 140, 90]])


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """Noise in the middle, noise around the colour of the class at both ends."""
    folder, rng = tmp_path_factory.mktemp("sides"), np.random.default_rng(0)
    for label in range(CLASSES):
        (folder / f"class {label}").mkdir()
        for number in range(OF_EACH):
            pixels = rng.normal(120, 50, (HIGH, WIDE, 3))
            for ends in (slice(0, 30), slice(WIDE - 30, WIDE)):
                pixels[:, ends] += COLOURS[label] - 120
            Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / f"class {label}" / f"{number}.png")
    return folder


def recall_of(sides, tmp_path, **augmentation):
    config = RunConfig(
        device="cpu", dataset=Choice(name="folder", params={"folder": str(sides), "image_size": HIGH}),
        split=Choice(name="random"), backbone=Choice(name="conv4", params={"width": 8}),
        embedding=EmbeddingParams(dim=16), evaluation=EvaluationParams(probe_size=0, untrained=False, every=100),
        augmentation=Choice(name="crop_flip", params=augmentation),
        training=TrainingParams(epochs=20, batch_size=24, lr=0.005),
    )  # fmt: skip
    events = []
    Engine(config, load_data(config, lambda *_: None), tmp_path, Control(), events.append).run()
    [evaluated] = [event for event in events if isinstance(event, Evaluated)]
    return evaluated.metrics["MAP@R"]


def test_it_cannot_be_learned_from_the_centre_square_and_is_from_crops_of_the_whole_image(sides, tmp_path):
    assert recall_of(sides, tmp_path) < 0.45, "chance is .25"
    assert recall_of(sides, tmp_path, crops_of="whole", evaluated="whole") > 0.8
