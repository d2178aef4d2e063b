"""Runs of one config at once: one on each device, each in a separate process."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import sleep

from workbench.commands.terminal import best_in_words
from workbench.commands.training.run_job import ending_signals
from workbench.control import Control
from workbench.jobs import Job, cores
from workbench.running.facts.in_words import stored_in_words
from workbench.running.processes import own_process
from workbench.sweeps.device_lock import DeviceLock
from workbench.workspace import Workspace

POLL = 0.2  # seconds between two looks


@dataclass(frozen=True, slots=True)
class AtWork:
    """A run that trains now."""

    run_id: int
    job: Job
    control: Control


class Lanes:
    """Gives the first queued run to each device that is free, until none is left or one has failed.

    A device is locked while it trains, against sweeps and windows of this machine; where another has it, its runs wait.

    Args:
        workspace: that of the runs.
        devices: by name, "cuda:0"; "cpu" may come several times.
        say: receives one line about each start and end, with its scores, and each remark of the runs once.
    """

    def __init__(self, workspace: Workspace, devices: Sequence[str], say: Callable[[str], None]) -> None:
        self._workspace, self._devices, self._say = workspace, devices, say
        self._locks = {device: DeviceLock(device) for device in devices}
        self._at_work: dict[int, AtWork] = {}  # by the place of the device
        self._problems: list[str] = []
        self._known, self._remarked = set[int](), set[str]()  # runs whose facts are known; what was said of them
        self.interrupted = False

    def train(self, numbers: Sequence[int], *, resume: bool) -> list[str]:
        """Train or resume prepared runs; returns a sentence for each that failed.

        Ctrl+C and SIGTERM end those at work with a checkpoint, a second one without a new one.
        """
        line = list(numbers)
        ending = (signal.SIGINT, *ending_signals())
        before = {number: signal.signal(number, lambda *_: self._interrupt()) for number in ending}
        try:
            while self._at_work or (line and not self.interrupted and not self._problems):
                for lane, device in enumerate(self._devices):
                    stopping = self.interrupted or self._problems
                    if line and not stopping and lane not in self._at_work and self._locks[device].take():
                        self._at_work[lane] = self._start(line.pop(0), device, resume)
                self._finish_ended()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for work in self._at_work.values():  # the workspace may be gone: no thread must go on alone
                work.control.interrupt()
                work.job.join()
            for lock in self._locks.values():
                lock.free()
        return self._problems

    def _start(self, run_id: int, device: str, resume: bool) -> AtWork:
        if resume:
            self._workspace.take_over(run_id)
        control, threads = Control(), 0
        if device == "cpu" and "OMP_NUM_THREADS" not in os.environ:
            threads = max(1, cores() // len(self._devices))
        job = own_process.make_job(
            self._workspace, run_id, control, resume=resume, device=device, threads=threads
        ).start()
        self._say(f"Run {run_id} trains on {device}.")
        return AtWork(run_id, job, control)

    def _finish_ended(self) -> None:
        """Wait a moment for runs that end, and report their ends."""
        if not self._at_work:
            sleep(POLL)  # another program has the devices
        for lane, work in list(self._at_work.items()):
            ended = work.job.join(POLL / len(self._at_work))
            self._remark(work.run_id, ended)
            if not ended:
                continue
            del self._at_work[lane]
            run = self._workspace.run(work.run_id)
            self._say(f"Run {run.id} {run.status}. {best_in_words(run)}".rstrip())
            if run.status not in ("done", "stopped"):
                self._problems.append(f"Run {run.id}: {run.problem or run.status}")
            device = self._devices[lane]
            if all(self._devices[other] != device for other in self._at_work):
                self._locks[device].free()

    def _remark(self, run_id: int, ended: bool) -> None:
        """What a run remarks on its data and its network, once that is known; and what it noted until its end."""
        if run_id in self._known and not ended:
            return
        run = self._workspace.run(run_id)
        if run.environment or ended:
            self._known.add(run_id)
            for sentence in stored_in_words(run):
                if sentence not in self._remarked:
                    self._remarked.add(sentence)
                    self._say(sentence)

    def _interrupt(self) -> None:
        for work in self._at_work.values():
            if self.interrupted:
                work.control.cancel()
            work.control.interrupt()
        self.interrupted = True
