"""The view Attributes: scores of the shown evaluation from each value of an attribute to each, and without its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTableView, QWidget

from workbench.evaluation.across_values import OTHERS
from workbench.jobs.newest import Newest
from workbench.names import visible
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.by_attribute import (
    METRICS,
    ByAttribute,
    OwnValue,
    as_csv,
    attributes_of,
    by_attribute,
    own_cells,
    own_titles,
)
from workbench.results.by_class_size import MAP, TITLES
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.attributes.matrix import SCORE, SHOWN, MatrixTable, MatrixView
from workbench.ui.pages.retrieval.attributes.whole_table import WholeTable
from workbench.ui.pages.retrieval.model.filters import CellQueries
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.measuring import Measuring
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.row_table import fit_columns_to_words, select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import Lines, TableActions
from workbench.workspace import Workspace

NONE, ASK, MEASURING, TABLES = range(4)  # pages of the view
ROW_PX = 26  # height at 100% text
AT_ONCE = 20_000  # images that are searched without a question: seconds
NO_ATTRIBUTE = (
    "Tags such as camera=front say more about an image than its class does. With them, this view shows how well "
    "queries of one camera, view or domain find images of another. They come from a table with a column path and one "
    "for each attribute."
)
WHY = (
    "Queries of each value are searched among the images of each value, and among all images with and without the "
    "matches of their own value: how much of the score comes from the same camera?"
)
READ_AXES = (
    "Rows: value of the query; columns: value of the searched images. Click a cell to list its queries; Enter or a "
    "double click shows them."
)
OWN_TITLE = "With and without matches of the query's own value"
LIST_TIP = "Show the queries of the chosen cell or row in the view Queries"
FAILED_TIP = "Show those queries of the chosen cell or row whose nearest image there is of another class"
Shown = tuple[Workspace, int | None]


@dataclass(frozen=True, slots=True)
class Offered:
    """What can be measured of an evaluation."""

    attributes: dict[str, int]  # by name a number that changes with the values of the images
    images: int


class AttributesPanel(QStackedWidget):
    """Measures the session's evaluation on a thread when it is visible. A click on a cell filters the queries."""

    chosen = Signal(object)  # CellQueries: these are to be listed
    queries_asked = Signal()  # the view Queries
    table_asked = Signal()  # a table of tags is to be imported

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.measured: ByAttribute | None = None
        self._kept: dict[str, ByAttribute] = {}  # by attribute, of the shown evaluation
        self._before: str | None = None  # the attribute that was shown last
        self._newest, self._reading = Newest(session), Newest(session)
        self._offered, self._stale = Offered({}, 0), False  # stale: tags were changed since it was read
        self._shown: Shown | None = None  # what is asked for, or shown
        self._build()
        self._connect()

    def _build(self) -> None:
        self.none = EmptyHint("No attributes", NO_ATTRIBUTE, "Tags from a table…")
        self.ask = EmptyHint("Across the values of an attribute", WHY, "Measure")
        self.measuring = Measuring()
        self.attribute, self.asked = ElidedBox(), ElidedBox()  # beside the tables, and above the button that asks
        self.asked.setModel(self.attribute.model())
        for box in (self.attribute, self.asked):
            box.setMinimumContentsLength(10)
            box.setAccessibleName("Attribute")
            box.setToolTip("Whose values are compared: a column of the table of tags")
        self.ask.insert_above_button(self.asked)
        self.metrics = Segments("Score", [(metric, TITLES[metric]) for metric in METRICS])
        self.metrics.set_value(MAP)
        self.what = Segments("Cells", list(SHOWN.items()))
        self.what.set_value(SCORE)
        self.what.setToolTip("The score in percent, or its distance from that of images in random order in points")
        self.open, self.failed = button("List queries", "list-bullets"), button("List failures", "x-circle")
        self.open.setToolTip(LIST_TIP)
        self.failed.setToolTip(FAILED_TIP)
        self.verdict, self.axes = label("", wrap=True), label(READ_AXES, "muted", wrap=True)
        self.beside = label("", "caption", wrap=True)
        self.matrix = MatrixTable(self)
        self.cells = MatrixView(self.matrix)
        self.own = SortedRows(("",), self._cells_of, _written, self)
        self.own_title, self.own_table = label(OWN_TITLE, "strong"), WholeTable()
        self.own_table.setModel(self.own)
        select_rows(self.own_table, OWN_TITLE)
        set_row_height(self.own_table, ROW_PX)
        self.own_table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.table_actions = [
            TableActions(self.session.fulfil, table, "across-values.csv", self._lines, self._csv)
            for table in (self.own_table, self.cells)
        ]
        tip = "A row for each cell and metric: score, interval, chance and numbers"
        self.copy, self.save = self.table_actions[0].buttons(tip)
        head = in_lines(
            caption("Across the values of", self.attribute, "title"), self.attribute, self.metrics, self.what,
            self.copy, self.save,
        )  # fmt: skip
        lists = in_row((self.axes, 1), self.open, self.failed, spacing=8)
        content, left = QWidget(), Qt.AlignmentFlag.AlignLeft
        tables = ((self.cells, left), self.own_title, (self.own_table, left))
        parts = (head, self.verdict, lists, *tables, self.beside, 1)
        in_column(*parts, on=content, margins=(16, 8, 16, 12), spacing=8)
        for page in (self.none, self.ask, self.measuring, ScrolledDown(content)):
            self.addWidget(page)

    def _connect(self) -> None:
        self.none.pressed.connect(self.table_asked)
        self.ask.pressed.connect(self._measure)
        self.measuring.pressed.connect(self._cancel)
        self.attribute.activated.connect(self._show_attribute)
        self.asked.activated.connect(self.attribute.setCurrentIndex)
        self.metrics.chosen.connect(self._draw)
        self.what.chosen.connect(self._draw)
        self.cells.clicked.connect(self._clicked)
        self.cells.activated.connect(self._opened)
        self.own_table.clicked.connect(self._clicked)
        self.own_table.activated.connect(self._opened)
        for table, other in ((self.cells, self.own_table), (self.own_table, self.cells)):
            table.selectionModel().selectionChanged.connect(partial(self._choose_one, table, other))
        self.open.clicked.connect(self._opened)
        self.failed.clicked.connect(self._open_failed)
        self.session.theme.changed.connect(self._fit)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self.session.choices_changed.connect(self._hear_choices)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self._look_again()

    def _hear_choices(self, changed: set[str]) -> None:
        if "sample_tags" in changed:
            self._stale = True
            self._look_again()

    def _look_again(self) -> None:
        """Read the attributes again where tags have changed; what was measured stays if it was of the same values."""
        if self._stale and self.isVisible() and self._shown is not None and self._shown[1] is not None:
            self._stale = False
            work = partial(_offered, self._shown)
            self._reading.ask("Attributes of the images", work, self._offer, quiet=True)

    def _show_evaluation(self) -> None:
        """Offer the attributes of the shown evaluation, as soon as the view is visible. Work on another one ends."""
        shown = (self.session.workspace, self.session.evaluation_id)
        if shown == self._shown:
            return
        if self._newest.busy or self._reading.busy:
            self._newest.cancel()
            self._reading.cancel()
            self._shown = None  # read anew, should it be shown again
        if self.isVisible():
            self._shown = shown
            self._kept, self._offered, self._stale = {}, Offered({}, 0), False
            self._before = self.attribute.currentData() or self._before
            self.attribute.clear()
            self.show_measured(None)
            self._read()

    def _read(self) -> None:
        """Read which attributes there are."""
        if self._shown is not None and self._shown[1] is not None:
            self.setCurrentIndex(MEASURING)
            work = partial(_offered, self._shown)
            self._reading.ask("Attributes of the images", work, self._offer, self._refuse, quiet=True)

    def _offer(self, offered: Offered) -> None:
        """Offer attributes; the chosen one is measured, unless its values are those that were read before."""
        before, self._offered = self._offered.attributes, offered
        same = {name for name, values in offered.attributes.items() if before.get(name) == values}
        self._kept = {name: measured for name, measured in self._kept.items() if name in same}
        chosen = self.attribute.currentData() or self._before
        self.attribute.clear()
        for name in offered.attributes:
            self.attribute.addItem(visible(name), name)
        self.attribute.setCurrentIndex(max(0, self.attribute.findData(chosen)))
        self.asked.setCurrentIndex(self.attribute.currentIndex())
        if chosen in same:
            return
        self._newest.cancel()
        self.show_measured(None)
        if not offered.attributes:
            self.setCurrentIndex(NONE)
        elif offered.images <= AT_ONCE:
            self._measure()

    def _show_attribute(self) -> None:
        """Show the chosen attribute; it is measured if it was not yet."""
        kept = self._kept.get(self.attribute.currentData())
        if kept is None:
            self._measure()
        else:
            self._newest.cancel()
            self.show_measured(kept)

    def _measure(self) -> None:
        name = self.attribute.currentData()
        if name is None:  # they could not be read, or that was cancelled
            self._read()
        if self._shown is None or self._shown[1] is None or name is None:
            return
        self.setCurrentIndex(MEASURING)
        work = partial(_measured, self._shown, name)
        title = f"Scores across {visible(name)}"
        self._newest.ask(title, work, self._take, self._refuse, cancelled=self._cancel)
        task = self._newest.running
        if isinstance(task, Task) and task.item is not None:
            self.measuring.follow(task.item)

    def _take(self, measured: ByAttribute) -> None:
        self._kept[measured.attribute] = measured
        self.show_measured(measured)

    def _cancel(self) -> None:
        self._newest.cancel()
        self._reading.cancel()
        self.show_measured(None)

    def _refuse(self, problem: Problem) -> None:
        self.show_measured(None)
        self.ask.say(str(problem))

    def show_measured(self, measured: ByAttribute | None) -> None:
        """Show a measurement; None asks whether to measure."""
        self.measured = measured
        self.setCurrentIndex(ASK if measured is None else TABLES)
        self.ask.say(WHY)
        self.asked.setCurrentIndex(self.attribute.currentIndex())
        if measured is None:
            return
        first, *rest = measured.sentences
        self.verdict.setText(first)
        self.beside.setText("\n".join(rest))
        for part in (
            self.axes, self.cells, self.own_title, self.own_table, self.metrics, self.what, self.open, self.failed,
            self.copy, self.save,
        ):  # fmt: skip
            part.setVisible(bool(measured.cells))
        self._draw()

    def _draw(self) -> None:
        if self.measured is None:
            return
        at = self.cells.currentIndex()
        place = (at.row(), at.column()) if self.cells.selectionModel().hasSelection() else None
        row = self.own_table.currentIndex().row() if self.own_table.selectionModel().hasSelection() else -1
        self.matrix.show(self.measured, self.metrics.value(), self.what.value())
        self.own.titles = own_titles(self.measured)[1:]
        self.own.show(self.measured.own)
        self._fit()
        if place is not None and max(place) < self.matrix.rowCount():
            self.cells.setCurrentIndex(self.matrix.index(*place))
        elif 0 <= row < len(self.measured.own):
            self.own_table.selectRow(row)
        self._offer_lists()

    def _fit(self) -> None:
        self.cells.fit()
        fit_columns_to_words(self.own_table)
        self.own_table.fit_size()

    def _cells_of(self, row: OwnValue) -> Sequence[Any]:
        metric = self.metrics.value()
        usual, others = row.usual[metric], row.others[metric]
        title, _, _, *words = own_cells(row, metric)
        return (
            title, row.queries, row.left_out, 100 * usual.value, words[1], 100 * row.usual_chance[metric],
            100 * others.value, words[4], 100 * row.others_chance[metric], words[6],
        )  # fmt: skip

    # What the user does

    def _choose_one(self, table: QTableView, other: QTableView, *_: object) -> None:
        """Of the matrix and the table below it only one has a choice."""
        if table.selectionModel().hasSelection():
            other.clearSelection()
        self._offer_lists()

    def _offer_lists(self) -> None:
        there = self.chosen_queries() is not None
        self.open.setEnabled(there)
        self.failed.setEnabled(there)

    def chosen_queries(self, *, failed: bool = False) -> CellQueries | None:
        """The queries of the chosen cell or row, or those alone that failed there; None where nothing is chosen."""
        measured = self.measured
        if measured is None:
            return None
        if self.cells.selectionModel().hasSelection():
            row, column = self.cells.currentIndex().row(), self.cells.currentIndex().column()
            where = f"among {measured.titles[column]}"
        elif self.own_table.selectionModel().hasSelection():
            row, column = self.own_table.currentIndex().row(), OTHERS
            where = "among other values"
        else:
            return None
        title = f"{measured.attribute}: {measured.own[row].title} {where}{', failures' if failed else ''}"
        return CellQueries(visible(title), measured.queries_of(row, column, failed=failed))

    def _clicked(self, _index: QModelIndex) -> None:
        self._list(failed=False)

    def _list(self, *, failed: bool) -> None:
        queries = self.chosen_queries(failed=failed)
        if queries is not None:
            self.chosen.emit(queries)

    def _opened(self) -> None:
        self._list(failed=False)
        self.queries_asked.emit()

    def _open_failed(self) -> None:
        self._list(failed=True)
        self.queries_asked.emit()

    def mark(self, queries: CellQueries | None) -> None:
        """Drop the choice where no cell is listed any more."""
        if queries is None:
            self.cells.clearSelection()
            self.own_table.clearSelection()

    def _lines(self) -> Lines:
        """What writes the matrix and the table below it, with tabs between the columns."""
        matrix, own = self.matrix.lines(), self.own.unwritten()
        return lambda: [*matrix, "", *own()]

    def _csv(self) -> Content:
        assert self.measured is not None  # else no table is shown
        return partial(as_csv, self.measured)


def _offered(shown: Shown, progress: Progress) -> Offered:
    workspace, evaluation_id = shown
    assert evaluation_id is not None
    if workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id is None:
        return Offered({}, 0)
    return Offered(attributes_of(workspace, evaluation_id), len(workspace.queries(evaluation_id).sample_ids))


def _measured(shown: Shown, attribute: str, progress: Progress) -> ByAttribute:
    workspace, evaluation_id = shown
    assert evaluation_id is not None
    return by_attribute(workspace, evaluation_id, attribute, progress)


def _written(_column: int, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1f}" if value == value else "–"
    return f"{value:,}" if isinstance(value, int) else str(value)
