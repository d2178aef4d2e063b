"""The Retrieval page: queries on the left, the query and its neighbours in the centre."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from workbench import files
from workbench.problem import Problem
from workbench.reports.tables import csv_text
from workbench.ui.models.query_table import QueryTable
from workbench.ui.pages.retrieval import own_image
from workbench.ui.pages.retrieval.query_list import QueryList
from workbench.ui.pages.retrieval.result import Result
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.pictures import PictureLoader

SHOWN = 48  # neighbours in the grid


class RetrievalPage(QStackedWidget):
    """Browses the shown evaluation. The query is the session's, so that map and Inspector follow it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.loader = PictureLoader(session)
        self._past: list[int] = []
        self._future: list[int] = []
        self._build()
        self._connect()
        self._show_evaluation()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "Nothing has been evaluated yet",
            "The queries of an evaluation stand here with their nearest neighbours. Train a run, or choose one.",
            "Go to Train",
        )
        self.model = QueryTable(self.session.workspace, self.loader, self)
        self.queries = QueryList(self.model)
        self.result = Result(self.loader)
        self.epochs = QComboBox()
        self.epochs.setAccessibleName("Evaluation")
        self.open_own = button("Search image…", "image")
        self.open_own.setToolTip("Search with an image of your own; or drop one here")
        self.paste_own = button("Paste image", "clipboard", "quiet")
        bar = QHBoxLayout()
        bar.addWidget(label("Evaluation", "caption"))
        bar.addWidget(self.epochs)
        bar.addStretch(1)
        bar.addWidget(self.paste_own)
        bar.addWidget(self.open_own)
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
        self.keys = [self._key("J", self._next), self._key("K", self._previous), self._key("Alt+Left", self._back)]
        self.keys.append(self._key("Alt+Right", self._forward))

    def _key(self, keys: str, slot: object) -> QShortcut:
        made = QShortcut(QKeySequence(keys), self)
        made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        made.activated.connect(slot)
        return made

    def _connect(self) -> None:
        session, result = self.session, self.result
        self.hint.pressed.connect(self._go_to_train)
        self.queries.chosen.connect(self._choose)
        self.queries.selection_dropped.connect(self._drop_selection)
        self.queries.export_asked.connect(self._export)
        self.epochs.activated.connect(self._choose_epoch)
        self.open_own.clicked.connect(self._open_own)
        self.paste_own.clicked.connect(self._paste_own)
        result.neighbour_chosen.connect(self._choose)
        result.map_asked.connect(self._show_in_map)
        result.back_asked.connect(self._back)
        result.forward_asked.connect(self._forward)
        result.copy_asked.connect(self._copy)
        result.own_dropped.connect(self._show_query)
        self.loader.missing.connect(session.notify)
        session.evaluation_changed.connect(self._show_evaluation)
        session.evaluations_changed.connect(self._list_epochs)
        session.query_changed.connect(self._show_query)
        session.selection_changed.connect(self._show_selection)
        session.workspace_changed.connect(self._open_workspace)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_query()

    def _open_workspace(self) -> None:
        self.model.close()
        self.model = QueryTable(self.session.workspace, self.loader, self)
        self.queries.model = self.model
        self.queries.table.setModel(self.model)
        self.queries.table.selectionModel().currentRowChanged.connect(self.queries._pick)
        self._past, self._future = [], []
        self._show_evaluation()

    def _show_evaluation(self) -> None:
        evaluation_id, run = self.session.evaluation_id, self.session.run()
        known = evaluation_id is not None and run is not None and run.dataset_id is not None
        self.setCurrentIndex(1 if known else 0)
        self._list_epochs()
        if evaluation_id is None or run is None or run.dataset_id is None:
            return
        stored = self.session.workspace.queries(evaluation_id)
        names = self.session.workspace.dataset(run.dataset_id).class_names
        self.queries.show_evaluation(evaluation_id, stored.labels, names)
        if self.session.query not in set(stored.sample_ids.tolist()):
            self.session.show_query(None)
        self._show_query()

    def _list_epochs(self) -> None:
        run_id = self.session.run_id
        found = [] if run_id is None else self.session.workspace.evaluations(run_id)
        self.epochs.clear()
        for each in reversed(found):
            word = "untrained" if each.epoch == 0 else f"epoch {each.epoch}"
            self.epochs.addItem(f"{word}, {each.distance}", each.id)
        self.epochs.setCurrentIndex(self.epochs.findData(self.session.evaluation_id))

    def _show_query(self) -> None:
        sample_id, evaluation = self.session.query, self.session.evaluation()
        if sample_id is None and self.isVisible() and self.model.rowCount():
            self.session.show_query(self.model.sample_id(0))  # the worst, to begin with; this slot is called again
            return
        self.queries.go_to(sample_id)
        if sample_id is None or evaluation is None or self.currentIndex() == 0:
            return
        try:
            query = self.session.workspace.query(evaluation.id, sample_id)
        except Problem:  # selected from another half: it is no query of this evaluation
            return
        near = self.session.workspace.neighbours(evaluation.run_id, sample_id, evaluation.id)[:SHOWN]
        self.result.show_query(query, near, own_image.KINDS[evaluation.distance])
        self.result.back.setEnabled(bool(self._past))
        self.result.forward.setEnabled(bool(self._future))

    def _show_selection(self) -> None:
        self.queries.show_selection(self.session.selection)

    # What the person does

    def _choose(self, sample_id: int) -> None:
        if self.session.query is not None and self.session.query != sample_id:
            self._past.append(self.session.query)
            self._future.clear()
        if self.session.query == sample_id:
            self._show_query()  # back from an image of one's own
        self.session.show_query(sample_id)

    def _back(self) -> None:
        if self._past and self.session.query is not None:
            self._future.append(self.session.query)
            self.session.show_query(self._past.pop())

    def _forward(self) -> None:
        if self._future and self.session.query is not None:
            self._past.append(self.session.query)
            self.session.show_query(self._future.pop())

    def _next(self) -> None:
        self.queries.step(1)

    def _previous(self) -> None:
        self.queries.step(-1)

    def _choose_epoch(self) -> None:
        self.session.show_evaluation(self.epochs.currentData())

    def _drop_selection(self) -> None:
        self.session.select([])  # type: ignore[arg-type]

    def _show_in_map(self) -> None:
        if self.session.query is not None:
            self.session.select([self.session.query])  # type: ignore[arg-type]
            self.session.show_page("map")

    def _go_to_train(self) -> None:
        self.session.show_page("train")

    def _copy(self) -> None:
        lines = [
            f"{card.neighbour.rank}\t{card.neighbour.class_name}\t{card.neighbour.similarity:.4f}"
            for card in self.result.cards
        ]
        QGuiApplication.clipboard().setText("\n".join(["rank\tclass\tsimilarity", *lines]))

    def _export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export the listed queries", "queries.csv", "CSV (*.csv)")
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        """Write the listed queries as CSV."""
        rows = [
            [sample_id, where, name, ap, first_hit, r] for sample_id, name, ap, first_hit, r, where in self.model.rows()
        ]
        text = csv_text(["sample_id", "path", "class", "ap", "first_hit", "r"], rows)
        try:
            with files.atomic_write(path) as file:
                file.write(text.encode())
        except Problem as problem:
            self.session.notify(problem)

    # Search with an image of one's own

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        urls = event.mimeData().urls()
        if self.currentIndex() == 1 and len(urls) == 1 and Path(urls[0].toLocalFile()).is_file():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.search_file(Path(event.mimeData().urls()[0].toLocalFile()))

    def _open_own(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Search with an image of your own")
        if name:
            self.search_file(Path(name))

    def _paste_own(self) -> None:
        try:
            picture = own_image.from_clipboard(QGuiApplication.clipboard().image())
        except Problem as problem:
            self.session.notify(problem)
            return
        self._search(picture, "Pasted image")

    def search_file(self, path: Path) -> None:
        """Search with the image in a file."""
        try:
            picture = own_image.from_file(path)
        except Problem as problem:
            self.session.notify(problem)
            return
        self._search(picture, path.name)

    def _search(self, picture: object, name: str) -> None:
        run_id = self.session.run_id
        if run_id is None:
            return
        work = own_image.search(self.session.workspace, run_id, picture, name)  # type: ignore[arg-type]
        self.session.run_in_thread("Search with your image", work, self._found)

    def _found(self, found: own_image.Found) -> None:
        self.result.show_own(found.picture, found.name, found.neighbours, found.kind)
