"""Works on one sweep: its trials in order, on a device that no other sweep of this machine has, as is asked."""

from collections.abc import Callable
from functools import partial
from statistics import fmean
from time import monotonic, sleep

from workbench.config import BadConfig, RunConfig
from workbench.control import Control
from workbench.entries import catalog as catalogs
from workbench.events import Event
from workbench.problem import Problem
from workbench.running import folds_and_seeds, launch
from workbench.sweeps import objective, proposals
from workbench.sweeps.device_lock import DeviceLock
from workbench.sweeps.space import Setting, checked, configured, read, short, short_field
from workbench.sweeps.starting import point_of
from workbench.workspace import Workspace, sweep_worker
from workbench.workspace import sweeps as stored
from workbench.workspace.sweeps import Sweep, Trial

POLL = 0.3  # seconds between two looks at what is asked
BEAT = 20.0  # seconds between two signs of life
ALIKE = 3  # runs in a row that fail for one reason
UNRECORDED = "Its end could not be recorded. What was saved before is kept."


class Worker:
    """The process of a sweep. Ask it to end with `interrupt`; the run at work keeps a checkpoint.

    Args:
        workspace: where the sweep is; this process's own.
        say: receives one line about each start and result.
        listen: hears the events of every run.
    """

    def __init__(
        self,
        workspace: Workspace,
        sweep_id: int,
        say: Callable[[str], None] = lambda line: None,
        listen: Callable[[Event], None] | None = None,
    ) -> None:
        self._workspace, self._id, self._say, self._listen = workspace, sweep_id, say, listen
        self._known = catalogs.current()
        self._interrupted = False
        self._failures: list[str] = []
        self._made: set[int] = set()  # runs of this worker that have not begun
        self._beat = monotonic()

    def interrupt(self) -> None:
        """End soon and keep everything; safe in a signal's handler."""
        self._interrupted = True

    def run(self) -> str:
        """Work until nothing is left or something else is asked; returns the sweep's state, "active" if interrupted.

        Raises:
            Problem: the sweep is finished, paused or has a worker; the device is not there; the disk is full.
        """
        sweep = stored.one(self._workspace, self._id)
        if sweep.state != "active":
            raise Problem(f"Sweep {self._id} is {sweep.state}.", todo=f"`workbench sweep resume {self._id}` goes on.")
        device = launch.device_of(RunConfig.from_toml_text(sweep.config, known=self._known))
        sweep_worker.take(self._workspace, self._id, device)
        lock = DeviceLock(device)
        try:
            while True:
                self._work(sweep, device, lock)
                lock.free()
                if self._interrupted or sweep_worker.leave(self._workspace, self._id, even_if_active=False):
                    return stored.one(self._workspace, self._id).state
        finally:
            lock.free()
            sweep_worker.leave(self._workspace, self._id)

    def _work(self, sweep: Sweep, device: str, lock: DeviceLock) -> None:
        if not self._wait_for(device, lock):
            return
        while self._wanted():
            trial = self._next(sweep)
            if trial is None:
                stored.set_state(self._workspace, self._id, "done")
                return
            self._do(sweep, trial)

    def _wait_for(self, device: str, lock: DeviceLock) -> bool:
        said = ""
        while self._wanted():
            taken, remark = self._take(device, lock)
            if remark != said:
                said = remark
                sweep_worker.remark(self._workspace, self._id, remark)
                self._say(remark or f"The {device} is free now.")
            if taken:
                return True
            sleep(POLL)
        return False

    def _take(self, device: str, lock: DeviceLock) -> tuple[bool, str]:
        """Whether this sweep has the device now, in its workspace and on this machine; and what is to be said of it."""
        if not sweep_worker.is_next(self._workspace, self._id, device):
            return False, f"Waiting: another sweep has the {device}."
        remark = ""
        try:
            if not lock.take():
                return False, f"Waiting: a sweep of another workspace has the {device}."
        except OSError as error:
            remark = (
                f"Sweeps of other workspaces may use the {device} at the same time: "
                f"{lock.path} cannot be locked ({error.strerror or error})."
            )
        if not sweep_worker.take_device(self._workspace, self._id, device):
            lock.free()
            return False, f"Waiting: another sweep has the {device}."
        return True, remark

    def _wanted(self) -> bool:
        """Whether to go on; also the place of the sign of life."""
        if monotonic() - self._beat > BEAT:
            self._beat = monotonic()
            sweep_worker.beat(self._workspace, self._id)
        return not self._interrupted and stored.one(self._workspace, self._id).state == "active"

    def _next(self, sweep: Sweep) -> Trial | None:
        trials = stored.trials(self._workspace, self._id)
        if (first := _first(trials)) is not None:
            return first
        if len({trial.point for trial in trials}) >= sweep.points:
            return None
        config = RunConfig.from_toml_text(sweep.config, known=self._known)
        parameters = checked([read(parameter) for parameter in sweep.parameters], config, self._known)
        least = objective.least_is_best(sweep.metric)
        proposed = proposals.next_proposal(parameters, found(trials), config.seed, sweep.points, least=least)
        stored.add_point(self._workspace, self._id, point_of(config, proposed))
        return _first(stored.trials(self._workspace, self._id))

    def _do(self, sweep: Sweep, trial: Trial) -> None:
        """One trial from its config to its objective; a run that was cut short goes on from its checkpoint."""
        try:
            config = config_of(sweep, trial, self._known)
        except BadConfig as problem:
            sweep_worker.end(self._workspace, trial, "failed", problem=str(problem))
            self._say(f"{_title(trial)}: {problem}")
            return
        run_id = sweep_worker.begin(self._workspace, trial, partial(self._make_run, sweep, config))
        self._say(f"{_title(trial)}: run {run_id}")
        run = self._workspace.run(run_id)
        if run.status != "done":  # else its worker was killed between the end of the run and that of the trial
            self._train(run_id)
            run = self._workspace.run(run_id)
        match run.status:
            case "done":
                self._failures = []
                value = objective.measured(self._workspace, run_id, sweep.metric)
                why = f"The run has no {sweep.metric}." if value is None else ""
                sweep_worker.end(self._workspace, trial, "failed" if why else "done", value, why)
                self._say(f"{_title(trial)}: {why or f'{sweep.metric} {value:.4f}'}")
            case "stopped":
                sweep_worker.end(self._workspace, trial, "paused")
            case status:
                why = run.problem or (UNRECORDED if status == "running" else f"The run was {status}.")
                sweep_worker.end(self._workspace, trial, "failed", problem=why)
                self._say(f"{_title(trial)} failed. {why}")
                self._pause_if_alike(why)

    def _pause_if_alike(self, problem: str) -> None:
        """Missing data or a full disk would fail every run of a long line: let the person look first."""
        self._failures = [*self._failures, problem][-ALIKE:]
        if self._failures == [problem] * ALIKE:
            self._failures = []
            remark = f"{ALIKE} runs in a row failed alike, so it was paused. {problem}"
            stored.set_state(self._workspace, self._id, "paused", remark)
            self._say(remark)

    def _make_run(self, sweep: Sweep, config: RunConfig) -> int:
        if sweep.experiment_id is not None:
            left = sweep_worker.unlinked_run(self._workspace, sweep.experiment_id, config.to_toml())
            if left is not None:
                return left
        run_id = self._workspace.create_run(config, sweep.experiment_id)
        self._made.add(run_id)
        return run_id

    def _train(self, run_id: int) -> None:
        workspace, control = self._workspace, Control()
        goes_on = run_id not in self._made
        self._made.discard(run_id)
        if goes_on:
            workspace.take_over(run_id)
        job = launch.make_job(workspace, run_id, control, self._listen, resume=goes_on)
        job.start()
        try:
            while not job.join(POLL):
                if not control.interrupted and not self._wanted():
                    control.interrupt()
        finally:  # the workspace may be gone: the thread must not go on alone
            control.interrupt()
            job.join()


def config_of(sweep: Sweep, trial: Trial, known: catalogs.Catalog) -> RunConfig:
    """What the trial's run is asked to do. Raises BadConfig when the setting's fields do not go together."""
    config = configured(RunConfig.from_toml_text(sweep.config, known=known), trial.setting, known)
    for child in folds_and_seeds.children(config):
        if (child.seed, child.fold) == (trial.seed, trial.fold):
            return child.config
    raise BadConfig(_title(trial), {"split": "The setting changes the folds: leave them out of the sweep."})


def found(trials: list[Trial]) -> list[tuple[Setting, float | None]]:
    """Each setting in the order in which it was proposed, with the mean of its objectives; None where it has none."""
    by_point: dict[int, tuple[Setting, list[float]]] = {}
    for trial in sorted(trials, key=lambda child: child.point):
        values = by_point.setdefault(trial.point, (trial.setting, []))[1]
        if trial.objective is not None:
            values.append(trial.objective)
    return [(setting, fmean(values) if values else None) for setting, values in by_point.values()]


def _first(trials: list[Trial]) -> Trial | None:
    return next((trial for trial in trials if trial.state in ("queued", "paused")), None)


def _title(trial: Trial) -> str:
    setting = ", ".join(f"{short_field(field)}={short(value)}" for field, value in trial.setting.items())
    fold = f", fold {trial.fold}" if trial.fold else ""
    return f"Setting {trial.point} ({setting}), seed {trial.seed}{fold}"
