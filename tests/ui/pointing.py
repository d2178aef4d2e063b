"""What a person does with mouse and keys, for tests."""

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView

LEFT = Qt.MouseButton.LeftButton


def choose(combo: QComboBox, place: int) -> None:
    """Go to an entry of a combo box with the keys."""
    QTest.keyClick(combo, Qt.Key.Key_Home)
    for _ in range(combo.count()):
        if combo.currentIndex() == place:
            break
        QTest.keyClick(combo, Qt.Key.Key_Down)
    assert combo.currentIndex() == place


def click_cell(view: QAbstractItemView, index: QModelIndex, *, twice: bool = False) -> None:
    """Click a cell, or double-click it."""
    view.scrollTo(index)
    place = view.visualRect(index).center()
    QTest.mouseClick(view.viewport(), LEFT, pos=place)
    if twice:
        QTest.mouseDClick(view.viewport(), LEFT, pos=place)


def click_head(header: QHeaderView, section: int) -> None:
    """Click the head of a row or column."""
    at = header.sectionViewportPosition(section) + header.sectionSize(section) // 2
    flat = header.orientation() == Qt.Orientation.Horizontal
    place = QPoint(at, header.height() // 2) if flat else QPoint(header.width() // 2, at)
    QTest.mouseClick(header.viewport(), LEFT, pos=place)
