"""The check that every loss makes of its batch; the pairs of a batch, and their inner products and distances."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

_NOTHING = nullcontext()
SORTING = ("cuda",)  # devices where index_put sorts the places before it adds; others have an index_add in one order
SLOW = ("cpu",)  # devices on which a gradient in fewer passes is always worth the time that Python takes for it
SMALL = 2**20  # numbers of a matrix up to which it is not on others
SHORTEST = 1e-12  # a vector of this length or less is divided by it instead of by its own length
_in_range = ContextVar("labels_in_range", default=False)


@contextmanager
def labels_in_range() -> Iterator[None]:
    """Inside this context `checked_batch` does not read the labels; for a loop that has checked all labels before.

    Reading two numbers costs more than a small loss, and a GPU waits for it at every step.
    """
    before = _in_range.set(True)
    try:
        yield
    finally:
        _in_range.reset(before)


def checked(embeddings: Tensor, labels: Tensor, num_classes: int | None = None) -> Tensor:
    """The embeddings alone of `checked_batch`, for plug-ins: labels of another integer type stay as they are."""
    return checked_batch(embeddings, labels, num_classes)[0]


def checked_batch(embeddings: Tensor, labels: Tensor, num_classes: int | None = None) -> tuple[Tensor, Tensor]:
    """Check a batch; returns its embeddings [n, d] as float32 (float64 stays) and its labels [n] as int64.

    Raises:
        TypeError: arrays or lists, not tensors.
        ValueError: no sample, wrong shapes, different lengths, labels that are not integers or out of range.
    """
    if not (isinstance(embeddings, Tensor) and isinstance(labels, Tensor)):
        kinds = f"{type(embeddings).__name__} and {type(labels).__name__}"
        raise TypeError(f"a loss needs embeddings and labels as tensors, as torch.as_tensor makes them: got {kinds}")
    shape, of_labels = embeddings.shape, labels.shape  # read once: a small loss takes only 0.1 ms
    if len(shape) != 2 or len(of_labels) != 1:
        raise ValueError(
            f"a loss needs embeddings [n, d] and labels [n]: got {_shape(embeddings)} and {_shape(labels)}"
        )
    if shape[0] == 0 or shape[0] != of_labels[0]:
        raise ValueError(f"a loss needs one label per embedding, at least one: got {shape[0]} and {of_labels[0]}")
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise ValueError(f"labels must be whole numbers: got {labels.dtype}")
    labels = labels.long()  # a batch of MNIST has uint8, NumPy on Windows int32: torch takes neither as places
    if num_classes is not None and not _in_range.get():
        low, high = (bound.item() for bound in torch.aminmax(labels))
        if low < 0 or high >= num_classes:
            raise ValueError(f"labels must lie in 0..{num_classes - 1}: got {low}..{high}")
    return (embeddings if embeddings.dtype == torch.float64 else embeddings.float()), labels


def full_precision(tensor: Tensor) -> AbstractContextManager[object]:
    """Inside this context autocast is off for this device; it costs nothing when autocast is off already."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else _NOTHING


def in_double(tensor: Tensor) -> Tensor:
    """The tensor as float64; on the CPU if its device is Apple's GPU, which has no float64."""
    return (tensor.cpu() if tensor.device.type == "mps" else tensor).double()


def positive_pairs(labels: Tensor) -> Tensor:
    """Which ordered pairs (i, j), i != j, are positive; bool [n, n]."""
    return (labels[:, None] == labels[None, :]).fill_diagonal_(False)


def pair_masks(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Which ordered pairs (i, j), i != j, are positive, and which are negative; two bool [n, n]."""
    same = labels[:, None] == labels[None, :]
    negative = ~same
    return same.fill_diagonal_(False), negative


def on_sphere(vectors: Tensor, radius: float = 1.0) -> Tensor:
    """Vectors [..., d] scaled to length `radius`; differentiable once.

    As in `torch.nn.functional.normalize`, a vector shorter than `SHORTEST` is divided by that instead of by its length.
    """
    scaled: Tensor = _OnSphere.apply(vectors, radius)
    return scaled


def bounded(vectors: Tensor) -> Tensor:
    """v / max(1, |v|) of vectors [..., d]: shorter ones stay as they are (Gürbüz et al. 2023, CCP, Section 4.4)."""
    lengths: Tensor = vectors.norm(dim=-1, keepdim=True)
    return vectors / lengths.clamp_min(1)


class _OnSphere(torch.autograd.Function):
    """Removes from the gradient the part along the vector, in half of the passes that a root and a quotient need."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, radius: float) -> Tensor:
        lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True).clamp_min_(SHORTEST)
        scaled: Tensor = vectors / (lengths if radius == 1 else lengths / radius)
        ctx.save_for_backward(scaled, lengths)
        ctx.radius = radius
        return scaled

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        scaled, lengths = ctx.saved_tensors
        along = (gradient * scaled).sum(-1, keepdim=True).mul_(lengths > SHORTEST)
        across = torch.addcmul(gradient, scaled, along, value=-1 / ctx.radius**2)
        return across.div_(lengths if ctx.radius == 1 else lengths / ctx.radius), None


def is_quick(device: torch.device, numbers: int) -> bool:
    """Whether passes over a matrix of so many numbers take less time than Python takes for a gradient of its own."""
    return device.type not in SLOW and numbers <= SMALL


def gram(vectors: Tensor) -> Tensor:
    """Inner products [n, n] of vectors [n, d]; differentiable once."""
    if is_quick(vectors.device, len(vectors) ** 2):
        return vectors @ vectors.T
    products: Tensor = _Gram.apply(vectors)
    return products


class _Gram(torch.autograd.Function):
    """Both sides are the same vectors, so the gradient needs one matrix product instead of two."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        ctx.save_for_backward(vectors)
        products: Tensor = vectors @ vectors.T
        return products

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        vectors: Tensor
        (vectors,) = ctx.saved_tensors
        return (gradient + gradient.T) @ vectors


def distances(embeddings: Tensor) -> Tensor:
    """Euclidean distances [n, n], with a gradient of zero (not NaN) between equal embeddings; differentiable once."""
    apart: Tensor = _Distances.apply(embeddings)
    return apart


class _Distances(torch.autograd.Function):
    """Keeps only the distances for the gradient, which needs one matrix product."""

    @staticmethod
    def forward(ctx: Any, embeddings: Tensor) -> Tensor:
        squares = embeddings.square().sum(1)
        apart = torch.addmm(squares, embeddings, embeddings.T, alpha=-2).add_(squares[:, None])
        equal = apart <= torch.finfo(apart.dtype).eps * (1 + squares.max())
        apart.masked_fill_(equal, 0.0).sqrt_()
        ctx.save_for_backward(embeddings, apart)
        return apart

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        embeddings: Tensor
        apart: Tensor
        embeddings, apart = ctx.saved_tensors
        pulls = (gradient + gradient.T).div_(apart).masked_fill_(apart == 0, 0.0)
        return pulls.sum(1, keepdim=True) * embeddings - pulls @ embeddings


def sums_at(places: Tensor, values: Tensor, count: int) -> Tensor:
    """Sums [count, ...] of the values [n, ...] at each of the places [n] int64 in 0..count - 1; differentiable.

    They are the same in every call: index_add on a GPU adds floats in an order that changes.
    """
    sums = values.new_zeros(count, *values.shape[1:])
    if values.device.type in SORTING:
        return sums.index_put((places,), values, accumulate=True)
    return sums.index_add_(0, places, values)


def mean_of(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of `values` where `chosen` is true; if it is true nowhere, a zero with a gradient."""
    return torch.where(chosen, values, 0.0).sum() / chosen.sum().clamp_min(1)


def keep_nan(value: Tensor, embeddings: Tensor) -> Tensor:
    """`value`, or NaN if an embedding is not finite: choosing pairs by comparison would silently leave it out.

    The gradient is that of `value`: embeddings on which `value` does not depend get none.
    """
    return torch.add(value, embeddings.detach().sum(), alpha=0)


def _shape(tensor: Tensor) -> list[int]:
    return list(tensor.shape)
