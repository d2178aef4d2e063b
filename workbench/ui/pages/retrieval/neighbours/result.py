"""The query with its scores, and the grid of its neighbours."""

from functools import partial

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from workbench.results.explanations import Standing
from workbench.ui.pages.retrieval.model.causes import NOTHING, Why
from workbench.ui.pages.retrieval.neighbours.card_grid import CardArea, CardGrid
from workbench.ui.pages.retrieval.neighbours.card_row import CardRow
from workbench.ui.pages.retrieval.neighbours.other_grid import OtherGrid
from workbench.ui.pages.retrieval.neighbours.query_facts import QueryFacts
from workbench.ui.pages.retrieval.neighbours.rank_strip import RankStrip
from workbench.ui.pages.retrieval.neighbours.why_card import WhyCard
from workbench.ui.style import theme
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import Chip
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.images.image_menu import ImageMenu, offer_image_menu
from workbench.ui.widgets.images.neighbour_card import NO_PICTURE, NeighbourCard
from workbench.ui.widgets.images.pictures import PictureLoader, as_image
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.scrolled import Scrolled
from workbench.workspace.rows import Neighbour, Query

BIG, SMALL = 224, 128  # px of the query's picture, and where the page is narrow or low
NARROW = 480  # px of this part of the page at 100% text, below which it is
LOW = 640  # px at 100% text: below this height two lists leave the large picture no room
GRID_LEAST = 170  # px, minimum height: one row of cards
AHEAD, MISSED_AHEAD = 48, 12  # cards made with the page: to make them when it is first shown would block the window
PLACE = "neighbours"
NEAR = "Nearest neighbours"
MORE = "Copy this image, open its file"
BESIDE_TIP = "The query and a neighbour, enlarged, and which parts make them similar (P)"
LONELY = "No other image of its class: it has no AP"


class Result(QWidget):
    """The centre of the page: the query and its neighbours."""

    neighbour_chosen = Signal(object)  # sample id
    map_asked = Signal()
    copy_asked = Signal()
    own_dropped = Signal()  # the user closes the search with an own image
    stepped = Signal(int)  # by how many queries of the list
    pair_asked = Signal(object)  # sample id of the neighbour to show beside the query; None: the first

    def __init__(self, loader: PictureLoader) -> None:
        super().__init__()
        self._loader = loader
        self._sample: int | None = None  # the query, unless it is an own image or words
        self._query = QPixmap()  # its picture, or that of an own image
        self._absent = ""  # said in its place
        self._build()
        self._loader.ready.connect(self._pictures_came)

    def _build(self) -> None:
        self.picture = label("", "caption", wrap=True)
        self.picture.setFixedSize(BIG, BIG)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = ElidedLabel("", "title", Qt.TextElideMode.ElideMiddle)
        self.before = icon_button("caret-left", "Previous query (K)")
        self.after = icon_button("caret-right", "Next query (J)")
        self.place = label("", "caption")
        self.steps = QWidget()
        in_row(self.before, self.place, self.after, on=self.steps, spacing=4)
        self.scores = QueryFacts()
        self.facts = label("", wrap=True)
        self.explanation = WhyCard()
        self.path = ElidedLabel("", "caption", Qt.TextElideMode.ElideMiddle)
        offer_image_menu(self.picture, self._loader, lambda: self._sample)
        self.image_menu = ImageMenu(self._loader, lambda: self._sample, self)
        self.more = icon_button("dots-three", MORE)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self.image_menu)
        self.show_in_map = button("Show in map", "map-trifold")
        self.copy = button("Copy list", "copy", "quiet")
        self.tag = button("Tag", "tag", "quiet")
        self.tag.setToolTip(own_keys("Tag this image, for instance as wrongly labelled (Ctrl+Shift+G)"))
        self.beside = button("Pair", "columns", "quiet")
        self.beside.setToolTip(own_keys(BESIDE_TIP))
        self.tags = ElidedLabel("", "caption")
        self.tags.hide()
        self.own, self.words = Chip("Your image", removable=True), Chip("Your words", removable=True)
        for chip in (self.own, self.words):
            chip.hide()
            chip.removed.connect(self.own_dropped)
        buttons = QWidget()
        flow = FlowLayout(buttons, spacing=8)
        flow.addWidget(self.show_in_map)
        flow.addWidget(self.tag)
        flow.addWidget(self.beside)
        named = in_row((self.path, 1), (self.tags, 1), self.more, spacing=12)  # in one line: a tag moves nothing
        words = (self.scores, self.facts, self.explanation, named)
        chips = in_row(self.own, self.words, 1)
        beside = in_column(chips, in_row((self.title, 1), self.steps, spacing=8), *words, 1, buttons, spacing=8)
        head = in_row((self.picture, Qt.AlignmentFlag.AlignTop), (beside, 1), spacing=16)
        inside, whole = QWidget(), QWidget()
        in_column(Scrolled(whole), on=self)
        self.grid = CardGrid(self._loader, PLACE, AHEAD)
        self.missed = CardRow(self._loader, "missed neighbours", MISSED_AHEAD)
        self.area = CardArea("Nearest neighbours, best first")
        self.area.setWidget(inside)
        in_column(self.grid, self.missed, 1, on=inside, spacing=16)
        self.other = OtherGrid(self._loader)
        grids = in_row((self.area, 1), (self.other, 1), spacing=16)
        self.strip = RankStrip()
        self.area.setMinimumHeight(GRID_LEAST)
        in_column(head, self.strip, self._grid_head(), (grids, 1), on=whole, spacing=12)
        self.show_in_map.clicked.connect(self.map_asked)
        self.copy.clicked.connect(self.copy_asked)
        self.before.clicked.connect(partial(self.stepped.emit, -1))
        self.after.clicked.connect(partial(self.stepped.emit, 1))
        self.grid.stop.reached.connect(self.area.ensureWidgetVisible)
        self.grid.chosen.connect(self.neighbour_chosen)
        self.grid.pair_asked.connect(self.pair_asked)
        self.missed.grid.pair_asked.connect(self.pair_asked)
        self.beside.clicked.connect(self._ask_pair)
        self.missed.stop.reached.connect(self.area.ensureWidgetVisible)
        self.missed.chosen.connect(self.neighbour_chosen)
        self.other.row.chosen.connect(self.neighbour_chosen)

    def _grid_head(self) -> QHBoxLayout:
        """The title of the grid, and the button that scrolls to the missed neighbours."""
        self.to_missed = button("", "arrow-down", "quiet")
        self.to_missed.setToolTip("Images of its class that are not among these neighbours, with their ranks")
        self.to_missed.hide()
        self.to_missed.clicked.connect(self._go_to_missed)
        self.near_title = label(NEAR, "section", wrap=True)
        return in_row((self.near_title, 1), self.to_missed, self.copy)

    def _go_to_missed(self) -> None:
        self.area.verticalScrollBar().setValue(self.missed.y())

    def _ask_pair(self) -> None:
        self.pair_asked.emit(self.focused)

    @property
    def focused(self) -> int | None:
        """The sample id of the neighbour that has the focus, or had it last in this window; None if none has."""
        holder = self.window().focusWidget()
        return next((card.sample() for card in (*self.grid.cards, *self.missed.cards) if card is holder), None)

    @property
    def cards(self) -> list[NeighbourCard]:
        """The cards of the shown neighbours, best first."""
        return self.grid.cards

    def show_query(self, query: Query, neighbours: list[Neighbour], kind: str) -> None:
        """Show a query of the evaluation with its stored neighbours; `kind` names the similarity."""
        self._sample = query.sample_id
        self.own.hide()
        self.words.hide()
        self.picture.show()
        self.show_in_map.setEnabled(True)
        self.more.show()
        self.title.setText(query.class_name)
        self.scores.show_query(query, neighbours)
        self.scores.show()
        self.facts.setText(LONELY)
        self.facts.setVisible(not query.r)
        self.near_title.setText(f"{NEAR} by {kind}")
        self.path.setText(query.path)
        self.picture.setAccessibleName(f"The query, of class {query.class_name}")
        self._fill(neighbours, judged=True)
        self._loader.request(f"{PLACE} query", [query.sample_id], BIG)

    def show_explanation(self, why: Why) -> None:
        """Show why the query failed; NOTHING hides the card."""
        self.explanation.show_why(why)

    def show_place(self, position: int, listed: int) -> None:
        """Show where the query stands in the list, from 0; -1 if it is not listed."""
        self.steps.setVisible(self._sample is not None and listed > 0)
        self.place.setText(f"{position + 1:,} of {listed:,}" if position >= 0 else f"not in the {listed:,}")
        self.before.setEnabled(position > 0)
        self.after.setEnabled(position < listed - 1)

    def show_tags(self, tags: list[str] | None) -> None:
        """Show the tags of the query; None if it cannot have tags."""
        self.tag.setEnabled(tags is not None)
        self.tags.setText(f"Tagged: {', '.join(tags)}" if tags else "")
        self.tags.setVisible(bool(tags))

    def show_standing(self, standing: Standing | None, beyond: int = 0, r: int = 0) -> None:
        """Show the ranks of the query's class, and some of its images behind rank `beyond`; None if not known.

        `r` is the number of other images of the class.
        """
        total = standing.missed if standing is not None else 0
        self.to_missed.setVisible(total > 0)
        self.to_missed.setText(f"{total:,} missed")
        near = standing.near if standing is not None else []
        limited = f", the nearest {len(near):,} of them" if len(near) < total else ""
        self.missed.setVisible(total > 0)
        self.missed.show_cards(f"Missed: {total:,} of its class behind rank {beyond:,}{limited}", near)
        self.strip.show_ranks(standing, r)

    def show_own(self, picture: np.ndarray, name: str, neighbours: list[Neighbour], kind: str, epoch: int) -> None:
        """Show an own image with its nearest test images, embedded with the checkpoint of `epoch`."""
        self._show_asked(self.own, name, f"Compared with epoch {epoch}, by {kind}", neighbours)
        self.picture.show()
        self.picture.setAccessibleName(f"Your image {name}")
        self._show_picture(QPixmap.fromImage(as_image(picture, BIG)))

    def show_words(self, words: str, neighbours: list[Neighbour], kind: str, tower: str) -> None:
        """Show the test images that are nearest to the embedding of some words."""
        compared = f"Compared with the embedding of the words by {tower}, by {kind}"
        self._show_asked(self.words, words, compared, neighbours)
        self.picture.hide()

    def show_nothing(self, words: str) -> None:
        """Show these words in place of a query and its neighbours."""
        for chip in (self.own, self.words):
            chip.hide()
        self.title.setText("")
        self.facts.setText(words)
        self._show_picture(QPixmap())
        self._forget_query()
        self._fill([], judged=False)

    def _forget_query(self) -> None:
        """Hide what only a query of the evaluation has."""
        self._sample = None
        self.show_in_map.setEnabled(False)
        self.more.hide()
        self.scores.hide()
        self.facts.show()
        self.path.setText("")
        self.near_title.setText(NEAR)
        self.show_place(-1, 0)
        self.show_explanation(NOTHING)
        self.show_tags(None)
        self.show_standing(None)
        self.other.hide()

    def _show_asked(self, chip: Chip, title: str, how: str, neighbours: list[Neighbour]) -> None:
        self._forget_query()
        for other in (self.own, self.words):
            other.setVisible(other is chip)
        self.title.setText(title)
        near = dict.fromkeys(neighbour.class_name for neighbour in neighbours[:5])
        self.facts.setText(f"Nearest classes: {', '.join(near)}\n{how}")
        self._fill(neighbours, judged=False)

    def _fill(self, neighbours: list[Neighbour], *, judged: bool) -> None:
        self.grid.show_neighbours(neighbours, judged=judged)
        self.area.verticalScrollBar().setValue(0)
        self._pictures_came(set())

    def _pictures_came(self, _: set[int]) -> None:
        if self._sample is None:
            return
        picture = self._loader.pixmap(self._sample, BIG)
        if picture is not None:
            self._show_picture(picture)
        else:
            self._show_picture(QPixmap(), self._loader.absent(self._sample) or "…")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_picture()

    def fit_picture(self) -> None:
        """Give the query's picture the size for which there is room: less beside two lists in a low page."""
        is_low = not self.other.isHidden() and self.height() < theme.text_px(LOW)
        side = SMALL if is_low or self.width() < theme.text_px(NARROW) else BIG
        if self.picture.width() != side:
            self.picture.setFixedSize(side, side)
            self._show_picture(self._query, self._absent)

    def _show_picture(self, picture: QPixmap, words: str = "") -> None:
        """Show a picture of the query, no larger than its place; these words in place of an empty one.

        Words without room, such as a long path, are in the tooltip.
        """
        self._query, self._absent = picture, words
        self.picture.setToolTip(plain_tip(words))
        if picture.isNull():
            self.picture.setText(words if self._has_room(words) else NO_PICTURE)
            return
        side, ratio = self.picture.width(), picture.devicePixelRatio()
        if max(picture.width(), picture.height()) > round(side * ratio):
            whole, keep = round(side * ratio), Qt.AspectRatioMode.KeepAspectRatio
            picture = picture.scaled(whole, whole, keep, Qt.TransformationMode.SmoothTransformation)
            picture.setDevicePixelRatio(ratio)
        self.picture.setPixmap(picture)

    def _has_room(self, words: str) -> bool:
        place, wrap = self.picture.rect(), int(Qt.TextFlag.TextWordWrap)
        needed = self.picture.fontMetrics().boundingRect(place, wrap, words)
        return needed.width() <= place.width() and needed.height() <= place.height()
