"""The warning about groups on the map that are not groups in the embedding; a click on a sentence shows the group."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton

from workbench.numerals import percentage
from workbench.ui.pages.map.model.map_model import Change, MapModel
from workbench.ui.style.icons import icon
from workbench.ui.widgets.page_menu import PageMenu

TIP = (
    "Groups of points on the map that are not groups in the embedding, with a dashed outline. Choose one to zoom to it."
)


class DoubtsButton(QPushButton):
    """Shows how many groups of the map are doubtful; hidden if there are none."""

    def __init__(self, model: MapModel) -> None:
        super().__init__()
        self._model = model
        self.setProperty("kind", "quiet")
        self.setIcon(icon("warning", "warning"))
        self.setToolTip(TIP)
        self.setMenu(PageMenu(self))
        self.hide()
        model.listen(self._heard)

    def _heard(self, change: Change) -> None:
        data = self._model.map
        if change is Change.MAP or (change is Change.MOMENT and data is not None and data.space is not None):
            self._fill(() if data is None or data.made is None else data.made.doubts)

    def _fill(self, doubts: Sequence[dict[str, Any]]) -> None:
        menu = self.menu()
        menu.clear()
        for doubt in doubts:
            action = QAction(sentence(doubt), menu)
            action.triggered.connect(partial(self._look_at, doubt))
            menu.addAction(action)
        self.setText("1 group is doubtful" if len(doubts) == 1 else f"{len(doubts):,} groups are doubtful")
        self.setVisible(bool(doubts))

    def _look_at(self, doubt: dict[str, Any], _: bool = False) -> None:
        self._model.look_at(np.asarray(doubt["outline"], float).reshape(-1, 2))


def sentence(doubt: dict[str, Any]) -> str:
    """A sentence that says why a group of the map is doubtful."""
    count, stay, pieces = doubt["count"], doubt["stay"], doubt["pieces"]
    if pieces > 1:
        return f"{count:,} points look like one group, but are {pieces:,} without a true neighbour in each other"
    return f"{count:,} points look like a group, but {percentage(1 - stay, 0)} of their true neighbours lie elsewhere"
