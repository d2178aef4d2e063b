"""Cells of a notebook: a run that is recorded outside of a `with` block does not notice that one failed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

AFTER_A_CELL = "post_run_cell"  # IPython's event


@contextmanager
def failed_cells(tell: Callable[[BaseException], None]) -> Iterator[None]:
    """During the block `tell` is called with the error of each cell that fails; outside of IPython with none."""
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()  # loaded wherever there are cells
    if ipython is None:
        yield
        return

    def look(result: Any) -> None:
        error = result.error_in_exec or result.error_before_exec
        if error is not None:
            tell(error)

    ipython.events.register(AFTER_A_CELL, look)
    try:
        yield
    finally:
        ipython.events.unregister(AFTER_A_CELL, look)
