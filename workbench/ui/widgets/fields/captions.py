"""Captions of fields."""

from PySide6.QtWidgets import QLabel, QWidget

from workbench.ui.widgets.labels import label


def caption(text: str, field: QWidget, role: str = "caption") -> QLabel:
    """A label whose buddy is `field`: a screen reader names the field by it."""
    words = label(text, role)
    words.setBuddy(field)
    return words
