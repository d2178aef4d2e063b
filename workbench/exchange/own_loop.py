"""A run of a training loop of the user's own: its curves and evaluations as they come, live in the window."""

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
import psutil
from pydantic import ValidationError

from workbench import __version__, jobs
from workbench.charts import Chart
from workbench.config import KINDS, OWN_LOOP, BadConfig, RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.entries import catalog
from workbench.events import Charted, Ended, Evaluated, Keep, Noted, Progress, Scalar, Status, score_of
from workbench.exchange import labelled_embeddings
from workbench.exchange.importing import check_searchable, data_facts, decoded_set, take_back
from workbench.exchange.source import IMAGE_SIZE
from workbench.names import visible
from workbench.problem import UNSTARTED, Problem
from workbench.progress import quiet
from workbench.workspace import Workspace
from workbench.workspace.owners.ownership import BEAT
from workbench.workspace.recorder import Recorder
from workbench.workspace.times import now

LONGEST_NAME = 200  # letters of a curve's name
SPEED_OVER = 2.0  # seconds; the speed shown is that of the last moments
TRAINING, EVALUATING = "Training", "Evaluating"


class RecordedRun:
    """A run that a training loop records; made by `record_run`. Use it as a context, on one thread.

    At the end of the block the run is done; after an error it has failed, with its text; after Ctrl+C it is stopped.
    Every method may raise a Problem if the workspace cannot be written: what was recorded before is kept, what could
    not be written is kept in memory and tried again by the next call.

    Attributes:
        id: the run's number in its workspace.
    """

    def __init__(
        self, workspace: Workspace, recorder: Recorder, config: RunConfig, images: ImageSet, rows: np.ndarray,
        samples: int, queries: np.ndarray | None, steps: int,
    ) -> None:  # fmt: skip
        self.id = recorder.run_id
        self._recorder, self._config, self._images, self._rows = recorder, config, images, rows
        self._samples, self._queries, self._steps = samples, queries, steps
        self._step, self._epoch = 0, 0
        self._begun = self._since = perf_counter()
        self._since_step, self._speed, self._ended = 0, 0.0, False
        self._kept: dict[int, float] = {}  # MAP@R by evaluated epoch
        self._alive = contextlib.ExitStack()
        self._alive.enter_context(jobs.repeating("sign of life", BEAT, workspace.beat))
        self._recorder(Status(TRAINING))

    def scalars(self, step: int, values: Mapping[str, Any]) -> None:
        """Add a point to each of these curves.

        Args:
            step: optimiser steps done, from 0.
            values: numbers, or tensors of one number, by the name of the curve. The charts of Train show "batch/loss",
                "batch/lr", "probe/ce", "probe/spce" and "train/accuracy" (a fraction), its tab Other curves all others.

        Raises:
            ValueError: a step below 0, or a name that is empty, too long or not printable.
            TypeError: a value that is no number.
        """
        self._reach(step)
        for name, value in values.items():
            if not (isinstance(name, str) and name.isprintable() and 0 < len(name.strip()) <= LONGEST_NAME):
                raise ValueError(f"A curve cannot be called {name!r}: write 1 to {LONGEST_NAME} printable letters.")
            self._recorder(Scalar(name, step, float(_host(value))))
        self._recorder(Scalar("system/seconds", step, perf_counter() - self._begun))
        self._recorder(self._progress())

    def charts(self, step: int, charts: Sequence[Chart]) -> None:
        """Show charts of that step in the tab Method of Train; raises ValueError for a step below 0."""
        self._reach(step)
        self._recorder(Charted(step, tuple(charts)))

    def note(self, text: str) -> None:
        """Add a sentence to the run's note."""
        self._recorder(Noted(visible(text)))

    def evaluate(
        self, epoch: int, embeddings: Any, *, step: int | None = None, class_vectors: Any = None,
        class_labels: Sequence[int | str] = (),
    ) -> dict[str, float]:  # fmt: skip
        """Measure and store the embeddings of the test half after an epoch; an earlier one of that epoch is replaced.

        Args:
            epoch: 0 before training.
            embeddings: [n, d] numbers, an array or a tensor on any device, in the order of the labels of `record_run`.
            step: optimiser steps done; by default that of the newest point.
            class_vectors: [p, d] proxies, prototypes or rows of a classifier, which the map shows.
            class_labels: [p] their classes, as the labels of `record_run`.

        Returns:
            The metrics by name, as fractions: "recall@1", "MAP@R", "MAP@R/low" and so on.

        Raises:
            ValueError: numbers below 0, another shape, or an unknown class.
            Problem: embeddings that are not finite, as after training has diverged.
        """
        from workbench.evaluation.quality import quality
        from workbench.evaluation.retrieval import retrieve

        if epoch < 0:
            raise ValueError(f"An epoch is 0 or more, not {epoch}.")
        self._reach(self._step if step is None else step)
        vectors = self._checked(embeddings, "embeddings", self._samples)[self._rows]
        proxies, proxy_labels = self._class_vectors(class_vectors, class_labels, vectors.shape[1])
        self._recorder(Status(EVALUATING))
        images, settings = self._images, self._config.evaluation
        near = retrieve(
            vectors, images.labels, images.sample_ids, k=settings.neighbours, ks=settings.ks,
            distance=settings.distance, is_query=self._queries,
        )  # fmt: skip
        near.metrics.update(quality(vectors, images.labels, images.sample_ids, near, settings.distance))
        for name in (*(f"recall@{k}" for k in settings.ks), "P@1", "P@R", "MAP@R"):
            self._recorder(Scalar(f"test/{name}", self._step, near.metrics[name]))
        self._recorder(
            Evaluated(
                epoch, self._step, settings.distance, near.metrics, images.sample_ids, images.labels, vectors, near.ap,
                near.first_hit, near.r, near.neighbours, near.similarities, proxies, proxy_labels,
            )
        )  # fmt: skip
        self._epoch = max(self._epoch, epoch)
        self._recorder.reached(self._epoch)
        self._keep(epoch, near.metrics)
        self._recorder(Status(TRAINING))
        return near.metrics

    def end(self, status: Literal["done", "stopped", "failed"] = "done", problem: str = "") -> None:
        """End the run, with sentences for the reader if something went wrong; later calls do nothing."""
        if self._ended:
            return
        self._ended = True
        try:
            self._recorder(Ended(status, visible(problem)))
        finally:
            self._alive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.end()
            return
        stopped = isinstance(error, KeyboardInterrupt)
        with contextlib.suppress(Problem):  # the error of the loop is the one to tell
            self.end("stopped" if stopped else "failed", "" if stopped else f"{type(error).__name__}: {error}")

    def _reach(self, step: int) -> None:
        if step < 0:
            raise ValueError(f"A step is 0 or more, not {step}.")
        self._step = step

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
        vectors = _array(numbers)
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
        unknown = [label for label in _words(labels) if label not in number_of]
        if unknown:
            raise ValueError(f"No test image has the class {unknown[0]!r}: leave its class vector out.")
        return vectors, np.array([number_of[label] for label in _words(labels)], np.int64)

    def _keep(self, epoch: int, metrics: dict[str, float]) -> None:
        """Let go of the embeddings of other epochs than the best and the last, if the settings ask for it."""
        self._kept[epoch] = score_of(metrics) or 0.0
        if self._config.evaluation.keep != "all":
            best = max(self._kept, key=lambda number: self._kept[number])
            self._recorder(Keep(tuple(sorted({best, epoch} | ({0} & set(self._kept))))))


def record_run(
    workspace: Workspace,
    name: str,
    labels: Sequence[int | str] | np.ndarray,
    *,
    epochs: int,
    steps: int = 0,
    paths: Sequence[str | PurePath] = (),
    images: Path | np.ndarray | None = None,
    image_size: int = IMAGE_SIZE,
    queries: Sequence[bool] | np.ndarray | None = None,
    data: str = "",
    settings: Mapping[str, Any] | None = None,
    resume: int | None = None,
    step: int = 0,
) -> RecordedRun:
    """Begin a run that a training loop of your own records.

    Args:
        workspace: where the run is made; a window that has it open shows the run while it trains.
        name: of the run.
        labels: [n] classes of the test images, as numbers or names; every embedding that is evaluated has one.
        epochs: that the loop is going to train.
        steps: optimiser steps of all epochs, for the time left; 0 if they are not known.
        paths: [n] of the test images, below the folder `images`; without it they are names only.
        images: that folder, or pixels as uint8 [n, h, w] or [n, h, w, 3]; the pages show them. None for none. Images
            that cannot be read are left out of every evaluation, and named in the run's report.
        image_size: px; side of the squares that images of a folder are shown as.
        queries: [n] which images are queries; the others are only searched. By default all are both.
        data: what the data set is called, such as "CUB-200-2011".
        settings: what the loop trains with, in the sections and fields of a config: {"seed": 1, "loss": {"name":
            "triplet", "margin": 0.2}, "backbone": "resnet50", "training": {"lr": 1e-4, "batch_size": 112},
            "evaluation": {"distance": "l2"}}. Losses, backbones, samplers, augmentations and splits may have any name
            and any fields; runs that differ in the seed alone are one group in Compare.
        resume: the number of an earlier run of the same loop that continues; its points after `step` are removed.
        step: optimiser steps done in the checkpoint that `resume` continues from.

    Raises:
        BadConfig: a setting that no config has, or a value that its field refuses.
        Problem: labels and images that do not fit each other; a workspace that cannot be written; a run to resume that
            is another's, still works, or was begun with other settings or data.
    """
    config = _config(name, epochs, data, images, settings or {})
    if workspace.read_only:
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=UNSTARTED)
    words = _words(labels)
    numbers, classes = labelled_embeddings.numbered(words, Path("labels"))
    relative = _relative(paths, images)
    for what, values in (("paths", relative or words), ("queries", words if queries is None else queries)):
        if len(values) != len(words):
            raise Problem(f"There are {len(words):,} labels, but {len(values):,} {what}.", kept=UNSTARTED)
    every = labelled_embeddings.image_set(numbers, classes, relative or None, images, image_size, quiet)
    kept, cache = decoded_set(workspace, every, quiet)
    check_searchable(kept)
    row_of = {path: row for row, path in enumerate(every.paths)}
    rows = np.array([row_of[path] for path in kept.paths], np.int64)
    if resume is None:
        recorder = _begun(workspace, config, kept, cache)
    else:
        _check_same(workspace, resume, config, kept)
        recorder = _continued(workspace, resume, workspace.register_dataset(kept, cache), step)
    is_query = None if queries is None else np.asarray(queries, bool)[rows]
    return RecordedRun(workspace, recorder, config, kept, rows, len(words), is_query, steps)


def _config(
    name: str, epochs: int, data: str, images: Path | np.ndarray | None, settings: Mapping[str, Any]
) -> RunConfig:
    """A config with the sections that are given; parts without a name are called OWN_LOOP. Raises BadConfig."""
    if refused := {"name", "dataset", "seeds", "device"} & settings.keys():
        raise BadConfig("The settings", dict.fromkeys(sorted(refused), "A loop of your own has no such setting."))
    dataset = {"name": OWN_LOOP, **({"title": data} if data else {})}
    if isinstance(images, Path):
        dataset["images"] = str(images.absolute())
    parts = {kind: OWN_LOOP for kind in KINDS if kind != "dataset"}
    plain = {field: _plain(field, value) for field, value in settings.items()}
    training = {**plain.get("training", {}), "epochs": epochs}
    try:
        return RunConfig.model_validate({**parts, **plain, "name": name, "dataset": dataset, "training": training})
    except ValidationError as error:
        raise BadConfig("The settings", catalog.sentences(error)) from None


def _plain(field: str, value: Any) -> Any:
    """A setting as TOML writes it. Raises BadConfig for anything but numbers, text, lists and sections of them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(f"{field}.{name}", within) for name, within in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(field, entry) for entry in value]
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, bool | int | float | str):
        raise BadConfig("The settings", {field: f"Must be a number, text or a list of them, not {value!r}."})
    return value


def _begun(workspace: Workspace, config: RunConfig, kept: ImageSet, cache: Path | None) -> Recorder:
    dataset = workspace.register_dataset(kept, cache)
    run_id = workspace.create_run(config)
    recorder = Recorder(workspace, run_id)
    try:
        recorder.dataset(dataset)
        recorder.environment(
            {
                "workbench": __version__,
                "own_loop": {"program": Path(sys.argv[0]).name, "at": now()},
                "data": data_facts(kept, "recorded by a training loop of the user's own"),
            }
        )
    except BaseException:
        take_back(workspace, recorder, run_id)
        raise
    return recorder


def _check_same(workspace: Workspace, run_id: int, config: RunConfig, kept: ImageSet) -> None:
    """Raise Problem unless the run was begun with this config and these test images."""
    run = workspace.run(run_id)
    if not config.is_recorded_as(run.config):
        what, todo = "was not begun by this loop with these settings", "Record a new run: leave `resume` out."
        raise Problem(f"Run {run_id} {what}.", kept="It was not changed.", todo=todo)
    if run.environment.get("data", {}).get("fingerprint") != kept.fingerprint:
        what = f"The data set has changed since run {run_id} began: names, labels or sizes of its files differ."
        raise Problem(what, kept="The run was not changed.", todo="Restore the files, or record a new run.")


def _continued(workspace: Workspace, run_id: int, dataset: int, step: int) -> Recorder:
    workspace.take_over(run_id)
    recorder = Recorder(workspace, run_id)
    recorder.dataset(dataset)
    recorder.forget_after(step)
    return recorder


def _words(labels: Sequence[int | str] | np.ndarray) -> list[str]:
    """Labels as text, "3" for 3; those of a tensor, too."""
    return [str(label) for label in (labels.tolist() if hasattr(labels, "tolist") else labels)]


def _relative(paths: Sequence[str | PurePath], images: Path | np.ndarray | None) -> list[str]:
    """The paths from the folder of images on; others are as they are, and refused later if they leave it."""
    root = images.absolute() if isinstance(images, Path) else None
    return [
        PurePath(path).relative_to(root).as_posix()
        if root is not None and PurePath(path).is_relative_to(root)
        else PurePath(path).as_posix()
        for path in paths
    ]


def _array(numbers: Any) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite numbers are refused later
        return np.ascontiguousarray(_host(numbers), np.float32)


def _host(numbers: Any) -> Any:
    """A tensor of any device as one that NumPy reads; anything else as it is."""
    return numbers.detach().float().cpu() if hasattr(numbers, "detach") else numbers


def _memory() -> int:
    """Bytes: the most that torch used on its GPU, else what this process uses now."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_allocated())
    return int(psutil.Process().memory_info().rss)
