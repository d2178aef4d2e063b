"""Widgets in rows and columns, written in the order in which they stand on the screen."""

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

UNLIMITED = 16_777_215  # px: Qt's word for no greatest width or height
Item = QWidget | QLayout
Part = Item | int | tuple[Item, int | Qt.AlignmentFlag]  # an item with its stretch or alignment; a number is a gap's
Margins = int | tuple[int, int, int, int] | None
Box = TypeVar("Box", bound=QBoxLayout)


def in_row(*parts: Part, on: QWidget | None = None, margins: Margins = 0, spacing: int | None = None) -> QHBoxLayout:
    """The parts side by side.

    Args:
        parts: widgets and layouts, alone or with their stretch or alignment; a number is a gap of that stretch.
        on: gets the layout, unless it goes into another.
        margins: px around all parts, or left, above, right and below; None is the style's.
        spacing: px between two parts; None is the style's.
    """
    return _filled(QHBoxLayout(), parts, on, margins, spacing)


def in_column(*parts: Part, on: QWidget | None = None, margins: Margins = 0, spacing: int | None = None) -> QVBoxLayout:
    """The parts below each other; the arguments are those of `in_row`."""
    return _filled(QVBoxLayout(), parts, on, margins, spacing)


def _filled(box: Box, parts: tuple[Part, ...], on: QWidget | None, margins: Margins, spacing: int | None) -> Box:
    if on is not None:
        on.setLayout(box)
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
            continue
        item, how = part if isinstance(part, tuple) else (part, 0)
        stretch, alignment = (0, how) if isinstance(how, Qt.AlignmentFlag) else (how, Qt.AlignmentFlag(0))
        if isinstance(item, QLayout):
            box.addLayout(item, stretch)
        else:
            box.addWidget(item, stretch, alignment)
    return box
