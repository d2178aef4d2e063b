"""The Deployment view: quality and cost of the shown evaluation in each store, and the threshold of "same"."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QSpinBox, QStackedWidget, QTableView, QWidget

from workbench.problem import Problem
from workbench.results.search_methods import not_by_itself, title_of, way_of
from workbench.results.stored import MAY_BE_0, fitted_sentence
from workbench.ui.pages.retrieval.deployment.more_methods import MoreMethods
from workbench.ui.pages.retrieval.deployment.new_classes import NewClassesSide
from workbench.ui.pages.retrieval.deployment.open_set import OpenSetSide
from workbench.ui.pages.retrieval.deployment.plots import Point, TradePlot
from workbench.ui.pages.retrieval.deployment.rows import MILLION, StoreRows, rows_of
from workbench.ui.pages.retrieval.deployment.stores_column import StoresColumn
from workbench.ui.pages.retrieval.deployment.threshold import ROW_PX, ThresholdSide
from workbench.ui.state.concern import of_page
from workbench.ui.state.evaluation_work import Evaluation, EvaluationWork
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.measuring import Measuring
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.row_table import fit_columns_to_words, select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.measured.deployments import RULES, Measurement, read_deployment

SERVER = "workbench.deploying.server"
SIDE_PX = 300  # at 100% text, in a page that is not wide
ASK, MEASURING, SHOWN = range(3)
SIDES = (("pairs", "Same or different"), ("new", "New classes"), ("open", "Open set"))
ONE_AT_A_TIME = "Another evaluation is being measured, and two at once would distort each other's times."
WHY = (
    "Every format for storing the embeddings is built and searched, and float32 also with query expansion, with an "
    "augmented gallery and with re-ranking. You see recall and MAP@R with their intervals, bytes per image, time per "
    "query, the similarity threshold from which two images count as the same, how many images of a new class must be "
    "stored, and how well queries of classes that are not stored are refused."
)
LOOK = "What the chosen search method changes for each query, compared with plain nearest neighbours"
NO_LOOK = "Choose αQE, DBA or k-reciprocal in the table: the others find the same neighbours, or nearly the same"
TIMES = "Times were measured among the searched images, and are scaled to the gallery."
NO_SEARCHES_THEN = "Query expansion and re-ranking were not measured: Measure again adds them."


class DeployPanel(QStackedWidget):
    """Shows the deployment measurements of the session's evaluation; a separate process makes them."""

    queries_asked = Signal(str)  # by the chosen method of search

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.measured: dict[str, Any] | None = None
        self.work = EvaluationWork(session, SERVER, "retrieval", ONE_AT_A_TIME)
        self._shown: Evaluation | None = None  # that is asked for, or shown
        self._marked = ""  # the store that was chosen last
        self._adding = ""  # the method that it adds to what is shown; empty where it measures all
        self._build()
        self._connect()

    def _build(self) -> None:
        content = QWidget(self)  # from the outside in: what is moved when it is full is styled again
        self.beside = QWidget(content)
        self.ask = EmptyHint("Deployment", WHY, "Measure", self)
        self.measuring = Measuring(self)
        self.gallery = number_box(QSpinBox())
        self.gallery.setRange(100, 1_000_000_000)
        self.gallery.setGroupSeparatorShown(True)
        self.gallery.setValue(MILLION)
        self.gallery.setToolTip("Number of images to search: sizes and times are scaled to it. The time of a scan "
                                "grows with this number, that of a graph with its logarithm, that of "
                                "re-ranking is not scaled.")  # fmt: skip
        self.sentence = label("", "muted", wrap=True)
        title, gallery = label("Deployment", "title"), caption("Gallery, images", self.gallery)
        head = in_row(title, 1, gallery, self.gallery, spacing=8)
        self.by_size = TradePlot("Quality by size", "bytes per image")
        self.by_time = TradePlot("Quality by time", "ms per query, 1 thread")
        self.stores = StoreRows(self)
        self.table = QTableView()
        self.table.setModel(self.stores)
        select_rows(self.table, "Stores")
        TableActions(self.session.fulfil, self.table, "deployment.csv", self.stores.unwritten)
        set_row_height(self.table, ROW_PX)
        header = self.table.horizontalHeader()
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)  # in the order in which they are measured
        self.table.setSortingEnabled(True)
        header.setTextElideMode(Qt.TextElideMode.ElideNone)
        header.setStretchLastSection(True)  # words: the numbers stay beside the names
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.more = MoreMethods()
        self.column = StoresColumn((self.by_size, self.by_time), self.table, self.more, content)
        self.sides = Segments("Beside the stores", SIDES)
        self.sides.set_value(SIDES[0][0])
        self.side = QStackedWidget(self.beside)
        places = [QWidget() for _ in SIDES]
        for place in places:
            self.side.addWidget(Scrolled(place, self.side))
        self.threshold, self.new_classes, self.open_set = (
            ThresholdSide(places[0]), NewClassesSide(places[1]), OpenSetSide(places[2])
        )  # fmt: skip
        for place, part in zip(places, (self.threshold, self.new_classes, self.open_set), strict=True):
            in_column((part, 1), on=place)
        for table, name, rows in (
            (self.threshold.class_table, "thresholds.csv", self.threshold.classes),
            (self.open_set.table, "open-set.csv", self.open_set.rows),
        ):
            TableActions(self.session.fulfil, table, name, rows.unwritten)
        self.export = button("Export this store…", "export", "primary")
        self.export.setToolTip(
            "The faiss file of the chosen row, the ids of its images, and how it was built and is searched"
        )
        self.look = button("Show its queries", "magnifying-glass")
        in_column(self.sides, (self.side, 1), self.look, self.export, on=self.beside, spacing=8)
        row = in_row((self.column, 1), self.beside, spacing=12)
        in_column(head, self.sentence, (row, 1), on=content, margins=(16, 8, 16, 12), spacing=8)
        for page in (self.ask, self.measuring, content):
            self.addWidget(page)

    def _connect(self) -> None:
        self.ask.pressed.connect(self.measure)
        self.measuring.pressed.connect(self.work.cancel)
        self.threshold.again.clicked.connect(self.measure)
        self.new_classes.asked.connect(self.measure)
        self.open_set.asked.connect(self.measure)
        self.sides.chosen.connect(self._choose_side)
        self.export.clicked.connect(self._ask_export)
        self.look.clicked.connect(self._ask_queries)
        self.more.asked.connect(self.add)
        self.more.cancelled.connect(self.work.cancel)
        self.gallery.valueChanged.connect(self._draw_stores)
        self.table.selectionModel().currentRowChanged.connect(self._mark)
        self.stores.modelReset.connect(self._choose_again)
        for plot in (self.by_size, self.by_time):
            plot.chosen.connect(self.choose)
            plot.wished.connect(self.session.fulfil)
        self.threshold.pairs.wished.connect(self.session.fulfil)
        self.new_classes.plot.wished.connect(self.session.fulfil)
        self.open_set.plot.wished.connect(self.session.fulfil)
        self.session.theme.changed.connect(self._fit_text)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self._fit_text()

    def _fit_text(self) -> None:
        self._fit_side()
        self._fit_columns()
        self.column.fit_rows()

    def _fit_columns(self) -> None:
        """Make columns of numbers as wide as their words; the last column gets the rest, however little that is."""
        fit_columns_to_words(self.table)
        header = self.table.horizontalHeader()
        self.table.setColumnWidth(header.count() - 1, header.minimumSectionSize())

    def _fit_side(self) -> None:
        least = self.sides.sizeHint().width()  # its titles are never cut
        self.beside.setFixedWidth(max(least, self.session.theme.side(SIDE_PX, self.width())))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_side()

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()

    def _show_evaluation(self) -> None:
        """Read what was measured of the shown evaluation, as soon as the view is visible."""
        evaluation_id, workspace = self.session.evaluation_id, self.session.workspace
        shown = (workspace, evaluation_id)
        if not self.isVisible() or shown == self._shown:
            return
        self.work.leave_others(workspace)
        self._shown = shown
        self.show_measured(None)
        if self.work.measures(shown) and not self._adding:
            self.setCurrentIndex(MEASURING)
        elif evaluation_id is not None:
            self.session.read(lambda: read_deployment(workspace, evaluation_id), partial(self._take, shown))

    def _take(self, shown: Evaluation, read: tuple[Measurement | None, str]) -> None:
        if shown == self._shown and (self._adding or not self.work.measures(shown)):
            self.show_measured(*read)

    def show_measured(self, measured: dict[str, Any] | None, damaged: str = "") -> None:
        """Show a measurement, as deploying.request.deployment gives it; None asks whether to measure.

        `damaged` is a sentence on stored measurements that cannot be shown.
        """
        self.measured = measured
        self.ask.say(f"{damaged} {WHY}".strip())
        self.setCurrentIndex(ASK if measured is None else SHOWN)
        if measured is None:
            return
        some = "" if measured["queries"] == measured["queries_there"] else f" of {measured['queries_there']:,}"
        is_older = measured.get("rules", 0) < RULES
        refused = [f"{store['title']}: {store['refused']}" for store in measured["stores"] if store["refused"]]
        self.sentence.setText(" ".join([
            damaged,
            f"{measured['queries']:,}{some} queries, {measured['gallery']:,} images searched, {measured['dim']} "
            f"dimensions. {fitted_sentence(measured['fitted_on'])} {MAY_BE_0} {TIMES}",
            *(f"Not measured: {why}." for why in refused),
            NO_SEARCHES_THEN if is_older else not_by_itself(
                [store["name"] for store in measured["stores"]], measured["gallery"], measured["distance"] == "cosine"
            ),
        ]).strip())  # fmt: skip
        self._draw_stores()
        self._draw_more()
        self.threshold.show_threshold(measured["limit"], self.session.class_name, is_older)
        self.new_classes.show_new_classes(measured.get("new_classes"))
        self.open_set.show_open_set(measured.get("open_set"))
        self.choose(measured["stores"][0]["name"])

    def _draw_more(self) -> None:
        if self.measured is not None:
            adding = self._shown is not None and self.work.measures(self._shown)
            self.more.show_measured(self.measured, self._adding if adding else "")

    def _draw_stores(self) -> None:
        if self.measured is None:
            return
        rows = rows_of(self.measured, self.gallery.value())
        self.stores.show(rows)
        self._fit_columns()
        by_name = {store["name"]: store["metrics"] for store in self.measured["stores"]}
        for plot, cost in ((self.by_size, "bytes"), (self.by_time, "ms")):
            plot.show_points([
                Point(row.name, row.title, getattr(row, cost), row.quality, 100 * by_name[row.name]["MAP@R/low"],
                      100 * by_name[row.name]["MAP@R/high"])
                for row in rows
            ])  # fmt: skip

    # What the user does

    def _choose_side(self, value: str) -> None:
        self.side.setCurrentIndex([side for side, _ in SIDES].index(value))

    @property
    def chosen(self) -> str | None:
        """The name of the chosen store."""
        row = self.stores.row(self.table.currentIndex().row()) if self.table.currentIndex().isValid() else None
        return None if row is None else row.name

    def choose(self, name: str) -> None:
        """Choose a store: its row is selected, and its points are ringed."""
        at = next((at for at, row in enumerate(self.stores.rows) if row.name == name), 0)
        self.table.selectRow(at)

    def _choose_again(self) -> None:
        """Keep the chosen store after the rows were sorted, or scaled to another gallery."""
        if self._marked and self.stores.rows:
            self.choose(self._marked)

    def _mark(self, index: QModelIndex) -> None:
        row = self.stores.row(index.row()) if index.isValid() else None
        self._marked = self._marked if row is None else row.name
        can_look = row is not None and way_of(row.name) is not None
        self.look.setEnabled(can_look)
        self.look.setToolTip(LOOK if can_look else NO_LOOK)
        for plot in (self.by_size, self.by_time):
            plot.mark("" if row is None else row.name)

    def measure(self) -> None:
        """Measure the shown evaluation in a process of its own; it goes on while another one is shown."""
        stores = [] if self.measured is None else self.measured["stores"]
        also = [store["name"] for store in stores if way_of(store["name"]) is not None and not store["refused"]]
        self._work("Deployment", "deploy", stores=[], rate=self.threshold.rate.value() / 100, also=also)

    def add(self, name: str) -> None:
        """Measure one more method of search beside what is shown, in a process of its own."""
        self._work(f"Deployment: {title_of(name)}", "add", store=name)

    def _work(self, title: str, op: str, **fields: Any) -> None:
        of = self._shown
        if of is None or of[1] is None or not self.work.is_free():
            return
        self._adding = fields.get("store", "")
        if not self._adding:
            self.setCurrentIndex(MEASURING)
        self.work.start(of, title, op, fields, partial(self._measured, of), partial(self._not_measured, of))
        if self.work.newest is not None and not self._adding:
            self.measuring.follow(self.work.newest.item)
        self._draw_more()

    def _measured(self, of: Evaluation, answer: dict[str, Any]) -> None:
        if of == self._shown:  # that of another is stored, and read when it is shown
            self.show_measured(answer)
            if self._adding:
                self.choose(self._adding)

    def _not_measured(self, of: Evaluation) -> None:
        if of == self._shown:
            self.setCurrentIndex(ASK if self.measured is None else SHOWN)
            self._draw_more()

    def _ask_queries(self) -> None:
        if self.chosen is not None:
            self.queries_asked.emit(self.chosen)

    def _ask_export(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Folder for the index")
        if folder:
            self.export_to(Path(folder))

    def export_to(self, folder: Path) -> None:
        """Write the chosen store into a folder; the message bar says where it is."""
        if self._shown is None or self._shown[1] is None or self.chosen is None:
            return
        rate = self.threshold.rate.value() / 100
        fields = {"evaluation": self._shown[1], "store": self.chosen, "rate": rate, "out": str(folder)}
        self.export.setEnabled(False)
        ProcessWork(
            self.session, process_of(self.session, SERVER), "Export the index", "export", fields, self._exported,
            self._not_exported, self._may_export, ends_process=True,
        )  # fmt: skip

    def _exported(self, answer: dict[str, Any]) -> None:
        self._may_export()
        written = f"The index and its note were written: {answer['files'][-1]}"
        self.session.notify(written, of_page("retrieval", self.session.run_id))

    def _not_exported(self, problem: Problem) -> None:
        self._may_export()
        self.session.notify(problem, of_page("retrieval", self.session.run_id))

    def _may_export(self) -> None:
        self.export.setEnabled(True)
