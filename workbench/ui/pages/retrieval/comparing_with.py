"""The evaluation that the shown one is compared with: of the same run, or of another on the same samples."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from workbench.comparing.counterparts import Counterpart, counterparts
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.retrieval.failure_filter import FailureFilter
from workbench.ui.pages.retrieval.other_grid import OtherGrid
from workbench.ui.session import Session
from workbench.ui.tasks import Task
from workbench.workspace.rows import Evaluation, Neighbour, Query


class ComparingWith(QObject):
    """Lists what can be compared with, remembers what was chosen, and shows the query as it is there."""

    changed = Signal()  # another evaluation was chosen, or none

    def __init__(
        self, session: Session, filters: FailureFilter, grid: OtherGrid, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._filters, self._grid = session, filters, grid
        self._now: Evaluation | None = None
        self._others: list[Counterpart] = []  # of the run of `_now`
        self._task: Task | None = None
        self._seen: object = None
        self.before: Evaluation | None = None
        filters.compare_chosen.connect(self._choose)
        session.evaluations_changed.connect(self._list)
        session.runs_changed.connect(self._look_for_others)

    def show_evaluation(self, evaluation: Evaluation) -> None:
        """Another evaluation is shown; what it is compared with stays while it is of the same run."""
        another = self._now is None or self._now.run_id != evaluation.run_id
        self._now = evaluation
        if another or (self.before is not None and self.before.id == evaluation.id):
            self.before = None
        if another:
            self._others = []
            self._look_for_others()
        if self.before is None:
            self._grid.hide()
        self._list()

    @property
    def word(self) -> str:
        """What it is compared with: "epoch 3", "epoch 3 of run 5"; empty for nothing."""
        if self.before is None or self._now is None:
            return ""
        told = "the untrained network" if self.before.epoch == 0 else f"epoch {self.before.epoch}"
        return told if self.before.run_id == self._now.run_id else f"{told} of run {self.before.run_id}"

    @property
    def title(self) -> str:
        """The same at the head of a sentence: "Since epoch 3", "Against epoch 3 of run 5"."""
        of_run = self.before is not None and self._now is not None and self.before.run_id == self._now.run_id
        return f"{'Since' if of_run else 'Against'} {self.word}"

    def show_query(self, query: Query, beside: list[Neighbour]) -> Query | None:
        """Show the neighbours there beside those on screen; returns the query as it is there, None where it is not."""
        if self.before is None:
            return None
        workspace, word = self._session.workspace, self.word
        try:
            there = workspace.query(self.before.id, query.sample_id)
            near = workspace.neighbours(self.before.run_id, query.sample_id, self.before.id)
        except Problem:  # that evaluation is of another test half
            self._grid.say(f"This image is no query at {word}.")
            return None
        self._grid.show_query(word, there, near, beside)
        return there

    def _look_for_others(self) -> None:
        """Read the other runs on a thread; the newest question is answered."""
        now = self._now
        run = next((each for each in self._session.runs() if now is not None and each.id == now.run_id), None)
        if now is None or run is None:
            return
        workspace, runs = self._session.workspace, self._session.runs()
        seen = (
            workspace,
            run.id,
            [(each.id, each.name, each.dataset_id, each.best_epoch, each.epoch) for each in runs],
        )
        if seen == self._seen:  # the same runs at the same epochs
            return
        self._seen = seen

        def work(progress: Progress) -> list[Counterpart]:
            return counterparts(workspace, run, runs)

        if self._task is not None:
            self._task.cancel()
        take = partial(self._take, run.id)
        self._task = self._session.run_in_thread("Runs to compare with", work, take, quiet=True)

    def _take(self, run_id: int, found: list[Counterpart]) -> None:
        if self._now is not None and self._now.run_id == run_id:
            self._others = found
            self._list()

    def _list(self) -> None:
        now = self._now
        if now is None:
            return
        every = self._session.workspace.evaluations(now.run_id)
        own = [
            ("Since untrained" if each.epoch == 0 else f"Since epoch {each.epoch}", each.id)
            for each in every
            if each.id != now.id and each.distance == now.distance
        ]
        others = [(_named(each), each.evaluation.id) for each in self._others]
        self._filters.show_evaluations(own, others, None if self.before is None else self.before.id)

    def _choose(self, evaluation_id: int | None) -> None:
        self.before = None if evaluation_id is None else self._session.workspace.evaluation(evaluation_id)
        if self.before is None:
            self._grid.hide()
        self.changed.emit()


def _named(each: Counterpart) -> str:
    which = "best" if each.best else "last"
    return f"Run {each.run.id}, {each.run.name}, seed {each.run.seed}: {which}, epoch {each.evaluation.epoch}"
