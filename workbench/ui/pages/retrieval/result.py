"""The query with its facts, and the grid of its neighbours."""

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.pages.retrieval.neighbour_card import SIDE, NeighbourCard
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import Chip
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.pictures import PictureLoader, as_image
from workbench.ui.words import percent
from workbench.workspace.rows import Neighbour, Query

BIG = 224  # px


class Result(QWidget):
    """Centre of the page."""

    neighbour_chosen = Signal(object)  # sample id
    map_asked = Signal()
    back_asked = Signal()
    forward_asked = Signal()
    copy_asked = Signal()
    own_dropped = Signal()

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self.cards: list[NeighbourCard] = []
        self._query: Query | None = None
        self._build()
        self._loader.ready.connect(self._pictures_came)

    def _build(self) -> None:
        self.picture = QLabel()
        self.picture.setFixedSize(BIG, BIG)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setWordWrap(True)
        self.picture.setProperty("card", "true")
        self.title = ElidedLabel("", "title")
        self.facts = label("", wrap=True)
        self.path = ElidedLabel("", "caption", Qt.TextElideMode.ElideMiddle)
        self.back = icon_button("arrow-left", "Back to the query before")
        self.forward = icon_button("arrow-right", "Forward")
        self.show_in_map = button("Show in map", "map-trifold")
        self.copy = button("Copy list", "copy", "quiet")
        self.own = Chip("Your image", removable=True)
        self.own.hide()
        buttons = QHBoxLayout()
        for widget in (self.back, self.forward, self.show_in_map, self.copy):
            buttons.addWidget(widget)
        buttons.addStretch(1)
        beside = QVBoxLayout()
        beside.setSpacing(8)
        beside.addWidget(self.own, 0, Qt.AlignmentFlag.AlignLeft)
        beside.addWidget(self.title)
        beside.addWidget(self.facts)
        beside.addWidget(self.path)
        beside.addStretch(1)
        beside.addLayout(buttons)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(self.picture)
        head.addLayout(beside, 1)
        inside = QWidget()
        self.grid = FlowLayout(inside, spacing=8)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("Nearest neighbours, best first")
        self.area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(label("Nearest neighbours", "section"))
        column.addWidget(self.area, 1)
        self.back.clicked.connect(self.back_asked)
        self.forward.clicked.connect(self.forward_asked)
        self.show_in_map.clicked.connect(self.map_asked)
        self.copy.clicked.connect(self.copy_asked)
        self.own.removed.connect(self.own_dropped)

    def show_query(self, query: Query, neighbours: list[Neighbour], kind: str) -> None:
        """Show a query of the evaluation with its stored neighbours; `kind` names the similarity."""
        self._query = query
        self.own.hide()
        self.show_in_map.setEnabled(True)
        self.title.setText(query.class_name)
        right = sum(each.right for each in neighbours)
        hit = f"first hit at rank {query.first_hit}" if query.first_hit else "no other image of its class"
        self.facts.setText(
            f"AP {percent(query.ap)} %   ·   {hit}   ·   R = {query.r}\n"
            f"{right} of the {len(neighbours)} shown are of its class ({kind})"
        )
        self.path.setText(query.path)
        self._fill(neighbours)
        self._show_picture()
        self._loader.request([*(each.sample_id for each in neighbours)], SIDE)

    def show_own(self, picture: np.ndarray, name: str, neighbours: list[Neighbour], kind: str) -> None:
        """Show an image of one's own with the nearest test images."""
        self._query = None
        self.own.show()
        self.show_in_map.setEnabled(False)
        self.title.setText(name)
        near = [each.class_name for each in neighbours[:5]]
        self.facts.setText(f"Nearest classes: {', '.join(dict.fromkeys(near))}\nMost similar test images ({kind})")
        self.path.setText("")
        self.picture.setPixmap(QPixmap.fromImage(as_image(picture, BIG)))
        self._fill(neighbours, judged=False)
        self._loader.request([each.sample_id for each in neighbours], SIDE)

    def _fill(self, neighbours: list[Neighbour], judged: bool = True) -> None:
        self.grid.clear()
        self.cards = []
        for each in neighbours:
            card = NeighbourCard(each, judged)
            card.clicked.connect(self._choose)
            self.grid.addWidget(card)
            card.show()
            self.cards.append(card)
        self._pictures_came([])
        self.area.verticalScrollBar().setValue(0)
        self.grid.invalidate()

    def _choose(self) -> None:
        card = self.sender()
        if isinstance(card, NeighbourCard):
            self.neighbour_chosen.emit(card.neighbour.sample_id)

    def _pictures_came(self, sample_ids: list[int]) -> None:
        for card in self.cards:
            sample_id = card.neighbour.sample_id
            card.set_picture(self._loader.pixmap(sample_id, SIDE), bool(self._loader.absent(sample_id)))
        self._show_picture()
        if self._query is not None and self._loader.pixmap(self._query.sample_id, BIG) is None and sample_ids:
            self._loader.request([self._query.sample_id], BIG)

    def _show_picture(self) -> None:
        if self._query is None:
            return
        found = self._loader.pixmap(self._query.sample_id, BIG)
        absent = self._loader.absent(self._query.sample_id)
        if found is not None:
            self.picture.setPixmap(found)
            self.picture.setAccessibleName(f"The query, of class {self._query.class_name}")
        else:
            self.picture.setText(absent or "…")
