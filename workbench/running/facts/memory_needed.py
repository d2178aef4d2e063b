"""The memory that a step on the CPU needs at least: the system may end a program without a word that takes more."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench import machine_memory
from workbench.config import RunConfig
from workbench.entries import catalog as catalogs
from workbench.numerals import byte_size
from workbench.problem import UNSTARTED, Problem
from workbench.running.facts.without_numbers import COLOURS, image_size_of, unloaded, without_numbers
from workbench.settings import checks

if TYPE_CHECKING:
    from torch import Tensor

    from workbench.backbones.model import EmbeddingModel
    from workbench.datasets.image_set import ImageSet

BACKWARD = 1.25  # times what is counted: the backward pass takes up to a fifth more
FILLED = 0.75  # of the memory, by a batch that is proposed: the backward pass takes a fifth more than what is kept

log = logging.getLogger(__name__)


def refuse_run_without_memory(config: RunConfig, images: "ImageSet", devices: Sequence[str]) -> None:
    """As `refuse_without_memory`, for a config whose images are listed.

    No weights are read or fetched: they are as large in any case. All else that is wrong is left to the run.
    """
    import torch

    if not _are_the_cpu(devices):
        return
    try:
        with torch.device("meta"), torch.no_grad():
            network, image = without_numbers(unloaded(config), images.channels, images.image_size, None)
    except Exception as error:
        log.debug("the memory of a step was not checked (%r)", error, exc_info=True)
        return
    refuse_without_memory(config, network, image, devices)


def may_not_fit(config: RunConfig, device: str) -> bool:
    """Whether a run that is not refused may still need more memory than there is in a step on the CPU.

    No image is listed: they count as colours of the size that the config gives them. False where that is not known.
    """
    import torch

    size = image_size_of(config)
    if size is None or not config.training.backbone_lr or not _are_the_cpu([device]):
        return False
    try:
        with torch.device("meta"), torch.no_grad():
            network, image = without_numbers(unloaded(config), COLOURS, size, None)
        _, need = _counted(config, network, image)
    except Exception as error:
        log.debug("the memory of a step was not looked at (%r)", error, exc_info=True)
        return False
    return need <= machine_memory.obtainable() < need * BACKWARD


def refuse_without_memory(
    config: RunConfig, network: "EmbeddingModel", image: "Tensor", devices: Sequence[str]
) -> None:  # fmt: skip
    """Compare what a step on the CPU keeps at least, weights and activations, with the memory of this machine.

    Args:
        network: of the run, on torch's meta device, so that nothing is computed.
        image: as the network gets it, there, too.
        devices: that train; others than the CPU have memory of their own.

    Raises:
        Problem: it does not fit, at the batch, with one that may; at the backbone where its weights leave no room.
    """
    from workbench.training.two_passes import coupling_layers

    training = config.training
    if not _are_the_cpu(devices) or not training.backbone_lr:  # frozen features need little
        return
    at_once = _images_at_once(config)
    try:
        weights, need = _counted(config, network, image)
    except Exception as error:  # a network that cannot be followed without numbers is left to the run
        log.debug("the memory of a step was not checked before the run (%r)", error, exc_info=True)
        return
    if need <= (room := machine_memory.obtainable()):
        return
    free, more = _in_words(room)
    wants = f"A step on the CPU needs at least {byte_size(need)} of memory for {at_once:,} images at once"
    share = (FILLED * room - weights) / max(1, need - weights)  # of the images, whose weights are there for any number
    if share <= 0:
        what = f"{wants}, {byte_size(weights)} of it for the weights, and {free}."
        todo = f"Choose a smaller network, or {more}."
        raise Problem(what, kept=UNSTARTED, todo=todo, field="backbone.name")
    fits = None if training.chunk else checks.largest_batch(config, catalogs.last(), int(training.batch_size * share))
    smaller = [] if fits is None else [f"a batch of {fits}"]
    if (chunk := int(at_once * share)) and not coupling_layers(network.backbone):
        smaller.append(f"a chunk of {chunk}")
    raise Problem(
        f"{wants}, and {free}.",
        kept=UNSTARTED,
        todo=f"Try {', or '.join([*smaller, 'smaller images'])}, or {more}.",
        field="training.batch_size",
        fits=fits,
    )


def _in_words(room: int) -> tuple[str, str]:
    """How much memory is free, and what makes it more."""
    free, limit = f"{byte_size(room)} are free", machine_memory.limit()
    if limit is None:
        return free, "end other programs"
    return f"{free} of the {byte_size(limit.whole)} that the container or job may have", "raise that limit"


def _are_the_cpu(names: Sequence[str]) -> bool:
    import torch

    gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
    return all(name == "cpu" or (name == "auto" and not gpu) for name in names)


def _images_at_once(config: RunConfig) -> int:
    training = config.training
    return min(training.chunk or training.images_per_step, training.images_per_step)


def _counted(config: RunConfig, network: "EmbeddingModel", image: "Tensor") -> tuple[int, int]:
    """Bytes of the weights, and of all that a step keeps at least at the config's batch and precision."""
    weights, need = _kept_bytes(network, image.expand(_images_at_once(config), *image.shape[1:]))
    if config.training.precision not in ("auto", "float32"):
        need = weights + (need - weights) // 2  # autocast leaves the weights as they are
    return weights, need


def _kept_bytes(network: "EmbeddingModel", images: "Tensor") -> tuple[int, int]:
    """Bytes of the weights, and of them with what the forward pass of these images keeps for the backward pass."""
    import torch

    from workbench.running.facts.lean_attention import LeanAttention

    kept = {weight.untyped_storage()._cdata: weight.nbytes for weight in network.parameters()}
    weights = sum(kept.values())
    held = list[Any]()  # so that no storage is freed and its address given to another

    def keep(tensor: "Tensor") -> "Tensor":
        storage = tensor.untyped_storage()
        held.append(tensor)
        kept.setdefault(storage._cdata, storage.nbytes())
        return tensor

    with (
        torch.device("meta"),
        torch.enable_grad(),
        LeanAttention(),
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        network.train()
        network.features(images)  # the head keeps little, and asks for a device that computes
    return weights, sum(kept.values())
