"""The batches of all epochs of a run: those of the next epoch are made while this one ends."""

from collections.abc import Callable, Generator, Iterator

import numpy as np
from torch import Tensor

from workbench.training.ahead import Finished, Wanted, wanted_of

Made = Generator[tuple[Wanted, Finished], None, None]


class Epochs:
    """`batches(epoch, skip)` for `trainer.train`. Close it after training.

    Args:
        made: makes batches (images, labels), in their order, until it is closed.
        places: the places of each batch of an epoch, counted from 1.
        last: the epoch after which nothing is made ahead; 0 makes nothing ahead of the epoch that is read.
    """

    def __init__(
        self, made: Callable[[Iterator[Wanted]], Made], places: Callable[[int], list[np.ndarray]], last: int
    ) -> None:
        self._made, self._places, self._last = made, places, last
        self._open: Made | None = None
        self._next = (0, 0)  # the epoch and the place of the batch that `_open` yields next

    def __call__(self, epoch: int, skip: int = 0) -> Generator[tuple[Tensor, Tensor], None, None]:
        """Pairs (images [n, C, H, W], labels) of an epoch without its first `skip` batches."""
        if self._open is None or self._next != (epoch, skip):
            self.close()
            self._open = self._made(self._wanted(epoch, skip))
        whole = False
        try:
            for wanted, (images, labels) in self._open:
                whole = wanted.last
                self._next = (epoch + 1, 0)
                yield images, labels
                if whole:
                    break
        finally:
            if not whole or epoch >= self._last:
                self.close()

    def close(self) -> None:
        """End the threads that make batches ahead."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _wanted(self, epoch: int, skip: int) -> Iterator[Wanted]:
        """The batches of this epoch and of those after it, up to one without batches."""
        for following in range(epoch, max(epoch, self._last) + 1):
            batch = None
            for batch in wanted_of(following, self._places(following), skip if following == epoch else 0):
                yield batch
            if batch is None:
                return
