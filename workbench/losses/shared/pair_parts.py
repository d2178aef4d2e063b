"""Tables of pairs by images, in parts, which bounds their memory; parts are computed again for the gradient."""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

AT_ONCE = 2**22  # numbers of a table that is not computed again; some bytes of each are kept for the gradient ...
AT_ONCE_ON_GPU = 2**24  # ... and on a GPU, where each part costs launches
Made = TypeVar("Made")


def at_once(device: torch.device) -> int:
    """How many numbers a table may have on the device that is not computed again."""
    return AT_ONCE_ON_GPU if device.type == "cuda" else AT_ONCE


def computed_again(work: Callable[..., Made], *inputs: Tensor) -> Made:
    """What `work` makes of the tensors; for the gradient it is computed again instead of kept."""
    made: Made = checkpoint(work, *inputs, use_reentrant=False, preserve_rng_state=False)
    return made


def by_rows(work: Callable[..., Made], *inputs: Tensor, numbers: int) -> list[Made]:
    """What `work` makes of all rows of the tensors, or of parts of them if its table has too many numbers.

    Args:
        work: gets as many rows of every tensor; makes a table on the way.
        inputs: [rows, ...] each.
        numbers: of the table, for each row.
    """
    size = max(1, at_once(inputs[0].device) // numbers)
    if len(inputs[0]) <= size:
        return [work(*inputs)]
    return [computed_again(work, *part) for part in zip(*(tensor.split(size) for tensor in inputs), strict=True)]
