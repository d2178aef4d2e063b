"""The menu of the colours that runs can have."""

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QMenu, QWidget

from workbench.ui.style.theme import RUN_COLOUR_NAMES, run_colour


def colour_menu(window: QWidget, chosen: Callable[[int], None]) -> QMenu:
    """A menu with a swatch and a name for each colour; `chosen` gets the index of one in the palette of runs."""
    menu = QMenu(window)
    for index, name in enumerate(RUN_COLOUR_NAMES):
        swatch = QPixmap(12, 12)
        swatch.fill(run_colour(index))
        menu.addAction(QIcon(swatch), name).triggered.connect(partial(chosen, index))
    return menu
