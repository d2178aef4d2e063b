"""Whether what an answer is for still exists: Qt disconnects deleted objects from signals, but not from other calls."""

from collections.abc import Callable
from functools import partial
from typing import Any

from shiboken6 import isValid


def is_there(callback: Callable[..., Any]) -> bool:
    """Whether no object of Qt that a callback belongs to, or passes its answer on to, has been deleted.

    Methods and `partial` of them are looked into, with the callables that a `partial` is given; other functions are
    taken as they are.
    """
    if isinstance(callback, partial):
        return is_there(callback.func) and all(is_there(part) for part in callback.args if callable(part))
    return bool(isValid(getattr(callback, "__self__", None)))
