"""Lists of the positive pairs and of the classes of a batch, made on the CPU: a GPU would have to be waited for."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

FILLED = 1.0  # at least this share of every row of a table is filled: a table for each size of class ...
FILLED_ON_GPU = 0.5  # ... and fewer on a GPU, where each costs launches and empty places cost little


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


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The images of classes of one size, on a GPU of similar ones, a row each; int64, on the device of the labels."""

    members: Tensor  # [classes, size]; a smaller class repeats its last image
    counts: Tensor | None  # [classes] images of each; None where all fill their rows
    pairs: int  # of two images of one class, in no order


def class_tables(labels: Tensor) -> list[ClassTable]:
    """The images of every class of two or more, in a table for each size; on a GPU a table takes similar sizes.

    No image is listed twice but those that fill up a row: a GPU adds up the gradients of rows that are chosen once in
    one order, those of rows that are chosen several times in an order that changes from call to call. What fills up
    must get a gradient of 0. The tables are on the device of the labels.

    Args:
        labels: [n] int64.
    """
    tables = _tables(on_cpu(labels), labels.device)
    there = iter(_together([array for table in tables for array in table.arrays()], labels.device))
    return [ClassTable(next(there), None if t.full else next(there), t.pairs) for t in tables]


@dataclass(frozen=True, slots=True)
class ClassRows:
    """The images of classes of one size, on a GPU of similar ones, each as an anchor; int64."""

    anchors: Tensor  # [a]
    members: Tensor  # [a, size] the class, the anchor among them; a smaller class repeats its last image
    positives: Tensor  # [a, size - 1] the class without the anchor, filled up with the anchor
    counts: Tensor | None  # [a] positives of each; None where all fill their rows


def classes_in_rows(labels: Tensor) -> list[ClassRows]:
    """The images of every class of two or more as anchors, in groups as `class_tables`; no image is an anchor twice.

    Args:
        labels: [n] int64.
    """
    tables = _tables(on_cpu(labels), labels.device)
    there = iter(_together([array for table in tables for array in table.as_anchors()], labels.device))
    return [ClassRows(next(there), next(there), next(there), None if t.full else next(there)) for t in tables]


def beyond(counts: Tensor, size: int) -> Tensor:
    """Which of the places 0 to size - 1 of each row lie beyond its count [rows]; bool [rows, size]."""
    return torch.arange(size, device=counts.device) >= counts[:, None]


@dataclass(frozen=True, slots=True)
class _Table:
    """Places of the images of classes [classes, size], the last one repeated, and how many each class has."""

    places: np.ndarray
    counts: np.ndarray  # [classes]

    @property
    def full(self) -> bool:
        return bool((self.counts == self.places.shape[1]).all())

    @property
    def pairs(self) -> int:
        return int((self.counts * (self.counts - 1)).sum()) // 2

    def arrays(self) -> list[np.ndarray]:
        """What a ClassTable holds."""
        return [self.places] if self.full else [self.places, self.counts]

    def as_anchors(self) -> list[np.ndarray]:
        """What ClassRows hold."""
        size, others = self.places.shape[1], _others(self.places.shape[1])
        anchors, members = self.places.ravel(), self.places.repeat(size, axis=0)
        positives = self.places[:, others].reshape(-1, size - 1)
        if self.full:
            return [anchors, members, positives]
        there = np.arange(size) < self.counts[:, None]
        kept = there.ravel()
        filled = there[:, others].reshape(-1, size - 1)
        positives = np.where(filled, positives, anchors[:, None])
        return [anchors[kept], members[kept], positives[kept], np.repeat(self.counts - 1, self.counts)]


@lru_cache(16)  # a sampler of classes and images has one size
def _others(size: int) -> np.ndarray:
    """For each of so many, all the others, [size, size - 1]."""
    place = np.arange(size - 1)
    return place + (place >= np.arange(size)[:, None])


def _tables(labels: np.ndarray, device: torch.device) -> list[_Table]:
    """The classes of two or more images, largest first; a table ends where a class would fill too little of a row."""
    order = np.argsort(labels, kind="stable")  # classes side by side
    ranked = labels[order]
    start = np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1])
    counts = np.diff(start, append=len(order))
    if (counts == counts[0]).all():  # as a sampler of classes and images draws them
        return [_Table(order.reshape(-1, counts[0]), counts)] if counts[0] > 1 else []
    filled = FILLED_ON_GPU if device.type == "cuda" else FILLED
    tables, largest = list[_Table](), int(counts.max())
    while largest > 1:
        chosen = (counts >= max(2, filled * largest)) & (counts <= largest)
        first, of_each = start[chosen], counts[chosen]
        tables.append(_Table(order[first[:, None] + np.minimum(np.arange(largest), of_each[:, None] - 1)], of_each))
        largest = int(counts[counts < of_each.min()].max(initial=0))
    return tables


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
