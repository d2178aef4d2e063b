"""Tab goes through the window's regions in reading order, and through each as its maker meant it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def order_regions(window: QWidget, regions: Sequence[QWidget]) -> None:
    """Put whole regions one after the other in the focus chain of `window`."""
    chain = list(_chain(window))
    ordered = [widget for region in regions for widget in chain if region.isAncestorOf(widget)]
    for before, after in pairwise(ordered):
        QWidget.setTabOrder(before, after)


def _chain(window: QWidget) -> Iterator[QWidget]:
    """Never asks for a focusProxy: PySide takes the answer for the widget's owner, and deletes it with its own."""
    widget = window.nextInFocusChain()
    while widget is not None and widget is not window:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        widget = widget.nextInFocusChain()
