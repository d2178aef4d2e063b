"""Weights from a file: checked before they are used, and never partly loaded; what pretrained networks share."""

import os
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from workbench.files.tensor_files import read_tensors
from workbench.files.unreadable import refusing
from workbench.names import visible_name
from workbench.numerals import byte_size
from workbench.params import Params, param
from workbench.problem import Problem

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet
CLASSIFIERS = ("fc.", "last_linear.", "classifier.", "AuxLogits.", "aux1.", "aux2.")
FOLDED = "folded_batch_norm"  # mark of a layer
NEAR = 1e-3  # to a variance of 1, from which some programs take the layer's epsilon
NAMED = 4  # keys named in a message
LONGEST_KEY = 100  # letters of one of them
MOST_LISTED = 8 << 20  # bytes of the list of tensors of a .safetensors file, about 80,000 of them
FLOATS = torch.float64, torch.float32, torch.float16, torch.bfloat16
INTEGERS = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
TRAINED = "backbone."  # before the names of the backbone's weights in what a run exports; the head is left out
NUMBERS = frozenset((*FLOATS, *INTEGERS))  # types of weights that are converted to the network's own
WRAPPERS = ("state_dict", "model")  # under which published checkpoints keep the state dict beside other values


def trained_file() -> Any:
    """The field of a backbone that names such a file; `build_model` loads it."""
    return param(
        "", label="Trained weights", path="file",
        help="Weights of this network that another run trained, to start from: its export \"Trained weights\" "
        "(.safetensors). The head is initialised again.",
    )  # fmt: skip


class PretrainedParams(Params):
    """Parameters of every torchvision backbone."""

    weights: Literal["none", "file", "cache"] = param(
        "none", help="ImageNet weights: none, from a file, or from torch's cache on this machine."
    )
    weights_file: str = param(
        "", label="Weights file", path="file", help="A state dict for this architecture: .pth or .safetensors."
    )
    download: bool = param(
        False,
        label="Allow download",
        help="Fetch the weights when the cache has none. Until then Preflight says from where, and how large they are.",
    )
    trained_file: str = trained_file()
    levels: Literal["last", "low_mid_high"] = param(
        "last", help="low_mid_high concatenates the features of three depths, as ICE does."
    )
    pooling: Literal["mean", "max", "both"] = param(
        "mean", help="Over the positions of the last feature map: mean, maximum, or the sum of both."
    )
    frozen: Literal["none", "low", "low_mid", "all"] = param(
        "none", label="Frozen layers", help="Up to which depth, from the input on, weights are not trained."
    )
    frozen_batch_norm: bool = param(
        False,
        label="Freeze batch-norm",
        help="Do not train batch-norm: its statistics, scale and shift stay as loaded.",
    )
    gradient_checkpointing: bool = param(
        False, label="Gradient checkpointing", help="Compute activations twice instead of keeping them: less memory."
    )


def load_into(model: nn.Module, state: dict[str, Tensor], source: str) -> None:
    """Copy weights without the classifier; batch-norm that was folded into them is frozen.

    Raises:
        Problem: names what is missing, unknown, of another shape, or not finite.
    """
    own = {key: value for key, value in model.state_dict().items() if not key.startswith(CLASSIFIERS)}
    weights = {key: value for key, value in state.items() if not key.startswith(CLASSIFIERS)}
    optional = {key for key in own if key.endswith("num_batches_tracked")}
    missing = sorted(own.keys() - weights.keys() - optional)
    unknown = sorted(weights.keys() - own.keys())
    shapes = sorted(key for key in own.keys() & weights.keys() if own[key].shape != weights[key].shape)
    for wrong, word in ((missing, "lacks"), (unknown, "has no place for"), (shapes, "has in another shape")):
        if wrong:
            raise Problem(
                f"The weights of {source} are for another architecture: the file {word} {_listed(wrong)}.",
                kept="Nothing was started.",
                todo="Choose the backbone that the file belongs to, or another file.",
            )
    if broken := sorted(key for key, value in weights.items() if not _is_finite(value, own[key])):
        raise Problem(
            f"The weights of {source} hold values that are not finite numbers, in {_listed(broken)}.",
            kept="Nothing was started.",
            todo="Choose another file.",
        )
    model.load_state_dict({**own, **weights}, strict=False)
    _freeze_folded(model)


def load_trained(backbone: nn.Module, path: Path, title: str) -> None:
    """Put in what another run trained; `weights_path` names the file where it holds all weights of the backbone.

    Args:
        backbone: as it was made, with its adapters and prompts.
        path: the export "Trained weights" of a run.
        title: of the backbone, for messages.

    Raises:
        Problem: a file of another network, of other adapters or prompts, or without what is trained here.
    """
    state = {key.removeprefix(TRAINED): value for key, value in read_state(path).items() if key.startswith(TRAINED)}
    own = backbone.state_dict()
    weights = dict(backbone.named_parameters())
    trained = {name for name, weight in weights.items() if weight.requires_grad}
    unfit = [key for key, value in state.items() if key not in own or own[key].shape != value.shape]
    if unfit or not trained <= state.keys():
        wrong = sorted(unfit) or sorted(trained - state.keys())
        raise Problem(
            f"{title} does not match the trained weights in {path}, such as {wrong[0]}.",
            kept="Nothing was started.",
            todo="Choose the same backbone with the same fields (model, width, prompts, adapters) as that run, and "
            "freeze at least as much; or leave the trained weights out.",
            field="backbone.trained_file",
        )
    backbone.load_state_dict(state, strict=False)
    if getattr(backbone, "weights_path", None) is None and weights.keys() <= state.keys():
        backbone.weights_path = path  # type: ignore[assignment]


def _is_finite(value: Tensor, own: Tensor) -> bool:
    """Whether every number is finite, also as one of the network's type, which may be smaller."""
    return bool(torch.isfinite(value.to(own.dtype)).all())


def _listed(keys: list[str]) -> str:
    names = ", ".join(visible_name(key, LONGEST_KEY) for key in keys[:NAMED])
    return names + (f" and {len(keys) - NAMED} more" if len(keys) > NAMED else "")


def other_architecture(path: Path, why: str) -> Problem:
    """The Problem for weights that a library cannot convert to those of its network."""
    return Problem(
        f"The weights of {path} are for another architecture: {why}.", kept="Nothing was started.",
        todo="Choose the backbone that the file belongs to, or another file.",
    )  # fmt: skip


def chosen_file(weights_file: str) -> Path:
    """The weights file of that field. Raises Problem, at the field, where none is chosen."""
    if not weights_file:
        raise Problem(
            "No weights file is chosen.", kept="Nothing was started.",
            todo="Choose a file, or set the weights to none.", field="backbone.weights_file",
        )  # fmt: skip
    return Path(weights_file)


def read_state(path: Path) -> dict[str, Tensor]:
    """A state dict from a file. Raises Problem: missing, not a weights file, damaged, or holding more than tensors."""
    if not os.path.isfile(path):
        raise Problem(
            f"There is no weights file {path.absolute()}.", kept="Nothing was started.", todo="Choose the file again."
        )
    packed = path.suffix == ".safetensors"
    state: Any = _read_safetensors(path) if packed else read_tensors(path, partial(_not_weights, path))
    for name in WRAPPERS:
        if isinstance(state, dict) and isinstance(state.get(name), dict):
            state = state[name]
    if not isinstance(state, dict) or not state or not all(isinstance(value, Tensor) for value in state.values()):
        raise _not_weights(path, "it holds no named tensors")
    for name, value in state.items():
        if value.dtype not in NUMBERS or value.layout is not torch.strided or value.device.type != "cpu":
            shown = visible_name(str(name), LONGEST_KEY)
            raise _not_weights(path, f"{shown} has values of an unsupported kind ({value.dtype})")
    return {str(key).removeprefix("module."): value for key, value in state.items()}


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    """Named tensors; the library checks that each is as large as its part of the file."""
    from safetensors.torch import load_file

    with refusing(partial(_not_weights, path)):
        with path.open("rb") as file:  # the library takes 20 microseconds for each of its tensors, before any check
            listed = int.from_bytes(file.read(8), "little")
        if MOST_LISTED < listed <= path.stat().st_size:
            raise ValueError(f"its list of tensors has {byte_size(listed)}, more than that of any network")
        state: dict[str, Tensor] = load_file(path)
    return state


class GreyToColour(nn.Module):
    """One channel repeated to three, for a backbone that learned from colour."""

    def forward(self, images: Tensor) -> Tensor:
        return images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images


def freeze_batch_norm(model: nn.Module) -> None:
    """Keep every batch-norm's statistics, scale and shift as they are, also in training mode."""
    for module in _batch_norms(model):
        module.eval()
        module.train = lambda mode=True, module=module: module  # type: ignore[method-assign,misc]
        for weight in module.parameters():
            weight.requires_grad_(False)


def folded_layers(model: nn.Module) -> int:
    """How many batch-norm layers were frozen because their statistics had been folded into the weights."""
    return sum(getattr(module, FOLDED, False) for module in model.modules())


def _freeze_folded(model: nn.Module) -> None:
    """Freeze batch-norm whose statistics are all 0 and 1, though it shifts what comes through.

    Such weights were trained with other statistics, which were then multiplied into them. In training mode they would
    meet the statistics of batches and no longer give the features that they were trained to give.
    """
    layers = _batch_norms(model)
    plain = all(
        layer.running_mean is not None and layer.running_var is not None
        and bool((layer.running_mean == 0).all()) and bool(((layer.running_var - 1).abs() < NEAR).all())
        for layer in layers
    )  # fmt: skip
    if plain and any(layer.bias is not None and bool((layer.bias != 0).any()) for layer in layers):
        freeze_batch_norm(model)
        for layer in layers:
            setattr(layer, FOLDED, True)


def _batch_norms(model: nn.Module) -> list[nn.BatchNorm2d]:
    return [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]


def _not_weights(path: Path, why: str) -> Problem:
    return Problem(f"{path} is not a weights file: {why}.", kept="Nothing was started.", todo="Choose another file.")
