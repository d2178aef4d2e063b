"""The Compare page: tick runs, read what differs, how good they are, and whether the difference is one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from workbench.comparing.groups import Group, grouped
from workbench.comparing.measures import BEST, LAST, At
from workbench.comparing.overlap import PairOfRuns
from workbench.comparing.overview import Overview, overview
from workbench.comparing.pairing import Comparison, compare
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.compare.chooser import RunChooser
from workbench.ui.pages.compare.cost import CostPanel
from workbench.ui.pages.compare.curves_panel import CurvesPanel
from workbench.ui.pages.compare.difference import DifferencePanel
from workbench.ui.pages.compare.group_tables import GroupTables
from workbench.ui.pages.compare.looks import looks
from workbench.ui.pages.compare.neighbour_overlap import NeighbourPanel
from workbench.ui.pages.compare.papers import PapersPanel
from workbench.ui.pages.compare.queries import Named, QueryDifferences, named
from workbench.ui.pages.compare.sweep import SettingsPanel
from workbench.ui.pages.compare.warnings_strip import WarningsStrip
from workbench.ui.report_offer import offer_report
from workbench.ui.session import Session
from workbench.ui.tasks import Task
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.locating import LocateStrip
from workbench.ui.widgets.pictures import PictureLoader

SETTLE = 150  # ms without another tick before the runs are read
MAP_AT_R = "MAP@R"
TICK_TWO = "Tick two groups on the left to compare them. Runs of one config with different seeds are one group."
ONE_GROUP = (
    "There is one group so far: runs of one config with different seeds are one group. Tick it to read its numbers; "
    "to compare, train a run with another config first."
)
SECOND, NO_SECOND = (
    "Tick a second group to compare.",
    ("There is one group so far. To compare, train a run with another config first."),
)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A comparison with the words for its queries."""

    comparison: Comparison
    named: Named


class ComparePage(QStackedWidget):
    """Reads and computes on threads; of several wishes the newest wins."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.overview: Overview | None = None
        self.comparison: Comparison | None = None
        self._signature: object = None
        self._tasks: dict[str, Task] = {}
        self._offered: list[int] = []
        self._groups = 0  # that there are to tick
        self._stale: set[QWidget] = set()
        self._pair: Pair | None = None  # whose neighbours are not compared yet
        self._build()
        self._timer = QTimer(self, interval=SETTLE, singleShot=True)
        self._connect()
        self._refresh()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "No runs to compare",
            "Runs stand side by side here: what differs, how good they are, and how sure that is. Set one up first.",
            "Set up a run",
        )
        self.chooser = RunChooser()
        self.unticked = EmptyHint(
            "Nothing is ticked",
            TICK_TWO,
        )
        self.reading = label("Reading…", "muted", wrap=True)
        self.reading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        loader = PictureLoader(self.session, self._dataset, self)
        self.metric_box, self.at_box = QComboBox(), QComboBox()
        self.metric_box.setAccessibleName("Metric")
        self.at_box.setAccessibleName("Which evaluation of each run")
        self.report_button = button("Report…", "file-text")
        self.report_button.setToolTip("A comparison of the ticked runs, by this metric, on the Report page")
        self.warnings = WarningsStrip()
        self.curves, self.difference = CurvesPanel(self.session), DifferencePanel()
        self.queries, self.neighbours = QueryDifferences(loader), NeighbourPanel(self.session, loader)
        self.tables, self.cost, self.settings = GroupTables(), CostPanel(), SettingsPanel()
        self.papers = PapersPanel()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.tables, "Metrics"),
            (self.papers, "Papers"),
            (self.curves, "Curves"),
            (self.difference, "Difference"),
            (self.queries, "Queries"),
            (self.neighbours, "Neighbours"),
            (self.settings, "Settings"),
            (self.cost, "Cost"),
        ):
            self.tabs.addTab(widget, title)
        head = QHBoxLayout()
        for words, box in (("Metric", self.metric_box), ("At", self.at_box)):
            caption = label(words, "caption")
            caption.setBuddy(box)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            head.addWidget(caption)
            head.addWidget(box)
        head.addStretch(1)
        head.addWidget(LocateStrip(self.session, loader))
        head.addWidget(self.report_button)
        self.result = QWidget()
        column = QVBoxLayout(self.result)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.warnings)
        column.addWidget(self.tabs, 1)
        self.right = QStackedWidget()
        for shown in (self.unticked, self.reading, self.result):
            self.right.addWidget(shown)
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(self.chooser)
        row.addWidget(self.right, 1)
        self.report_action = QAction("Report of the ticked runs…", self)
        self.report_action.setEnabled(False)
        self.addAction(self.report_action)
        self.addWidget(self.hint)
        self.addWidget(content)

    def _connect(self) -> None:
        session = self.session
        self._timer.timeout.connect(self._look)
        self.hint.pressed.connect(self._go_to_setup)
        self.chooser.changed.connect(self._timer.start)
        self.metric_box.activated.connect(self._look)
        self.at_box.activated.connect(self._look)
        self.difference.chosen.connect(self._compare)
        self.tabs.currentChanged.connect(self._draw_shown)
        self.report_button.clicked.connect(self._report)
        self.report_action.triggered.connect(self._report)
        self.curves.failed.connect(session.notify)
        self.settings.failed.connect(session.notify)
        self.queries.opened.connect(self._open)
        self.neighbours.opened.connect(self._open)
        session.runs_changed.connect(self._refresh)
        session.catalog_changed.connect(self._refresh)
        session.workspace_changed.connect(self._forget)
        session.comparison_offered.connect(self._offer)
        session.theme.changed.connect(self._draw)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    # Which runs there are

    def _refresh(self) -> None:
        """Group the runs again where one came, went or has other scores; only while the page is looked at."""
        runs = self.session.runs()
        self.setCurrentIndex(1 if runs else 0)
        signature = [(run.id, run.name, run.status, run.colour, run.best, run.last) for run in runs]
        if not self.isVisible() or (signature == self._signature and not self._offered):
            return
        self._signature = signature
        known = self.session.catalog
        self._start("Groups of runs", lambda progress: grouped(runs, known), self._grouped)

    def _grouped(self, groups: list[Group]) -> None:
        self.chooser.show_groups(groups)
        self._groups = len(groups)
        self.unticked.say(ONE_GROUP if len(groups) == 1 else TICK_TWO)
        offered, self._offered = self._offered, []
        self.chooser.tick(offered)
        if self.chooser.ticked():
            self._timer.start()

    def _offer(self, runs: list[int]) -> None:
        self._offered = list(runs)
        self._refresh()

    def _forget(self) -> None:
        self._signature = None
        self._timer.stop()
        self.chooser.show_groups([])
        self._look()
        self._refresh()

    # What is said of them

    def _look(self) -> None:
        """Read the ticked runs on a thread."""
        ticked = self.chooser.ticked()
        runs = [run for run in self.session.runs() if run.id in ticked]
        if not runs:
            self.right.setCurrentWidget(self.unticked)
            self._cancel("Compare runs")
            self._cancel("Compare two groups")
            self.curves.forget()
            self.overview = self.comparison = None
            self.report_action.setEnabled(False)
            return
        if self.overview is None:
            self.reading.setText("Reading…")
            self.right.setCurrentWidget(self.reading)
        metric, at = self.metric_box.currentText() or MAP_AT_R, self._at()
        workspace, known = self.session.workspace, self.session.catalog

        def work(progress: Progress) -> Overview:
            found = overview(workspace, runs, known, metric, at, progress)
            if found.metrics and metric not in found.metrics:
                return overview(workspace, runs, known, found.metrics[0], at, progress)
            if isinstance(at, int) and at not in found.epochs:
                return overview(workspace, runs, known, found.metric, BEST, progress)
            return found

        self._start("Compare runs", work, self._looked, self._not_looked)

    def _at(self) -> At:
        chosen: At | None = self.at_box.currentData()
        return BEST if chosen is None else chosen

    def _not_looked(self, problem: Problem) -> None:
        self.reading.setText(str(problem))
        self.session.notify(problem)

    def _looked(self, found: Overview) -> None:
        self.overview = found
        self.report_action.setEnabled(True)
        self.right.setCurrentWidget(self.result)
        _fill(self.metric_box, [(name, name) for name in found.metrics], found.metric)
        places: list[tuple[str, At]] = [("best epoch of each run", BEST), ("last epoch of each run", LAST)]
        _fill(self.at_box, [*places, *((f"epoch {epoch}, of all runs", epoch) for epoch in found.epochs)], found.at)
        self._say_guards(found)
        self._draw()
        self.difference.show_groups(found.groups)
        self._compare()

    def _say_guards(self, found: Overview) -> None:
        told = list(found.guards)
        if not found.epochs and len(found.measured) > 1:
            told.append("The runs have no epoch in common: only best and last can be compared.")
        try:
            found.require()
        except Problem as problem:
            told.insert(0, str(problem))
        self.warnings.show_warnings(told)

    def _draw(self) -> None:
        """Tables and plots of all groups; what lies behind another tab is drawn when it is looked at."""
        self._stale = {self.tables, self.papers, self.curves, self.cost, self.settings}
        self._draw_shown()

    def _draw_shown(self) -> None:
        found, panel = self.overview, self.tabs.currentWidget()
        if panel is self.neighbours and self._pair is not None:
            pair, self._pair = self._pair, None
            self.neighbours.show_pairs(self._paired(pair.comparison), pair.named)
        if found is None or panel not in self._stale:
            return
        self._stale.discard(panel)
        shown_as = looks([group.colour for group in found.groups])
        if panel is self.curves:
            self.curves.show_overview(found, shown_as)
        elif panel is self.tables:
            self.tables.show_overview(found, shown_as)
        elif panel is self.papers:
            self.papers.show_overview(found, shown_as)
        elif panel is self.settings:
            self.settings.show_overview(found, shown_as)
        else:
            self.cost.show_overview(found, shown_as)

    # Two groups

    def _compare(self) -> None:
        found, pair = self.overview, self.difference.pair()
        self.comparison = None
        self._cancel("Compare two groups")
        if found is None or pair is None:
            if found is not None and len(found.groups) > 1:
                self._say("Choose two different groups.")
            else:
                self._say(NO_SECOND if self._groups == 1 else SECOND)
            return
        self._say("Comparing…")
        workspace = self.session.workspace

        def work(progress: Progress) -> Pair:
            made = compare(workspace, *pair, found.measured, found.metric, found.at, progress=progress)
            numbers = [run.dataset_id for run in pair[0].runs if run.dataset_id is not None]
            return Pair(made, named(workspace, numbers[0]) if numbers else {})

        self._start("Compare two groups", work, self._compared, lambda problem: self._say(str(problem)), quiet=False)

    def _say(self, text: str) -> None:
        self._pair = None
        self.difference.say(text)
        self.neighbours.say(text)
        self.queries.show_comparison(None, {}, text)

    def _compared(self, pair: Pair) -> None:
        found = self.comparison = pair.comparison
        self.difference.show_comparison(found)
        hint = "" if found.queries is not None else " ".join(found.notes)
        self.queries.show_comparison(found, pair.named, hint)
        self._pair = pair
        if not found.seeds:
            self._pair = None
            self.neighbours.say("Without a seed in common there are no two runs whose neighbours could be compared.")
        self._draw_shown()

    def _paired(self, found: Comparison) -> list[PairOfRuns]:
        """The runs of each seed with the evaluations that were compared."""
        assert self.overview is not None  # it was compared
        pairs = []
        for each in found.seeds:
            first, second = (self.overview.measured[run].at(found.at) for run in (each.first_run, each.second_run))
            if first is not None and second is not None:
                pairs.append(PairOfRuns(each.first_run, each.second_run, first.id, second.id))
        return pairs

    def _dataset(self) -> int | None:
        """That of the compared queries, for their pictures."""
        runs = self.comparison.first.runs if self.comparison is not None else ()
        return next((run.dataset_id for run in runs if run.dataset_id is not None), None)

    def _open(self, run_id: int, sample_id: int) -> None:
        """Show the query in that run, at the evaluation that was compared."""
        assert self.overview is not None  # its queries are on screen
        evaluation = self.overview.measured[run_id].at(self.overview.at)
        self.session.show_run(run_id)
        if evaluation is not None:
            self.session.show_evaluation(evaluation.id)
        self.session.show_query(sample_id)
        self.session.show_page("retrieval")

    # Threads

    def _start(
        self,
        title: str,
        work: Callable[[Progress], Result],
        then: Callable[[Result], None],
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = True,
    ) -> None:
        """A newer wish of the same title puts an end to the older one."""
        self._cancel(title)
        self._tasks[title] = self.session.run_in_thread(title, work, then, failed, quiet=quiet)

    def _cancel(self, title: str) -> None:
        task = self._tasks.pop(title, None)
        if task is not None:
            task.cancel()

    def _report(self) -> None:
        found = self.overview
        if found is not None:
            offer_report(self.session, sorted(found.measured), found.metric, found.at)

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")


def _fill(box: QComboBox, items: list[tuple[str, At]], chosen: At) -> None:
    """Other items without a word to those who listen; `chosen` is data of one of them."""
    box.blockSignals(True)
    box.clear()
    for text, data in items:
        box.addItem(text, data)
    values = [data for _, data in items]
    box.setCurrentIndex(values.index(chosen) if chosen in values else 0)
    box.blockSignals(False)
