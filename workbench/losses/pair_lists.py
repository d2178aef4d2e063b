"""Lists of the positive pairs and of the classes of a batch, made on the CPU: a GPU would have to be waited for."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor


def keep_on_cpu(labels: Tensor, array: np.ndarray) -> Tensor:
    """The same labels [n], with `array` [n] int64, their values on the CPU, attached; neither may change later."""
    labels.on_cpu = array  # type: ignore[attr-defined]
    return labels


def on_cpu(labels: Tensor) -> np.ndarray:
    """Labels [n] as an array; this waits for a GPU unless `keep_on_cpu` was called for them."""
    array: np.ndarray | None = getattr(labels, "on_cpu", None)
    return labels.cpu().numpy() if array is None else array


def to_device(array: np.ndarray, device: torch.device) -> Tensor:
    """The array on a device, without waiting for a GPU."""
    if device.type != "cuda":
        return torch.from_numpy(array).to(device)
    return torch.from_numpy(array).pin_memory().to(device, non_blocking=True)


def positive_pair_list(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Anchors i and positives j, both [p] int64, of the positive pairs (i, j), i != j, sorted by i and then j.

    They are on the device of the labels.

    Args:
        labels: [n] int64.
    """
    anchors, partners = _pairs(on_cpu(labels))
    if labels.device.type == "cpu":
        return torch.from_numpy(anchors), torch.from_numpy(partners)
    both = to_device(np.stack([anchors, partners]), labels.device)
    return both[0], both[1]


def classes_by_size(labels: Tensor) -> list[Tensor]:
    """Places in the batch of the images of every class of two or more, [classes, size] int64 for each size.

    No place is listed twice: a GPU adds up the gradients of rows that are chosen once in one order, those of rows that
    are chosen several times in an order that changes from call to call. They are on the device of the labels.

    Args:
        labels: [n] int64.
    """
    return _together(_tables(on_cpu(labels)), labels.device)


@dataclass(frozen=True, slots=True)
class ClassRows:
    """The images of classes of one size, each as an anchor, and their classes; int64, on the device of the labels."""

    anchors: Tensor  # [a]
    members: Tensor  # [a, size], the anchor among them
    positives: Tensor  # [a, size - 1], without it


def classes_in_rows(labels: Tensor) -> list[ClassRows]:
    """The images of every class of two or more as anchors, by the size of the class; no image is one twice.

    Args:
        labels: [n] int64.
    """
    arrays = list[np.ndarray]()
    for table in _tables(on_cpu(labels)):
        size = table.shape[1]
        arrays += [table.ravel(), table.repeat(size, axis=0), table[:, _others(size)].reshape(-1, size - 1)]
    there = _together(arrays, labels.device)
    return [ClassRows(*there[at : at + 3]) for at in range(0, len(there), 3)]


@lru_cache(16)  # a sampler of classes and images has one size
def _others(size: int) -> np.ndarray:
    """For each of so many, all the others, [size, size - 1]."""
    place = np.arange(size - 1)
    return place + (place >= np.arange(size)[:, None])


def _tables(labels: np.ndarray) -> list[np.ndarray]:
    """Places of the images of every class of two or more, [classes, size] for each size."""
    order = np.argsort(labels, kind="stable")  # classes side by side
    ranked = labels[order]
    start = np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1])
    size = np.diff(start, append=len(order))
    if (size == size[0]).all():  # as a sampler of classes and images draws them
        return [order.reshape(-1, size[0])] if size[0] > 1 else []
    wanted = sorted(set(size.tolist()) - {1})
    return [order[start[size == count][:, None] + np.arange(count)] for count in wanted]


def _together(arrays: list[np.ndarray], device: torch.device) -> list[Tensor]:
    """The arrays on a device, by one copy."""
    if device.type == "cpu" or len(arrays) < 2:
        return [to_device(array, device) for array in arrays]
    parts = to_device(np.concatenate([array.ravel() for array in arrays]), device).split([a.size for a in arrays])
    return [part.view(array.shape) for part, array in zip(parts, arrays, strict=True)]


def _pairs(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(labels, kind="stable")  # classes side by side
    ranked = labels[order]
    start, stop = np.searchsorted(ranked, labels), np.searchsorted(ranked, labels, side="right")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    count = stop - start - 1
    anchors = np.repeat(np.arange(len(order)), count)
    at = (start - np.cumsum(count) + count)[anchors] + np.arange(len(anchors))
    at += at >= place[anchors]  # past the anchor itself
    return anchors, order[at]
