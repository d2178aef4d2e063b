"""The worker of a sweep whose runs train at a place: it sends many runs at a time and imports their results.

The process can end at any time; the runs continue there, and the next worker of the sweep imports them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic, sleep

from workbench.config import BadConfig, RunConfig
from workbench.places import sending
from workbench.places.contract import Ending, Launcher, Unreachable
from workbench.places.following import Following
from workbench.places.place import OtherKind, Place
from workbench.problem import Problem
from workbench.sweeps.space import Setting
from workbench.sweeps.trials import config_of
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import Sweep, Trial
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements

LOOK = 1.0  # seconds between two looks at the place
SILENT_LOOK = 5.0  # seconds between two looks at one that does not answer
ASKS_FOR = 600.0  # seconds for which one that does not answer is asked to end runs
AHEAD = 8  # settings of a Bayesian sweep that train at once, by default
MOST_AHEAD = 10_000  # runs of any other sweep at the place
SENT_AT_ONCE = 100  # runs in one request: the first of a thousand begin before the last are stored


class PlaceWorker(Worker):
    """As `Worker`, with runs at a place; `interrupt` leaves them running there.

    Args:
        workspace: where the sweep is; this process's own.
        place: where its runs train.
        launcher: of that place.
        say: receives one line about each start and result.
        workers: runs at the place at once; by default as many as the worker before was asked for, at first all of a
            grid or of random draws, 8 of a Bayesian sweep.
    """

    def __init__(
        self, workspace: Workspace, sweep_id: int, place: Place, launcher: Launcher,
        say: Callable[[str], None] = lambda line: None, workers: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(workspace, sweep_id, say, workers=workers)
        self._place, self._launcher = place, launcher
        self._following = Following(workspace, place, launcher)

    def run(self) -> str:
        """As `Worker.run`; there is no device to wait for."""
        sweep = self._active()
        asked = self._use_as_before(self._place.name)
        sweep_worker.take(self._workspace, self._id, f"place {self._place.name}")
        if asked:
            sweep_worker.remember(self._workspace, self._id, (), self._asked_workers, self._place.name)
        try:
            while True:
                self._work_there(sweep)
                if self._interrupted or sweep_worker.leave(self._workspace, self._id, even_if_active=False):
                    return stored.one(self._workspace, self._id).state
                sweep_worker.take(self._workspace, self._id, f"place {self._place.name}")  # runs may train there yet
        finally:
            sweep_worker.leave(self._workspace, self._id)

    def _unsuited(self, config: RunConfig, proposed: Setting) -> str:
        """The data are at the place: the run says there what does not go with them."""
        return ""

    def _work_there(self, sweep: Sweep) -> None:
        there: dict[int, Trial] = {}  # by run
        silent = ""
        while self._wanted():
            began = monotonic()
            over = self._send(sweep, there)
            if over and not there:
                stored.finish(self._workspace, self._id)
                return
            silent = self._look(silent)
            self._take_results(sweep, there)
            sleep(max(0.0, (SILENT_LOOK if silent else LOOK) - (monotonic() - began)))
        if not self._interrupted:
            self._end_runs(sweep, there)

    def _look(self, before: str) -> str:
        """Import what has arrived; reports when the place stops answering, and when it answers again."""
        looked = self._following.look()
        if looked.silent != before:
            sweep_worker.remark(self._workspace, self._id, looked.silent)
            self._say(looked.silent or f"{self._place.name} answers again.")
        return looked.silent

    def _send(self, sweep: Sweep, there: dict[int, Trial]) -> bool:
        """Send the trials that may train now; returns whether none is left in the queue."""
        ahead = self._asked_workers or (AHEAD if sweep.how == "bayes" else MOST_AHEAD)
        new: list[int] = []
        over = False
        line = [trial for trial in stored.trials(self._workspace, self._id) if trial.state in ("queued", "paused")]
        while len(there) < ahead and len(new) < SENT_AT_ONCE and self._wanted():
            trial = line.pop(0) if line else self._next(sweep)
            if trial is None:
                over = True
                break
            try:
                run_id = self._placed(sweep, trial)
            except BadConfig as problem:
                sweep_worker.end(self._workspace, trial, "failed", problem=str(problem))
                self._say(f"{self._titled(sweep, trial)}: {problem}")
                continue
            except (sending.UnknownData, OtherKind) as problem:
                self._pause(problem)
                break
            there[run_id] = trial
            if not self._at_work(run_id):
                new.append(run_id)
        return self._submit(new, there) and over

    def _placed(self, sweep: Sweep, trial: Trial) -> int:
        """The trial's run, created for this place if it has none. Raises BadConfig, UnknownData, OtherKind."""
        config = config_of(sweep, trial, self._known)
        if trial.run_id is not None:
            with self._workspace.reading() as db:
                placement = placements.required(db, trial.run_id)
            self._place.check_job(trial.run_id, placement.job)
        return sweep_worker.begin(self._workspace, trial, partial(self._prepared, sweep, config))

    def _prepared(self, sweep: Sweep, config: RunConfig) -> int:
        if sweep.experiment_id is not None:
            text = sending.translated(config, self._place).to_toml()
            left = sweep_worker.unlinked_run(self._workspace, sweep.experiment_id, text)
            if left is not None:
                return left
        (run_id,) = sending.prepare(self._workspace, config, self._place, sweep.experiment_id)
        return run_id

    def _submit(self, numbers: Sequence[int], there: dict[int, Trial]) -> bool:
        """Send runs; returns whether they arrived. If the place does not answer they are back in the queue."""
        if not numbers:
            return True
        try:
            sending.submit(self._workspace, numbers, self._place, self._launcher)
        except Unreachable as problem:
            for run_id in numbers:
                sweep_worker.end(self._workspace, there.pop(run_id), "queued")
            sweep_worker.remark(self._workspace, self._id, str(problem))
            self._say(str(problem))
            sleep(SILENT_LOOK)
            return False
        except Problem as problem:
            for run_id in numbers:
                sweep_worker.end(self._workspace, there.pop(run_id), "queued")
            self._pause(problem)
            return False
        self._say(f"{len(numbers):,} {'run is' if len(numbers) == 1 else 'runs are'} at {self._place.name}.")
        return True

    def _pause(self, problem: Problem) -> None:
        """Pause the sweep until the user has changed something."""
        stored.set_state(self._workspace, self._id, "paused", str(problem))
        self._say(str(problem))

    def _take_results(self, sweep: Sweep, there: dict[int, Trial]) -> None:
        """Store the results of trials whose runs have ended and are imported."""
        with self._workspace.reading() as db:
            still = {placement.run_id for placement in placements.at_work(db, self._place.name)}
        for run_id in [run_id for run_id in there if run_id not in still]:
            self._finish(sweep, there.pop(run_id), run_id)

    def _end_runs(self, sweep: Sweep, there: dict[int, Trial]) -> None:
        """End the runs of a paused sweep with a checkpoint, those of a cancelled one at once.

        A place that does not answer is asked again for a while, because what it does not hear of trains on; as long as
        it has not heard, and also if it is given up, the sweep says so.
        """
        ended = stored.one(self._workspace, self._id)
        how = Ending.SAVED if ended.state == "paused" else Ending.AT_ONCE
        unasked, since, silent, said = list(there), monotonic(), "", ""
        while there and not self._interrupted:
            unasked = self._ask_to_end(unasked, how)
            if (words := self._unheard(unasked)) != said:
                said = words
                reason = " ".join(filter(None, (ended.problem, words)))
                sweep_worker.reason_of_end(self._workspace, self._id, reason)
            if unasked and (self._wanted() or monotonic() - since > ASKS_FOR):
                return
            silent = self._look(silent)
            if silent and not unasked:
                return  # what ends there comes home with the next worker
            self._take_results(sweep, there)
            unasked = [run_id for run_id in unasked if run_id in there]
            sleep((SILENT_LOOK if unasked else LOOK) if there else 0.0)

    def _unheard(self, runs: Sequence[int]) -> str:
        """A sentence on runs that may train on; empty if there are none."""
        if not runs:
            return ""
        many = "1 run" if len(runs) == 1 else f"{len(runs):,} runs"
        return (
            f"{many} at {self._place.name} may train on: it did not answer when they were asked to end. Once it does, "
            "stop each that still trains."
        )

    def _ask_to_end(self, runs: Sequence[int], how: Ending) -> list[int]:
        """Ask each of the runs to end; returns those of which the place did not hear. A refusal is reported."""
        for at, run_id in enumerate(runs):
            placement = self._placement(run_id)
            try:
                if placement is not None and placement.job:
                    self._launcher.stop(placement.job, how)
            except Unreachable as problem:
                self._say(f"{len(runs) - at:,} runs at {self._place.name} may train on. {problem}")
                return list(runs[at:])
            except Problem as problem:
                self._say(f"Run {run_id}: {problem}")
        return []

    def _at_work(self, run_id: int) -> bool:
        """Whether an earlier worker has sent the run to the place."""
        placement = self._placement(run_id)
        if placement is None or not placement.job:
            return False
        return placement.open or self._workspace.run(run_id).status == "done"

    def _placement(self, run_id: int) -> Placement | None:
        with self._workspace.reading() as db:
            return placements.of_run(db, run_id)


def place_of(workspace: Workspace, sweep_id: int) -> str:
    """The name of the place to which runs of a sweep were sent; empty if none was."""
    with workspace.reading() as db:
        return placements.of_sweep(db, sweep_id)
