"""Whole runs on a GPU with each thing that a config can ask for; what is kept goes on, or is read, on the CPU."""

import subprocess
import sys
from math import isfinite

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils._pytree import tree_leaves

from workbench.backbones.model import EmbeddingModel
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Evaluated, Saved, Scalar
from workbench.losses import list_losses
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.training import checkpoint

VIT = {"model": "vit_tiny_patch16_224"}
SAMPLER = Choice(name="classes_images", params={"images_per_class": 4})
MEETS = {"nt_xent": {"views": 2}, "supcon": {"views": 2}}  # losses whose classes are the images of a batch


def config_of(device, **sections):
    training = {"epochs": 1, "batch_size": 32, **sections.pop("training", {})}
    evaluation = {"probe_size": 64, "probe_every": 10, **sections.pop("evaluation", {})}
    backbone = sections.pop("backbone", Choice(name="conv4", params={"width": 16}))
    return RunConfig(
        device=device, backbone=backbone, embedding=EmbeddingParams(dim=16), evaluation=EvaluationParams(**evaluation),
        training=TrainingParams(**training), **sections,
    )  # fmt: skip


def ended(config, folder):
    """The events of a run after its last epoch."""
    events = []
    folder.mkdir(exist_ok=True)
    data = load_data(config, quiet)
    try:
        engine = Engine(config, data, folder, Control(), events.append)
        engine.run()
    finally:
        data.close()
    scalars = [event for event in events if isinstance(event, Scalar) and event.name.startswith(("batch/", "test/"))]
    assert scalars
    assert all(isfinite(event.value) for event in scalars)
    assert any(isinstance(event, Evaluated) for event in events)
    assert any(isinstance(event, Saved) for event in events)
    return engine, events


@pytest.fixture
def photographs(tmp_path):
    """A folder of 4 classes with 12 pictures wider than high."""
    rng = np.random.default_rng(0)
    for label in range(4):
        folder = tmp_path / "photographs" / f"class{label}"
        folder.mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 60, (48, 64, 3), np.uint8)
            pixels[:, :, label % 3] += 60 + 40 * label
            Image.fromarray(pixels).save(folder / f"{number}.jpg")
    return Choice(name="folder", params={"folder": str(tmp_path / "photographs"), "image_size": 32})


@pytest.mark.parametrize("loss", list_losses())
def test_every_loss_trains(loss, gpu, tmp_path):
    sampler = SAMPLER if loss not in MEETS else Choice(name="random")
    ended(config_of(gpu, loss=Choice(name=loss), sampler=sampler, training=MEETS.get(loss, {})), tmp_path)


FEATURES = {
    "float32": {"precision": "float32"},
    "bf16": {"precision": "bf16"},
    "deterministic": {"deterministic": True},
    "average": {"weight_average": 0.9},
    "clipped": {"clip_norm": 1.0},
    "adamw": {"optimiser": "adamw", "weight_decay": 0.01, "warmup_steps": 5},
    "sgd": {"optimiser": "sgd", "nesterov": True, "lr": 0.01},
    "head first": {"head_epochs": 1, "epochs": 2},
}


@pytest.mark.parametrize("feature", FEATURES)
def test_a_run_with(feature, gpu, tmp_path):
    ended(config_of(gpu, training=FEATURES[feature]), tmp_path)


def test_float16_with_its_scaler(gpu, tmp_path):
    ended(config_of(gpu, training={"precision": "fp16"}), tmp_path)


EVALUATIONS = {
    "linear probe": {"linear_probe": True},
    "other distance": {"other_distance": True},
    "l2": {"distance": "l2", "nmi": True},
    "training set": {"store_training": True, "anatomy_every": 10},
}


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_an_evaluation_with(evaluation, gpu, tmp_path):
    ended(config_of(gpu, evaluation=EVALUATIONS[evaluation]), tmp_path)


TRANSFORMERS = {
    "plain": {},
    "lora": {"lora_rank": 4},
    "deep prompts": {"prompts": 4},
    "shallow prompts": {"prompts": 4, "prompt_depth": "shallow"},
    "frozen blocks": {"frozen_blocks": 6},
    "gem": {"pooling": "gem"},
    "checkpointed": {"gradient_checkpointing": True},
    "dropped": {"drop_path": 0.1},
}


def transformer(**params):
    return Choice(name="timm", params={**VIT, **params})


@pytest.mark.parametrize("kind", TRANSFORMERS)
def test_a_transformer_with(kind, gpu, photographs, tmp_path):
    config = config_of(
        gpu, dataset=photographs, split=Choice(name="random"), backbone=transformer(**TRANSFORMERS[kind]),
        augmentation=Choice(name="crop_flip", params={"crop": 1.0, "crops_of": "whole"}),
        training={"batch_size": 8},
    )  # fmt: skip
    ended(config, tmp_path / "run")


@pytest.mark.parametrize("training", [{"chunk": 4}, {"layer_decay": 0.7}, {"keep_features": True}])
def test_a_transformer_trained_with(training, gpu, photographs, tmp_path):
    frozen = {"frozen_blocks": 12} if "keep_features" in training else {}
    augmentation = Choice(name="none")
    if "keep_features" not in training:
        augmentation = Choice(name="crop_flip", params={"crop": 1.0})
    config = config_of(
        gpu, dataset=photographs, split=Choice(name="random"), backbone=transformer(**frozen),
        augmentation=augmentation, training={"batch_size": 8, **training},
    )  # fmt: skip
    ended(config, tmp_path / "run")


@pytest.mark.parametrize("kept", ["pixels", "encoded"])
@pytest.mark.parametrize(
    "augmentation",
    [
        Choice(name="none"),
        Choice(name="shift"),
        Choice(name="crop_flip", params={"jitter": 0.3, "hue": 0.1}),
        Choice(name="crop_flip", params={"crops_of": "whole", "jitter": 0.3, "hue": 0.1}),
        Choice(name="strong"),
    ],
    ids=["none", "shift", "squares", "whole", "strong"],
)
def test_an_augmentation_of(kept, augmentation, gpu, photographs, tmp_path):
    if kept == "pixels" and augmentation.params.get("crops_of") == "whole":
        pytest.skip("whole images are kept encoded")
    config = config_of(
        gpu, dataset=photographs, split=Choice(name="random"), augmentation=augmentation,
        training={"batch_size": 8, "keep_images": kept},
    )  # fmt: skip
    ended(config, tmp_path / "run")


def test_a_checkpoint_of_one_device_goes_on_on_the_other(gpu, tmp_path):
    first, _ = ended(config_of(gpu, training={"weight_average": 0.9, "epochs": 2}), tmp_path / "first")
    for other in dict.fromkeys(("cpu", gpu)):
        folder = tmp_path / other  # each goes on from the second epoch, and writes its own checkpoints
        folder.mkdir()
        config = config_of(other, training={"weight_average": 0.9, "epochs": 3})
        data, events = load_data(config, quiet), []
        engine = Engine(config, data, folder, Control(), events.append)
        engine.resume(tmp_path / "first" / "last.pt")
        images = torch.from_numpy(np.array(data.pixels[:32])).permute(0, 3, 1, 2).float() / 255
        one, again = (
            made.parts.model.eval()(images.to(made.parts.device)).detach().float().cpu() for made in (first, engine)
        )
        assert isinstance(engine.parts.model, EmbeddingModel)
        assert torch.allclose(one, again, atol=1e-2), "TF32 multiplies with ten bits"
        engine.run()
        assert any(isinstance(event, Evaluated) and event.epoch == 3 for event in events)


def test_a_checkpoint_is_read_without_a_gpu(gpu, tmp_path):
    ended(config_of(gpu), tmp_path)
    leaves = tree_leaves(checkpoint.load(tmp_path / "last.pt"))
    assert all(leaf.device.type == "cpu" for leaf in leaves if isinstance(leaf, torch.Tensor))


@pytest.mark.parametrize("compiled", ["false", "true"])
def test_the_command_line_trains_and_reads(compiled, device, tmp_path):
    def workbench(*words):
        return subprocess.run(
            [sys.executable, "-m", "workbench", *words, "-w", str(tmp_path / "space")],
            capture_output=True, text=True, timeout=900,
        )  # fmt: skip

    settings = f"device={device}", "training.epochs=2", f"training.compile_backbone={compiled}"
    run = workbench("run", "sample-digits", *(word for setting in settings for word in ("--set", setting)))
    assert run.returncode == 0, run.stderr
    listed = workbench("list", "runs")
    assert "done" in listed.stdout, listed.stdout + listed.stderr
