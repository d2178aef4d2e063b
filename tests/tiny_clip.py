"""A CLIP model of two small towers with random weights, and a run of it, for tests of words and images."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams

BARE = EmbeddingParams(dim=0, batch_norm=False)
TINY = {
    "embed_dim": 12,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 8, "heads": 1, "layers": 1},
}


def make_weights(folder: Path) -> tuple[Any, Path]:
    """The model as open_clip makes it, known to open_clip as "tiny-clip", and the file of its weights."""
    import open_clip

    (folder / "tiny-clip.json").write_text(json.dumps(TINY))
    open_clip.add_model_config(folder)
    torch.manual_seed(0)
    whole = open_clip.create_model("tiny-clip")
    save_file(whole.state_dict(), folder / "weights.safetensors")
    return whole.eval(), folder / "weights.safetensors"


def clip_run(path: Path, **changes: Any) -> RunConfig:
    """A run of digits whose backbone is that tower, frozen, without a head."""
    params = {"model": "tiny-clip", "weights": "file", "weights_file": str(path), "frozen": True}
    return RunConfig(
        name="tower", device="cpu", backbone=Choice(name="clip", params=params | changes.pop("backbone", {})),
        embedding=changes.pop("embedding", BARE), training=TrainingParams(epochs=1, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, neighbours=2, untrained=False, **changes),
    )  # fmt: skip
