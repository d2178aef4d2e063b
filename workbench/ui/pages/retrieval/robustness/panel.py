"""The Robustness view: scores of the shown evaluation with changed query images, and what a change looks like."""

from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSpinBox, QStackedWidget, QTableView, QWidget

from workbench.problem import Problem
from workbench.results.stored import MAY_BE_0
from workbench.robustness.kinds import CHANGES, NAMES, suitable
from workbench.robustness.table import as_csv, head_sentence
from workbench.running.search.image_search import check_network
from workbench.ui.pages.retrieval.robustness.plot import StrengthPlot
from workbench.ui.pages.retrieval.robustness.rows import StrengthRows, rows_of
from workbench.ui.pages.retrieval.robustness.strip import Strip
from workbench.ui.state.evaluation_work import Evaluation, EvaluationWork
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.measuring import Measuring
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.row_table import fit_columns_to_words, select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace import Workspace
from workbench.workspace.measured.robustness import checked_robustness

SERVER = "workbench.robustness.server"
ASK, MEASURING, SHOWN = range(3)
ROW_PX = 26  # height at 100% text
PLOT, TABLE = 9, 11  # stretches
MOST, USUAL = 100_000, 2_000  # queries
ONE_AT_A_TIME = "Another evaluation is being measured."
NO_QUERY = "No query of this evaluation has anything to find."
WHY = (
    "Query images are changed: saved as low-quality JPEG, blurred, darkened, rotated, partly covered and so on, each "
    "at three to five strengths. You see how much of MAP@R and R@1 remains, with paired 95% intervals, and what the "
    "strengths look like. The gallery is not changed. It needs the network of the evaluation."
)
QUERY_TIP = "If there are more queries, this many are drawn, always the same. Changing it measures everything again."
METRICS = (("MAP@R", "MAP@R"), ("recall@1", "R@1"))


@dataclass(frozen=True, slots=True)
class Known:
    """What is read of an evaluation before anything is measured."""

    measured: dict[str, Any] | None
    names: list[str]  # of the changes that suit its images
    queries: int  # that the evaluation has
    refused: str = ""  # why it cannot be measured
    damaged: str = ""  # on a stored measurement that cannot be shown


class RobustnessPanel(QStackedWidget):
    """Shows the robustness of the session's evaluation; a separate process measures it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.measured: dict[str, Any] | None = None
        self.work = EvaluationWork(session, SERVER, "retrieval", ONE_AT_A_TIME)
        self._names: list[str] = list(NAMES)
        self._there = 0  # queries of the evaluation
        self._usual = USUAL  # queries that are offered: as many as were asked for last
        self._shown: Evaluation | None = None  # that is asked for, or shown
        self._marked = ""  # the change that was chosen last
        self._query: int | None = None  # whose pictures are shown
        self._is_behind = False  # whether another query was chosen while the view was hidden
        self._stepped = 0  # how often another query was asked for
        self._build()
        self._connect()

    def _build(self) -> None:
        self.ask = EmptyHint("Robustness", WHY, "Measure")
        self.queries = number_box(QSpinBox())
        self.queries.setRange(1, MOST)
        self.queries.setGroupSeparatorShown(True)
        self.queries.setValue(USUAL)
        self.queries.setToolTip(QUERY_TIP)
        self.images = label("", "caption")
        self.back = button("Back to the scores", "arrow-left")
        asking = QWidget()
        number = in_row(1, caption("Queries, at most", self.queries), self.queries, self.images, 1, spacing=8)
        in_column(1, self.ask, number, in_row(1, self.back, 1), 1, on=asking, margins=(16, 8, 16, 24), spacing=8)
        self.measuring = Measuring()
        self.metrics = Segments("Metric of the plot", METRICS)
        self.metrics.set_value(METRICS[0][0])
        self.rest = button("Measure the rest", "plus")
        self.again = button("Measure again…", "arrow-clockwise")
        self.again.setToolTip("With another number of queries, or the changes that are missing")
        self.sentence = label("", "muted", wrap=True)
        self.plot = StrengthPlot()
        self.strengths = StrengthRows(self)
        self.table = QTableView()
        self.table.setModel(self.strengths)
        select_rows(self.table, "Scores by change and strength")
        set_row_height(self.table, ROW_PX)
        header = self.table.horizontalHeader()
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setTextElideMode(Qt.TextElideMode.ElideNone)
        header.setStretchLastSection(True)
        self.table.setSortingEnabled(True)
        self.strip = Strip()
        self.table_actions = TableActions(
            self.session.fulfil, self.table, "robustness.csv", self.strengths.unwritten, self._csv
        )
        self.copy, self.save = self.table_actions.buttons()
        head = in_lines(label("Robustness", "title"), self.metrics, self.rest, self.again, self.copy, self.save)
        row = in_row((self.plot, PLOT), (self.table, TABLE), spacing=12)
        content = QWidget()
        in_column(head, self.sentence, (row, 1), self.strip, on=content, margins=(16, 8, 16, 12), spacing=8)
        for page in (asking, self.measuring, ScrolledDown(content)):
            self.addWidget(page)

    def _connect(self) -> None:
        self.ask.pressed.connect(self.measure)
        self.measuring.pressed.connect(self.work.cancel)
        self.back.clicked.connect(partial(self.setCurrentIndex, SHOWN))
        self.again.clicked.connect(partial(self.setCurrentIndex, ASK))
        self.rest.clicked.connect(self._measure_rest)
        self.queries.valueChanged.connect(self._say_images)
        self.metrics.chosen.connect(self._draw_plot)
        self.plot.chosen.connect(self.choose)
        self.plot.wished.connect(self.session.fulfil)
        self.table.selectionModel().currentRowChanged.connect(self._mark)
        self.strengths.modelReset.connect(self._choose_again)
        self.strip.another.connect(self._step)
        self.session.query_changed.connect(self._follow_query)
        self.session.theme.changed.connect(self._fit_text)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self._fit_text()

    def _fit_text(self) -> None:
        fit_columns_to_words(self.table)
        self.strengths.pictures_came(set())

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self._catch_up()

    def _show_evaluation(self) -> None:
        """Read what was measured of the shown evaluation, as soon as the view is visible."""
        evaluation_id, workspace = self.session.evaluation_id, self.session.workspace
        shown = (workspace, evaluation_id)
        if not self.isVisible() or shown == self._shown:
            return
        self.work.leave_others(workspace)
        self._shown, self._query, self._stepped = shown, None, 0
        self.show_measured(None)
        if self.work.measures(shown):
            self.setCurrentIndex(MEASURING)
        elif evaluation_id is not None:
            self._read(shown)

    def _read(self, shown: Evaluation) -> None:
        workspace, evaluation_id = shown
        if evaluation_id is not None:
            self.session.read(partial(_known, workspace, evaluation_id), partial(self._take, shown))

    def _take(self, shown: Evaluation, known: Known) -> None:
        if shown == self._shown and not self.work.measures(shown):
            self._names, self._there = known.names, known.queries
            self.show_measured(known.measured, known.refused, known.damaged)

    def show_measured(self, measured: dict[str, Any] | None, refused: str = "", damaged: str = "") -> None:
        """Show a measurement, as robustness.request.robustness gives it; None asks whether to measure.

        Args:
            refused: why nothing can be measured; empty where it can.
            damaged: a sentence on a stored measurement that cannot be shown.
        """
        self.measured = measured
        self.ask.say(f"{damaged} {refused or WHY}".strip())
        self.ask.go.setHidden(bool(refused))
        for part in (self.queries, self.images):
            part.setEnabled(not refused)
        self.back.setVisible(measured is not None)
        self._say_images()
        self.setCurrentIndex(ASK if measured is None else SHOWN)
        if measured is None:
            self.queries.setValue(self._usual)  # not the number of another evaluation
            return
        count, there = measured["queries"], measured["queries_there"]
        self.queries.setValue(count if count < there else max(USUAL, count))
        self.strip.say("")
        missing = self._missing()
        titles = ", ".join(change.title for change in CHANGES if change.name in missing)
        self.rest.setVisible(bool(missing) and not refused)
        self.rest.setToolTip(plain_tip(f"Not measured yet: {titles}"))
        self.again.setEnabled(not refused)
        lacks = f" Not measured yet: {titles}." if missing else ""
        self.sentence.setText(f"{head_sentence(measured)} {MAY_BE_0}{lacks}")
        self._draw_plot()
        self.strengths.show(rows_of(measured))
        self._fit_text()
        names = [change["name"] for change in measured["changes"]]
        self.choose(self._marked if self._marked in names else names[0])

    def _missing(self) -> list[str]:
        there = {change["name"] for change in self.measured["changes"]} if self.measured is not None else set()
        return [name for name in self._names if name not in there]

    def _draw_plot(self) -> None:
        self.plot.show_measured(self.measured, self.metrics.value())

    def _say_images(self) -> None:
        strengths = sum(len(change.strengths) for change in CHANGES if change.name in self._names)
        queries = min(self.queries.value(), self._there)
        self.images.setText(f"of {self._there:,}: {queries * (1 + strengths):,} images to embed")
        self.images.setVisible(bool(self._there))

    # What the user does

    @property
    def chosen(self) -> str:
        """The name of the chosen change."""
        return self._marked

    def choose(self, name: str) -> None:
        """Choose a change: the row of its last strength is selected, its line is marked, its strip is shown."""
        rows = self.strengths.rows
        current = self.strengths.row(self.table.currentIndex().row()) if self.table.currentIndex().isValid() else None
        if current is None or current.name != name:
            level = max((row.level for row in rows if row.name == name), default=0)
            at = next((at for at, row in enumerate(rows) if (row.name, row.level) == (name, level)), 0)
            self.table.selectRow(at)

    def _choose_again(self) -> None:
        if self._marked and self.strengths.rows:
            self.choose(self._marked)

    def _mark(self, index: QModelIndex) -> None:
        row = self.strengths.row(index.row()) if index.isValid() else None
        if row is None or not row.name or (row.name == self._marked and self.strip.has_images):
            return
        self._marked = row.name
        self.plot.mark(row.name)
        self._show_strip()

    def measure(self) -> None:
        """Measure the changes that are missing, or all with another number of queries, in a process of its own."""
        self._usual = self.queries.value()
        self._work([], self._usual)

    def _measure_rest(self) -> None:
        if self.measured is not None:
            self._work(self._missing(), self.measured["queries"])

    def _work(self, names: list[str], queries: int) -> None:
        of = self._shown
        if of is None or of[1] is None or not self.work.is_free():
            return
        self.setCurrentIndex(MEASURING)
        fields = {"changes": names, "queries": queries}
        ended = partial(self._ended, of)
        self.work.start(of, "Robustness", "measure", fields, lambda answer: ended(), ended)
        if self.work.newest is not None:
            self.measuring.follow(self.work.newest.item)

    def _ended(self, of: Evaluation) -> None:
        """Show all that is stored: after a cancel, the changes that were measured before it."""
        if of == self._shown:
            self.setCurrentIndex(ASK if self.measured is None else SHOWN)
            self._read(of)

    def _csv(self) -> Content:
        assert self.measured is not None  # else the table is not shown
        return partial(as_csv, self.measured)

    # The strip

    def _follow_query(self, sample_id: int | None) -> None:
        if sample_id is not None:
            self._query = sample_id
            self._is_behind = True
            self._catch_up()

    def _catch_up(self) -> None:
        """Show the strip of a query that was chosen while the view was hidden: each would read an image."""
        if self._is_behind and self.isVisible():
            self._is_behind = False
            self._show_strip()

    def _step(self) -> None:
        self._stepped += 1
        self._query = None
        self._show_strip()

    def _show_strip(self) -> None:
        """Make the pictures of the query on a thread: that of the session, or one of the evaluation's."""
        run = self.session.run()
        if self.measured is None or self._shown is None or run is None or run.dataset_id is None or not self._marked:
            return
        shown, name, query = self._shown, self._marked, self._query
        if query is None and not self._stepped:
            query = self.session.query
        asked = self._asked_strip
        change = next(change for change in self.measured["changes"] if change["name"] == name)
        strengths = [level["strength"] for level in change["levels"]]
        way = (name, self.measured["side"], strengths)
        pictures = partial(_pictures, shown, run.dataset_id, query, self._stepped, way)
        self.session.run_in_thread(
            "Change an image", lambda progress: pictures(), partial(self._take_strip, asked),
            partial(self._no_strip, asked), quiet=True,
        )  # fmt: skip

    @property
    def _asked_strip(self) -> tuple[object, ...]:
        """What the strip is to show: pictures of an earlier wish may come after those of a later one."""
        return self._shown, self._marked, self._query, self._stepped

    def _take_strip(self, asked: tuple[object, ...], made: tuple[str, list[np.ndarray]]) -> None:
        if asked != self._asked_strip or self.measured is None:
            return
        change = next(change for change in self.measured["changes"] if change["name"] == self._marked)
        title, images = made
        does = next((known.does for known in CHANGES if known.name == self._marked), "")
        words = [level["words"] for level in change["levels"]]
        self.strip.show_images(f"{change['title']}: {title}", images, words)
        self.strip.setToolTip(plain_tip(f"{does} Strengths: {change['source']}"))

    def _no_strip(self, asked: tuple[object, ...], problem: Problem) -> None:
        if asked == self._asked_strip:
            self.strip.say(str(problem))


def _known(workspace: Workspace, evaluation_id: int) -> Known:
    """What was measured, what suits the images, and why nothing can be measured, without loading anything."""
    evaluation = workspace.evaluation(evaluation_id)
    run, counted = workspace.run(evaluation.run_id), evaluation.metrics.get("queries", 0)
    queries = int(counted) if isfinite(counted) else 0  # a damaged evaluation may have none that is a number
    measured, damaged = checked_robustness(workspace, evaluation_id)
    channels = 3 if run.dataset_id is None else workspace.dataset(run.dataset_id).channels
    names = [change.name for change in suitable(channels)]
    try:
        check_network(workspace, run.id)
    except Problem as problem:
        return Known(measured, names, queries, str(problem), damaged)
    return Known(measured, names, queries, "", damaged)


def _pictures(
    shown: Evaluation, dataset_id: int, query: int | None, stepped: int, way: tuple[str, int, list[float]]
) -> tuple[str, list[np.ndarray]]:
    """The path of a query and its pictures; without a query, one that the evaluation has, another for each step.

    `way` is the name of a change, the side of the network's input and the strengths. Raises Problem as `strip`, and
    where no query counts.
    """
    from workbench.robustness.strip import strip  # late: the window is shown first

    workspace, evaluation_id = shown
    assert evaluation_id is not None
    queries = workspace.queries(evaluation_id)
    asked = queries.sample_ids[queries.r > 0]
    if query is None:
        if not len(asked):
            raise Problem(NO_QUERY)
        query = int(np.random.default_rng(0).permutation(asked)[stepped % len(asked)])
    samples = workspace.samples(dataset_id)
    paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    return paths.get(query, str(query)), strip(workspace, dataset_id, query, *way)
