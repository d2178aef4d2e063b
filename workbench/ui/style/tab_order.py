"""Tab goes through the window's regions in reading order, and through each in the order in which it was built."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabBar, QTabWidget, QWidget

VIEWPORT = "qt_scrollarea_viewport"  # hands the focus back to the view around it
# Those with Qt.TabFocus: a list, whose look-up is by identity; Python's flags take a third of the time of a walk.
BY_TAB = [Qt.FocusPolicy.TabFocus, Qt.FocusPolicy.StrongFocus, Qt.FocusPolicy.WheelFocus]
DIRECTLY = Qt.FindChildOption.FindDirectChildrenOnly
START = "tabStart"  # property of a page that is given the focus when it is shown: Tab goes on to its first stop


def order_regions(regions: Sequence[QWidget]) -> None:
    """Put whole regions one after the other in the focus chain of their window."""
    _chain(list(stops(regions)))


def stops(regions: Sequence[QWidget]) -> Iterator[QWidget]:
    """Where Tab stops in whole regions, in its order; also what is disabled or hidden now, and the starts of pages."""
    for region in regions:
        yield from _stops(region)


def follow(before: QWidget, parts: Sequence[QWidget]) -> None:
    """Put widgets that were made after their window right behind another one: Qt puts them at the very end."""
    _chain([before, *parts])


def _chain(widgets: Sequence[QWidget]) -> None:
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def _stops(widget: QWidget) -> Iterator[QWidget]:
    """Widgets that Tab stops at or starts from, depth first.

    Never asks for nextInFocusChain or focusProxy: PySide takes the answer for a child of the one that was asked, so
    that forms came to own the window, and the first row that went took every menu and layout with it.
    """
    if isinstance(widget, QTabWidget):
        # Handing the focus to its bar, it takes Tab past its pages.
        widget.setFocusProxy(None)  # type: ignore[arg-type]  # the stub forgets that a proxy can be taken away
        widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    elif (widget.focusPolicy() in BY_TAB and widget.objectName() != VIEWPORT) or widget.property(START):
        yield widget
    for child in _in_reading_order(widget):
        yield from _stops(child)


def _in_reading_order(widget: QWidget) -> list[QWidget]:
    """Its children in reading order: for tabs and splitters Qt's own order differs."""
    children = [child for child in widget.findChildren(QWidget, options=DIRECTLY) if not child.isWindow()]
    if isinstance(widget, QTabWidget):  # the bar, what stands beside it, the pages
        return sorted(children, key=lambda child: (not isinstance(child, QTabBar), isinstance(child, QStackedWidget)))
    if isinstance(widget, QSplitter):
        return sorted(children, key=widget.indexOf)
    return children
