"""Computes on threads what the model shows: causes of failure, won and lost queries, other runs, misses."""

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.comparing.queries.counterparts import Counterpart, counterparts
from workbench.progress import Progress
from workbench.results.explanations import FailedQueries, Standing
from workbench.results.mistakes import Changes
from workbench.ui.pages.retrieval.classes.mistakes_dialog import MistakesDialog
from workbench.ui.pages.retrieval.failure_source import FailureSource
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.queries.failure_filter import FailureFilter
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.widgets.images.pictures import shared_loader


class Explaining(QObject):
    """Follows the evaluation and the query that the page shows."""

    sample_chosen = Signal(object)  # sample id, in the dialog

    def __init__(self, session: Session, browsing: Browsing, filters: FailureFilter, result: Result) -> None:
        super().__init__(result)
        self._session, self._browsing, self._filters, self._result = session, browsing, filters, result
        self._looking: Task | None = None  # for other runs
        self._looked_at: object = None  # workspace and run for which others were looked for
        self._runs: object = None  # as they were when they last changed
        self.source = FailureSource(session, session)  # work may end after the page
        self.dialog: MistakesDialog | None = None
        self.source.ready.connect(self._ready)
        self.source.gave_up.connect(self._gave_up)
        self.source.compared.connect(self._compared)
        self.source.missed.connect(self._missed)
        filters.mistakes_asked.connect(self.open_dialog)
        session.runs_changed.connect(self._hear_of_runs)

    def show_evaluation(self) -> None:
        """Explain another evaluation."""
        shown = self._browsing.shown
        if shown is None:
            return
        self._browsing.take_failures(None, working=True)
        self._fill_dialog()
        self.source.show(shown.evaluation)
        self.compare()
        known = self._looked_at == (self._session.workspace, shown.evaluation.run_id)
        if not (known and self._browsing.comparison.others):
            self._look_for_others()

    def compare(self) -> None:
        """Find what was won and lost since the evaluation compared with, if there is one."""
        shown, before = self._browsing.shown, self._browsing.comparison.before
        if shown is not None and before is not None:
            self.source.compare(before.id, shown.evaluation.id)

    def draw(self) -> None:
        """Show what is known of the query, and look for the true neighbours that are not shown."""
        browsing = self._browsing
        self._result.show_explanation(browsing.explanation())
        self._result.show_tags(browsing.tags_of_query)
        result = None if browsing.answer is not None else browsing.result
        if result is not None and browsing.filters.explained is not None and result.query.r:
            self.source.look_for_missed(result.query.sample_id, len(browsing.neighbours))
        else:
            self._result.show_standing(None)

    def open_dialog(self) -> None:
        """Show confusions and hubs in a window of their own."""
        if self.dialog is None:
            self.dialog = MistakesDialog(shared_loader(self._session), self._filters)
            self.dialog.wished.connect(self._session.fulfil)
            self.dialog.pair_chosen.connect(self._browsing.narrow)
            self.dialog.sample_chosen.connect(self.sample_chosen)
            self._session.part_made.emit(self.dialog)
        self.dialog.show()
        self.dialog.raise_()
        QTimer.singleShot(0, self, self._fill_dialog)  # its window and ten thousands of rows are two steps

    def _hear_of_runs(self) -> None:
        """Look again at other runs if any has changed: they may have been evaluated."""
        runs = [(run.id, run.name, run.dataset_id, run.best_epoch, run.epoch) for run in self._session.runs()]
        if runs != self._runs:
            self._runs = runs
            self._look_for_others()

    def _look_for_others(self) -> None:
        """Look for evaluations of other runs to compare with, on a thread; the newest question is answered."""
        shown, workspace = self._browsing.shown, self._session.workspace
        if shown is None:
            return
        run_id = shown.evaluation.run_id
        self._looked_at = (workspace, run_id)

        def work(progress: Progress) -> list[Counterpart]:
            return counterparts(workspace, workspace.run(run_id), workspace.runs())

        if self._looking is not None:
            self._looking.cancel()
        take = partial(self._browsing.take_others, run_id)
        self._looking = self._session.run_in_thread("Runs to compare with", work, take, quiet=True)

    def _fill_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.show_failures(self._browsing.filters.explained, self._browsing.explaining)

    def _ready(self, explained: FailedQueries) -> None:
        self._browsing.take_failures(explained)
        self._fill_dialog()

    def _gave_up(self) -> None:
        self._browsing.take_failures(None)
        self._fill_dialog()

    def _missed(self, sample_id: int, standing: Standing) -> None:
        result = self._browsing.result
        if result is not None and self._browsing.answer is None and result.query.sample_id == sample_id:
            self._result.show_standing(standing, len(self._browsing.neighbours), result.query.r)

    def _compared(self, before: int, changes: Changes) -> None:
        self._browsing.take_changes(before, changes)
