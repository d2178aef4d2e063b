"""The Deployment view: what the shown evaluation keeps and costs in each store, and the limit for same or different."""

from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSpinBox,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.results.stored import fitted_sentence
from workbench.ui.analysis import AnalysisClient
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.deploy_plots import PairsPlot, Point, TradePlot
from workbench.ui.process_work import ProcessWork
from workbench.ui.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.captions import caption
from workbench.ui.widgets.card import EmptyHint, Fact
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.row_table import select_rows
from workbench.ui.widgets.scrolled import Scrolled
from workbench.workspace.deployments import newest_deployment

SIDE_PX, ROW_PX = 300, 24  # at 100% text
RATE_PERCENT = 0.1  # false accepts, at first
MILLION = 1_000_000
CLASS_ROWS = 5  # in sight, with the head
STORE_TITLES = ("Stored as", "Bytes", "MB", "ms", "MAP@R %", "Δ", "R@1 %", "10 kept %")
CLASS_TITLES = ("Class", "False %", "True %", "Own limit")
ASK, MEASURING, SHOWN = range(3)
WHY = (
    "Each way to store the embeddings is built and searched: recall and MAP@R with their intervals, bytes of an image "
    "and time of a query, and the limit of similarity at which two images count as the same."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One store in the table, its time scaled to the wanted gallery. Percent."""

    name: str
    title: str
    bytes: float
    megabytes: float
    ms: float
    quality: float
    less: float
    sure: bool  # that the difference is one
    recall: float
    kept: float


class DeployPanel(QStackedWidget):
    """Shows what was measured of the session's evaluation; measuring is asked of a process of its own."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.measured: dict[str, Any] | None = None
        self.work: ProcessWork | None = None
        self._evaluation: int | None = None
        self._client: AnalysisClient | None = None
        self._build()
        self._connect()

    def _build(self) -> None:
        self.ask = EmptyHint("Deployment", WHY, "Measure")
        self.measuring = EmptyHint("Measuring…", "Activity shows how far it is. You can go on working.", "Cancel")
        self.gallery = QSpinBox()
        self.gallery.setRange(100, 1_000_000_000)
        self.gallery.setGroupSeparatorShown(True)
        self.gallery.setValue(MILLION)
        self.gallery.setToolTip("Images to be searched: sizes and times are scaled to it. A scan grows with them, "
                                "a graph with its logarithm.")  # fmt: skip
        self.rate = QDoubleSpinBox()
        self.rate.setDecimals(3)
        self.rate.setRange(0.001, 50)
        self.rate.setValue(RATE_PERCENT)
        self.rate.setSuffix(" %")
        self.rate.setToolTip("Share of the pairs of two classes that may count as the same")
        self.again = button("Measure again", "arrow-clockwise")
        self.again.setEnabled(False)
        self.again.setToolTip("With the chosen share of false accepts")
        self.sentence = label("", "muted", wrap=True)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label("Deployment", "title"))
        head.addStretch(1)
        head.addWidget(caption("Gallery, images", self.gallery))
        head.addWidget(self.gallery)
        self.by_size = TradePlot("Quality against size", "bytes an image")
        self.by_time = TradePlot("Quality against time", "ms a query, 1 thread")
        self.stores = SortedRows(STORE_TITLES, store_cells, written_store, self)
        self.table = QTableView()
        self.table.setModel(self.stores)
        select_rows(self.table, "Stores")
        self.table.verticalHeader().setDefaultSectionSize(ROW_PX)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        plots = QHBoxLayout()
        plots.setSpacing(12)
        plots.addWidget(self.by_size, 1)
        plots.addWidget(self.by_time, 1)
        middle = QVBoxLayout()
        middle.setSpacing(8)
        middle.addLayout(plots, 3)
        middle.addWidget(self.table, 2)
        self.side = QWidget()
        self._build_side(QVBoxLayout(self.side))
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addLayout(middle, 1)
        self.beside = QWidget()
        in_column((Scrolled(self.side), 1), self.export, on=self.beside, spacing=8)
        row.addWidget(self.beside)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addLayout(row, 1)
        for page in (self.ask, self.measuring, content):
            self.addWidget(page)

    def _build_side(self, column: QVBoxLayout) -> None:
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.pairs = PairsPlot()
        self.facts = {name: Fact(name) for name in ("Limit", "False accepts", "True accepts", "Equal error")}
        facts = QGridLayout()
        for at, fact in enumerate(self.facts.values()):
            facts.addWidget(fact, at // 2, at % 2)
        self.classes = SortedRows(CLASS_TITLES, tuple, written_class, self)
        self.class_table = QTableView()
        self.class_table.setModel(self.classes)
        select_rows(self.class_table, "Limit by class")
        self.class_table.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.class_table.setMinimumHeight(CLASS_ROWS * ROW_PX)
        self.class_table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.class_table.setSortingEnabled(True)
        self.class_table.horizontalHeader().setSortIndicator(1, Qt.SortOrder.DescendingOrder)
        self.warning = label("", "warning", wrap=True)
        self.export = button("Export this store…", "export", "primary")
        self.export.setToolTip("The faiss file of the chosen row, the ids of its images, and how it was built")
        asked = QHBoxLayout()
        asked.addWidget(caption("False accepts at most", self.rate))
        asked.addWidget(self.rate, 1)
        column.addLayout(asked)
        column.addWidget(self.again)
        column.addWidget(self.pairs, 3)
        column.addLayout(facts)
        column.addWidget(self.class_table, 3)
        column.addWidget(self.warning)

    def _connect(self) -> None:
        self.ask.pressed.connect(self.measure)
        self.measuring.pressed.connect(self._cancel)
        self.again.clicked.connect(self.measure)
        self.export.clicked.connect(self._ask_export)
        self.gallery.valueChanged.connect(self._draw_stores)
        self.rate.valueChanged.connect(self._draw_rate)
        self.table.selectionModel().currentRowChanged.connect(self._mark)
        for plot in (self.by_size, self.by_time):
            plot.chosen.connect(self.choose)
            plot.failed.connect(self.session.notify)
        self.pairs.failed.connect(self.session.notify)
        self.session.theme.changed.connect(self._fit_text)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self._fit_text()

    def _fit_text(self) -> None:
        self.beside.setFixedWidth(self.session.theme.side(SIDE_PX))

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()

    def _show_evaluation(self) -> None:
        """Read what was measured of the shown evaluation, as soon as the view is visible."""
        evaluation_id, workspace = self.session.evaluation_id, self.session.workspace
        if not self.isVisible() or evaluation_id == self._evaluation:
            return
        if self.work is not None and not self.work.over:
            self.work.cancel()
        self._evaluation = evaluation_id
        self.show_measured(None)
        if evaluation_id is not None:
            self.session.read(lambda: newest_deployment(workspace, evaluation_id), partial(self._take, evaluation_id))

    def _take(self, evaluation_id: int, measured: dict[str, Any] | None) -> None:
        if evaluation_id == self._evaluation and (self.work is None or self.work.over):
            self.show_measured(measured)

    def show_measured(self, measured: dict[str, Any] | None) -> None:
        """Show a measurement, as deploying.request.deployment gives it; None asks whether to measure."""
        self.measured = measured
        self.setCurrentIndex(ASK if measured is None else SHOWN)
        if measured is None:
            return
        some = "" if measured["queries"] == measured["queries_there"] else f" of {measured['queries_there']:,}"
        refused = [f"{store['title']}: {store['refused']}" for store in measured["stores"] if store["refused"]]
        self.sentence.setText(" ".join([
            f"{measured['queries']:,}{some} queries, {measured['gallery']:,} images searched, {measured['dim']} "
            f"dimensions. {fitted_sentence(measured['fitted_on'])} A difference Δ with ? may be 0.",
            *(f"Not measured: {why}." for why in refused),
        ]))  # fmt: skip
        self._draw_stores()
        self._draw_limit(measured["limit"])
        self.choose(self.stores.rows[0].name)

    def _draw_stores(self) -> None:
        if self.measured is None:
            return
        chosen = self.chosen
        rows = rows_of(self.measured, self.gallery.value())
        self.stores.show(rows)
        by_name = {store["name"]: store["metrics"] for store in self.measured["stores"]}
        for plot, cost in ((self.by_size, "bytes"), (self.by_time, "ms")):
            plot.show_points([
                Point(row.name, row.title, getattr(row, cost), row.quality, 100 * by_name[row.name]["MAP@R/low"],
                      100 * by_name[row.name]["MAP@R/high"])
                for row in rows
            ])  # fmt: skip
        if chosen is not None:
            self.choose(chosen)

    def _draw_limit(self, limit: dict[str, Any]) -> None:
        self.rate.setValue(100 * limit["wanted"])
        self.pairs.show_limit(limit)
        low, high = limit["similarity_range"]
        for name, text, tip in (
            ("Limit", f"{limit['similarity']:.3f}", f"95% interval {low:.4f} to {high:.4f}"),
            ("False accepts", f"{100 * limit['false_accepts']:.3g} %", f"of {limit['other_pairs']:,} pairs"),
            (
                "True accepts", f"{100 * limit['accepts']:.1f} %",
                "95% interval {:.1f} to {:.1f} %".format(*(100 * end for end in limit["accepts_range"])),
            ),
            ("Equal error", f"{100 * limit['equal_error']:.1f} %", "false accepts as many as false rejects"),
        ):  # fmt: skip
            self.facts[name].set_value(text)
            self.facts[name].setToolTip(tip)
        dataset = self.session.dataset()
        rows = [
            (
                dataset.class_name(one["label"]) if dataset is not None else str(one["label"]),
                100 * one["false_accepts"], 100 * (one["accepts"] or 0), one["own_limit"],
            )
            for one in limit["classes"]
        ]  # fmt: skip
        self.classes.show(rows)
        over = [name for name, false_accepts, *_ in rows if false_accepts > 100 * limit["wanted"]]
        named = ", ".join(over[:5]) + (f" and {len(over) - 5} more" if len(over) > 5 else "")
        self.warning.setText(f"{len(over)} of {len(rows)} classes pass the share: {named}." if over else "")
        self._draw_rate()

    def _draw_rate(self) -> None:
        known = self.measured is not None and abs(100 * self.measured["limit"]["wanted"] - self.rate.value()) < 1e-9
        self.again.setEnabled(not known)

    # What the person does

    @property
    def chosen(self) -> str | None:
        """The name of the chosen store."""
        row = self.stores.row(self.table.currentIndex().row()) if self.table.currentIndex().isValid() else None
        return None if row is None else row.name

    def choose(self, name: str) -> None:
        """Choose a store: its row is selected, and its points are ringed."""
        at = next((at for at, row in enumerate(self.stores.rows) if row.name == name), 0)
        self.table.selectRow(at)

    def _mark(self, index: QModelIndex) -> None:
        row = self.stores.row(index.row()) if index.isValid() else None
        for plot in (self.by_size, self.by_time):
            plot.mark("" if row is None else row.name)

    def measure(self) -> None:
        """Measure the shown evaluation in a process of its own."""
        if self._evaluation is None:
            return
        self.setCurrentIndex(MEASURING)
        fields = {"evaluation": self._evaluation, "stores": [], "rate": self.rate.value() / 100}
        self.work = ProcessWork(
            self.session, self._process(), "Deployment", "deploy", fields,
            self.show_measured, self._failed, self._not_measured, ends_process=True,
        )  # fmt: skip

    def _cancel(self) -> None:
        if self.work is not None and not self.work.over:
            self.work.cancel()

    def _failed(self, problem: Problem) -> None:
        self.session.notify(problem)
        self._not_measured()

    def _not_measured(self) -> None:
        self.setCurrentIndex(ASK if self.measured is None else SHOWN)

    def _ask_export(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Folder for the index")
        if folder:
            self.export_to(Path(folder))

    def export_to(self, folder: Path) -> None:
        """Write the chosen store into a folder; the message bar says where it is."""
        if self._evaluation is None or self.chosen is None:
            return
        fields = {
            "evaluation": self._evaluation, "store": self.chosen, "rate": self.rate.value() / 100, "out": str(folder)
        }  # fmt: skip
        self.export.setEnabled(False)
        ProcessWork(
            self.session, self._process(), "Export the index", "export", fields, self._exported, self._not_exported,
            self._may_export, ends_process=True,
        )  # fmt: skip

    def _exported(self, answer: dict[str, Any]) -> None:
        self._may_export()
        self.session.notify(f"The index and its note were written: {answer['files'][-1]}")

    def _not_exported(self, problem: Problem) -> None:
        self._may_export()
        self.session.notify(problem)

    def _may_export(self) -> None:
        self.export.setEnabled(True)

    def _process(self) -> AnalysisClient:
        if self._client is None:
            self._client = AnalysisClient(self.session, partial(AnalysisProcess, module="workbench.deploying.server"))
        return self._client


def rows_of(measured: dict[str, Any], gallery: int) -> list[Row]:
    """The measured stores at another size of the gallery: a scan takes as much longer, a graph by its logarithm."""
    factors = {"linear": gallery / measured["gallery"], "log": log(gallery) / log(max(2, measured["gallery"]))}
    return [
        Row(
            store["name"], store["title"], store["bytes"],
            (store["bytes"] * gallery + store["fixed_bytes"]) / MILLION, store["ms"] * factors[store["grows"]],
            100 * store["metrics"]["MAP@R"], 100 * store["difference"][0],
            store["difference"][1] > 0 or store["difference"][2] < 0, 100 * store["metrics"]["recall@1"],
            100 * store["kept"],
        )
        for store in measured["stores"]
        if not store["refused"]
    ]  # fmt: skip


def store_cells(row: Row) -> tuple[Any, ...]:
    """The values of one store by column."""
    less = f"{row.less:+.1f}".replace("-", "−") + ("" if row.sure else " ?")
    return row.title, row.bytes, row.megabytes, row.ms, row.quality, less, row.recall, row.kept


def written_store(column: int, value: Any) -> str:
    """A value as the table of stores shows it."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if column in (1, 2) else f"{value:.3g}" if column == 3 else f"{value:.1f}"


def written_class(column: int, value: Any) -> str:
    """A value as the table of classes shows it."""
    return value if isinstance(value, str) else f"{value:.3f}" if column == 3 else f"{value:.2f}"
