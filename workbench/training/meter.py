"""Numbers of the running loop: read from the device every few steps, checked for errors, emitted as events."""

import math
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from workbench.control import Control
from workbench.events import Emit, Progress, Scalar
from workbench.machine_load import MachineLoad
from workbench.numerals import significant
from workbench.problem import Problem
from workbench.training.device import memory_in_use, name_of_gpu, peak_memory, wait_for

if TYPE_CHECKING:
    from workbench.training.trainer import Parts

READ_EVERY = 10  # steps
READ_EARLY = (2, 5)  # steps that are read and timed, too: of slow steps ten take minutes
READ_AFTER = 1.0  # seconds after which the losses are read at the next step, however slow the steps are
FIRST = 20  # steps whose median is the scale of an ordinary loss
FEED_WAIT = "batch/feed_wait"  # seconds per step in which the network had no batch
GRADIENT_NORM = "batch/gradient_norm"
SYSTEM = "system/"  # prefix of the costs of a run: seconds of the parts of a step, bytes of memory
LOAD_EVERY = 1.0  # seconds between two measurements of the machine's load
Batch = tuple[Tensor, Tensor]
EXPLODED = 1000.0  # times that scale


def is_told(step: int) -> bool:
    """Whether what a step cost is told: the same steps whether or not a run was paused or interrupted."""
    return step % READ_EVERY == 0 or step in READ_EARLY


class Meter:
    """Collects the loss of every step; reads, checks and emits them together.

    A loss that is not finite, or EXPLODED times the median of the first steps, pauses an attended run with the
    reason in `control.reason`; an unattended run ends with the Problem. Each kind of trouble is reported once.
    """

    def __init__(self, parts: "Parts", control: Control, emit: Emit, total: int) -> None:
        self._parts, self._control, self._emit, self._total = parts, control, emit, total
        self._unread: list[Tensor] = []
        self._named: set[str] = set()
        self._speed = 0.0
        self._seconds_per_step = 0.0
        self._images, self._steps = 0, 0
        self._waited, self._waits = 0.0, 0  # seconds for this many batches, since they were last emitted
        self._laps: dict[str, float] = {}  # seconds of each part of the step that was timed last
        self._lap: float | None = None  # when its last part ended; None if the step is not timed
        self._gradient: Tensor | None = None  # its norm in the step that was timed last
        self._probed = 0.0  # seconds since they were last emitted
        self._peak = 0  # bytes that were emitted last
        self._told_at = parts.step  # the step whose costs and learning rate were emitted last
        self._begun = self._loaded = self._read_at = perf_counter()  # training began; load and losses were read last
        self._load: MachineLoad | None = None  # from the first measurement on
        self.restart_clock()

    def restart_clock(self) -> None:
        """Restart the measurement of speed, after a pause or an evaluation."""
        self._images, self._steps, self._since = 0, 0, perf_counter()

    def waiting(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, while the time of waiting for each is measured."""
        source = iter(batches)
        while True:
            since = perf_counter()
            batch = next(source, None)
            if batch is None:
                return
            self._waited += perf_counter() - since
            self._waits += 1
            self._lap = None
            if is_told(self._parts.step + 1):  # these steps wait for the GPU anyway
                wait_for(self._parts.device)
                self._lap = perf_counter()
            yield batch

    def lap(self, part: str) -> None:
        """A part of the step has ended: "forward", "loss", "backward" or "optimiser". Steps of `is_told` are timed."""
        if self._lap is not None:
            wait_for(self._parts.device)
            now = perf_counter()
            self._laps[part], self._lap = now - self._lap, now

    def measure_gradient(self) -> None:
        """Take the norm of the gradient of all weights, in a step that is timed; the time of taking it is not counted.

        A frozen weight has no gradient.
        """
        if self._lap is None:
            return
        self._gradient = nn.utils.get_total_norm([w.grad for w in self._parts.weights if w.grad is not None])
        wait_for(self._parts.device)
        self._lap = perf_counter()

    def probing(self, measure: Callable[[int], None]) -> None:
        """Call the measurements beside training with the number of steps done, and count their time."""
        since = perf_counter()
        measure(self._parts.step)
        self._probed += perf_counter() - since

    def add(self, value: Tensor, images: int) -> None:
        """Adds a step: its loss, a scalar that stays on its device until it is read, and its number of images."""
        self._unread.append(value)
        self._images += images
        self._steps += 1
        if is_told(self._parts.step):
            self.read()
            self._tell_rate()
        elif perf_counter() - self._read_at > READ_AFTER:
            self.read()

    def end_epoch(self) -> None:
        """Emit what was not emitted yet, and the learning rate."""
        self.read()
        if self._told_at != self._parts.step:
            self._tell_rate()

    def evaluated(self) -> None:
        """Restart the clock after what follows an epoch, and emit the peak memory if that took more than the steps."""
        self.restart_clock()
        if peak_memory(self._parts.device) > self._peak:
            self._emit(self._progress())

    def _tell_rate(self) -> None:
        self._told_at = self._parts.step
        self._emit(Scalar("batch/lr", self._parts.step, self._parts.optimiser.param_groups[0]["lr"]))
        if self._waits:
            self._emit(Scalar(FEED_WAIT, self._parts.step, self._waited / self._waits))
            self._emit(Scalar(f"{SYSTEM}probe", self._parts.step, self._probed / self._waits))
            self._emit(Scalar(f"{SYSTEM}memory", self._parts.step, float(memory_in_use(self._parts.device))))
        if self._gradient is not None:
            norm, self._gradient = float(self._gradient), None
            if math.isfinite(norm) or not self._parts.scaler.is_enabled():  # float16 skips a step that is not
                self._emit(Scalar(GRADIENT_NORM, self._parts.step, norm))
        self._tell_load()
        for part, seconds in self._laps.items():
            self._emit(Scalar(f"{SYSTEM}{part}", self._parts.step, seconds))
        self._waited, self._waits, self._probed = 0.0, 0, 0.0
        self._laps.clear()

    def _tell_load(self) -> None:
        """Emit the time since training began, and once a second the load of the machine."""
        now, step = perf_counter(), self._parts.step
        self._emit(Scalar(f"{SYSTEM}seconds", step, now - self._begun))
        if self._load is None:
            self._load = MachineLoad(name_of_gpu(self._parts.device))
            values = self._load.limits()
        elif now - self._loaded < LOAD_EVERY:
            return
        else:
            values = self._load.measure()
        self._loaded = now
        for name, value in values.items():
            self._emit(Scalar(f"{SYSTEM}{name}", step, value))

    def read(self) -> None:
        """Take the numbers from the device and emit them."""
        if not self._unread:
            return
        values = torch.stack(self._unread).float().tolist()  # the only place that waits for a GPU
        step, self._read_at = self._parts.step, perf_counter()
        first = step - len(values) + 1
        self._unread.clear()
        for at, value in enumerate(values, start=first):
            self._emit(Scalar("batch/loss", at, value))
        self._emit(self._progress())
        for at, value in enumerate(values, start=first):
            self._watch(at, value)

    def _progress(self) -> Progress:
        seconds = perf_counter() - self._since
        if self._steps and seconds > 0:
            self._speed = self._images / seconds
            self._seconds_per_step = seconds / self._steps
        if seconds > 2:  # seconds; the speed shown is that of the last moments
            self.restart_clock()
        left = (self._total - self._parts.step) * self._seconds_per_step
        self._peak = peak_memory(self._parts.device)
        return Progress(self._parts.step, self._total, self._speed, self._peak, left)

    def _watch(self, step: int, value: float) -> None:
        if not math.isfinite(value):
            self._trouble("not finite", f"The loss is {value} at step {step}.")
        elif len(first := self._parts.first_losses) < FIRST:
            first.append(abs(value))
        elif abs(value) > EXPLODED * max(1e-3, median(first)):
            self._trouble("exploded", f"The loss exploded to {significant(value, 4)} at step {step}.")

    def _trouble(self, kind: str, what: str) -> None:
        if kind in self._named:
            return
        self._named.add(kind)
        problem = Problem(
            what,
            kept="The last good checkpoint is kept.",
            todo="A smaller learning rate, a warm-up or gradient clipping usually helps.",
        )
        if not self._control.attended:
            raise problem
        self._control.reason = str(problem)
        self._control.pause()
