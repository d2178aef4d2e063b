"""Embeddings and labels as NumPy arrays, from what a notebook has: arrays, lists, and tensors of any device."""

from typing import Any

import numpy as np

from workbench.problem import Problem

KINDS_OF_NUMBERS = "fiub"  # of NumPy


def rows_of(embeddings: Any) -> np.ndarray:
    """`array_of` as float64."""
    return np.asarray(array_of(embeddings), dtype=np.float64)


def array_of(embeddings: Any) -> np.ndarray:
    """Embeddings as they are, also those of a network whose gradient is kept; their shape is the caller's to check.

    Raises:
        Problem: rows that differ in length, or what is no real number.
    """
    try:
        array = np.asarray(_on_host(embeddings))
        if array.dtype == object:  # as a table of Python's own numbers
            array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError):  # RuntimeError: a list of tensors whose gradients are kept
        raise Problem(
            "Embeddings must be a table of numbers, with as many in each row.",
            todo="Join a list of tensors by torch.cat or torch.stack.",
        ) from None
    if array.dtype.kind not in KINDS_OF_NUMBERS:
        raise Problem(f"Embeddings must be real numbers, not of the type {array.dtype}.")
    return array


def labels_of(labels: Any, count: int) -> np.ndarray:
    """The labels of `count` embeddings: numbers or names. Raises Problem for another number of them, None and NaN."""
    try:
        array = np.asarray(_on_host(labels))
    except ValueError:  # lists of several lengths
        raise Problem("There must be one label for each embedding, a number or a name.") from None
    if array.shape != (count,):
        raise Problem(
            f"There must be one label for each embedding: there are {count:,} embeddings, "
            f"and labels of the shape {array.shape}."
        )
    if array.dtype == object and not all(isinstance(label, int | float | str) for label in array):
        raise Problem("Labels must be numbers or names.")
    if array.dtype.kind == "f" and (missing := int(np.isnan(array).sum())):
        raise Problem(f"{missing:,} of {count:,} labels are NaN.", todo="Leave out the embeddings without a label.")
    return array


def _on_host(values: Any) -> Any:
    """A tensor as an array; anything else as it is. NumPy has no bfloat16."""
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
