"""Tables [pairs, n] in parts, which bounds their memory; parts are computed again for the gradient."""

from collections.abc import Callable
from typing import TypeVar

from torch import Tensor
from torch.utils.checkpoint import checkpoint

AT_ONCE = 2**22  # numbers of a table that is not computed again; about 10 bytes of each are kept for the gradient ...
AT_ONCE_ON_GPU = 2**24  # ... and on a GPU, where each part costs launches
Made = TypeVar("Made")


def by_pairs(work: Callable[[Tensor, Tensor], Made], anchors: Tensor, partners: Tensor, columns: int) -> list[Made]:
    """What `work` makes of all pairs, or of parts of them if its table has too many numbers.

    Args:
        work: gets anchors and partners [p] int64; makes a table [p, columns] on the way.
        anchors, partners: [pairs] int64.
        columns: of the table.
    """
    numbers = AT_ONCE_ON_GPU if anchors.device.type == "cuda" else AT_ONCE
    size = max(1, numbers // columns)
    if len(anchors) <= size:
        return [work(anchors, partners)]
    return [
        checkpoint(work, *part, use_reentrant=False, preserve_rng_state=False)
        for part in zip(anchors.split(size), partners.split(size), strict=True)
    ]
