"""The view Class size: scores of the shown evaluation by the size of its classes, as a plot and a table of groups."""

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTableView, QWidget

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.by_class_size import (
    COUNTED,
    MAP,
    NEAREST,
    TITLES,
    BySize,
    GroupScores,
    as_csv,
    by_class_size,
    cells_of,
)
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.class_size.beside import PlotAndTable
from workbench.ui.pages.retrieval.class_size.plot import SizePlot
from workbench.ui.pages.retrieval.model.filters import ClassGroup
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.measuring import Measuring
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.row_table import fit_columns_to_words, select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace import Workspace

ASK, MEASURING, SHOWN = range(3)
ROW_PX = 26  # height at 100% text
FILLS = 1000  # stretch of plot and table, beside which that of the room below them is nothing
WHY = (
    "How rare classes score compared with frequent ones: classes in groups by their number of images, each with its "
    "scores, 95% intervals over classes, and the scores that chance would give."
)
NO_VECTORS = "This evaluation has no class vector for each of its classes, so no nearest class"
EACH_CLASS = "The scores of each class stand beside the queries, the worst first; Save CSV… writes them."
NO_SCORE = "A class has a score if at least two of its images are in the test half: choose another split in Set up."
LIST = "List the queries of a group"
LIST_TIP = "Show the queries of the chosen group in the view Queries; the class bars there show its classes, too"
TABLE_TITLES = ("Group", "Images", "Classes", "Queries", "%", "95%", "Chance %")
Shown = tuple[Workspace, int | None]


class SizePanel(QStackedWidget):
    """Measures the session's evaluation on a thread when it is visible. A click on a group filters the queries."""

    chosen = Signal(object)  # ClassGroup: the queries of these classes are to be listed
    queries_asked = Signal()  # the view Queries
    classes_asked = Signal()  # the bars of the classes there

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.measured: BySize | None = None
        self._newest = Newest(session)
        self._shown: Shown | None = None  # what is asked for, or shown
        self._build()
        self._connect()

    def _build(self) -> None:
        self.ask = EmptyHint("Rare and frequent classes", WHY, "Measure")
        self.measuring = Measuring()
        self.metrics = Segments("Score by class size", list(TITLES.items()))
        self.metrics.set_value(MAP)
        self.open = button(LIST, "list-bullets")
        self.open.setToolTip(LIST_TIP)
        self.open.setEnabled(False)
        self.sentence, self.beside = label("", "muted", wrap=True), label("", "caption", wrap=True)
        self.instead, self.each = label("", wrap=True), button("Show each class", "chart-bar-horizontal")
        self.each.setToolTip("The bars of the classes in the view Queries")
        self.plot = SizePlot()
        self.groups = SortedRows(TABLE_TITLES, self._cells, _written, self)
        self.table = QTableView()
        self.table.setModel(self.groups)
        select_rows(self.table, "Scores by class size")
        set_row_height(self.table, ROW_PX)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.table_actions = TableActions(
            self.session.fulfil, self.table, "class-sizes.csv", self.groups.unwritten, self._csv
        )
        self.copy, self.save = self.table_actions.buttons("A row for each class: size, group, scores and chance")
        title = label("Rare and frequent classes", "title")
        of_table = QWidget()  # goes to another line as a whole
        in_row(self.copy, self.save, on=of_table, spacing=8)
        head = in_lines(title, self.metrics, self.open, self.each, of_table)
        self.picture = PlotAndTable(self.plot, self.table)
        content = QWidget()
        parts = (
            head,
            self.sentence,
            self.instead,
            (self.picture, FILLS),
            self.beside,
            1,
        )  # a sentence alone stays at the top
        in_column(*parts, on=content, margins=(16, 8, 16, 12), spacing=8)
        for page in (self.ask, self.measuring, ScrolledDown(content)):
            self.addWidget(page)

    def _connect(self) -> None:
        self.ask.pressed.connect(self._measure)
        self.measuring.pressed.connect(self._cancel)
        self.metrics.chosen.connect(self._draw)
        self.plot.picked.connect(self.choose)
        self.plot.wished.connect(self.session.fulfil)
        self.table.clicked.connect(self._clicked)
        self.table.activated.connect(self._opened)
        self.table.selectionModel().currentRowChanged.connect(self._mark)
        self.open.clicked.connect(self._open)
        self.each.clicked.connect(self.classes_asked)
        self.session.theme.changed.connect(self._fit)
        self.session.evaluation_changed.connect(self._show_evaluation)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()

    def _show_evaluation(self) -> None:
        """Measure the shown evaluation, as soon as the view is visible. The measurement of another one ends."""
        shown = (self.session.workspace, self.session.evaluation_id)
        if shown == self._shown:
            return
        if self._newest.busy:
            self._newest.cancel()
            self._shown = None  # measured anew, should it be shown again
        if self.isVisible():
            self._shown = shown
            self.show_measured(None)
            self._measure()

    def _measure(self) -> None:
        if self._shown is None or self._shown[1] is None:
            return
        self.setCurrentIndex(MEASURING)
        work = partial(_measured, self._shown)
        self._newest.ask("Scores by class size", work, self.show_measured, self._refuse, cancelled=self._cancel)
        task = self._newest.running
        if isinstance(task, Task) and task.item is not None:
            self.measuring.follow(task.item)

    def _cancel(self) -> None:
        self._newest.cancel()
        self.show_measured(None)

    def _refuse(self, problem: Problem) -> None:
        self.show_measured(None)
        self.ask.say(str(problem))

    def show_measured(self, measured: BySize | None) -> None:
        """Show a measurement; None asks whether to measure."""
        self.measured = measured
        self.setCurrentIndex(ASK if measured is None else SHOWN)
        self.ask.say(WHY)
        if measured is None:
            return
        self.metrics.allow(NEAREST, NEAREST in measured.metrics, NO_VECTORS)
        if self.metrics.value() not in measured.metrics:
            self.metrics.set_value(MAP)
        self.sentence.setText(measured.sentence)
        self.beside.setText("\n".join(measured.sentences[1:]))
        grouped, scored = bool(measured.groups), bool(len(measured.classes.labels))
        for part in (self.picture, self.metrics, self.open, self.copy):
            part.setVisible(grouped)
        self.instead.setText(EACH_CLASS if scored else NO_SCORE)
        self.instead.setVisible(not grouped)
        self.each.setVisible(scored and not grouped)
        self._draw()
        self.table_actions.save.setEnabled(scored)  # the classes are there without groups, too
        self.save.setVisible(scored)

    def _draw(self) -> None:
        if self.measured is None:
            return
        at = self.table.currentIndex().row()
        group, _, classes, queries, percent, *rest = TABLE_TITLES
        counted, score = COUNTED[self.measured.counted].capitalize(), TITLES[self.metrics.value()]
        self.groups.titles = (group, counted, classes, queries, f"{score} {percent}", *rest)
        self.groups.show(self.measured.groups)
        self.plot.show_measured(self.measured, self.metrics.value())
        self._fit()
        if 0 <= at < len(self.measured.groups):
            self.table.selectRow(at)
        self._mark(self.table.currentIndex())  # another measurement resets the table without a signal

    def _fit(self) -> None:
        fit_columns_to_words(self.table)
        self.picture.fit()

    def _cells(self, group: GroupScores) -> tuple[Any, ...]:
        metric = self.metrics.value()
        score = group.scores[metric]
        limits = cells_of(score, group.chance[metric])[1]
        numbers = (100 * score.value, limits, 100 * group.chance[metric])
        return (group.title, group.size_words, group.classes, group.queries, *numbers)

    # What the user does

    def mark(self, group: ClassGroup | None) -> None:
        """Mark the group whose queries are listed; None for none."""
        members = () if group is None or self.measured is None else self.measured.members
        labels = None if self.measured is None else self.measured.classes.labels
        at = [
            row
            for row, classes in enumerate(members)
            if group is not None and labels is not None and np.array_equal(labels[classes], group.labels)
        ]  # by its classes: a group of a saved view may have others in this run
        if not at:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())
        elif at[0] != self.table.currentIndex().row():
            self.table.selectRow(at[0])

    def choose(self, at: int) -> None:
        """Choose a group: its points are drawn strongly, and its queries are listed."""
        if self.measured is not None and 0 <= at < len(self.measured.groups):
            self.table.selectRow(at)
            group, members = self.measured.groups[at], self.measured.members[at]
            size = f"{group.size_words} {COUNTED[self.measured.counted]}"
            self.chosen.emit(ClassGroup(group.title, size, self.measured.classes.labels[members]))

    def _clicked(self, index: QModelIndex) -> None:
        self.choose(index.row())

    def _opened(self, index: QModelIndex) -> None:
        self.choose(index.row())
        self.queries_asked.emit()

    def _open(self) -> None:
        self._opened(self.table.currentIndex())

    def _mark(self, index: QModelIndex) -> None:
        group = self.groups.row(index.row()) if index.isValid() else None
        self.open.setText(LIST if group is None else f"List the queries of “{group.title}”")
        self.open.setEnabled(group is not None)
        self.plot.mark(index.row() if index.isValid() else -1)

    def _csv(self) -> Content:
        assert self.measured is not None  # else the table is not shown
        return partial(as_csv, self.measured)


def _measured(shown: Shown, progress: Progress) -> BySize:
    workspace, evaluation_id = shown
    assert evaluation_id is not None
    return by_class_size(workspace, evaluation_id, progress)


def _written(column: int, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
