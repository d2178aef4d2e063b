"""Colours between two others, and the readable text colour on them."""

from PySide6.QtGui import QColor

from workbench.ui.style import theme

INKS = ("#1B1F27", "#FFFFFF")


def mixed(cold: str, hot: str, part: float) -> QColor:
    """The opaque colour `part` (0..1) of the way from one "#RRGGBB" to another."""
    ends = QColor(cold), QColor(hot)
    channels = zip(*((end.red(), end.green(), end.blue()) for end in ends), strict=True)
    return QColor(*(round((1 - part) * first + part * last) for first, last in channels))


def ink_on(colour: QColor) -> QColor:
    """Black or white, whichever has more contrast."""
    return QColor(max(INKS, key=lambda ink: theme.contrast(ink, colour.name())))
