"""The worker of a sweep: trains its trials in order, on devices that no other sweep of this machine has."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep

from workbench.config import BadConfig, RunConfig
from workbench.control import Cancelled, Control
from workbench.entries import catalog as catalogs
from workbench.jobs import Job, cores
from workbench.problem import Problem
from workbench.running import launch, unusable
from workbench.running.facts.in_words import stored_in_words
from workbench.running.listed import Listed
from workbench.running.processes import own_process
from workbench.sweeps import early_stop, objective, proposals
from workbench.sweeps.device_lock import DeviceLock
from workbench.sweeps.progress import to_propose
from workbench.sweeps.space import Setting, checked, configured, read
from workbench.sweeps.starting import OF_BATCHES, OF_SIZES, point_of
from workbench.sweeps.trials import config_of, first_waiting, pending, refusal, results_so_far, titled
from workbench.workspace import Workspace
from workbench.workspace.experiments import early_stops, sweep_worker
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import Sweep, Trial
from workbench.workspace.folders.deleted_checkpoints import CannotGoOn

POLL = 0.3  # seconds between two checks of the sweep's state
BEAT = 20.0  # seconds between two heartbeats
ALIKE = 3  # runs in a row that fail for the same reason
MOST_REFUSED = 100  # proposals in a row that cannot be trained
OTHER_DEVICES = "`workbench sweep resume` with --devices uses others."
UNRECORDED = "Its end could not be recorded. What was saved before is kept."


@dataclass(frozen=True, slots=True)
class AtWork:
    """A trial whose run trains now."""

    trial: Trial
    run_id: int
    job: Job
    control: Control


class Worker:
    """The process of a sweep. `interrupt` asks it to end; the current run keeps a checkpoint.

    Args:
        workspace: where the sweep is; this process's own.
        say: receives one line about each start and result, and each remark of the runs once.
        devices: by name; by default those that the worker before it was asked to use, at first the config's.
        workers: trials at once, spread over the devices; each in a separate process where there are several. By
            default as many as before on the same devices, at first one on each device.
        listed: may have the data set of the trials.
    """

    def __init__(
        self,
        workspace: Workspace,
        sweep_id: int,
        say: Callable[[str], None] = lambda line: None,
        devices: Sequence[str] = (),
        workers: int = 0,
        listed: Listed | None = None,
    ) -> None:
        self._devices, self._asked_workers = tuple(devices), workers
        self._workers = 1  # until it is known which devices it uses
        self._workspace, self._id, self._say = workspace, sweep_id, say
        self._known = catalogs.current()
        self._interrupted = False
        self._failures: list[str] = []
        self._remarked = set[str]()  # what was said of the data and networks of the runs
        self._listed = listed or Listed()  # one for all trials that train in this process
        self._made: set[int] = set()  # runs of this worker that have not begun
        self._beat = monotonic()

    def interrupt(self) -> None:
        """End soon and keep everything; safe in a signal's handler."""
        self._interrupted = True

    def run(self) -> str:
        """Train until nothing is left or the sweep is paused; returns the sweep's state, "active" if interrupted.

        Raises:
            Problem: the sweep is finished, paused or has a worker; the device does not exist; the disk is full.
        """
        sweep = self._active()
        asked = self._use_as_before()
        self._workers = self._asked_workers or max(1, len(self._devices))
        devices = self._there(sweep, asked)
        sweep_worker.take(self._workspace, self._id, ",".join(devices))
        if asked:
            sweep_worker.remember(self._workspace, self._id, self._devices, self._asked_workers)
        locks = [DeviceLock(device) for device in devices]
        try:
            while True:
                self._work(sweep, devices, locks)
                _free(locks)
                if self._interrupted or sweep_worker.leave(self._workspace, self._id, even_if_active=False):
                    return stored.one(self._workspace, self._id).state
        finally:
            _free(locks)
            sweep_worker.leave(self._workspace, self._id)

    def _active(self) -> Sweep:
        """The sweep. Raises Problem if it is finished or paused."""
        sweep = stored.one(self._workspace, self._id)
        if sweep.state != "active":
            todo = f"`workbench sweep resume {self._id}` continues it."
            if sweep.state != "paused":
                todo = f"`workbench sweep retry {self._id}` brings failed and cancelled runs back."
            raise Problem(f"Sweep {self._id} is {sweep.state}.", todo=todo)
        return sweep

    def _use_as_before(self, place: str = "") -> bool:
        """Use what it was asked to, and what was not said as before; returns whether something was asked."""
        devices, workers = sweep_worker.remembered(self._workspace, self._id, place)
        asked = bool(self._devices or self._asked_workers)
        self._asked_workers = self._asked_workers or (0 if self._devices else workers)
        self._devices = self._devices or devices
        return asked

    def _there(self, sweep: Sweep, asked: bool) -> list[str]:
        """The devices to use. Raises Problem for one that this machine lacks; the sweep says so if nobody asked now."""
        names = self._devices or RunConfig.from_toml_text(sweep.config, known=self._known).device.split(",")
        try:
            return list(dict.fromkeys(launch.device_named(name) for name in names))
        except Problem as missing:
            if not (asked or sweep.alive):  # a worker in the background has only its log
                stored.set_state(self._workspace, self._id, "paused", f"{missing} {OTHER_DEVICES}")
            raise

    def _work(self, sweep: Sweep, devices: list[str], locks: list[DeviceLock]) -> None:
        if not self._wait_for(devices, locks):
            return
        at_work: dict[int, AtWork] = {}  # by the number of the worker, from 0
        early = early_stop.EarlyStop(self._workspace, sweep) if sweep.stop_early else None
        try:
            while self._wanted():
                over = self._fill(sweep, devices, at_work)
                if over and not at_work:
                    stored.finish(self._workspace, self._id)
                    return
                self._finish_ended(sweep, at_work)
                if early is not None:
                    early.look({entry.trial.id: entry.control for entry in at_work.values()})
            for entry in at_work.values():
                entry.control.interrupt()
            while at_work:
                self._finish_ended(sweep, at_work)
        finally:  # the workspace may be gone: no thread must go on alone
            for entry in at_work.values():
                entry.control.interrupt()
                entry.job.join()

    def _fill(self, sweep: Sweep, devices: list[str], at_work: dict[int, AtWork]) -> bool:
        """Give each free worker a trial; returns whether there was none for one of them."""
        for number in range(self._workers):
            while number not in at_work:
                if not self._wanted():
                    return False
                trial = self._next(sweep)
                if trial is None:
                    return self._wanted()  # else there may be more
                started = self._start(sweep, trial, devices[number % len(devices)])
                if started is not None:
                    at_work[number] = started
        return False

    def _finish_ended(self, sweep: Sweep, at_work: dict[int, AtWork]) -> None:
        """Wait a moment for runs that end, and store their results."""
        for number, entry in list(at_work.items()):
            if entry.job.join(POLL / len(at_work)):
                del at_work[number]
                self._finish(sweep, entry.trial, entry.run_id)

    def _wait_for(self, devices: list[str], locks: list[DeviceLock]) -> bool:
        said, names = "", " and ".join(devices)
        while self._wanted():
            taken, remark = self._take(devices, locks)
            if remark != said:
                said = remark
                sweep_worker.remark(self._workspace, self._id, remark)
                self._say(remark or f"The {names} {'is' if len(devices) == 1 else 'are'} free now.")
            if taken:
                return True
            sleep(POLL)
        return False

    def _take(self, devices: list[str], locks: list[DeviceLock]) -> tuple[bool, str]:
        """Whether this sweep has the devices now, in its workspace and on this machine; and a remark on it."""
        names, all_of_them = " and ".join(devices), ",".join(devices)
        if not sweep_worker.is_next(self._workspace, self._id, all_of_them):
            return False, f"Waiting: another sweep has the {names}."
        remark = ""
        for device, lock in zip(devices, locks, strict=True):
            try:
                if not lock.take():
                    _free(locks)
                    return False, f"Waiting: a sweep of another workspace has the {device}."
            except OSError as error:
                remark = (
                    f"Sweeps of other workspaces may use the {device} at the same time: "
                    f"{lock.path} cannot be locked ({error.strerror or error})."
                )
        if not sweep_worker.take_device(self._workspace, self._id, all_of_them):
            _free(locks)
            return False, f"Waiting: another sweep has the {names}."
        return True, remark

    def _wanted(self) -> bool:
        """Whether to continue; also renews the heartbeat."""
        if monotonic() - self._beat > BEAT:
            self._beat = monotonic()
            sweep_worker.beat(self._workspace, self._id)
        return not self._interrupted and stored.one(self._workspace, self._id).state == "active"

    def _next(self, sweep: Sweep) -> Trial | None:
        trials = stored.trials(self._workspace, self._id)
        if (first := first_waiting(trials)) is not None:
            return first
        if not to_propose(sweep, trials):
            return None
        config = RunConfig.from_toml_text(sweep.config, known=self._known)
        parameters = checked([read(parameter) for parameter in sweep.parameters], config, self._known)
        least, reason, there = objective.least_is_best(sweep.metric), "", proposals.combinations(parameters)
        for _ in range(MOST_REFUSED):
            tried = results_so_far(trials)
            if len(tried) == there:  # TPE need not look for another
                return None
            proposed = proposals.next_proposal(
                parameters, tried, config.seed, sweep.points, least=least, pending=pending(trials)
            )
            if any(proposed == setting for setting, _ in tried):  # there is no other
                return None
            point = point_of(config, proposed)
            try:
                reason = refusal(config, proposed, self._known) or self._unsuited(config, proposed)
            except Cancelled:
                return None
            if not reason:
                stored.add_point(self._workspace, self._id, point)
                return first_waiting(stored.trials(self._workspace, self._id))
            stored.add_refused(self._workspace, self._id, point, reason)
            trials = stored.trials(self._workspace, self._id)
            self._say(f"{titled(trials[-1], config, self._known)}: refused, and not counted. {reason}")
            if stored.one(self._workspace, self._id).state != "active":  # it was paused or cancelled meanwhile
                return None
        remark = f"{MOST_REFUSED} proposed settings in a row cannot be trained, so it was paused. The last: {reason}"
        stored.set_state(self._workspace, self._id, "paused", remark)
        self._say(remark)
        return None

    def _unsuited(self, config: RunConfig, proposed: Setting) -> str:
        """Why the data do not go with a setting that changes what a batch or the image size depends on; else empty."""
        if not any(field.startswith((*OF_BATCHES, *OF_SIZES)) for field in proposed):
            return ""  # it was looked at before the sweep began
        return unusable.unsuited(configured(config, proposed, self._known), self._unless_ended, self._listed)

    def _unless_ended(self, text: str, done: int, total: int) -> None:
        """A Progress that ends the work once the worker is to end."""
        if not self._wanted():
            raise Cancelled

    def _titled(self, sweep: Sweep, trial: Trial) -> str:
        """The trial as a line about it begins."""
        return titled(trial, RunConfig.recorded(sweep.config), self._known)

    def _start(self, sweep: Sweep, trial: Trial, device: str) -> AtWork | None:
        """Begin a trial, or resume an interrupted one; None if it ended at once."""
        try:
            config = config_of(sweep, trial, self._known)
        except BadConfig as problem:
            sweep_worker.end(self._workspace, trial, "failed", problem=str(problem))
            self._say(f"{self._titled(sweep, trial)}: {problem}")
            return None
        run_id = sweep_worker.begin(self._workspace, trial, partial(self._make_run, sweep, config))
        self._say(f"{self._titled(sweep, trial)}: run {run_id}")
        status = self._workspace.run(run_id).status
        stopped = early_stops.reason(self._workspace, trial.id)
        if stopped and status not in ("done", "stopped"):  # its worker was killed before the run had ended
            with suppress(CannotGoOn):  # it is not to go on
                self._workspace.take_over(run_id)
            self._workspace.set_status(run_id, "stopped")
        if stopped or status == "done":  # its worker was killed between both ends
            self._finish(sweep, trial, run_id)
            return None
        control = Control()
        died = trial.run_id is not None and status in ("running", "interrupted")
        apart = died or _may_not_fit(config, device)
        try:
            return AtWork(trial, run_id, self._train(run_id, control, device, apart=apart), control)
        except CannotGoOn as problem:
            sweep_worker.end(self._workspace, trial, "failed", problem=str(problem))
            self._say(f"{self._titled(sweep, trial)} failed. {problem}")
            return None

    def _finish(self, sweep: Sweep, trial: Trial, run_id: int) -> None:
        """Store the result of a trial whose run has ended."""
        run = self._workspace.run(run_id)
        for sentence in stored_in_words(run):
            if sentence not in self._remarked:
                self._remarked.add(sentence)
                self._say(sentence)
        reason = early_stops.reason(self._workspace, trial.id)
        match "done" if reason and run.status == "stopped" else run.status:
            case "done":
                self._failures = []
                value = objective.measured(self._workspace, run_id, sweep.metric)
                why = objective.reason_without(self._workspace, run_id, sweep.metric) if value is None else ""
                early = early_stop.sentence(self._workspace, run_id, reason) if reason else ""
                if early:
                    early_stops.note(self._workspace, run_id, early)
                sweep_worker.end(self._workspace, trial, "failed" if why else "done", value, why or early)
                said = why if value is None else f"{sweep.metric} {objective.written(sweep.metric, value)}"
                self._say(f"{self._titled(sweep, trial)}: {f'{said}. {early}' if early and not why else said}")
            case "stopped":
                sweep_worker.end(self._workspace, trial, "paused")
            case status:
                why = run.problem or (UNRECORDED if status == "running" else f"The run was {status}.")
                sweep_worker.end(self._workspace, trial, "failed", problem=why)
                self._say(f"{self._titled(sweep, trial)} failed. {why}")
                self._pause_if_alike(why)

    def _pause_if_alike(self, problem: str) -> None:
        """Pause after equal failures: missing data or a full disk would fail every run of a long queue."""
        self._failures = [*self._failures, problem][-ALIKE:]
        if self._failures == [problem] * ALIKE:
            self._failures = []
            remark = f"{ALIKE} runs in a row failed in the same way, so it was paused. {problem}"
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

    def _train(self, run_id: int, control: Control, device: str, *, apart: bool) -> Job:
        """Start the run's job; it resumes the run if an earlier worker began it.

        One whose process died, or that may not fit into the memory, is trained `apart`: then only the run fails.
        """
        workspace, goes_on = self._workspace, run_id not in self._made
        self._made.discard(run_id)
        if goes_on:
            workspace.take_over(run_id)
        if self._workers > 1 or apart:
            threads = 0 if "OMP_NUM_THREADS" in os.environ else max(1, cores() // self._workers)
            return own_process.make_job(
                workspace, run_id, control, resume=goes_on, device=device, threads=threads if device == "cpu" else 0
            ).start()
        job = launch.make_job(
            workspace, run_id, control, resume=goes_on, device=device if self._devices else "", listed=self._listed
        )
        return job.start()


def _may_not_fit(config: RunConfig, device: str) -> bool:
    """Whether the system may end the process of the config's run for want of memory."""
    from workbench.running.facts.memory_needed import may_not_fit

    return may_not_fit(config, device)


def _free(locks: list[DeviceLock]) -> None:
    for lock in locks:
        lock.free()
