"""Runs that this window starts, follows at places, ends and moves to the trash."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from workbench.control import Control
from workbench.numerals import numbers_in_words
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.running.processes.spare import Spare
from workbench.ui.preferences import Preferences
from workbench.ui.state.background.tasks import heard_by
from workbench.ui.state.concern import EVERYWHERE, Concern
from workbench.ui.state.runs.placed_runs import PlacedRuns
from workbench.ui.state.runs.run_jobs import MakeJob, chosen_devices, chosen_job, needs_several, wants_spare
from workbench.ui.state.runs.run_queue import WITHDRAWN, RunQueue
from workbench.ui.state.selection.shown import Shown
from workbench.workspace.database.problems import Full, Gone
from workbench.workspace.news import Watch
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.places.place import Place

NO_RESULT = Problem(
    "The result of the experiment was not computed, because that was cancelled.",
    kept="Its runs are kept.",
    todo="With its config, workbench run --resume computes it.",
)


class WindowRuns(Shown):
    """The queue of this window and its runs at places, in the workspace that is shown.

    Args:
        watch: on the workspace.
        preferences: which devices and processes the user chose.
        make_job: makes the job of a run; by default where the user chose; tests give another.
    """

    runs_trashed = Signal(object)  # dict of the numbers and names of runs that were moved to the trash
    trash_refused = Signal(object)  # the same of runs that a full disk has no room to move to the trash
    runs_withdrawn = Signal(object)  # list of the numbers of runs that were taken from the queue in one step
    end_asked = Signal(int)  # the user wants this run of this window to end: how is asked by the window
    run_ended = Signal(int, str)  # run of this window, its status
    data_asked = Signal(str, object)  # a path of a config, and the place where its counterpart is not known

    def __init__(
        self, watch: Watch, preferences: Preferences | None, make_job: MakeJob | None, parent: QObject | None
    ) -> None:
        super().__init__(watch, parent)
        self.preferences = preferences or Preferences(parent=self)
        self.preferences.unwritten.connect(partial(self.notify, concern=EVERYWHERE))
        self.preferences.written_again.connect(self.settled)
        self.spare = Spare()
        self._make_job = make_job or partial(chosen_job, self.preferences, self.spare)
        self._begin_queue()
        self.run_changed.connect(self._show_place)
        self.runs_changed.connect(self._see_resumed)
        self.runs_changed.connect(self._trash_ended)

    def _begin_queue(self) -> None:
        """Give the workspace an empty queue, and follow its runs at places."""
        self._resuming: set[int] = set()  # runs that are being queued again, until their rows are read as queued
        self._discarded: set[int] = set()  # runs that go to the trash as soon as they have ended
        self.queue = RunQueue(self.workspace, self._make_job, self, partial(chosen_devices, self.preferences))
        self.queue.ended.connect(self._queue_ended)
        self.queue.stood_still.connect(self.runs_changed)
        self.queue.unstored.connect(partial(self.notify, concern=EVERYWHERE))
        self.placed = PlacedRuns(self, self.workspace, self)
        self.placed.kept_on.connect(self._discarded.discard)
        self.follower.came_back.connect(self._hear_back)

    def runs(self) -> list[Run]:
        """As `Shown.runs`; one of this window that waits for the user does so here before a full disk can store it."""
        runs, reasons = super().runs(), self.queue.reasons()
        return [_waiting(run, reasons) for run in runs] if reasons else runs

    def run(self, run_id: int | None = None) -> Run | None:
        """As `Shown.run`, and as `runs`."""
        run = super().run(run_id)
        return None if run is None else _waiting(run, self.queue.reasons())

    def start(self, config: "RunConfig", then: Callable[[], None] | None = None) -> None:
        """Make all runs of a config and start them, queued behind the one that trains; the first becomes the shown run.

        They are made on a thread; `then` is called when the first is shown. Where the workspace cannot be written, the
        message bar says so. `start_at` starts them at another place.
        """
        prepare = partial(folds_and_seeds.prepare, config, self.workspace)
        self.change(prepare, partial(self._started, then, "," in config.device))

    def _started(self, then: Callable[[], None] | None, alone: bool, numbers: list[int]) -> None:
        for run_id in numbers:
            self.queue.add(run_id, alone=alone)
        self.show_run(numbers[0])
        if then is not None:
            then()

    def add_runs(
        self, configs: "Sequence[RunConfig]", then: Callable[[list[int]], None], failed: Callable[[Problem], None]
    ) -> None:
        """Make all runs of several configs and queue them; the shown run stays. `then` gets their numbers."""
        workspace = self.workspace

        def work() -> list[tuple[int, bool]]:
            return [
                (run_id, "," in config.device)
                for config in configs
                for run_id in folds_and_seeds.prepare(config, workspace)
            ]

        def queue(made: list[tuple[int, bool]]) -> None:
            for run_id, alone in made:
                self.queue.add(run_id, alone=alone)
            then([run_id for run_id, _ in made])

        self.run_in_thread("Writing", lambda progress: work(), queue, failed, quiet=True)

    def start_at(
        self, config: "RunConfig", place: "Place", then: Callable[[], None] | None = None,
        refused: Callable[[Problem], None] = lambda problem: None,
    ) -> None:  # fmt: skip
        """As `start`, at a place. Data that the place has elsewhere are asked for: `data_asked`.

        `refused` gets what the message bar says, too: of a field whose file, folder or device the place has not.
        """
        from workbench.places import sending  # late: the window is shown first
        from workbench.places.launching import launcher_of
        from workbench.running.unusable import refuse_size_unseen

        workspace, remarks = self.workspace, list[str]()

        def work(progress: Progress) -> list[int]:
            sending.translated(config, place)  # what is not known is asked for before
            progress("Checking the image size", 0, 0)
            with self.loading(progress):
                refuse_size_unseen(config)
            asked = launcher_of(place, heard_by(progress, f"Asking {place.name} for its files and devices"))
            remarks.append(sending.refuse_missing(config, place, asked))
            progress("Making the runs", 0, 0)
            numbers = sending.prepare(workspace, config, place)
            launcher = launcher_of(place, heard_by(progress, f"Sending them to {place.name}"))
            sending.submit(workspace, numbers, place, launcher)
            return numbers

        def sent(numbers: list[int]) -> None:
            self.placed.follow()
            self.show_run(numbers[0])
            if remarks[0]:
                self.notify(remarks[0], EVERYWHERE)
            if then is not None:
                then()

        def failed(problem: Problem) -> None:
            if isinstance(problem, sending.UnknownData):
                self.data_asked.emit(problem.path, place)
            else:
                self.notify(problem, EVERYWHERE)
                refused(problem)

        def cancelled() -> None:
            kept = "Runs that were made are kept, and Resume sends them."
            self.notify(Problem(f"Starting at {place.name} was cancelled.", kept=kept), EVERYWHERE)

        self.run_in_thread(f"Starting at {place.name}", work, sent, failed, cancelled=cancelled, lasting=True)

    def resume_run(self, run_id: int) -> None:
        """Resume a run from its last intact checkpoint, where it trained; reports a run that is still training.

        Nothing happens while it `resumes` already.
        """
        run = self.run(run_id)
        if run is not None and run.placement is not None:
            self.placed.resume(run_id)
            return
        if self.resumes(run_id):
            return
        self._resuming.add(run_id)
        take_over = partial(self.workspace.take_over, run_id)
        self.change(take_over, partial(self._resumed, run_id), partial(self._not_resumed, run_id))
        self.runs_changed.emit()  # every place that offers it says that it is being done

    def resumes(self, run_id: int) -> bool:
        """Whether a run that was read as ended is being queued again here."""
        return run_id in self._resuming

    def _see_resumed(self) -> None:
        """Forget what was read as queued, or is gone; before the pages ask for it."""
        self._resuming -= {run_id for run_id in self._resuming if (run := self.run(run_id)) is None or run.live}

    def _resumed(self, run_id: int, _: None) -> None:
        self._queue_again(run_id)
        self.show_run(run_id)

    def _not_resumed(self, run_id: int, problem: Problem) -> None:
        self._resuming.discard(run_id)
        self.notify(problem, EVERYWHERE)
        self.runs_changed.emit()

    def _queue_again(self, run_id: int) -> None:
        run = self.run(run_id)
        self.queue.add(run_id, resume=True, alone=run is not None and needs_several(run.config))

    def keep_spare(self) -> None:
        """Have a process with torch loaded wait for the next run, or none, as the user chose where runs train."""
        self.spare.want(wants_spare(self.preferences))

    def control(self, run_id: int) -> Control | None:
        """The control (pause, resume, stop) of a run that this window started or that works at a place; else None."""
        return self.queue.control(run_id) or self.placed.control(self.run(run_id))

    def shown_control(self) -> Control | None:
        """The control of the shown run; None when this window did not start it or it has ended."""
        return None if self.run_id is None else self.control(self.run_id)

    def pause_shown(self, pause: bool) -> None:
        """Pause the shown run, or have it go on after a pause; nothing happens without its control."""
        control = self.shown_control()
        if control is not None:
            (control.pause if pause else control.resume)()
            self.runs_changed.emit()  # every place that offers it says what it would do now

    def stop_shown(self) -> None:
        """Ask the shown run to stop after its epoch, a loop of the user's own to stop where it looks for that."""
        run, control = self.run(), self.shown_control()
        if control is not None:
            control.stop()
            self.runs_changed.emit()  # every place that names its state says that it is being ended
        elif run is not None and run.looks_for_stop:
            self.change(partial(self.workspace.ask_to_stop, run.id))

    def end_run(self, run_id: int) -> None:
        """End a run of this window before its next step, keeping its finished epochs; a queued one is removed."""
        self.end_runs([run_id])

    def end_runs(self, run_ids: Iterable[int]) -> None:
        """As `end_run`, several; queued ones first, or they would begin in the place of those that end.

        `runs_withdrawn` has those that were queued: `put_back` queues them again.
        """
        asked = list(run_ids)
        withdrawn = self.withdraw(asked)
        for run_id in asked:
            control = self.placed.control(self.run(run_id))
            if control is not None:
                control.stop_now()
            elif run_id not in withdrawn:
                self.queue.end(run_id)
        self.runs_changed.emit()  # every place that names their state says that they are being ended
        if withdrawn:
            self.runs_withdrawn.emit(withdrawn)

    def withdraw(self, run_ids: Collection[int]) -> list[int]:
        """Take those of the runs that wait from the queue; returns them in the order in which they waited."""
        withdrawn = [run_id for run_id in self.queue.waiting if run_id in run_ids]
        for run_id in withdrawn:
            self.queue.end(run_id)
        self._resuming -= set(withdrawn)
        return withdrawn

    def put_back(self, run_ids: Sequence[int], refused: Callable[[Problem], None]) -> None:
        """Queue runs again, in this order, that were taken from the queue; the shown run stays.

        Those that are in the queue already, or at work here, stay where they are. `refused` gets the Problem of the
        last one that cannot be queued, or was started again meanwhile, once the others are.
        """
        workspace = self.workspace
        away = [run_id for run_id in run_ids if self.queue.control(run_id) is None]

        def work() -> tuple[list[int], list[Problem]]:
            taken, problems = list[int](), list[Problem]()
            for run_id in away:
                try:
                    _refuse_begun(workspace.run(run_id))
                    workspace.take_over(run_id)
                except Problem as problem:
                    problems.append(problem)
                else:
                    taken.append(run_id)
            return taken, problems

        def queue(answer: tuple[list[int], list[Problem]]) -> None:
            taken, problems = answer
            for run_id in taken:
                self._queue_again(run_id)
            for problem in problems[-1:]:
                refused(problem)

        self.change(work, queue, refused)

    def discard_run(self, run_id: int) -> None:
        """End a run of this window and move it to the trash with all that it trained."""
        self._discarded.add(run_id)
        control = self.placed.control(self.run(run_id))
        if control is not None:
            control.cancel()
        else:
            self.queue.end(run_id, keep=False)
            if self.control(run_id) is None:
                self._trash_discarded(run_id)
        self.runs_changed.emit()  # as in `end_run`

    def _show_place(self, run_id: int | None) -> None:
        self.placed.show(None if run_id is None else self.run(run_id))

    def _trash_ended(self) -> None:
        """Put discarded runs of other places into the trash once they have ended there."""
        for run_id in tuple(self._discarded):
            run = self.run(run_id)
            if run is not None and run.placement is not None and not run.live:
                self._trash_discarded(run_id)

    def _trash_discarded(self, run_id: int) -> None:
        if run_id not in self._discarded:
            return
        self._discarded.remove(run_id)
        self.trash_run(run_id)

    def trash_run(self, run_id: int) -> None:
        """Put a run into the trash; a run that works stays where it is, and the message bar says so."""
        names = self._let_go([run_id])
        move, failed = partial(self.workspace.trash, run_id), partial(self._not_trashed, names)
        self.change(move, lambda _: self._trashed(names), failed)

    def trash_runs(self, run_ids: Sequence[int]) -> None:
        """Put runs into the trash in one step; those that work stay where they are, and the message bar says so."""
        names = self._let_go(run_ids)
        move, failed = partial(self.workspace.trash_several, run_ids), partial(self._not_trashed, names)
        self.change(move, partial(self._several_trashed, names), failed)

    def _let_go(self, run_ids: Sequence[int]) -> dict[int, str]:
        """The names of runs that are about to go into the trash."""
        for run_id in run_ids:
            self.ticks.let_go(run_id)
        runs = {run_id: self.run(run_id) for run_id in run_ids}
        return {run_id: f"Run {run_id}" if run is None else run.name for run_id, run in runs.items()}

    def _not_trashed(self, names: dict[int, str], problem: Problem) -> None:
        self.notify(problem, EVERYWHERE)
        if isinstance(problem, Full):
            self.trash_refused.emit(names)

    def _several_trashed(self, names: dict[int, str], moved: list[int]) -> None:
        if moved:
            self._trashed({run_id: names[run_id] for run_id in moved})
        if left := len(names) - len(moved):
            what = "1 was not moved to the trash: it is running, or has been deleted."
            if left > 1:
                what = f"{left:,} were not moved to the trash: they are running, or have been deleted."
            self.notify(f"Of {len(names):,} runs {what}")

    def _trashed(self, names: dict[int, str]) -> None:
        if self.run_id in names:
            self.show_run(None)
        self.runs_trashed.emit(names)

    @property
    def busy(self) -> bool:
        """Whether a run of this window trains or waits in the queue."""
        return self.queue.busy

    def _hear_back(self, away: Problem) -> None:
        """Say which runs of this window still wait, though the workspace that they waited for is there again."""
        if not isinstance(away, Gone):
            return
        if numbers := list(self.queue.reasons()):
            waiting = (
                f"Run {numbers[0]} is still waiting"
                if len(numbers) == 1
                else f"Runs {numbers_in_words(numbers)} are still waiting"
            )
            self.notify(
                f"The workspace is available again. {waiting}: “Go on” on the Train page continues.", EVERYWHERE
            )

    def _queue_ended(self, run_id: int, status: str, problem: str) -> None:
        if status == "failed":
            self.notify(Problem(problem or "The run failed. See the log."), Concern(run=run_id))
        if run_id in self._resuming:  # so soon that it was never read as queued
            self._resuming.remove(run_id)
            self.runs_changed.emit()
        self.run_ended.emit(run_id, status)
        self._trash_discarded(run_id)
        run = self.run(run_id)
        if status == "done" and run is not None and run.experiment_id is not None:
            experiment = run.experiment_id
            work = partial(folds_and_seeds.conclude, self.workspace, experiment)
            no_result = partial(self.notify, NO_RESULT, EVERYWHERE)
            self.run_in_thread(
                "Result of the experiment", work, self._concluded, cancelled=no_result, lasting=True
            )  # fmt: skip

    def _concluded(self, result: dict[str, Any] | None) -> None:
        if result is not None:
            self.runs_changed.emit()


def _waiting(run: Run, reasons: dict[int, str]) -> Run:
    return replace(run, status="waiting", problem=reasons[run.id]) if run.id in reasons and run.live else run


def _refuse_begun(run: Run) -> None:
    """Raise Problem if a run has ended in another way than by leaving the queue."""
    if not (run.live or run.never_began or run.problem == WITHDRAWN):
        raise Problem(f"Run {run.id} was started again meanwhile, and has ended.", kept="It was not changed.")
