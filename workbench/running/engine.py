"""One run, from its parts to its last checkpoint: training, evaluations, checkpoints."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
import torch  # noqa: TID253 - running's functions import this file when they are called

from workbench.backbones.model import EmbeddingModel
from workbench.config import RunConfig
from workbench.control import Control, insist, wait_if_asked
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import cache_folder
from workbench.evaluation.geometry import class_shape
from workbench.events import CHECKPOINTS, Emit, Keep, Noted, Saved, Status, score_of
from workbench.losses.anatomy import spce
from workbench.losses.anatomy_view import anatomy
from workbench.losses.batch import labels_in_range
from workbench.losses.contract import Surroundings
from workbench.problem import Problem
from workbench.registry import fault_of_plugin
from workbench.running.building import (
    Data,
    build_entry,
    build_feed,
    build_parts,
    build_sampler,
    training_classes,
    training_labels,
)
from workbench.running.evaluator import Evaluator
from workbench.running.frozen_features import kept_features
from workbench.settings import checks
from workbench.training import checkpoint, device
from workbench.training.modes import modes_differ
from workbench.training.probe import ALONE, POINTS, Probe, spacing
from workbench.training.ranks import OneRank
from workbench.training.trainer import train
from workbench.training.two_passes import coupling_layers, refuse_coupling
from workbench.training.weight_average import WeightAverage

PROBING = "Measuring CE and SPCE on the probe"
TRAINING = "Training"  # as the recorder says once a step is done
COMPANION = "projections"  # the key in a checkpoint, named after the first companion


class Engine:
    """One run from its parts to its last checkpoint. Used by one thread.

    Args:
        config: what to run; already checked.
        folder: the run's, for checkpoints.
        control: checked between steps.
        emit: called with every event.
        before_save: called before each checkpoint, to store all events emitted so far. May raise Problem.
        ranks: the ranks that train together; each has an engine that does the same, and only the first one saves.
    """

    def __init__(
        self, config: RunConfig, data: Data, folder: Path, control: Control, emit: Emit,
        before_save: Callable[[], None] = lambda: None, ranks: OneRank = ALONE,
    ) -> None:  # fmt: skip
        self.config, self.data, self.folder, self.control, self.emit = config, data, folder, control, emit
        self._before_save, self._ranks = before_save, ranks
        self._resumed_from: Path | None = None
        self._compiling_since: float | None = None  # by perf_counter, until the first step is done
        self.best, self.best_epoch, self.unimproved = -1.0, 0, 0  # score; its epoch; evaluations since then
        self._kept = set[int]()  # epochs of the untrained, the best and the last evaluation
        self.classes = training_classes(data)
        labels = training_labels(data)
        self.sampler = build_sampler(config, labels)
        self.augmentation = build_entry("augmentation", config)
        self.total = config.training.epochs * self.sampler.steps_per_epoch
        emit(Status("Building the model"))
        self.parts = build_parts(config, data, self.total, ranks.device, self._tell)
        self.parts.ranks = ranks
        if config.training.keep_features and data.features is None:
            doing = "Computing the features of the frozen backbone"
            emit(Status(doing))
            whole = cast(EmbeddingModel, self.parts.model)
            cache = cache_folder() / "features"
            features = kept_features(config, data, whole, self.augmentation, cache, partial(self._tell, doing))
            self.data = data = replace(data, features=features)
        self.feed = build_feed(data, data.split.train, labels, self.augmentation, self.parts.device)
        if config.training.chunk:
            refuse_coupling(self.parts.model, self.augmentation.evaluate(self.feed.images(np.arange(2))))
        if config.training.weight_average:
            self.parts.average = WeightAverage(self.parts.model, config.training.weight_average)
        self.modes = self._compared_modes()  # before compiling, which would be done once more for this
        if config.training.compile_backbone:
            cast(EmbeddingModel, self.parts.model).backbone.compile()
        self.evaluator = Evaluator(
            config, data, self.parts, self.feed, self.sampler, self.augmentation, emit,
            self._stand_back, self._tell,
        )  # fmt: skip
        model, feed = self.parts.model, self.feed
        around = Surroundings(
            model, labels, config.seed, lambda rows: model(self.augmentation.evaluate(feed.images(rows))),
            self.evaluator.map_at_r, class_shape, emit,
            self._embed_augmented,
        )  # fmt: skip
        self.companion = self.parts.loss.companion(around)
        settings = config.evaluation
        every = spacing(settings.probe_every, self.sampler.steps_per_epoch, self.total)
        self.probe = Probe(
            model, self.parts.loss, feed, self.augmentation,
            size=settings.probe_size, every=every, num_classes=len(self.classes), seed=config.seed,
            spce=spce, emit=emit,
            anatomy_every=min(settings.anatomy_every, max(every, self.total // POINTS)),
            anatomy=partial(anatomy, self.parts.loss), ranks=ranks,
        )  # fmt: skip

    def _compared_modes(self) -> str:
        """What to say of loaded weights whose features depend on the mode of the network; empty if they do not."""
        model = cast(EmbeddingModel, self.parts.model)
        training = self.config.training
        if training.keep_features or getattr(model.backbone, "weights_path", None) is None:
            return ""
        batch = training.chunk or training.batch_size
        return modes_differ(model, model.features, self.feed, self.augmentation, batch)

    def run(self) -> None:
        """Train to the end, a stop or an interruption. Raises Problem (with what is kept) or Cancelled."""
        training = self.config.training
        batches = self.feed.training(
            self.sampler, self.augmentation, self.config.seed, training.views, self._ranks.share, training.epochs
        )
        device.forget_peak(self.parts.device)
        with self.explaining():
            self._start_alike()
            if self._resumed_from is None:  # else both were emitted before the checkpoint was written
                if self.config.evaluation.untrained:
                    self.evaluator.evaluate(0)
                self._measure_probe()
            self.companion.begin()
            self._compiling_since = perf_counter() if self.config.training.compile_backbone else None
            self.emit(Status(TRAINING))  # a first step may take a minute
            with labels_in_range(), closing(batches):  # the feed's labels are positions in `classes`
                train(
                    self.parts, batches, epochs=training.epochs,
                    steps_per_epoch=self.sampler.steps_per_epoch, control=self.control, emit=self.emit,
                    penalty=self.companion.penalty, after_step=self._after_step, after_epoch=self._after_epoch,
                    enough=self._enough,
                )  # fmt: skip
        self._keep(self._kept)
        epoch = self.parts.step // self.sampler.steps_per_epoch
        if self.control.interrupted:
            self.save("last", epoch)
        elif self._enough() and self.parts.step < self.total:
            times = "1 evaluation" if self.unimproved == 1 else f"{self.unimproved} evaluations"
            why = f"held-out MAP@R was not better for {times}"
            self.emit(Noted(f"Ended early, after epoch {epoch}: {why}."))

    def save(self, kind: str, epoch: int) -> Path:
        """Write a checkpoint that resumes bit for bit on the CPU: model, loss, optimiser, schedule, random states.

        If the disk refuses it, an attended run waits for the user. Raises Problem; the previous checkpoint is kept.
        """
        path = self.folder / CHECKPOINTS[kind]
        if not self._ranks.first:
            return path
        parts = self.parts
        if not all(torch.isfinite(weight).all() for weight in parts.weights):
            self.emit(Status("The weights are not finite: the checkpoint before them is kept"))
            return path
        state = self.state(epoch)

        def write() -> None:
            self._before_save()
            checkpoint.save(path, state)

        insist(self.control, self.emit, write)
        self.emit(Saved("best" if kind == "best" else "last", path, epoch, parts.step))
        return path

    def state(self, epoch: int) -> dict[str, Any]:
        """What a checkpoint holds: tensors and plain values; `epoch` is the number of whole epochs."""
        parts = self.parts
        state = {
            "model": parts.model.state_dict(),
            "loss": parts.loss.state_dict(),
            "optimiser": parts.optimiser.state_dict(),
            "schedule": {"last_epoch": parts.schedule.last_epoch},
            COMPANION: self.companion.state_dict(),
            "random": checkpoint.rng_state(parts.device),
            "step": parts.step,
            "epoch": epoch,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "kept": sorted(self._kept),
            "unimproved": self.unimproved,
            "first_losses": parts.first_losses,
            "config": self.config.to_toml(),
        }
        if parts.average is not None:
            state["average"] = parts.average.state_dict()
        if parts.scaler.is_enabled():
            state["scaler"] = parts.scaler.state_dict()
        return state

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint of this run. Raises Problem if it is damaged or belongs to another config."""
        state = checkpoint.load(path)
        parts = self.parts
        try:
            parts.model.load_state_dict(state["model"])
            parts.loss.load_state_dict(state["loss"])
            parts.optimiser.load_state_dict(state["optimiser"])
            self.companion.load_state_dict(state.get(COMPANION, {}))
            if parts.average is not None:
                parts.average.load_state_dict(state["average"])
            if parts.scaler.is_enabled():
                parts.scaler.load_state_dict(state["scaler"])
        except (KeyError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise Problem(f"{path} does not fit this run ({reason}).", kept="It was not changed.") from None
        parts.go_to(int(state["step"]))
        parts.first_losses = list(state.get("first_losses", []))  # not in checkpoints of older versions
        self.best, self._resumed_from = float(state["best"]), path
        self.best_epoch = int(state.get("best_epoch", 0))  # not in checkpoints of older versions, nor are the next two
        self._kept = set(state.get("kept", []))
        self.unimproved = int(state.get("unimproved", 0))
        checkpoint.set_rng_state(state["random"], parts.device)

    def _start_alike(self) -> None:
        """Give every rank the state of the first one."""
        path = self._ranks.same(self._resumed_from)
        if path != self._resumed_from and path is not None:
            self.resume(path)
        self._ranks.start_alike(self.parts.device)
        self._ranks.check_alike(self.parts.weights)

    def _measure_probe(self) -> None:
        """Outside training, where it may be all that happens for minutes."""
        if len(self.probe.index):
            self.emit(Status(PROBING))
        self.probe.measure(self.parts.step, partial(self._tell, PROBING))

    def _embed_augmented(self, rows: np.ndarray, number: int) -> torch.Tensor:
        """Of pools, which may have every class's images: a pause or a cancel is heard before each part of one."""
        self._stand_back()
        images = self.feed.augmented(rows, self.augmentation, self.config.seed, number)
        embeddings: torch.Tensor = self.parts.model(images)
        return embeddings

    def _stand_back(self) -> None:
        wait_if_asked(self.control, self.emit)

    def _tell(self, doing: str, done: int, total: int) -> None:
        """Say how far something is that takes long, before its next part; stand still while the run is paused."""
        self._stand_back()
        if done:
            self.emit(Status(doing, done, total))

    def _after_step(self, step: int) -> None:
        if self._compiling_since is not None:
            seconds = perf_counter() - self._compiling_since
            self.emit(Noted(f"The first step took {seconds:.0f} s, in which the backbone was compiled."))
            self._compiling_since = None
        self.probe.after_step(step)
        self.companion.after_step(step)

    def _after_epoch(self, epoch: int) -> bool:
        """Evaluate and save; whether training ends here because that was asked, perhaps meanwhile."""
        self._ranks.check_alike(self.parts.weights)
        last = epoch == self.config.training.epochs or self._ranks.same(self.control.stop_asked)
        if last:
            self._measure_probe()
        measured, before = last or epoch % self.config.evaluation.every == 0, self._kept
        if measured:
            metrics = self.evaluator.evaluate(epoch)
            score = self._ranks.same(score_of(metrics))
            self.unimproved += 1
            if score is not None and score > self.best:
                self.best, self.best_epoch, self.unimproved = score, epoch, 0
            self._kept = {0, self.best_epoch, epoch}
            if self.best_epoch == epoch:
                self.save("best", epoch)
            if self._enough():
                self._measure_probe()
        self.save("last", epoch)
        if measured:
            self._keep(before | self._kept)  # those that were just superseded may be in view
            if not last:
                self.emit(Status(TRAINING))
        ends = self._ranks.same(self.control.stop_asked)
        return self._after_epoch(epoch) if ends and not measured else ends

    def _keep(self, epochs: set[int]) -> None:
        """Let go of the evaluations of other epochs, unless the config keeps all; none if nothing was evaluated."""
        if epochs and self.config.evaluation.keep != "all":
            self.emit(Keep(tuple(sorted(epochs))))

    def _enough(self) -> bool:
        return 0 < self.config.training.patience <= self.unimproved

    def release(self) -> None:
        """Free the memory of the network and its data, even if something still refers to them; of no use afterwards."""
        parts = self.parts
        parts.optimiser.zero_grad(set_to_none=True)
        parts.optimiser.state.clear()
        for module in (parts.model, parts.loss, *([] if parts.average is None else [parts.average])):
            for tensor in (*module.parameters(), *module.buffers()):
                tensor.data = tensor.new_empty(0)
        self.feed.release()
        self.evaluator.release()
        device.free_cached()

    @contextmanager
    def explaining(self, kept: str = "") -> Iterator[None]:
        """A block with steps: Problem says if there is no memory for them, or torch cannot compile the backbone.

        Args:
            kept: what the Problem says instead of what is kept of a run.
        """
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if (problem := self._explained(error)) is None:
                raise
            raise Problem(
                problem.what, kept=kept or problem.kept, todo=problem.todo, field=problem.field, fits=problem.fits
            ) from None

    def _explained(self, error: Exception) -> Problem | None:
        """The Problem for an error of a step; None for those that are not about memory or compiling.

        A MemoryError that a plug-in's own code meets is the plug-in's: a smaller batch may not help.
        """
        if isinstance(error, MemoryError) and fault_of_plugin(error):
            return None
        if device.is_out_of_memory(error):
            device.let_go(error)
            return self.out_of_memory()
        if self.config.training.compile_backbone and type(error).__module__.startswith("torch._"):
            return device.not_compiled(error)
        return None

    def out_of_memory(self) -> Problem:
        """The Problem of a device without memory for a batch; frees what can be freed there."""
        self.parts.optimiser.zero_grad(set_to_none=True)
        device.free_cached()
        batch = self.config.training.batch_size
        fits = checks.largest_batch(self.config, catalogs.last(), batch // 2)
        smaller = [] if fits is None else [f"a batch of {fits}"]
        chunk = (self.parts.chunk or batch) // 2
        if chunk and not coupling_layers(cast(EmbeddingModel, self.parts.model).backbone):
            smaller.append(f"a chunk of {chunk}")
        return Problem(
            f"A batch of {batch} images does not fit into the memory of {self.parts.device}.",
            kept="The run and its checkpoints are kept.",
            todo=f"Try {', or '.join(smaller) or 'smaller images, or a smaller network'}.",
            field="training.batch_size",
            fits=fits,
        )
