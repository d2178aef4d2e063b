"""What the window shows: run, evaluation, query and selection, as the follower of the workspace read them.

Nothing here reads the disk: what is asked was read by the follower, and what must be read first comes with a signal.
"""

from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.ui.state.background.work import Work
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.live import Follower
from workbench.ui.state.selection.ticks import Ticks
from workbench.workspace.news import Watch
from workbench.workspace.rows import Dataset, Evaluation, Experiment, Run


class Shown(Work):
    """One workspace, and what of it is shown.

    Args:
        watch: on the workspace.
    """

    run_changed = Signal(object)  # run id or None
    evaluation_changed = Signal(object)  # evaluation id or None
    selection_changed = Signal()
    query_changed = Signal(object)  # sample id or None

    # Sent by the follower; after `run_changed`, `scalars_arrived` starts at the first point of the shown run.
    runs_changed = Signal()
    status_changed = Signal(str)
    scalars_arrived = Signal(list)  # [(name, step, value), ...]
    evaluations_changed = Signal()
    charts_changed = Signal()
    choices_changed = Signal(object)  # set of names in workspace/choices/marks.py; also after this window's own writes

    def __init__(self, watch: Watch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ticks = Ticks(self)  # the runs that are compared
        self._adopt(watch)

    def _adopt(self, watch: Watch) -> None:
        self.workspace = watch.workspace
        self._last_change = None  # changes of another workspace need not be waited for
        self.run_id: int | None = None
        self.evaluation_id: int | None = None
        self.selection: np.ndarray = np.empty(0, np.int64)  # sample ids
        self.query: int | None = None
        self._chosen: int | None = None  # evaluation that the user chose; None follows the best
        self._announced = True  # that the shown run is another one
        self.follower = Follower(watch, self)
        self.follower.read.connect(self._hear_read)
        self.ticks.forget()
        self.follower.runs_changed.connect(self._hear_runs)
        self.follower.status_changed.connect(self.status_changed)
        self.follower.scalars_arrived.connect(self.scalars_arrived)
        self.follower.evaluations_changed.connect(self._hear_evaluations)
        self.follower.charts_changed.connect(self.charts_changed)
        self.follower.choices_changed.connect(self.choices_changed)
        self.follower.failed.connect(partial(self.notify, concern=EVERYWHERE))
        self.follower.came_back.connect(self.settled)
        for changed in (self.follower.failed, self.follower.came_back):
            changed.connect(self.runs_changed)  # every place that names the state of a run says so

    def experiments(self) -> list[Experiment]:
        """Runs that belong together, newest first."""
        return self.follower.experiments

    def runs(self) -> list[Run]:
        """All runs that are not in the trash, newest first, as they were read last."""
        return self.follower.runs

    def trashed_runs(self) -> list[Run]:
        """The runs in the trash, newest first, as they were read last."""
        return self.follower.trashed

    def run(self, run_id: int | None = None) -> Run | None:
        """The shown run, or that of a number, in the trash or not; None before it was read and where it is gone."""
        return self.follower.run(self.run_id if run_id is None else run_id)

    def evaluations(self) -> list[Evaluation]:
        """The evaluations of the shown run by epoch; none before they were read: `evaluations_changed` follows."""
        return list(self.follower.followed.evaluations)

    def measured(self) -> list[Evaluation]:
        """As `evaluations`, with those that the run did not keep: their metrics are all that is known."""
        return list(self.follower.followed.measured)

    def evaluation(self) -> Evaluation | None:
        """The shown evaluation, or None."""
        return next((evaluation for evaluation in self.evaluations() if evaluation.id == self.evaluation_id), None)

    def dataset(self) -> Dataset | None:
        """The data set of the shown run; None before it was read, and where its row cannot be read."""
        return self.follower.followed.dataset

    def class_name(self, label: int) -> str:
        """The name of a class of the shown data set; its number where the data set is not known."""
        dataset = self.dataset()
        return str(label) if dataset is None else dataset.class_name(label)

    def chart_steps(self) -> list[int]:
        """The steps at which the method of the shown run drew charts, rising."""
        return list(self.follower.followed.chart_steps)

    def can_resume(self) -> bool:
        """Whether the shown run never began, or ended early and can go on from a checkpoint, here or at its place."""
        run = self.run()
        if run is None or not run.resumable:
            return False
        return self.follower.followed.has_checkpoint or run.placement is not None or run.never_began

    def why_not_resumed(self) -> str:
        """A sentence on the shown run that ended early and cannot resume because its checkpoint is gone."""
        run, followed = self.run(), self.follower.followed
        if run is None or not run.resumable or self.can_resume():
            return ""
        if followed.deleted:
            which = "Its last checkpoint was" if followed.has_best else "Its checkpoints were"
            return f"{which} deleted on {followed.deleted}."
        return "Its checkpoints are missing." if followed.is_missing else ""

    def show_run(self, run_id: int | None) -> None:
        """Show a run, or none; selection and query are cleared. Its best evaluation follows as soon as it is read."""
        if run_id == self.run_id:
            return
        self._chosen = None
        self.run_id = run_id
        self.follower.follow(run_id)
        # A run that was just made is announced when it is read.
        self._announced = run_id is None or self.run() is not None
        before, self.evaluation_id = self.evaluation_id, None
        if self._announced:
            self.run_changed.emit(run_id)
        if before is not None:
            self.evaluation_changed.emit(None)
        self.show_query(None)
        self.select(np.empty(0, np.int64))

    def show_evaluation(self, evaluation_id: int | None) -> None:
        """Show an evaluation of the shown run and stay with it; the best, or None, follows the best from then on.

        Before the evaluations of the run were read it is remembered, and shown when they are.
        """
        self._chosen = evaluation_id
        if self.evaluations():
            self._follow_choice()

    def show_earlier(self) -> None:
        """The evaluation before the shown one, if there is one."""
        self._step_evaluation(-1)

    def show_later(self) -> None:
        """The evaluation after the shown one, if there is one."""
        self._step_evaluation(1)

    def _step_evaluation(self, by: int) -> None:
        numbers = [evaluation.id for evaluation in self.evaluations()]
        row = numbers.index(self.evaluation_id) + by if self.evaluation_id in numbers else -1
        if 0 <= row < len(numbers):
            self.show_evaluation(numbers[row])

    def select(self, sample_ids: np.ndarray) -> None:
        """Select samples by id; [n] int64."""
        new = np.asarray(sample_ids, np.int64)
        if not np.array_equal(new, self.selection):
            self.selection = new
            self.selection_changed.emit()

    def show_query(self, sample_id: int | None) -> None:
        """Show one sample as the query."""
        if sample_id != self.query:
            self.query = sample_id
            self.query_changed.emit(sample_id)

    # Signals of the follower

    def _hear_runs(self) -> None:
        self.ticks.keep_only(run.id for run in self.runs())
        if self.run_id is not None and self.follower.followed.run_id == self.run_id and self.run() is None:
            self.show_run(None)
            self.notify("The run that was shown was deleted by another window or a command.", EVERYWHERE)
        self.runs_changed.emit()

    def _hear_read(self) -> None:
        if not self._announced and self.follower.followed.run_id == self.run_id:
            self._announced = True
            self.run_changed.emit(self.run_id)

    def _hear_evaluations(self) -> None:
        self._follow_choice()
        self.evaluations_changed.emit()

    def _follow_choice(self) -> None:
        """Show the evaluation that the user chose, or the best; the best is followed from then on."""
        best = self._best_evaluation()
        if self._chosen == best or self._chosen not in {evaluation.id for evaluation in self.evaluations()}:
            self._chosen = None
        shown = best if self._chosen is None else self._chosen
        if shown != self.evaluation_id:
            self.evaluation_id = shown
            self.evaluation_changed.emit(shown)

    def _best_evaluation(self) -> int | None:
        """That of the epoch which the run list and the reports call the best; the last where the run has no best."""
        evaluations, run = self.evaluations(), self.run()
        of_best = [
            evaluation.id for evaluation in evaluations if run is not None and evaluation.epoch == run.best_epoch
        ]
        last = [evaluation.id for evaluation in evaluations][-1:]
        return next(reversed(of_best or last), None)
