"""What a training loop of the user's own gives, as plain numbers and words: checked before anything is recorded."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MOST_STEPS = 10**12
MOST_EPOCHS = 100_000  # as in a config
KINDS_OF_NUMBERS = "fiub"  # of NumPy


def whole(number: Any, what: str, most: int) -> int:
    """A count such as a step, also of NumPy or a tensor. Raises TypeError, or ValueError for one out of its range."""
    try:
        count = operator.index(number)
    except (TypeError, RuntimeError):
        raise TypeError(f"{what} is a whole number, not {number!r}.") from None
    if not 0 <= count <= most:
        raise ValueError(f"{what} is a number from 0 to {most:,}, not {count}.")
    return count


def point_of(value: Any, name: str) -> float:
    """The point of a curve, a number or a tensor of one. Raises TypeError for anything else."""
    try:
        plain = value.item() if hasattr(value, "item") else value
    except (RuntimeError, ValueError):  # several numbers
        plain = None
    if not isinstance(plain, int | float):
        raise TypeError(f"The point of {name} is a number or a tensor of one, not {value!r}.")
    try:
        return float(plain)
    except OverflowError:
        raise TypeError(f"The point of {name} is too large a number.") from None


def words_of(labels: Sequence[int | str] | ArrayLike) -> list[str]:
    """Labels as text, "3" for 3 and 3.0; those of tensors, too. Raises TypeError for one that is no number or name."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
        raise TypeError(f"Labels are a list or an array with one for each image, not {labels!r}.")
    return [_word(label) for label in (labels.tolist() if hasattr(labels, "tolist") else labels)]


def _word(label: Any) -> str:
    plain = label.item() if getattr(label, "ndim", None) == 0 else label
    if not isinstance(plain, int | float | str) or plain != plain:
        raise TypeError(f"A label is a number or a name, not {label!r}.")
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    encodable((str(plain),), "label")
    return str(plain)


def encodable(words: Iterable[str], what: str) -> None:
    """Raise ValueError for a word that cannot be stored, as of a file whose name is not UTF-8."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(f"The {what} {word!r} is not Unicode text: rename it.") from None


def queries_of(queries: ArrayLike, count: int) -> np.ndarray:
    """[count] bool. Raises ValueError for anything else, such as numbers of rows."""
    mask = np.asarray(queries)
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise ValueError(f"`queries` is True or False for each of the {count:,} images.")
    if not mask.any():
        raise ValueError("`queries` has no query: it is True for one image or more.")
    return mask


def array_of(numbers: Any, what: str) -> np.ndarray:
    """Numbers of any device as float32. Raises TypeError or ValueError for anything but an array of real numbers."""
    rows = [_host(row) for row in numbers] if isinstance(numbers, list | tuple) else _host(numbers)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise ValueError(f"The rows of the {what} differ in length.") from None
    if array.dtype.kind not in KINDS_OF_NUMBERS:
        raise TypeError(f"The {what} are not real numbers, but of the type {array.dtype}.")
    with np.errstate(over="ignore"):  # infinite numbers are refused later
        return np.ascontiguousarray(array, np.float32)


def _host(numbers: Any) -> Any:
    """A tensor of any device as an array; anything else as it is."""
    if not hasattr(numbers, "detach"):
        return numbers
    tensor = numbers.detach()
    return (tensor if tensor.is_complex() else tensor.float()).cpu().numpy()
