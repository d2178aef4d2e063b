"""Importing a large library can be given up between two of its modules, when the program ends meanwhile."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_asks = threading.local()  # `ask`: of the block that this thread is in


class _Asking:
    """Finds no module: it lets a thread ask, before each module that it imports, whether to go on."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        ask: Callable[[], None] | None = getattr(_asks, "ask", None)
        if ask is not None:
            ask()


@contextmanager
def given_up_by(ask: Callable[[], None]) -> Iterator[None]:
    """Inside the block `ask` is called before each module that this thread imports; what it raises ends the import.

    Only for a process that is about to end: a library that is half imported cannot be imported again. What libraries
    make of the error in between is not passed on: `ask` is called once more, so that its own error leaves the block.
    """
    if _Asking not in sys.meta_path:
        sys.meta_path.insert(0, _Asking)  # it stays: other threads may be reading the list
    before = getattr(_asks, "ask", None)
    _asks.ask = ask
    try:
        yield
    except Exception:
        ask()
        raise
    finally:
        _asks.ask = before
