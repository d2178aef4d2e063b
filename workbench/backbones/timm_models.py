"""Any image model of timm that gives features: transformers (ViT, DINOv2, DINOv3, EVA, Swin) and newer CNNs."""

import re
import sys
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn

from workbench.backbones.adapters import AdapterParams, Tokens, adapt, layers_by_depth
from workbench.backbones.fetching import hub_file
from workbench.backbones.pooling import GeM, Max, Mean
from workbench.backbones.pretrained import (
    GreyToColour,
    chosen_file,
    freeze_batch_norm,
    load_into,
    other_architecture,
    read_state,
)
from workbench.backbones.prompts import takes_prompts
from workbench.backbones.recomputed import count_batches_once, first_computation
from workbench.files.unreadable import refusing
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.registry import register

SHORT_LIST = (  # what the form lists first of all models
    "vit_small_patch16_224", "vit_base_patch16_224", "vit_small_patch16_224.dino", "vit_small_patch14_dinov2.lvd142m",
    "vit_small_patch16_dinov3.lvd1689m", "convnext_tiny", "eva02_small_patch14_224", "swin_tiny_patch4_window7_224",
    "mobilenetv4_conv_small", "resnet50",
)  # fmt: skip
POOLS = {"mean": Mean, "max": Max, "gem": GeM}
AS_WANTED = 0.25  # share of a side by which the one that the weights were trained with may differ, to be proposed
SHOWN = 5  # similar names in a message
WEIGHTS_NAME = "model.safetensors"  # what every timm repository of the hub holds


class TimmModelParams(Params):
    """The model, its weights, pooling and which blocks are trained."""

    model: str = param(
        "vit_small_patch16_224", label="Model",
        help="Name of a timm model, with the tag of its weights if there are several.",
        offered="timm_models",
    )  # fmt: skip
    weights: Literal["none", "file", "cache"] = param(
        "none", help="Pretrained weights: none, from a file, or from this machine's cache of the Hugging Face hub."
    )
    weights_file: str = param(
        "", label="Weights file", path="file", help="State dict of this model: .safetensors, or .pth with tensors only."
    )
    download: bool = param(
        False,
        label="Allow download",
        help="Fetch them from the Hugging Face hub when the cache has none. Preflight first says how large they are.",
    )
    pooling: Literal["model", "token", "mean", "max", "gem"] = param(
        "model",
        help="model: as pretrained; token: the class token; mean, max, gem: over all positions.",
    )
    frozen_blocks: int = param(
        0, ge=0, le=200, label="Frozen blocks", unit="blocks",
        help="How many blocks, from the input on, are not trained, with all layers before them.",
    )  # fmt: skip
    frozen_patches: bool = param(
        False, label="Frozen patches",
        help="Do not train a transformer's first layer, the projection of patches. Frozen blocks include it.",
    )  # fmt: skip
    frozen_batch_norm: bool = param(
        False,
        label="Freeze batch-norm",
        help="Do not train batch-norm: its statistics, scale and shift stay as loaded.",
    )
    drop_path: float = param(
        0.0, ge=0, lt=1, label="Stochastic depth", help="Probability that a block is skipped for an image in training."
    )


class TimmParams(AdapterParams, TimmModelParams):
    """Parameters of a backbone of timm."""


class TimmBackbone(nn.Module):
    """Images [n, 1 or 3, H, W], normalised as the model was pretrained -> features [n, feature_dim]."""

    def __init__(self, model: Any, params: TimmParams, channels: int, weights_path: Path | None) -> None:
        super().__init__()
        settings: dict[str, Any] = model.pretrained_cfg
        self.grey, self.model, self.weights_path = GreyToColour(), model, weights_path
        self.name, self.pooling = params.model, params.pooling
        side, crop = int(settings["input_size"][-1]), float(settings["crop_pct"])
        self.pretrained_input = (side, crop) if params.weights != "none" else None  # px, share of the image's side
        self.licence = (settings.get("license") or "") if params.weights == "cache" else ""
        self.pool = POOLS[params.pooling]() if params.pooling in POOLS else None
        self.tokens = int(getattr(model, "num_prefix_tokens", 0))
        self.feature_dim = int(model.num_features if params.pooling != "model" else model.head_hidden_size)
        mean, std = tuple(settings["mean"]), tuple(settings["std"])
        self.mean = mean if channels == 3 else (sum(mean) / 3,)
        self.std = std if channels == 3 else (sum(std) / 3,)
        self._fits: set[tuple[int, int]] = set()

    def forward(self, images: Tensor) -> Tensor:
        if tuple(images.shape[-2:]) not in self._fits:
            self._check_size(images.shape[-2], images.shape[-1])
        with first_computation():
            return self._features(self.grey(images))

    def _features(self, images: Tensor) -> Tensor:
        try:
            features = self.model.forward_features(images)
        except AssertionError as error:  # as timm says that a size does not fit
            own = self.model.pretrained_cfg["input_size"][-1]
            reason = str(error).rstrip(".") or "a layer refuses them"
            raise _wrong_size(self.name, images.shape[-1], f"{reason} (it was pretrained at {own} px)", own) from None
        if self.pooling == "model":
            head: Tensor = self.model.forward_head(features, pre_logits=True)
            return head
        if not isinstance(features, Tensor):
            raise _refused(self.name, "has features of several resolutions", 'Set the pooling to "model".')
        if self.pool is None:
            token: Tensor = features[:, 0]
            return token
        pooled: Tensor = self.pool(self._places(features))
        return pooled

    def layer_groups(self) -> list[list[nn.Parameter]]:
        """All parameters by depth: before the blocks, each block, the rest. Raises Problem without blocks."""
        blocks = blocks_of(self.model)
        if not blocks:
            raise _refused(self.name, "has no list of blocks", "Set the layer-wise decay to 1.")
        return layers_by_depth(self, blocks, before_blocks(self.model))

    def _places(self, features: Tensor) -> Tensor:
        """Features by place [n, t, d], without class and register tokens."""
        if features.dim() == 3:
            return features[:, self.tokens :]
        last = getattr(self.model, "output_fmt", "NCHW") == "NHWC"
        return features.flatten(1, 2) if last else features.flatten(2).transpose(1, 2)

    def _check_size(self, height: int, width: int) -> None:
        """Raises Problem if images of this size do not go with the model."""
        from timm.layers import PatchEmbed

        embeds = (module for module in self.model.modules() if isinstance(module, PatchEmbed))
        of_images = (module for module in embeds if getattr(module.proj, "in_channels", 3) == 3)  # not of a stem
        embed = next(of_images, None)
        patch = (1, 1) if embed is None else embed.patch_size
        fixed = None if embed is None or not embed.strict_img_size else embed.img_size
        if fixed is not None and (height, width) != tuple(fixed):
            raise _wrong_size(self.name, width, f"it takes {fixed[0]} px only", fixed[0])
        if height % patch[0] or width % patch[1]:
            near = max(patch[0], round(height / patch[0]) * patch[0])
            own = int(self.model.pretrained_cfg.get("input_size", (3, near, near))[-1])  # that of its weights
            near = own if abs(own - height) <= AS_WANTED * height and own % patch[0] == 0 else near
            why = f"its patches of {patch[0]} px need a multiple of that, such as {near}"
            raise _wrong_size(self.name, width, why, near)
        self._fits.add((height, width))


@register(
    "backbone", "timm", title="timm", params=TimmParams, pretrained=True, source="Wightman 2019, timm",
    named_by="model", fetches=True,
)  # fmt: skip
def timm_model(params: TimmParams, channels: int, progress: Progress = quiet) -> TimmBackbone:
    """Any model of timm by name: vision transformers, ConvNeXt, Swin and hundreds of others."""
    model = _made(params)
    path = _weights(params, model, progress)
    if path is not None:
        _load(model, path)
    if params.frozen_batch_norm:
        freeze_batch_norm(model)
    refused = partial(_refused, params.model)
    adapt(model, _tokens(model), params, refused, partial(_freeze, model, params))
    if params.pooling == "token" and not _has_class_token(model):
        raise _refused(params.model, "has no class token", "Choose another pooling.")
    if params.gradient_checkpointing:
        try:
            model.set_grad_checkpointing(True)
        except AssertionError:  # as timm says that a model cannot
            raise _refused(params.model, "has no gradient checkpointing", "Switch it off.") from None
        count_batches_once(model)
    return TimmBackbone(model, params, channels, path)


def _made(params: TimmParams) -> Any:
    import timm  # seconds: here, so that runs with other backbones start without it

    options: dict[str, Any] = {"num_classes": 0, "pretrained": False}
    if params.drop_path:
        options["drop_path_rate"] = params.drop_path
    if not timm.is_model(params.model.partition(".")[0]):
        similar = _similar(params.model, timm.list_models())
        raise Problem(
            f"timm has no model {params.model!r}.", kept="Nothing was started.",
            todo=f"Similar names: {', '.join(similar)}.", field="backbone.model", fits=similar[0],
        )  # fmt: skip
    try:
        try:
            model = timm.create_model(params.model, dynamic_img_size=True, **options)
        except TypeError:  # a model whose size is free anyway, or fixed
            model = timm.create_model(params.model, **options)
    except (TypeError, RuntimeError, ValueError) as error:
        raise _refused(
            params.model, f"cannot be made ({str(error).partition(chr(10))[0]})", "Choose another."
        ) from None
    if not all(hasattr(model, attribute) for attribute in ("forward_features", "forward_head", "num_features")):
        raise _refused(params.model, "gives no pooled features", "Choose another.")
    return model


def _similar(typed: str, names: list[str]) -> list[str]:
    """Names that the typed one may have meant: those that begin with it or hold it or its words, else those like it."""
    plain = re.sub(r"[^a-z0-9]+", "_", typed.partition(".")[0].lower()).strip("_")
    if not plain:
        return list(SHORT_LIST[:SHOWN])
    words = plain.split("_")
    holding = [name for name in names if plain in name] or [
        name for name in names if all(word in name for word in words)
    ]
    bare = {name.replace("_", ""): name for name in reversed(names)}
    spelled = [bare[close] for close in get_close_matches(plain.replace("_", ""), bare, SHOWN)]
    near = sorted(holding, key=lambda name: (not name.startswith(plain), len(name)))
    return near[:SHOWN] or spelled or list(SHORT_LIST[:SHOWN])


def _weights(params: TimmParams, model: Any, progress: Progress) -> Path | None:
    """The file that the weights come from; None without one."""
    if params.weights == "none":
        return None
    if params.weights == "file":
        return chosen_file(params.weights_file)
    repository = model.pretrained_cfg.get("hf_hub_id")
    if not repository:
        raise _refused(params.model, "names no weights on the hub", "Choose a file, or set the weights to none.")
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    licence = model.pretrained_cfg.get("license") or ""
    title = f"timm's model {params.model!r}"
    return hub_file(title, repository, WEIGHTS_NAME, size, params.download, progress, licence)


def _load(model: Any, path: Path) -> None:
    state = read_state(path)
    rename = getattr(sys.modules[type(model).__module__], "checkpoint_filter_fn", None)
    if rename is not None:  # timm's own: older names, and positional embeddings of another size resized
        with refusing(partial(other_architecture, path)):
            state = rename(state, model)
    names = model.pretrained_cfg.get("classifier") or ()
    heads = tuple(f"{name}." for name in ((names,) if isinstance(names, str) else names))
    load_into(model, {key: value for key, value in state.items() if not key.startswith(heads)}, str(path))


def _has_class_token(model: nn.Module) -> bool:
    """Whether the first of its features is a class token; it may have register tokens alone."""
    names = {name.rpartition(".")[2] for name, _ in model.named_parameters()}
    return bool(getattr(model, "num_prefix_tokens", 0)) and "cls_token" in names


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """The blocks or stages of a model, from the image on; none if timm names none."""
    return list(getattr(model, "blocks", None) or getattr(model, "stages", None) or ())


def before_blocks(model: nn.Module) -> list[nn.Parameter]:
    """Parameters that act before the first block: patches, class token, positional embedding."""
    parameters = list(model.parameters(recurse=False))
    for name, child in model.named_children():
        if name in ("blocks", "stages"):
            break
        parameters += child.parameters()
    return parameters


def _tokens(model: Any) -> Tokens | None:
    return Tokens(model.blocks, model.embed_dim) if takes_prompts(model) else None


def _freeze(model: nn.Module, params: TimmParams) -> None:
    """Freeze the projection of patches, or the first blocks and what acts before them."""
    if params.frozen_patches:
        patches = getattr(model, "patch_embed", None)
        if not isinstance(patches, nn.Module):
            raise _refused(params.model, "has no projection of patches", "Train all layers, or use a transformer.")
        patches.requires_grad_(False)
    if not params.frozen_blocks:
        return
    blocks = blocks_of(model)
    if not blocks:
        raise _refused(params.model, "has no list of blocks", "Set the frozen blocks to 0.")
    for weight in before_blocks(model):
        weight.requires_grad_(False)
    for block in blocks[: params.frozen_blocks]:
        block.requires_grad_(False)


def _refused(name: str, why: str, todo: str) -> Problem:
    return Problem(f"timm's model {name!r} {why}.", kept="Nothing was started.", todo=todo)


def _wrong_size(name: str, side: int, why: str, fits: int) -> Problem:
    return Problem(
        f"Images of {side} px do not fit {name}: {why}.",
        kept="Nothing was started.",
        todo="Set the image size of the data set and the crop of the augmentation.",
        field="dataset.image_size",
        fits=fits,
    )
