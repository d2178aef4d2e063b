"""The Compare page: what differs between the ticked runs, how good they are, and whether the difference is one."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.comparing.difference.baseline import BaselineRow
from workbench.comparing.overview import Overview
from workbench.fair.stored import FairComparisons, read_comparisons
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.ui.pages.compare.fair.panel import FairPanel
from workbench.ui.pages.compare.groups.group_view import GroupView
from workbench.ui.pages.compare.groups.head import Head
from workbench.ui.pages.compare.groups.more_seeds import ALL_LEFT_OUT, MoreSeedsAction
from workbench.ui.pages.compare.groups.notes import Notes
from workbench.ui.pages.compare.groups.row_order import Kind, first_order
from workbench.ui.pages.compare.model.compare_model import TICK_TWO, CompareModel
from workbench.ui.pages.compare.model.reading import PairAnswer
from workbench.ui.pages.compare.result_tabs import ResultTabs
from workbench.ui.state.concern import of_page
from workbench.ui.state.in_turns import InTurns
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.report_offer import offer_report
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.images.locating import LocateStrip
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.table_actions import TableActions

MANY = 20  # from this many groups on, rows are computed on a thread, and parts of the page drawn in turns
CANCELLED = "The comparison of these two groups was cancelled. Choose another group or baseline to compare."
TOP = 12  # px above and below the content
SETTLE = 150  # ms after the last tick until the runs are read
TICK_ALL, SET_UP = "Tick all runs", "Set up another run"


class ComparePage(QStackedWidget):
    """Draws the model. It reads and computes on threads; of several requests only the newest is answered."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(parent)
        self.session = session
        self.model = CompareModel()
        self._reading, self._tabling, self._pairing, self._ranking = (Newest(session) for _ in range(4))
        self._turns = InTurns(session, self)
        self._fair = FairComparisons()
        self._known: dict[int, object] | None = None  # the list's row of each run, to notice changes
        self._compared: dict[int, object] = {}  # the same for the ticked runs
        self._awaited: set[int] = set()  # runs queued here that are not in the list yet
        self._timer = QTimer(self, interval=SETTLE, singleShot=True)
        self.making = begun(self._parts(), in_parts)

    def _parts(self) -> Parts:
        yield from self._build()
        self._connect()
        self._refresh()

    def _build(self) -> Parts:
        self.hint = EmptyHint(
            "No runs to compare",
            "Runs are compared here side by side: settings, scores and their intervals. Set one up first.",
            "Set up a run",
        )
        self.unticked = EmptyHint("No runs are ticked", TICK_TWO, TICK_ALL)
        self.ranking = QWidget()
        self.reading = label("Reading…", "muted", wrap=True)
        self.reading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._loader = PictureLoader(self.session, lambda: self.model.dataset_id, self)
        yield
        # Each part goes to its place before it is filled: moved later, all in it would be styled again.
        self.content = QStackedWidget()
        self.content.setContentsMargins(16, TOP, 16, TOP)
        self.addWidget(self.hint)
        self.addWidget(self.content)
        result = QWidget()
        self.result = ScrolledDown(result)
        for shown in (self.unticked, self.ranking, self.reading, self.result):
            self.content.addWidget(shown)
        self.fair_alone = FairPanel(self.ranking)
        in_column(label(TICK_TWO, "muted", wrap=True), (self.fair_alone, 1), on=self.ranking, spacing=8)
        self.tabs = ResultTabs(self.session, self.model, self._loader, in_parts=True)
        self.notes, self.groups = Notes(self), GroupView()
        self.table_actions = TableActions(
            self.session.fulfil, self.groups, "comparison.csv", lambda: self.groups.table.lines
        )  # fmt: skip
        self.head = Head(self.model, [self.notes.badge, LocateStrip(self.session, self._loader)])
        self.none_fits = EmptyHint("No ticked run matches", ALL_LEFT_OUT, "Clear the search")
        self.none_fits.hide()
        in_column(self.head, self.notes.area, self.groups, (self.tabs, 1), (self.none_fits, 1), on=result, spacing=8)
        yield
        yield from self.tabs.making
        self.more_seeds = MoreSeedsAction(self.session, self, self.model.fits)
        self.head.follow(self.more_seeds.action)
        self.addAction(self.more_seeds.action)
        self.report_action = QAction("Report of the ticked runs…", self)
        self.report_action.setEnabled(False)
        self.addAction(self.report_action)
        self.save_action = QAction("Save the table as CSV…", self)
        self.save_action.setEnabled(False)
        self.addAction(self.save_action)
        self.order_action = QAction("Highest value of the metric first", self)
        self.order_action.setCheckable(True)
        self.order_action.setEnabled(False)
        self.addAction(self.order_action)
        yield

    def _connect(self) -> None:
        session = self.session
        self._timer.timeout.connect(self.read)
        self.hint.pressed.connect(self._go_to_setup)
        self.unticked.pressed.connect(self._go_on)
        self.none_fits.pressed.connect(self.head.search.clear)
        session.ticks.changed.connect(self._refresh)
        self.head.searched.connect(self._search)
        self.head.numbers_chosen.connect(self.read)
        self.head.baseline_chosen.connect(self._show_pair)
        self.head.columns_chosen.connect(partial(self._with_rows, self._draw_table))
        self.groups.order_chosen.connect(self._show_order)
        self.tabs.pair_chosen.connect(self._show_pair)
        self.head.copy_button.clicked.connect(self.table_actions.copy.trigger)
        self.head.report_button.clicked.connect(self._report)
        self.report_action.triggered.connect(self._report)
        self.save_action.triggered.connect(self.table_actions.save.trigger)
        self.order_action.triggered.connect(self._order_by_metric)
        self.more_seeds.queued.connect(self._await)
        self.fair_alone.wished.connect(session.fulfil)
        self.tabs.opened.connect(self._open)
        session.runs_changed.connect(self._refresh)
        session.catalog_changed.connect(self._refresh)
        session.workspace_changed.connect(self._forget)
        session.theme.changed.connect(self._draw)
        session.theme.changed.connect(self._fit)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if hasattr(self, "head"):  # else it is being made, in parts
            self.groups.show_more(self.head.fit_height(self.height()), self.height() - 2 * TOP)

    # The ticked runs

    def _refresh(self) -> None:
        """Read the ticked runs again if they or their scores have changed; only while the page is visible."""
        runs = self.session.runs()
        self.setCurrentIndex(1 if runs else 0)
        self.more_seeds.refresh()
        self._tick_awaited()
        if not self.isVisible():
            return
        known: dict[int, object] = {run.id: (run.name, run.status, run.colour, run.best, run.last) for run in runs}
        under_way = any(state == "active" for _, state in self._fair.sweeps)  # its last run ends before the sweep
        if known != self._known or (under_way and not self._ranking.busy):
            self._known = known
            self._read_fair()
        compared = {run_id: known[run_id] for run_id in self.session.ticks.runs if run_id in known}
        if compared != self._compared:
            self._compared = compared
            self._timer.start()
        self.unticked.say(self.model.nothing_ticked(len(runs)))
        self.unticked.go.setText(SET_UP if len(runs) == 1 else TICK_ALL)

    def _await(self, numbers: list[int]) -> None:
        self._awaited |= set(numbers)
        self._tick_awaited()

    def _tick_awaited(self) -> None:
        """Tick the runs that were queued here once they are in the list."""
        if self._awaited and self._awaited <= {run.id for run in self.session.runs()}:
            awaited, self._awaited = self._awaited, set()
            self.session.ticks.put(self.session.ticks.runs | awaited)

    def _go_on(self) -> None:
        """Tick all runs; with one alone there is nothing to compare, and the page Set up comes to the front."""
        runs = self.session.runs()
        if len(runs) == 1:
            self.session.show_page("setup")
        else:
            self.session.ticks.choose(run.id for run in runs)

    def _read_fair(self) -> None:
        """Read the fair comparisons again if their sweeps have changed."""
        workspace, known, before = self.session.workspace, self.session.catalog, self._fair
        self._ranking.ask(
            "Fair comparisons", lambda progress: read_comparisons(workspace, known, before), self._show_fair, quiet=True
        )

    def _show_fair(self, answer: FairComparisons) -> None:
        if answer is self._fair:
            return
        self._fair = answer
        self.fair_alone.show_comparisons(answer.comparisons)
        self.tabs.show_fair(answer)
        if self.content.currentWidget() in (self.unticked, self.ranking):
            self._show_unticked()

    def _show_unticked(self) -> None:
        self.content.setCurrentWidget(self.ranking if self._fair.comparisons else self.unticked)

    def _forget(self) -> None:
        self._known, self._compared, self._awaited = None, {}, set()
        self._ranking.cancel()
        self._show_fair(FairComparisons())
        self._timer.stop()
        self.read()
        self._refresh()

    def _search(self, text: str) -> None:
        """Compare the ticked runs with these words, once no more are typed."""
        self.model.search(text)
        self.more_seeds.refresh()
        self._timer.start()

    # Results

    def read(self) -> None:
        """Read the ticked runs on a thread, and show them."""
        self.model.known = self.session.catalog
        question = self.model.question(self.session.runs(), self.session.ticks.runs)
        if question is None:
            if self.model.left_out:
                self._show_none_fits()
            else:
                self._show_unticked()
            self._turns.stop()
            for asked in (self._reading, self._tabling, self._pairing):
                asked.cancel()
            self.tabs.curves.forget()
            self._offer(False)
            return
        if self.model.overview is None:
            self.reading.setText("Reading…")
            self.content.setCurrentWidget(self.reading)
        workspace, known = self.session.workspace, self.model.known
        self._reading.ask(
            "Compare runs", lambda progress: question.answer(workspace, known, progress),
            self._show_overview, self._not_read, quiet=True,
        )  # fmt: skip

    def _show_none_fits(self) -> None:
        """Say that the search leaves out every ticked run, below the line in which it is typed."""
        self.none_fits.say(f"{ALL_LEFT_OUT}{self.model.left_out_by(self.session.runs())}")
        self._show_parts(False)
        self.head.refresh()
        self.content.setCurrentWidget(self.result)

    def _show_parts(self, on: bool) -> None:
        """Show the table with its tabs, or that no run fits."""
        self.none_fits.setVisible(not on)
        for part in (self.groups, self.tabs):
            part.setVisible(on)
        for of_table in (self.head.copy_button, self.head.report_button):
            of_table.setEnabled(on)
        if not on:
            self.notes.show_notes([])

    def _not_read(self, problem: Problem) -> None:
        self.reading.setText(str(problem))
        self.session.notify(problem, of_page("compare", None))

    def _show_overview(self, overview: Overview) -> None:
        model = self.model
        model.take_overview(overview)
        self.session.settled.emit(of_page("compare", None))
        self._offer(True)
        self._show_parts(True)
        self.content.setCurrentWidget(self.result)
        self.notes.show_notes(model.warnings)
        self._show_pair()

    def _offer(self, on: bool) -> None:
        for action in (self.report_action, self.save_action, self.order_action):
            action.setEnabled(on)

    def _draw(self) -> None:
        """Show the table and the tabs of all groups; a hidden tab is drawn when it is opened."""
        self._draw_table()
        self.tabs.draw_groups()

    def _draw_table(self) -> None:
        self._show_rows()
        self.groups.fit()

    def _order_by_metric(self) -> None:
        """Put the highest value of the page's metric first, or the groups as they are compared."""
        highest = first_order(Kind.VALUE, self.model.metric)
        self.groups.table.order = None if self.groups.table.order == highest else highest
        self._show_order()

    def _show_order(self) -> None:
        """Show the groups in another order, from the first one; the first are those whose curves are drawn."""
        self._turns.begin(self._show_rows, self.groups.fit, self.tabs.draw_groups, long=self._many)
        self.groups.scrollToTop()

    def _show_rows(self) -> None:
        rows = self.groups.table.in_order(self.model.rows)
        self.groups.table.show(rows, self.tabs.styles)
        self.order_action.setChecked(self.groups.table.order == first_order(Kind.VALUE, self.model.metric))
        self.tabs.show_rows(rows, ordered=self.groups.table.order is not None)

    # Two groups

    def _show_pair(self) -> None:
        """Redraw for another baseline, another compared group, or other values of both."""
        for asked in (self._tabling, self._pairing):
            asked.cancel()  # an answer about the groups before must not come between the steps
        self._turns.begin(
            self.head.refresh, self.tabs.show_groups, partial(self._with_rows, self._draw_pair),
            long=self._many,
        )  # fmt: skip

    def _draw_pair(self) -> None:
        self._turns.begin(
            self._show_rows, self.groups.fit, self.tabs.draw_groups, self._compare, long=self._many
        )  # fmt: skip

    @property
    def _many(self) -> bool:
        return self.model.overview is not None and len(self.model.overview.groups) > MANY

    def _with_rows(self, then: Callable[[], None]) -> None:
        """Call `then` when the model has the rows of the table: those of many groups are computed on a thread."""
        question = self.model.rows_question()
        if question is None or self.model.has_rows or not self._many:
            then()
            return

        def take(rows: list[BaselineRow]) -> None:
            self.model.take_rows(question, rows)
            then()

        self._tabling.ask(
            "Differences from the baseline", lambda progress: question.answer(), take, quiet=True,
            cancelled=lambda: self.tabs.say(CANCELLED),
        )  # fmt: skip

    def _compare(self) -> None:
        question = self.model.pair_question()
        if question is None:
            self.tabs.say(self.model.pair_hint)
            return
        self.tabs.say("Comparing…")
        workspace = self.session.workspace
        self._pairing.ask(
            "Compare two groups", lambda progress: question.answer(workspace, progress),
            self._show_comparison, lambda problem: self.tabs.say(str(problem)),
            cancelled=lambda: self.tabs.say(CANCELLED),
        )  # fmt: skip

    def _show_comparison(self, pair: PairAnswer) -> None:
        self.model.pair = pair
        self.tabs.show_pair()

    def _open(self, run_id: int, sample_id: int) -> None:
        """Show the query in that run, at the evaluation that was compared."""
        evaluation = self.model.evaluation_of(run_id)
        self.session.show_run(run_id)
        if evaluation is not None:
            self.session.show_evaluation(evaluation)
        self.session.show_query(sample_id)
        self.session.show_page("retrieval")

    def _report(self) -> None:
        overview = self.model.overview
        if overview is not None:
            baseline = [] if self.model.baseline is None else [run.id for run in self.model.baseline.runs]
            runs = [*baseline, *sorted(overview.measured.keys() - set(baseline))]
            offer_report(self.session, runs, overview.metric, overview.at)

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")
