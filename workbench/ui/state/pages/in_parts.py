"""Widgets that take long to make are made in parts: in each turn of the event loop one, or all at once.

Such a widget takes `in_parts`. With it `making` makes the next part at each step, and until it ends the widget is not
to be shown or used; without it all is made when the constructor returns.
"""

from collections import deque
from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

Parts = Iterator[None]


def begun(parts: Parts, in_parts: bool) -> Parts:
    """The parts that are left, for a widget's `making`: all of them, or none where they are to be made at once."""
    if not in_parts:
        finish(parts)
    return parts


def finish(making: Parts) -> None:
    """Make all parts that are left."""
    deque(making, maxlen=0)


def parts_of(widget: QWidget) -> Parts:
    """The parts of a widget that are left; none of one that was made at once."""
    making: Parts = getattr(widget, "making", iter(()))
    return making
