"""Number boxes: their text keeps its distance from the edge, and their numbers are those of all other text."""

from typing import TypeVar

from PySide6.QtCore import QEvent, QLocale, QObject
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox

INDENT_PX = 5  # with a line edit's own 2: where the text of every other field begins
Box = TypeVar("Box", bound=QAbstractSpinBox)


class PointForComma(QObject):
    """Writes a point where a decimal comma is typed, as a German keyboard has it."""

    def __init__(self, box: QDoubleSpinBox) -> None:
        super().__init__(box)
        self._line = box.lineEdit()
        self._line.installEventFilter(self)
        box.installEventFilter(self)  # the box gets the keys, its line those that are sent to it alone

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Replace the comma; every other event goes on."""
        comma = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.text() == ","
        if comma:
            self._line.insert(".")
        return comma


def number_box(box: Box) -> Box:
    """The same box, its text indented: the style sheet's left padding does not reach the text of a spin box.

    It shows a decimal point in every country, as all tables and messages do, and takes a decimal comma.
    """
    box.lineEdit().setTextMargins(INDENT_PX, 0, 0, 0)
    english = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
    if isinstance(box, QDoubleSpinBox):
        english.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)  # a pasted "0,6" is not 6
        PointForComma(box)
    box.setLocale(english)
    return box
