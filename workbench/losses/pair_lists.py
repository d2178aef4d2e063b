"""Lists of the positive pairs of a batch, made on the CPU: their number would have to be read from a GPU, a wait."""

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


def positive_pair_list(labels: Tensor, *, once: bool = False) -> tuple[Tensor, Tensor]:
    """Anchors i and positives j, both [p] int64, of the positive pairs (i, j), i != j, sorted by i and then j.

    They are on the device of the labels.

    Args:
        labels: [n] int64.
        once: list each pair once, with i < j.
    """
    anchors, partners = _pairs(on_cpu(labels), once)
    if labels.device.type == "cpu":
        return torch.from_numpy(anchors), torch.from_numpy(partners)
    both = to_device(np.stack([anchors, partners]), labels.device)
    return both[0], both[1]


def _pairs(labels: np.ndarray, once: bool) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(labels, kind="stable")  # classes side by side
    ranked = labels[order]
    start, stop = np.searchsorted(ranked, labels), np.searchsorted(ranked, labels, side="right")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    if once:
        start = place + 1
    count = stop - start if once else stop - start - 1
    anchors = np.repeat(np.arange(len(order)), count)
    at = (start - np.cumsum(count) + count)[anchors] + np.arange(len(anchors))
    if not once:
        at += at >= place[anchors]  # past the anchor itself
    return anchors, order[at]
