"""The Retrieval page: queries on the left, the query and its neighbours in the centre."""

from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from workbench.files.spreadsheet import pasted
from workbench.problem import Problem
from workbench.ui.in_turns import InTurns
from workbench.ui.models.query_table import QueryTable
from workbench.ui.pages.retrieval import own_image
from workbench.ui.pages.retrieval.explaining import Explaining
from workbench.ui.pages.retrieval.export import written
from workbench.ui.pages.retrieval.history import History
from workbench.ui.pages.retrieval.query_list import QueryList
from workbench.ui.pages.retrieval.result import Result
from workbench.ui.pages.retrieval.tagging import Tagging
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.locating import LocateStrip
from workbench.ui.widgets.pictures import shared_loader
from workbench.workspace import Workspace

SHOWN = 48  # neighbours in the grid
AGAIN = "Search this run again"
KINDS = {"cosine": "cosine similarity", "l2": "minus the distance"}


class RetrievalPage(QStackedWidget):
    """Browses the shown evaluation. The query is the session's, so that map and Inspector follow it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.history = History()
        self._listed: tuple[Workspace, int] | None = None  # workspace and evaluation in the list
        self._last_own: tuple[own_image.Source, str] | None = None  # an image of one's own, and its name
        self._turns = InTurns(session, self)
        self._build()
        self._make_actions()
        self._connect()
        self._show_evaluation()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "Nothing has been evaluated yet",
            "The queries of an evaluation stand here with their nearest neighbours. Train a run, or choose one.",
            "Go to Train",
        )
        loader = shared_loader(self.session)
        self.model = QueryTable(self.session.workspace, loader, self)
        self.queries = QueryList(self.model)
        self.result = Result(loader)
        self.explaining = Explaining(self.session, self.queries.why, self.result, self)
        self.tagging = Tagging(self.session, self.queries.why, self.result, self)
        self.back = icon_button("arrow-left", "Back to the query before (Alt+Left)")
        self.forward = icon_button("arrow-right", "Forward again (Alt+Right)")
        self.own = button("Search with an image", "image")
        self.own.setToolTip("An image of your own: open a file, paste one, or drop it on this page")
        own = QMenu(self.own)
        self.open_own, self.paste_own = own.addAction("Open a file…"), own.addAction("Paste from the clipboard")
        self.search_again = own.addAction(AGAIN)
        self.search_again.setEnabled(False)
        self.search_again.setToolTip("The image searched with last, in the run that is shown now")
        own.setToolTipsVisible(True)
        self.own.setMenu(own)
        bar = QHBoxLayout()
        bar.setSpacing(8)
        for widget in (self.back, self.forward):
            bar.addWidget(widget)
        bar.addStretch(1)
        self.locating = LocateStrip(self.session, loader)
        bar.addWidget(self.locating)
        bar.addWidget(self.own)
        centre = QVBoxLayout()
        centre.setSpacing(12)
        centre.addLayout(bar)
        centre.addWidget(self.result, 1)
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        row.addWidget(self.queries)
        row.addLayout(centre, 1)
        self.addWidget(self.hint)
        self.addWidget(content)
        self.setAcceptDrops(True)

    def _make_actions(self) -> None:
        for words, keys, slot in (
            ("Next query", "J", self._next),
            ("Previous query", "K", self._previous),
            ("Back", "Alt+Left", self._back),
            ("Forward", "Alt+Right", self._forward),
            ("Show the query in the map", "M", self._show_in_map),
            ("Earlier evaluation", "[", self.session.show_earlier),
            ("Later evaluation", "]", self.session.show_later),
            ("Search with an image…", "", self._open_own),
            ("Paste an image to search with", "Ctrl+V", self._paste_own),
            ("Search this run with the last image again", "Ctrl+Shift+V", self._search_again),
            ("Export the listed queries…", "", self._ask_export),
        ):
            action = QAction(words, self)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(slot)
            self.addAction(action)

    def _connect(self) -> None:
        session, result = self.session, self.result
        self.hint.pressed.connect(self._go_to_train)
        self.queries.chosen.connect(self._choose)
        self.queries.selection_dropped.connect(self._drop_selection)
        self.queries.export_asked.connect(self._ask_export)
        self.open_own.triggered.connect(self._open_own)
        self.paste_own.triggered.connect(self._paste_own)
        self.search_again.triggered.connect(self._search_again)
        result.neighbour_chosen.connect(self._choose)
        self.explaining.sample_chosen.connect(self._choose)
        result.map_asked.connect(self._show_in_map)
        self.back.clicked.connect(self._back)
        self.forward.clicked.connect(self._forward)
        result.copy_asked.connect(self._copy)
        result.own_dropped.connect(self._show_query)
        self.model.failed.connect(session.notify)
        session.theme.changed.connect(self._fit_text)
        self._fit_text()
        session.run_changed.connect(self._forget_history)
        session.runs_changed.connect(self._look_again)
        session.evaluation_changed.connect(self._show_evaluation)
        session.query_changed.connect(self._query_changed)
        session.selection_changed.connect(self._show_selection)
        session.workspace_changed.connect(self._show_evaluation)

    def _fit_text(self) -> None:
        self.queries.fit_text(self.session.theme)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self.queries.table.setFocus()

    def _show_evaluation(self) -> None:
        """List another evaluation, once the page is looked at."""
        evaluation, run = self.session.evaluation(), self.session.run()
        if evaluation is None or run is None or run.dataset_id is None:
            self._turns.stop()
            self.setCurrentIndex(0)
            self._listed = None
            return
        self.setCurrentIndex(1)
        now = (self.session.workspace, evaluation.id)
        if not self.isVisible() or self._listed == now:
            return
        self._listed = now
        self._turns.begin(
            partial(self._list, evaluation.id, run.dataset_id),
            partial(self.tagging.show_dataset, run.dataset_id),
            partial(self.explaining.show_evaluation, evaluation),
            self._show_query,
        )

    def _list(self, evaluation_id: int, dataset_id: int) -> None:
        workspace = self.session.workspace
        class_names = workspace.dataset(dataset_id).class_names
        self.queries.show_evaluation(workspace, evaluation_id, class_names, self.session.selection)

    def _look_again(self) -> None:
        """A run that had read no data yet may have some now."""
        if self._listed is None and self.isVisible():
            self._show_evaluation()

    def _query_changed(self) -> None:
        if self.isVisible() and not self._turns.busy:
            self._show_query()

    def _show_query(self) -> None:
        sample_id, evaluation = self.session.query, self.session.evaluation()
        if sample_id is None and evaluation is not None and self.model.rowCount():
            self.session.show_query(self.model.sample_id(0))  # the worst, to begin with; this slot is called again
            return
        self.queries.go_to(sample_id)
        if sample_id is None or evaluation is None or self.currentIndex() == 0:
            return
        workspace = self.session.workspace
        try:
            query = workspace.query(evaluation.id, sample_id)
            near = workspace.neighbours(evaluation.run_id, sample_id, evaluation.id)
        except Problem:  # chosen in an evaluation with another test half: the first query of this one instead
            self.session.show_query(self.model.sample_id(0))
            return
        self.history.visit(sample_id)
        self.result.show_query(query, near[:SHOWN], KINDS[evaluation.distance])
        self.explaining.show_query(query, near, SHOWN)
        self.tagging.show_query(sample_id)
        self.back.setEnabled(self.history.can_go_back)
        self.forward.setEnabled(self.history.can_go_forward)

    def _show_selection(self) -> None:
        if self._listed is not None:
            self.queries.show_selection(self.session.selection)

    def _forget_history(self) -> None:
        self.history.clear()

    # What the person does

    def _choose(self, sample_id: int) -> None:
        if self.session.query == sample_id:
            self._show_query()  # back from an image of one's own
        else:
            self.session.show_query(sample_id)

    def _back(self) -> None:
        self._go(self.history.back())

    def _forward(self) -> None:
        self._go(self.history.forward())

    def _go(self, sample_id: int | None) -> None:
        if sample_id is not None:
            self.session.show_query(sample_id)

    def _next(self) -> None:
        self.queries.step(1)

    def _previous(self) -> None:
        self.queries.step(-1)

    def _drop_selection(self) -> None:
        self.session.select(np.empty(0, np.int64))

    def _show_in_map(self) -> None:
        if self.session.query is not None:
            self.session.select(np.array([self.session.query], np.int64))
            self.session.show_page("map")

    def _go_to_train(self) -> None:
        self.session.show_page("train")

    def _copy(self) -> None:
        near = [card.neighbour for card in self.result.cards if card.neighbour is not None]
        lines = [f"{each.rank}\t{pasted(each.class_name)}\t{each.similarity:.4f}" for each in near]
        QGuiApplication.clipboard().setText("\n".join(["rank\tclass\tsimilarity", *lines]))

    def _ask_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export the listed queries", "queries.csv", "CSV (*.csv)")
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        """Write the listed queries in their order as CSV, with causes of failure, on a thread."""
        listing, workspace = self.model.listing(), self.session.workspace
        if listing is None:
            return

        found = self.explaining.source.found
        if found is not None and found.evaluation_id != listing.evaluation_id:
            found = None
        work = written(path, listing, workspace, found)
        self.session.run_in_thread("Export the listed queries", work, self.session.notify)

    # Search with an image of one's own

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.currentIndex() == 1 and own_image.dropped(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        found = own_image.dropped(event.mimeData())
        if isinstance(found, Path):
            self.search_file(found)
        elif found is not None:
            self._search(own_image.from_image(found), "Dropped image")

    def _open_own(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Search with an image of your own")
        if name:
            self.search_file(Path(name))

    def _paste_own(self) -> None:
        try:
            picture = own_image.from_image(QGuiApplication.clipboard().image())
        except Problem as problem:
            self.session.notify(problem)
            return
        self._search(picture, "Pasted image")

    def search_file(self, path: Path) -> None:
        """Search with the image in a file."""
        self._search(path, path.name)

    def _search(self, source: own_image.Source, name: str) -> None:
        self._last_own = source, name
        self.search_again.setText(f"{AGAIN}: {name}".replace("&", "&&"))
        self.search_again.setEnabled(True)
        self._search_again()

    def _search_again(self) -> None:
        """Search the run that is shown now with the last image of one's own: another run orders another way."""
        run_id = self.session.run_id
        if run_id is not None and self._last_own is not None:
            work = own_image.search(self.session.workspace, run_id, *self._last_own)
            self.session.run_in_thread("Search with your image", work, self._found)

    def _found(self, found: own_image.Found) -> None:
        if found.evaluation.run_id == self.session.run_id and self.currentIndex() == 1:
            kind, epoch = KINDS[found.evaluation.distance], found.evaluation.epoch
            self.explaining.forget_query()
            self.tagging.show_query(None)
            self.result.show_own(found.picture, found.name, found.neighbours, kind, epoch)
