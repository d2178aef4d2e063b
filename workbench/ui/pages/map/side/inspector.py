"""The Inspector's panel: one sample with its scores and neighbours, or a summary of several selected samples."""

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from workbench.progress import Progress
from workbench.ui.pages.map.side.inspected import Inspected, read_sample, read_selection
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.style.tab_order import follow
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.locating import LocateStrip
from workbench.ui.widgets.images.pictures import fill_picture, shared_loader
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.one_stop import OneStop

BIG, SMALL = 192, 40  # px
PLACE = "inspector"


class Spot(QAbstractButton):
    """A small picture, with a tick or cross if it is a neighbour; a click selects the sample."""

    def __init__(self) -> None:
        super().__init__()
        self.sample, self.sign, self.words, self._absent = -1, "", "", ""
        self.picture: QPixmap | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_sample(self, sample: int, sign: str, words: str) -> None:
        """Show this sample; its picture is loaded later."""
        self.sample, self.sign, self.words = sample, sign, words
        self.setFixedSize(SMALL + 4, SMALL + (18 if sign else 4))
        self.setAccessibleName(words)
        self.set_picture(None, "")

    def set_picture(self, pixmap: QPixmap | None, absent: str) -> None:
        """Show the picture, or why there is none."""
        self.picture, self._absent = pixmap, absent
        self.setToolTip(plain_tip(f"{self.words}\n{absent}" if absent else self.words))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, painter = theme.current(), QPainter(self)
        frame = self.rect().adjusted(1, 1, -1, -1)
        frame.setHeight(SMALL + 2)
        ink = {"✓": tokens.right, "✗": tokens.wrong}.get(self.sign, tokens.divider)
        if self.picture is not None:
            size = self.picture.deviceIndependentSize().toSize()
            painter.drawPixmap(
                frame.center().x() - size.width() // 2 + 1, frame.center().y() - size.height() // 2 + 1, self.picture
            )
        else:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(frame, int(Qt.AlignmentFlag.AlignCenter), "?" if self._absent else "…")
        painter.setPen(QPen(QColor(tokens.accent if self.hasFocus() else ink), 2))
        painter.drawRect(frame)
        if self.sign:
            painter.setPen(QColor(ink))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom), self.sign)


HINT = "Click a point of the map or a query to see it here."


class InspectorPanel(QStackedWidget):
    """Shows what the user chose last: the selection or the query.

    Args:
        hint: shown while nothing is selected.
    """

    shown = Signal()  # emitted after the panel shows a change

    def __init__(self, session: Session, hint: str = HINT) -> None:
        super().__init__()
        self.session, self._said_of_nothing = session, hint
        self.loader = shared_loader(session)
        self.sample: int | None = None
        self.spots: list[Spot] = []  # the spots of the pool that are in use
        self._pool: list[Spot] = []
        self._stop = OneStop(self)
        self._follow_query = False  # True: the query changed last; False: the selection did
        self._number = 0  # of the newest request: answers to older ones are dropped
        self._stale = True
        self._soon = QTimer(self, singleShot=True, interval=0)  # several changes at once cause one request
        self._soon.timeout.connect(self._ask)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.hint = EmptyHint("Nothing selected", self._said_of_nothing)
        self.picture = label("", "caption", wrap=True)
        self.picture.setFixedSize(BIG, BIG)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        offer_image_menu(self.picture, self.loader, lambda: self.sample)
        self.title = ElidedLabel("", "section", Qt.TextElideMode.ElideMiddle)
        self.facts = label("", wrap=True)
        self.sheet_title = label("", "caption", wrap=True)
        sheet = QWidget()
        self.sheet = FlowLayout(sheet, spacing=4)
        self.in_map = button("Show in map", "map-trifold", "quiet")
        self.in_retrieval = button("Show in retrieval", "squares-four", "quiet")
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        self.locating = LocateStrip(self.session, self.loader)
        column.addWidget(self.locating, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.picture, self.title, self.facts, self.sheet_title, sheet):
            column.addWidget(widget)
        for widget in (self.in_map, self.in_retrieval):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        scroll.setAccessibleName("What is selected")
        self._stop.reached.connect(scroll.ensureWidgetVisible)
        self.addWidget(self.hint)
        self.addWidget(scroll)

    def _connect(self) -> None:
        self.session.selection_changed.connect(self._selection_changed)
        self.session.query_changed.connect(self._query_changed)
        self.session.evaluation_changed.connect(self._changed)
        self.session.workspace_changed.connect(self._changed)
        self.loader.ready.connect(self._fill)
        self.in_map.clicked.connect(self._go_to_map)
        self.in_retrieval.clicked.connect(self._go_to_retrieval)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._soon.start()

    def _selection_changed(self) -> None:
        self._follow_query = not len(self.session.selection)
        self._changed()

    def _query_changed(self) -> None:
        self._follow_query = self.session.query is not None
        self._changed()

    def _changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self._soon.start()

    def _chosen(self) -> np.ndarray:
        """Sample ids to show."""
        if self._follow_query or not len(self.session.selection):
            return np.array([] if self.session.query is None else [self.session.query], np.int64)
        return self.session.selection

    def _ask(self) -> None:
        """Read the choice on a thread: a large selection may take long."""
        self._stale = False
        self._number += 1
        number, workspace = self._number, self.session.workspace
        chosen, evaluation = self._chosen(), self.session.evaluation_id
        if evaluation is None or not len(chosen):
            self._show((number, None))
            return

        def work(progress: Progress) -> tuple[int, Inspected | None]:
            read = read_sample if len(chosen) == 1 else read_selection
            return number, read(workspace, evaluation, chosen)

        self.session.run_in_thread("Inspect", work, self._show, quiet=True)

    def _show(self, answer: tuple[int, Inspected | None]) -> None:
        number, shown = answer
        if number != self._number:
            return
        self.sample = None if shown is None else shown.sample
        self.setCurrentIndex(0 if shown is None else 1)
        self._fill_sheet([] if shown is None else shown.sheet)
        if shown is not None:
            self.picture.setVisible(shown.sample is not None)
            self.title.setText(shown.title)
            self.facts.setText(shown.facts)
            self.sheet_title.setText(shown.sheet_title)
            if shown.sample is not None:
                self.picture.setAccessibleName(f"The selected image, of class {shown.title}")
                self.loader.request(f"{PLACE} picture", [shown.sample], BIG)
            self.loader.request(PLACE, [spot.sample for spot in self.spots], SMALL)
            self._fill(set())
        self.shown.emit()

    def _fill_sheet(self, sheet: list[tuple[int, str, str]]) -> None:
        self.sheet.setEnabled(False)  # otherwise showing each spot would lay out all of them
        while len(self._pool) < len(sheet):
            spot = Spot()
            spot.clicked.connect(self._choose)
            spot.hide()
            self.sheet.addWidget(spot)
            follow(self._pool[-1] if self._pool else self.locating.locate, [spot])
            self._pool.append(spot)
        self.spots = self._pool[: len(sheet)]
        for spot, row in zip(self.spots, sheet, strict=True):
            spot.show_sample(*row)
            spot.show()
        for spot in self._pool[len(sheet) :]:
            spot.hide()
        self.sheet.setEnabled(True)
        self.sheet.invalidate()
        self._stop.show(self.spots)

    def _fill(self, _: set[int]) -> None:
        for spot in self.spots:
            spot.set_picture(self.loader.pixmap(spot.sample, SMALL), self.loader.absent(spot.sample))
        if self.sample is not None:
            fill_picture(self.picture, self.loader, self.sample, BIG)

    def _choose(self) -> None:
        spot = self.sender()
        if isinstance(spot, Spot):
            self.session.select(np.array([spot.sample], np.int64))
            self.session.show_query(spot.sample)

    def _go_to_map(self) -> None:
        if self.sample is not None:
            self.session.select(np.array([self.sample], np.int64))
        self.session.show_page("map")

    def _go_to_retrieval(self) -> None:
        if self.sample is not None:
            self.session.show_query(self.sample)
        self.session.show_page("retrieval")
