"""What a training loop of the user's own calls to record its run: curves, evaluations, charts, notes, the end."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from os import getpid
from threading import RLock
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, get_args

import numpy as np
import psutil

from workbench import jobs
from workbench.charts import Chart
from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.events import (
    Charted,
    Ended,
    Evaluated,
    Event,
    Keep,
    Noted,
    Progress,
    Resumed,
    Scalar,
    Status,
    Waiting,
    score_of,
)
from workbench.exchange.own_loop.arguments import MOST_EPOCHS, MOST_STEPS, array_of, point_of, whole, words_of
from workbench.exchange.own_loop.notebook import failed_cells
from workbench.names import visible, visible_name
from workbench.problem import Problem
from workbench.workspace.owners.ownership import BEAT
from workbench.workspace.recorders.recording import Recording

LONGEST_NAME = 200  # letters of a curve's name
LONGEST_ERROR = 200  # letters of the error of a cell, which shows all of it
SPEED_OVER = 2.0  # seconds; the speed shown is that of the last moments
LATE = 1.0  # seconds after which what waits for the loop's next call is written without it
LOOK_EVERY = 0.5  # seconds between two looks for a request to stop, so that a loop may ask after each step
IN_NOTEBOOK = "What was recorded is kept. The run continues when its loop records again; `end` of the run ends it."
TRAINING, EVALUATING = "Training", "Evaluating"
End = Literal["done", "stopped", "failed"]
ENDS: tuple[End, ...] = get_args(End)
SECONDS = "system/seconds"  # the curve that has the time of each step


class RecordedRun:
    """A run that a training loop records; made by `own_loop.record_run`. Use it as a context.

    At the end of the block the run is done, or stopped where `stop_asked` was True; after an error it has failed, with
    its text; after Ctrl+C or `sys.exit()` it is stopped. In a notebook without such a block, a run is shown as paused
    from a cell that failed until it records again. Several threads may record. Every method may raise a Problem
    if the workspace cannot be written: what was recorded before is kept, what could not be written is kept in memory
    and tried again by the next call. A run that has ended, and a process that was forked from the program, as a worker
    of a DataLoader, raise one, too.

    Attributes:
        id: the run's number in its workspace; 0 in a run folder.
    """

    def __init__(
        self, recorder: Recording, beat: Callable[[], None], config: RunConfig, images: ImageSet, rows: np.ndarray,
        samples: int, queries: np.ndarray | None, steps: int, scores: Mapping[int, float],
    ) -> None:  # fmt: skip
        self.id = recorder.run_id
        self._recorder, self._config, self._images, self._rows = recorder, config, images, rows
        self._samples, self._queries, self._steps = samples, queries, steps
        self._step, self._epoch, self._timed = 0, 0, -1
        self._reached: dict[str, int] = {}  # the last step of each curve
        self._measured = frozenset(f"test/{name}" for name in _stored_metrics(config))
        self._process, self._turn = getpid(), RLock()
        self._begun = self._since = perf_counter()
        self._since_step, self._speed, self._ended = 0, 0.0, False
        self._scores = dict(scores)  # MAP@R by evaluated epoch
        self._stop_asked, self._looked = False, -inf
        self._paused = False  # since a cell of the notebook failed
        self._waits = True  # whether something is recorded that may not be written yet
        self._alive = contextlib.ExitStack()
        self._alive.enter_context(jobs.repeating("sign of life", BEAT, beat))
        self._alive.enter_context(failed_cells(self._pause))
        self._recorder(Status(TRAINING))
        self._alive.enter_context(jobs.repeating("late points", LATE, self._write_late))

    def scalars(self, step: int, values: Mapping[str, Any]) -> None:
        """Add a point to each of these curves, in place of an earlier one at that step.

        Args:
            step: optimiser steps done, from 0, counted on from epoch to epoch.
            values: numbers, or tensors of one number, by the name of the curve. The charts of Train show "batch/loss",
                "batch/gradient_norm", "batch/lr", "probe/ce", "probe/spce" and "train/accuracy" (a fraction), its tab
                Other curves all others.

        Raises:
            ValueError: a step below 0, or before the last one of the curve; a name that is empty, too long or not
                printable, or of a curve that Workbench records itself: "system/seconds" and those of `evaluate`, such
                as "test/MAP@R". No point was added.
            TypeError: a value that is not a number, or a step that is not an integer.
        """
        with self._recording():
            points = [(self._curve(name), point_of(value, str(name))) for name, value in values.items()]
            at = whole(step, "A step", MOST_STEPS)
            self._check_order(at, values)
            self._step = at
            self._reached.update(dict.fromkeys(values, at))
            if at > self._timed:  # a step has one time, whatever is recorded of it later
                points.append((SECONDS, perf_counter() - self._begun))
                self._timed = at
            self._record(*(Scalar(name, self._step, value) for name, value in points), self._progress())

    def charts(self, step: int, charts: Sequence[Chart]) -> None:
        """Show charts of that step in the tab Method of Train; raises ValueError for a step below 0."""
        with self._recording():
            self._reach(step)
            self._record(Charted(self._step, tuple(charts)))

    def note(self, text: str) -> None:
        """Add a sentence to the run's note; raises TypeError unless it is text."""
        with self._recording():
            if not isinstance(text, str):
                raise TypeError(f"A note is text, not {text!r}.")
            self._recorder(Noted(visible(text)))

    def evaluate(
        self, epoch: int, embeddings: Any, *, step: int | None = None, class_vectors: Any = None,
        class_labels: Sequence[int | str] = (),
    ) -> dict[str, float]:  # fmt: skip
        """Measure and store the embeddings of the test set after an epoch; an earlier one of that epoch is replaced.

        Args:
            epoch: 0 before training.
            embeddings: [n, d] numbers, an array or a tensor, in the order of the labels of `record_run`. Those on a
                CUDA device are searched there. By hyperbolic distance, points in the Poincaré ball of radius 1.
            step: optimiser steps done; by default that of the newest point.
            class_vectors: [p, d] proxies, prototypes or rows of a classifier, which the map shows.
            class_labels: [p] their classes, as the labels of `record_run`.

        Returns:
            The metrics by name, as fractions: "recall@1", "MAP@R", "MAP@R/low" and so on.

        Raises:
            ValueError: numbers below 0, another shape, or an unknown class.
            Problem: embeddings that are not finite, as after training has diverged.
        """
        with self._recording():
            return self._evaluate(
                whole(epoch, "An epoch", MOST_EPOCHS), embeddings, self._step if step is None else step,
                class_vectors, class_labels,
            )  # fmt: skip

    @property
    def stop_asked(self) -> bool:
        """Whether a person has pressed *Stop* in a window: leave the loop then, and the run ends as stopped.

        A window offers *Stop* once the loop has asked for the first time. The loop may ask after each step. In a run
        folder the request is a file `after-epoch`, which `workbench ingest FOLDER --follow` creates for a window. While
        the workspace cannot be read, it stays False.
        """
        with self._recording():
            if not self._stop_asked and perf_counter() - self._looked > LOOK_EVERY:
                with contextlib.suppress(Problem):  # what is recorded tells it; a look ends no training
                    self._stop_asked = self._recorder.stop_asked()
                self._looked = perf_counter()
            return self._stop_asked

    def end(self, status: End = "done", problem: str = "") -> None:
        """End the run, with sentences for the reader if something went wrong; later calls do nothing, nor do those
        of a forked process. Raises ValueError for another status; the run goes on."""
        if status not in ENDS:
            raise ValueError(f"A run ends as {', '.join(ENDS)}, not as {status!r}.")
        if getpid() != self._process:
            return
        with self._turn:
            if self._ended:
                return
            self._ended = True
            try:
                self._recorder(Ended(status, visible(problem)))
            finally:
                self._alive.close()

    def __reduce__(self) -> NoReturn:
        """Raises TypeError, as for a worker of a DataLoader that would get a copy."""
        raise TypeError("A recorded run cannot be pickled or copied: record in the program that began it.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.end("stopped" if self._stop_asked else "done")
            return
        with contextlib.suppress(Problem):  # the error of the loop is the one to tell
            if isinstance(error, KeyboardInterrupt | GeneratorExit) or _plain_exit(error):
                self.end("stopped")
            else:
                self.end("failed", _words_of(error))

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        """One call at a time. Raises Problem once the run has ended, and in a forked process."""
        if getpid() != self._process:  # before the lock, which a thread may have held as the process was forked
            what = f"The run “{self._config.name}” is recorded by another process, of which this is a copy."
            raise Problem(what, kept="Nothing was recorded.", todo="Record it in the program that began it.")
        with self._turn:
            if self._ended:
                what = f"The run “{self._config.name}” has ended."
                raise Problem(what, kept="What it has is kept; nothing was added.", todo="Record before `end`.")
            if self._paused:
                self._paused = False
                with contextlib.suppress(Problem):  # it is kept, and written with what the caller records now
                    self._recorder(Resumed())
            yield

    def _pause(self, error: BaseException) -> None:
        """Show the run as paused after a cell of the notebook that failed, until the loop records again."""
        if getpid() != self._process:
            return
        with self._turn, contextlib.suppress(Problem):  # the error of the cell is the one to tell
            if not self._ended:
                self._paused = True
                self._recorder(Waiting(f"A cell of its notebook failed ({_in_short(error)}). {IN_NOTEBOOK}"))

    def _write_late(self) -> None:
        """Write what is recorded, so that the points of a slow loop are seen before its next call. Raises Problem."""
        if self._waits and self._turn.acquire(blocking=False):  # not while `end`, in its turn, waits for this thread
            try:
                if not self._ended:
                    self._recorder.flush()
                    self._waits = False
            finally:
                self._turn.release()

    def _record(self, *events: Event) -> None:
        """Raises a Problem once all of the events are kept, so that those that could not be written are tried again."""
        self._waits = True
        problem: Problem | None = None
        for event in events:
            try:
                self._recorder(event)
            except Problem as refused:
                problem = refused
        if problem is not None:
            raise problem

    def _curve(self, name: str) -> str:
        """The name of a curve of the loop. Raises ValueError if it cannot have it."""
        if not (isinstance(name, str) and name.isprintable() and 0 < len(name.strip()) <= LONGEST_NAME):
            raise ValueError(f"A curve cannot be called {name!r}: write 1 to {LONGEST_NAME} printable characters.")
        if name == SECONDS or name in self._measured:
            raise ValueError(f"Workbench records the curve {name} itself: choose another name.")
        return name

    def _check_order(self, step: int, names: Iterable[str]) -> None:
        """Raises ValueError for a step before one that a curve has: its counter began again."""
        for name in names:
            last = self._reached.get(name, step)
            if step < last:
                raise ValueError(f"Step {step:,} of {name} comes after step {last:,}: count steps on over all epochs.")

    def _reach(self, step: int) -> None:
        self._step = whole(step, "A step", MOST_STEPS)

    def _evaluate(
        self, epoch: int, embeddings: Any, step: int, class_vectors: Any, class_labels: Sequence[int | str]
    ) -> dict[str, float]:
        from workbench.evaluation.quality import quality
        from workbench.evaluation.retrieval import retrieve

        self._reach(step)
        vectors = self._checked(embeddings, "embeddings", self._samples)[self._rows]
        if self._config.evaluation.distance == "hyperbolic" and (np.linalg.norm(vectors, axis=1) >= 1).any():
            raise ValueError("By hyperbolic distance, embeddings are points in the Poincaré ball: shorter than 1.")
        proxies, proxy_labels = self._class_vectors(class_vectors, class_labels, vectors.shape[1])
        self._recorder(Status(EVALUATING))
        images, settings = self._images, self._config.evaluation
        near = retrieve(
            vectors, images.labels, images.sample_ids, k=settings.neighbours, ks=settings.ks,
            distance=settings.distance, device=_device_of(embeddings), is_query=self._queries,
        )  # fmt: skip
        near.metrics.update(quality(vectors, images.labels, images.sample_ids, near, settings.distance))
        self._record(
            *(Scalar(f"test/{name}", self._step, near.metrics[name]) for name in _stored_metrics(self._config))
        )
        self._recorder(
            Evaluated(
                epoch, self._step, settings.distance, near.metrics, images.sample_ids, images.labels, vectors, near.ap,
                near.first_hit, near.r, near.neighbours, near.similarities, proxies, proxy_labels,
            )
        )  # fmt: skip
        self._epoch = max(self._epoch, epoch)
        self._recorder.reached(self._epoch)
        self._keep(epoch, near.metrics)
        self._recorder(self._progress())
        self._recorder(Status(TRAINING))
        return near.metrics

    def _progress(self) -> Progress:
        seconds, steps = perf_counter() - self._since, self._step - self._since_step
        if seconds > SPEED_OVER and steps > 0:
            self._speed = steps / seconds
            self._since, self._since_step = perf_counter(), self._step
        left = max(self._steps - self._step, 0) / self._speed if self._speed else 0.0
        total = max(self._steps, self._step) if self._steps else 0
        batch = self._config.training.batch_size if "batch_size" in self._config.training.model_fields_set else 0
        return Progress(self._step, total, self._speed * batch, _memory(), left)

    def _checked(self, numbers: Any, what: str, count: int) -> np.ndarray:
        """As float32 [n, d]. Raises ValueError for another shape, Problem for NaN and infinity."""
        vectors = array_of(numbers, what)
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
            raise ValueError(f"The {what} have the shape {list(vectors.shape)}, not [{count:,}, d].")
        if not np.isfinite(vectors).all():
            raise Problem(
                f"The {what} are not finite: training has diverged.", kept="What was recorded before is kept."
            )
        return vectors

    def _class_vectors(
        self, numbers: Any, labels: Sequence[int | str], width: int
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        if numbers is None:
            return None, None
        vectors = self._checked(numbers, "class vectors", len(labels))
        if vectors.shape[1] != width:
            raise ValueError(f"Class vectors of {vectors.shape[1]:,} dimensions beside embeddings of {width:,}.")
        number_of = {name: number for number, name in enumerate(self._images.class_names)}
        unknown = [label for label in words_of(labels) if label not in number_of]
        if unknown:
            raise ValueError(f"No test image has the class {unknown[0]!r}: leave its class vector out.")
        return vectors, np.array([number_of[label] for label in words_of(labels)], np.int64)

    def _keep(self, epoch: int, metrics: dict[str, float]) -> None:
        """Let go of the embeddings of other epochs than the best and the last, if the settings ask for it."""
        self._scores[epoch] = score_of(metrics) or 0.0
        if self._config.evaluation.keep != "all":
            best = max(self._scores, key=self._scores.__getitem__)
            self._recorder(Keep(tuple(sorted({best, epoch} | ({0} & set(self._scores))))))


def _stored_metrics(config: RunConfig) -> tuple[str, ...]:
    """The metrics of an evaluation that have a curve."""
    return (*(f"recall@{k}" for k in config.evaluation.ks), "P@1", "P@R", "MAP@R")


def _words_of(error: BaseException) -> str:
    return ": ".join(filter(None, (type(error).__name__, str(error))))


def _in_short(error: BaseException) -> str:
    """The beginning of its first line."""
    first, _, more = _words_of(error).strip().partition("\n")
    return visible_name(f"{first.rstrip()} …" if more else first, LONGEST_ERROR)


def _plain_exit(error: BaseException) -> bool:
    """Whether the program ended on purpose, by sys.exit without an error."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _device_of(numbers: Any) -> str:
    name = str(getattr(numbers, "device", ""))
    return name if name.startswith("cuda") else "cpu"


def _memory() -> int:
    """Bytes: the most that torch used on its GPU, else what this process uses now."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_allocated())
    return int(psutil.Process().memory_info().rss)
