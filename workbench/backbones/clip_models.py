"""Image towers of CLIP models from open_clip, an optional package; their text towers embed words for a search."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from workbench.backbones.adapters import AdapterParams, Tokens, adapt, layers_by_depth
from workbench.backbones.fetching import hub_file
from workbench.backbones.pretrained import (
    GreyToColour,
    chosen_file,
    load_into,
    other_architecture,
    read_state,
)
from workbench.backbones.prompts import takes_prompts
from workbench.backbones.recomputed import count_batches_once, first_computation
from workbench.backbones.timm_models import before_blocks
from workbench.files.packages import how_to_add
from workbench.files.unreadable import refusing
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.registry import register

SHORT_LIST = ("ViT-B-32", "ViT-B-16", "ViT-L-14", "ViT-S-32", "RN50", "ViT-B-32-quickgelu", "MobileCLIP-S1")
IMAGES = "visual."  # what the image tower's weights are called
WEIGHTS_NAME = "open_clip_model.safetensors"


class ClipModelParams(Params):
    """The model, its weights and the size of its images."""

    model: str = param("ViT-B-32", help="A model of open_clip.", label="Model", suggestions=SHORT_LIST)
    weights: Literal["none", "file", "cache"] = param(
        "none", help="Pretrained weights: none, from a file, or from this machine's cache of the Hugging Face hub."
    )
    weights_file: str = param(
        "", label="Weights file", path="file",
        help="State dict of both towers: .safetensors, or .pt with tensors only.",
    )  # fmt: skip
    tag: str = param(
        "laion2b_s34b_b79k", label="Weights' tag",
        help="open_clip's name of the weights; it also decides how colours are normalised.",
    )  # fmt: skip
    download: bool = param(
        False,
        label="Allow download",
        help="Fetch them from the Hugging Face hub when the cache has none. Preflight first says how large they are.",
    )
    image_size: int = param(
        0, ge=0, le=2048, label="Image size", unit="px",
        help="Side of the input images; position embeddings are resized to it. 0: as pretrained.",
    )  # fmt: skip
    frozen: bool = param(
        False, help="Do not train the tower. With an embedding size of 0, images can then be searched by words."
    )


class ClipParams(AdapterParams, ClipModelParams):
    """Parameters of a CLIP image tower."""


class ClipBackbone(nn.Module):
    """Images [n, 1 or 3, S, S], normalised as the model was pretrained -> the tower's own embeddings [n, feature_dim].

    `weights_path` is the file that both towers were loaded from; None without one.
    """

    def __init__(self, model: Any, params: ClipParams, channels: int, weights_path: Path | None) -> None:
        import open_clip

        super().__init__()
        self.grey, self.visual, self.weights_path = GreyToColour(), model.visual, weights_path
        self._params = params
        self.feature_dim = int(open_clip.get_model_config(params.model)["embed_dim"])
        settings = {**model.visual.preprocess_cfg, **(open_clip.get_pretrained_cfg(params.model, params.tag) or {})}
        mean, std = tuple(settings["mean"]), tuple(settings["std"])
        self.mean = mean if channels == 3 else (sum(mean) / 3,)
        self.std = std if channels == 3 else (sum(std) / 3,)
        size = model.visual.image_size
        self._side = int(size[0] if isinstance(size, tuple | list) else size)
        self.pretrained_input = (self._side, 1.0) if params.weights != "none" else None  # px, share of the image's side

    def forward(self, images: Tensor) -> Tensor:
        if images.shape[-1] != self._side:
            raise _refused(
                self._params.model, f"takes images of {self._side} px, not of {images.shape[-1]}",
                "Set its image size, or that of the data set and the crop of the augmentation.",
            )  # fmt: skip
        with first_computation():
            features: Tensor = self.visual(self.grey(images))
        return features

    def layer_groups(self) -> list[list[nn.Parameter]]:
        """All parameters by depth: before the blocks, each block, the rest. Raises Problem without blocks."""
        tokens = _tokens(self.visual)
        if tokens is None:
            raise _refused(self._params.model, "has no list of blocks", "Set the layer-wise decay to 1.")
        return layers_by_depth(self, tokens.blocks, _before_blocks(self.visual))

    def embed_texts(self, texts: Sequence[str]) -> Tensor:
        """Embeddings [n, feature_dim] of words, of length 1, by the text tower, whose weights are read again.

        Raises:
            Problem: no weights, or a text tower that needs files from the network.
        """
        import open_clip

        named = open_clip.get_model_config(self._params.model)["text_cfg"]
        if "hf_tokenizer_name" in named or "hf_model_name" in named:
            raise _refused(self._params.model, "needs a tokeniser file from the network", "Choose another model.")
        if self.weights_path is None:
            raise _refused(self._params.model, "has no pretrained weights for words", "Choose weights from a file.")
        model = _made(self._params)
        _load(model, self.weights_path, "")
        with torch.no_grad():
            embeddings: Tensor = model.eval().encode_text(open_clip.get_tokenizer(self._params.model)(list(texts)))
        return nn.functional.normalize(embeddings.float())


@register(
    "backbone", "clip", title="CLIP", params=ClipParams, pretrained=True, reads_text=True, named_by="model",
    package="open_clip", extra="clip", fetches=True,
    source="Radford et al. 2021 (CLIP); Ilharco et al. 2021, open_clip",
)  # fmt: skip
def clip_model(params: ClipParams, channels: int, progress: Progress = quiet) -> ClipBackbone:
    """Image tower of a CLIP model of open_clip; needs the extra `clip`."""
    model = _made(params)
    path = _weights(params, model, progress)
    if path is not None:
        _load(model, path, IMAGES)
    refused = partial(_refused, params.model)
    if params.frozen and (params.lora_rank or params.prompts):
        raise refused("is frozen, and would train adapters or prompts", "Unfreeze it: only those are trained then.")
    adapt(model.visual, _tokens(model.visual), params, refused)
    if params.frozen:
        model.visual.requires_grad_(False)
    if params.gradient_checkpointing:
        _recompute(model.visual, refused)
    return ClipBackbone(model, params, channels, path)


def _tokens(visual: Any) -> Tokens | None:
    """The transformer of an image tower: open_clip's own, or one of timm that takes prompts; else None."""
    trunk = getattr(visual, "trunk", None)
    if trunk is not None:
        return Tokens(trunk.blocks, trunk.embed_dim) if takes_prompts(trunk) else None
    own = getattr(visual, "transformer", None)
    return None if own is None else Tokens(own.resblocks, own.width)


def _before_blocks(visual: Any) -> list[nn.Parameter]:
    """Parameters that act before the first block: patches, class token, positions."""
    if hasattr(visual, "trunk"):
        return before_blocks(visual.trunk)
    parts = [*visual.conv1.parameters(), *visual.ln_pre.parameters()]
    return [visual.class_embedding, visual.positional_embedding, *parts]


def _recompute(visual: Any, refused: Callable[[str, str], Problem]) -> None:
    """Have the tower's blocks compute their activations twice."""
    trunk = getattr(visual, "trunk", None)
    cannot = refused("has no gradient checkpointing", "Switch it off.")
    if trunk is None and not hasattr(visual, "transformer"):
        raise cannot
    try:
        (visual if trunk is None else trunk).set_grad_checkpointing(True)
    except AssertionError:  # as timm says that a model cannot
        raise cannot from None
    count_batches_once(visual)


def _made(params: ClipParams) -> Any:
    """Both towers without weights. Raises Problem for an unknown model, or where open_clip is not installed."""
    if find_spec("open_clip") is None:
        raise Problem(f"CLIP needs open_clip_torch: {how_to_add('clip')}.", kept="Nothing was started.")
    import open_clip  # seconds: here, so that runs with other backbones start without it

    if params.model not in open_clip.list_models():
        near = ", ".join(name for name in open_clip.list_models() if name.lower()[:5] == params.model.lower()[:5])
        raise _refused(
            params.model, "is not a model of open_clip", f"Similar names: {near}." if near else "Choose another."
        )
    try:
        return open_clip.create_model(
            params.model, pretrained_text=False, force_image_size=params.image_size or None, load_weights=False
        )
    except (ImportError, RuntimeError, TypeError, ValueError) as error:
        raise _refused(
            params.model, f"cannot be made ({str(error).partition(chr(10))[0]})", "Choose another."
        ) from None


def _weights(params: ClipParams, model: Any, progress: Progress) -> Path | None:
    """The file that the weights come from; None without one."""
    import open_clip

    if params.weights == "none":
        return None
    settings = open_clip.get_pretrained_cfg(params.model, params.tag) or {}
    quick = bool((open_clip.get_model_config(params.model) or {}).get("quick_gelu", False))
    if settings and bool(settings.get("quick_gelu", False)) != quick:
        raise _refused(
            params.model, f"needs another activation for its weights {params.tag!r}",
            f"Take {params.model.removesuffix('-quickgelu') + ('' if quick else '-quickgelu')}.",
        )  # fmt: skip
    if params.weights == "file":
        return chosen_file(params.weights_file)
    repository = str(settings.get("hf_hub", "")).rstrip("/")
    if not repository:
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(params.model))
        raise _refused(params.model, f"has no weights {params.tag!r} on the hub", f"Its tags: {tags}.")
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    return hub_file(f"open_clip's model {params.model!r}", repository, WEIGHTS_NAME, size, params.download, progress)


def _load(model: Any, path: Path, prefix: str) -> None:
    """Weights of the tower whose names begin with `prefix`, or of both; positions of another size are resized."""
    from open_clip.model import resize_pos_embed

    state = read_state(path)
    with refusing(partial(other_architecture, path)):
        resize_pos_embed(state, model)
    tower = model.visual if prefix else model
    load_into(tower, {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}, str(path))


def _refused(name: str, why: str, todo: str) -> Problem:
    return Problem(f"open_clip's model {name!r} {why}.", kept="Nothing was started.", todo=todo)
