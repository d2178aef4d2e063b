"""Tab goes through the window's regions in reading order, and through each in the order in which it was built."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def order_regions(regions: Sequence[QWidget]) -> None:
    """Put whole regions one after the other in the focus chain of their window."""
    for before, after in pairwise(widget for region in regions for widget in _stops(region)):
        QWidget.setTabOrder(before, after)


def _stops(widget: QWidget) -> Iterator[QWidget]:
    """Widgets that Tab stops at, depth first.

    Never asks for nextInFocusChain or focusProxy: PySide takes the answer for a child of the one that was asked, so
    that forms came to own the window, and the first row that went took every menu and layout with it.
    """
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    for child in widget.children():
        if isinstance(child, QWidget) and not child.isWindow():
            yield from _stops(child)
