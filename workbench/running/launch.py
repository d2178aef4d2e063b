"""The door to the engine: prepare, run, try out, embed. Light to import; torch is loaded inside the functions."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import __version__, files
from workbench.config import KINDS, RunConfig
from workbench.control import Cancelled, Control, wait_if_asked
from workbench.entries import catalog as catalogs
from workbench.events import CHECKPOINTS, Emit, Event, Noted, Status
from workbench.jobs import Job, repeating
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running import folds_and_seeds
from workbench.workspace import Workspace
from workbench.workspace.ownership import BEAT
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import Dataset

if TYPE_CHECKING:
    from torch import Tensor

    from workbench.backbones.model import EmbeddingModel
    from workbench.datasets.inspection import Inspection
    from workbench.registry import Entry
    from workbench.running.engine import Data, Engine

NAMED_VERSIONS = (
    "torch",
    "torchvision",
    "numpy",
    "pytorch-metric-learning",
    "umap-learn",
    "faiss-cpu",
    "PySide6-Essentials",
)
DRY_STEPS = 4


def prepare_run(config: RunConfig, workspace: Workspace) -> int:
    """A queued run in the workspace; returns its number. Raises Problem when the workspace cannot be written."""
    return workspace.create_run(config)


def make_job(
    workspace: Workspace, run_id: int, control: Control, listen: Emit | None = None, *, resume: bool = False
) -> Job:
    """The job that trains a prepared run; `start` it. Everything is recorded first, then told to `listen`."""
    recorder = Recorder(workspace, run_id, control)

    def emit(event: Event) -> None:
        recorder(event)
        if listen is not None:
            listen(event)

    def work(control: Control, emit: Emit) -> None:
        with repeating("sign of life", BEAT, workspace.beat):
            run(workspace, run_id, control, emit, recorder, resume=resume)

    return Job(f"run {run_id}", work, emit, control, behind_window=control.attended)


def run(
    workspace: Workspace, run_id: int, control: Control, emit: Emit, recorder: Recorder, *, resume: bool = False
) -> None:
    """Do a prepared run on this thread. With `resume` it goes on from its last whole checkpoint, else begins anew.

    Raises:
        Problem: data, device, disk or numbers; says what is kept.
        Cancelled: the person discarded it.
    """
    emit(Status("Loading the engine"))
    from workbench.running.engine import Engine, load_data, training_classes

    config = RunConfig.from_toml_text(workspace.run(run_id).config)
    tell = _teller(control, emit)
    data = load_data(config, tell)
    recorder.dataset(workspace.register_dataset(data.images, data.cache))
    if not resume:
        for field, sentence in config.warnings(catalogs.current(), len(training_classes(data))).items():
            emit(Noted(f"{field}: {sentence}"))
    engine = Engine(config, data, workspace.folder(run_id), control, emit, recorder.flush)
    facts = environment(engine, data, tell)
    before = workspace.run(run_id).environment.get("data", {}).get("fingerprint")
    if resume and before not in (None, data.images.fingerprint):
        raise Problem(
            f"The data set has changed since run {run_id} began: names, labels or sizes of its files differ.",
            kept="The run and its checkpoints are kept.",
            todo="Put the files back, or start a new run.",
        )
    facts["data"]["changed"] = _changed(workspace, run_id, data)
    recorder.environment(facts)
    if resume:
        _go_on(workspace, run_id, engine, recorder, emit)
    engine.run()


def _go_on(workspace: Workspace, run_id: int, engine: "Engine", recorder: Recorder, emit: Emit) -> None:
    """Put the engine where the last whole checkpoint stands, else at the start; later points are forgotten.

    Raises:
        Problem: there are checkpoints, and none is whole.
    """
    damaged: list[str] = []
    for place in checkpoints(workspace, run_id):
        try:
            engine.resume(place)
        except Problem as problem:
            damaged.append(problem.what)
            continue
        step = engine.parts.step
        recorder.forget_after(step)
        if damaged:
            emit(Noted(f"{damaged[0]} The run went on from {place.name}, at step {step:,}."))
        return
    if damaged:
        raise Problem(
            " ".join(damaged), kept="Its curves and evaluations are kept.", todo="Start a new run of this config."
        )
    if forgotten := recorder.forget_after(-1):
        emit(Noted(f"Run {run_id} had no checkpoint yet: it began anew, without the {forgotten:,} points it had told."))


def checkpoints(workspace: Workspace, run_id: int) -> list[Path]:
    """The run's checkpoints that are there, the one to go on from first."""
    return [workspace.file(run_id, name) for name in CHECKPOINTS.values() if workspace.has_file(run_id, name)]


def best_checkpoint(workspace: Workspace, run_id: int) -> Path:
    """The checkpoint of the best evaluation, or the last. Raises Problem when there is none."""
    found = checkpoints(workspace, run_id)
    if not found:
        raise Problem(f"Run {run_id} has no checkpoint to go on from.", todo="Start it anew.")
    return found[-1]


def environment(engine: "Engine", data: "Data", progress: Progress) -> dict[str, Any]:
    """Facts that a report needs to repeat the run."""
    from workbench.datasets.keeping import words_of
    from workbench.running.dry_steps import weight_notes
    from workbench.training import device

    return {
        "workbench": __version__,
        **device.describe(engine.parts.device),
        "versions": {name: version(name) for name in NAMED_VERSIONS},
        "data": {
            "fingerprint": data.images.fingerprint,
            "read_as": engine.config.dataset.model_dump(),
            "images": len(data.images.paths),
            "classes": len(data.images.class_names),
            "train": len(data.split.train),
            "test": len(data.split.test),
            "classes_disjoint": data.split.classes_disjoint,
            "note": data.split.note,
            "shared": _shared(data, progress),
            "left_out": data.images.problems[:1000],
            "left_out_count": len(data.images.problems),
            "unlike_published": data.images.unlike_published,
            "notes": [*data.notes, *weight_notes(engine)],
            "kept": words_of(data.pixels),
        },
        "weights": _weights(engine),
        "plugins": _plugins(engine.config),
        "parameters": sum(weight.numel() for weight in engine.parts.weights),
        "steps_per_epoch": engine.sampler.steps_per_epoch,
    }


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a run would be, from a look at the data and a few dry steps."""

    images: int
    classes: int
    train: int
    test: int
    train_classes: int
    test_classes: int
    classes_disjoint: bool
    image_size: int
    device: str
    parameters: int
    steps_per_epoch: int
    seconds_per_step: float
    seconds_per_epoch: float
    seconds: float  # of the whole run, evaluations left out
    memory_bytes: int
    probe_images: int
    probe_every: int  # steps
    probe_share: float  # of the training time, 0 to 1: CE and SPCE on the probe, its start and end counted
    kept: str = ""  # how the images are kept, in words
    bound: str = ""  # what most of the time goes to: "feed", "network", "loss" or "probe"
    seconds_for_feed: float = 0.0  # to make one batch
    seconds_for_loss: float = 0.0  # of one batch, forward and backward
    note: str = ""
    sample_pictures: list[np.ndarray] = field(default_factory=list)  # uint8 [h, w, 3]
    problems: list[tuple[str, str]] = field(default_factory=list)  # (path, reason) of images left out
    unlike_published: list[tuple[str, str]] = field(default_factory=list)  # (name, what differs) of counts
    notes: list[tuple[str, str]] = field(default_factory=list)  # (what, what is worth knowing); nothing is left out


def preflight(
    config: RunConfig,
    progress: Progress = quiet,
    cancelled: Callable[[], bool] = lambda: False,
    counted: Callable[[int], None] = lambda classes: None,
) -> Preflight:
    """Look at the data and take a few dry steps; nothing is stored but the pixel cache.

    `counted` is told the number of training classes as soon as it is known.

    Raises:
        Problem: what would stop the run.
        Cancelled: `cancelled` said so.
    """
    progress("Loading the engine", 0, 0)
    from workbench.datasets.keeping import words_of
    from workbench.running.dry_steps import modes_differ, time_probe, time_steps, weight_notes
    from workbench.running.engine import Engine, load_data, training_classes
    from workbench.training import device

    def tell(text: str, done: int, total: int) -> None:
        if cancelled():
            raise Cancelled
        progress(text, done, total)

    runs = folds_and_seeds.children(config)
    config = runs[0].config
    data = load_data(config, tell)
    classes = len(training_classes(data))
    counted(classes)
    shared = _shared(data, tell)
    chosen = "" if data.split.validation is not None else "The best epoch is chosen on the test half"
    several = f"{len(runs)} runs, of which this is the first" if len(runs) > 1 else ""
    tell("Trying a few steps", 0, 0)
    engine = Engine(config, data, Path(), Control(), lambda event: None)
    since = perf_counter()
    try:
        mismatch = modes_differ(engine)
        times = time_steps(engine, DRY_STEPS, cancelled)
        per_look = time_probe(engine, cancelled)
    except (RuntimeError, MemoryError) as error:
        if not device.is_out_of_memory(error):
            raise
        raise engine._out_of_memory() from None
    tell(f"Tried {DRY_STEPS} steps in {perf_counter() - since:.1f} s", 0, 0)
    steps, images = engine.sampler.steps_per_epoch, data.images
    every, total = config.evaluation.probe_every, engine.total
    training, looking = times.whole * total, per_look * looks(total, every)
    shown = np.random.default_rng(config.seed).permutation(data.split.train)[:5]
    return Preflight(
        images=len(images.paths),
        classes=len(images.class_names),
        train=len(data.split.train),
        test=len(data.split.test),
        train_classes=classes,
        test_classes=len(np.unique(images.labels[data.split.test])),
        classes_disjoint=data.split.classes_disjoint,
        image_size=images.image_size,
        device=device.describe(engine.parts.device)["device"],
        parameters=sum(weight.numel() for weight in engine.parts.weights),
        steps_per_epoch=steps,
        seconds_per_step=times.whole,
        seconds_per_epoch=(training + looking) / config.training.epochs,
        seconds=(training + looking) * len(runs),
        memory_bytes=device.memory_in_use(engine.parts.device),
        probe_images=len(engine.probe.index),
        probe_every=every,
        probe_share=looking / (training + looking),
        kept=words_of(data.pixels),
        bound="probe" if looking > training else times.bound,
        seconds_for_feed=times.feed,
        seconds_for_loss=times.loss,
        note=" ".join(_sentence(each) for each in (several, data.split.note, chosen, shared) if each),
        sample_pictures=[
            np.array(np.broadcast_to(data.pixels[row], (*data.pixels[row].shape[:2], 3))) for row in shown
        ],
        problems=list(images.problems),
        unlike_published=list(images.unlike_published),
        notes=[*data.notes, *weight_notes(engine), *mismatch],
    )


def count_classes(config: RunConfig, progress: Progress) -> int:
    """Training classes of the config's first run, from its data alone: nothing is built and no step is tried.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.running.engine import load_data, training_classes

    return len(training_classes(load_data(folds_and_seeds.children(config)[0].config, progress)))


def steps_per_epoch(config: RunConfig, progress: Progress) -> int:
    """Optimiser steps of an epoch of the config's first run, from its data and its sampler alone.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.running.engine import build_sampler, load_data, training_labels

    config = folds_and_seeds.children(config)[0].config
    return int(build_sampler(config, training_labels(load_data(config, progress))).steps_per_epoch)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def looks(steps: int, every: int) -> int:
    """How often a run of so many steps looks at its probe: before the first step, every few, and after the last."""
    return 2 + (steps - 1) // every


def inspect_data(config: RunConfig, progress: Progress) -> "Inspection":
    """What is in the config's data set, what is wrong with it and what is in it twice; of the first of its runs.

    Raises:
        Problem: data that cannot be used. Whatever `progress` raises.
    """
    from workbench.datasets.inspection import inspect
    from workbench.running.engine import load_data

    config = folds_and_seeds.children(config)[0].config
    data = load_data(config, progress)
    return inspect(data.images, data.pixels, data.split, config.seed, progress)


def _changed(workspace: Workspace, run_id: int, data: "Data") -> str:
    """A sentence when an earlier run read other files from the same place; else empty."""
    read_as = RunConfig.from_toml_text(workspace.run(run_id).config).dataset.model_dump()
    for run in workspace.runs():
        facts = run.environment.get("data", {})
        if run.id != run_id and facts.get("read_as") == read_as:
            same = facts["fingerprint"] == data.images.fingerprint
            return "" if same else f"The files of {data.images.name} are not those of run {run.id}: they have changed"
    return ""


def _plugins(config: RunConfig) -> dict[str, str]:
    """Where each entry of the config that is not Workbench's own comes from, with the hash of its file."""
    from workbench import registry

    chosen = [registry.entry(kind, config.choice(kind).name) for kind in KINDS]
    return {f"{each.kind} {each.name}": f"{each.origin}, {_file_hash(each)}" for each in chosen if each.origin}


def _file_hash(entry: "Entry") -> str:
    file = Path(sys.modules[entry.build.__module__].__file__ or "")
    return files.digest(file) if file.is_file() else "no file"


def _weights(engine: "Engine") -> str:
    """Hash of the file, a person's own or of torch's cache, that the backbone's weights were loaded from; or empty."""
    place = getattr(engine.parts.model.backbone, "weights_path", None)
    return files.digest(place) if place is not None and place.is_file() else ""


def _shared(data: "Data", progress: Progress) -> str:
    """What is said of images that are in both halves, and of queries that find themselves; empty without any."""
    from workbench.datasets.inspection import shared_images

    count, itself = shared_images(data.pixels, data.split, progress)
    told = [f"{count:,} test images have an exact copy in the training half"] if count else []
    return "; ".join(told + ([f"{itself:,} queries have an exact copy in the gallery"] if itself else []))


@dataclass(frozen=True, slots=True)
class Trained:
    """A run's best network as it is evaluated: squares of uint8, scaled to 0..1."""

    model: "EmbeddingModel"  # on the CPU, in evaluation mode
    crop: "Callable[[Tensor], Tensor]"  # images [n, C, S, S] in 0..1 -> what the network is given
    dataset: Dataset
    step: int  # optimiser steps that made it
    epoch: int
    side: int  # S, px
    squeezed: bool  # whether a square holds all of an image, its sides no longer in proportion, or its centre

    def embed(self, images: list[np.ndarray]) -> np.ndarray:
        """Embeddings [m, d] float32 of a person's own images, uint8 [h, w, 3] or [h, w] of any size."""
        import torch

        from workbench.datasets.images import square, stretched

        channels = self.dataset.channels
        fitted = [stretched(image, self.side) if self.squeezed else image for image in images]
        pixels = np.stack([square(image, self.side, channels) for image in fitted])  # [m, S, S, C]
        batch = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float().div_(255)
        with torch.no_grad():
            return np.asarray(self.model(self.crop(batch)).float().numpy())


def trained(workspace: Workspace, run_id: int, checkpoint_file: Path | None = None) -> Trained:
    """A checkpoint of the run, by default its best, as a network.

    Raises:
        Problem: there is no checkpoint, or it does not fit the run's config.
    """
    from workbench import registry
    from workbench.backbones.model import build_model
    from workbench.training import checkpoint

    info = workspace.run(run_id)
    path = best_checkpoint(workspace, run_id) if checkpoint_file is None else checkpoint_file
    if info.dataset_id is None:
        raise Problem(f"Run {run_id} has not read its data yet.", todo="Wait for its first epoch.")
    config = RunConfig.from_toml_text(info.config)
    data = workspace.dataset(info.dataset_id)
    backbone = {**config.backbone.params}
    if backbone.get("weights", "none") != "none":
        backbone["weights"] = "none"  # the checkpoint holds them
    state = checkpoint.load(path)
    registry.discover("workbench.datasets")
    model = build_model(config.backbone.name, backbone, config.embedding, data.channels)
    try:
        model.load_state_dict(state["model"])
    except (KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise Problem(f"The checkpoint of run {run_id} does not fit its config ({reason}).") from None
    entry = registry.entry("augmentation", config.augmentation.name)
    augmentation = entry.build(entry.params(**config.augmentation.params))
    whole = getattr(augmentation, "whole_evaluation", False)
    side = augmentation.side(data.image_size) if whole else data.image_size
    squeezed = whole or config.dataset.params.get("fit") == "stretch"
    step, epoch = int(state["step"]), int(state["epoch"])
    return Trained(model.eval(), augmentation.evaluate, data, step, epoch, side, squeezed)


def device_of(config: RunConfig) -> str:
    """The device on which a run of this config trains: "cpu", "cuda", "mps". Raises Problem when it is not there."""
    from workbench.training import device

    return device.choose(config.device).type


def _teller(control: Control, emit: Emit) -> Progress:
    def tell(text: str, done: int, total: int) -> None:
        wait_if_asked(control, emit)
        emit(Status(text, done, total))

    return tell
