"""Preflight says when images are not cut as they were for the pretrained weights."""

import numpy as np
import pytest
import timm
from PIL import Image
from safetensors.torch import save_file

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.running.facts.remarks import input_notes

SIDE, CROP = 160, 0.95  # of timm's pretrained_cfg of this model


@pytest.fixture
def notes(tmp_path):
    for number in range(16):
        (folder := tmp_path / "images" / f"class-{number % 4}").mkdir(parents=True, exist_ok=True)
        shades = np.random.default_rng(number).integers(0, 256, (168, 168, 3), np.uint8)
        Image.fromarray(shades).save(folder / f"{number}.png")
    file = tmp_path / "weights.safetensors"
    save_file(timm.create_model("test_vit", num_classes=0).state_dict(), file)

    def of(image_size, crop, weights="file", once=False, **augmentation):
        backbone = {"model": "test_vit", "weights": weights, "weights_file": str(file) if weights == "file" else ""}
        config = RunConfig(
            name="cut", device="cpu",
            dataset=Choice(name="folder", params={"folder": str(tmp_path / "images"), "image_size": image_size}),
            split=Choice(name="random"), sampler=Choice(name="random"),
            backbone=Choice(name="timm", params=backbone),
            augmentation=Choice(name="none")
            if once
            else Choice(name="crop_flip", params={"crop": crop, **augmentation}),
            embedding=EmbeddingParams(dim=8),
            training=TrainingParams(epochs=1, batch_size=4, keep_features=once, backbone_lr=0.0 if once else 1.0),
            evaluation=EvaluationParams(probe_size=0, neighbours=2, untrained=False),
        )  # fmt: skip
        return input_notes(Engine(config, load_data(config, quiet), tmp_path, Control(), lambda event: None))

    return of


def test_the_models_crop_is_that_of_timm():
    settings = timm.get_pretrained_cfg("test_vit")
    assert (settings.input_size[-1], settings.crop_pct) == (SIDE, CROP)


def test_another_crop_and_side_are_named_with_what_gives_the_same(notes):
    assert notes(64, 0.75) == [
        (
            "the pretrained weights",
            "were evaluated on a centre crop of 95.0% at 160 px; here it is 75.0% at 48 px. "
            "Image size 168 and Crop 0.95 give the same",
        )
    ]


def test_the_same_crop_needs_no_word(notes):
    assert notes(168, 0.95) == []


def test_without_weights_or_with_squeezed_images_there_is_nothing_to_say(notes):
    assert notes(64, 0.75, weights="none") == []
    assert notes(64, 0.75, evaluated="whole", crops_of="whole") == []


def test_features_that_are_computed_once_are_no_image(notes):
    ((_, said),) = notes(SIDE, 1, once=True)
    assert f"here it is 100.0% at {SIDE} px" in said
