"""The Retrieval page of a search-only run: its index, one row and its neighbours."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QComboBox, QHeaderView, QProgressBar, QSpinBox, QTableView, QWidget

from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.searching.facts import described
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.search.gallery_model import SHOWN, USUAL, Change, GallerySearch, Plain, Take
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.style.words import duration
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.row_table import select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.folders.run_folders import folder_of

SERVER = "workbench.searching.server"
ROW_PX = 24  # at 100% text
TITLES = ("Rank", "Row", "Class", "Same class", "Similarity")
SAME = {True: "✓", False: "✗"}


class GalleryProcesses:
    """Uses separate processes for indexed search, building and exact search, so that none waits for another."""

    def __init__(self, session: Session, begun: Callable[[ActivityItem], None]) -> None:
        self._session, self._begun = session, begun
        self._clients: dict[str, AnalysisClient] = {}

    def describe(self, workspace: str, run_id: int, done: Take, failed: Callable[[Problem], None]) -> object:
        """As gallery_model.Processes."""
        self.ask("ready", {"workspace": workspace, "run": run_id}, ignored, ignored)
        return self._session.read(lambda: described(folder_of(Path(workspace), run_id)), done, failed)

    def ask(self, op: str, fields: Plain, done: Take, failed: Callable[[Problem], None]) -> object:
        """As gallery_model.Processes."""
        try:
            return self._client("ask").request(op, fields, None, done, failed)
        except Problem as problem:
            failed(problem)
            return None

    def work(
        self, title: str, op: str, fields: Plain, done: Take, failed: Callable[[Problem], None],
        cancelled: Callable[[], None],
    ) -> ProcessWork:  # fmt: skip
        """As gallery_model.Processes."""
        building = op == "build"
        client = process_of(self._session, SERVER) if building else self._client(op)
        work = ProcessWork(
            self._session, client, title, op, fields, done, failed, cancelled, ends_process=building
        )  # fmt: skip
        if building:
            self._begun(work.item)
        return work

    def notify(self, what: Problem | str) -> None:
        """As gallery_model.Processes."""
        self._session.notify(what)

    def _client(self, name: str) -> AnalysisClient:
        if name not in self._clients:
            self._clients[name] = process_of(self._session, SERVER)
        return self._clients[name]


class GalleryPanel(QWidget):
    """Draws a GallerySearch."""

    shown = Signal()  # neighbours were drawn

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._item: ActivityItem | None = None  # for the index that is being built
        self.model = GallerySearch(GalleryProcesses(session, self._follow), self._draw)
        self._build()
        self._connect()
        self._draw(Change.FACTS)

    def _build(self) -> None:
        self.head = label("", "title", wrap=True)
        self.quality = label("", wrap=True)
        self.make, self.again = button("Build the index", "lightning", "primary"), button("Build again", "", "quiet")
        self.cancel = button("Cancel")
        self.bar, self.doing = QProgressBar(), label("", "caption")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the index")
        card = Card("Index")
        card.body.addWidget(self.quality)
        card.body.addLayout(in_row((self.bar, 1), self.doing, self.cancel, spacing=8))
        card.body.addLayout(in_row(self.make, self.again, 1))
        self.row = number_box(QSpinBox())
        self.row.setGroupSeparatorShown(True)
        self.row.setKeyboardTracking(False)
        self.row.setToolTip("The embedding whose neighbours are shown, by its row in the imported file")
        self.any = button("Random row", "shuffle")
        self.search = button("Search", "magnifying-glass", "primary")
        self.exact = button("Search exactly")
        self.exact.setToolTip("Compare with all embeddings, and count what the index missed")
        self.count = QComboBox()
        for k in SHOWN:
            self.count.addItem(f"{k} nearest", k)
        self.count.setCurrentIndex(SHOWN.index(USUAL))
        self.count.setAccessibleName("How many neighbours are shown")
        self.said = label("Choose a row to see its nearest neighbours. Press Enter on one to search from it.", "muted",
                          wrap=True)  # fmt: skip
        self.rows = SortedRows(TITLES, neighbour_cells, written, self)
        self.table = QTableView()
        self.table.setModel(self.rows)
        select_rows(self.table, "Nearest neighbours")
        TableActions(self.session.fulfil, self.table, "neighbours.csv", self.rows.unwritten, self._csv)
        set_row_height(self.table, ROW_PX)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        asked = in_row(caption("Row", self.row), self.row, self.any, self.search, self.exact, 1, self.count, spacing=8)
        in_column(
            self.head, card, asked, self.said, (self.table, 1), on=self, margins=(16, 12, 16, 12), spacing=12
        )  # fmt: skip

    def _connect(self) -> None:
        for build in (self.make, self.again):
            build.clicked.connect(self.model.build)
        self.cancel.clicked.connect(self._cancel)
        self.search.clicked.connect(self._search)
        self.exact.clicked.connect(self._search_exactly)
        self.any.clicked.connect(self._search_any)
        self.row.lineEdit().returnPressed.connect(self._search)
        self.count.activated.connect(self._choose_count)
        self.table.activated.connect(self._go_on)

    def show_run(self, run_id: int | None) -> None:
        """Show the gallery of a run, or none."""
        self.model.show(run_id, str(self.session.workspace.path))

    # What is drawn

    def _draw(self, change: Change) -> None:
        model = self.model
        if change is Change.ANSWER:
            self.rows.show(neighbour_rows(model.answer))
            self.table.selectRow(0)
            self.row.setValue(model.row + 1)
            self.shown.emit()
        elif change is Change.FACTS:
            self.head.setText(model.head or "Opening…")
            self.row.setRange(1, 1 if model.facts is None else model.facts["count"])
            if model.answer is None:
                self.rows.show([])
        self.quality.setText(model.quality)
        idle = model.facts is not None and not model.building
        self.make.setVisible(idle and not model.has_index)
        self.again.setVisible(idle and model.has_index)
        for part in (self.bar, self.doing, self.cancel):
            part.setVisible(model.building)
        for asking in (self.search, self.any, self.exact, self.row):
            asking.setEnabled(model.facts is not None)
        self.exact.setText("Cancel" if model.searching_exactly else "Search exactly")
        self.search.setVisible(model.has_index)
        if model.searching_exactly:
            self.said.setText("Comparing with all. Activity shows the progress.")
        elif model.answer is not None:
            self.said.setText(model.said)

    def _follow(self, item: ActivityItem) -> None:
        self._item = item
        item.changed.connect(self._draw_progress)
        self._draw_progress()

    def _draw_progress(self) -> None:
        assert self._item is not None
        now, left = self._item.now, self._item.seconds_left
        self.bar.setRange(0, now.total or 0)
        self.bar.setValue(now.done)
        self.doing.setText(now.text + (f", {duration(left)} left" if left is not None else ""))

    # What the user does

    def _cancel(self) -> None:
        self.model.cancel_build()

    def _search(self) -> None:
        self.model.search(self.row.value() - 1)

    def _search_exactly(self) -> None:
        if self.model.searching_exactly:
            self.model.cancel_search()
        else:
            self.model.search(self.row.value() - 1, exact=True)

    def _search_any(self) -> None:
        if self.model.facts is not None:
            self.model.search(random.randrange(self.model.facts["count"]))

    def _choose_count(self) -> None:
        self.model.choose_k(self.count.currentData())

    def _go_on(self, index: QModelIndex) -> None:
        near = self.rows.row(index.row())
        if near is not None:
            self.model.search(near[1])

    def _csv(self) -> Content:
        return partial(neighbours_csv, list(self.rows.rows))


def neighbours_csv(rows: Sequence[tuple[Any, ...]]) -> str:
    """Neighbours as CSV: as the table, but with all digits of the similarities."""
    cells = [neighbour_cells(row) for row in rows]
    return csv_text(list(TITLES), [[rank, number + 1, *rest] for rank, number, *rest in cells])


def ignored(_: object) -> None:
    """Ignore an answer that is not needed."""


def neighbour_rows(answer: Plain | None) -> list[tuple[int, int, str, bool | None, float]]:
    """Rank, row, class, whether it is the query's, and similarity of each neighbour."""
    if answer is None:
        return []
    count = len(answer["rows"])
    names, right = answer["classes"] or [""] * count, answer["right"] or [None] * count
    together = zip(answer["rows"], names, right, answer["similarities"], strict=True)
    return [(rank, *facts) for rank, facts in enumerate(together, start=1)]


def neighbour_cells(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of one neighbour, by column."""
    rank, number, name, right, similarity = row
    return rank, number, name, SAME.get(right, ""), similarity


def written(column: int, value: Any) -> str:
    """The text of a value in the table; rows are counted from 1."""
    if column == 1:
        return f"{value + 1:,}"
    return f"{value:.4f}" if column == 4 else str(value)
