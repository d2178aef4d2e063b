"""One experiment assembled: data, model, loss and optimiser from a config; training, evaluation, checkpoints."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, cast

import numpy as np
import torch  # noqa: TID253 - only running/launch.py imports this file, inside functions
from torch import Tensor  # noqa: TID253
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn  # noqa: TID253

from workbench import registry
from workbench.backbones.model import EmbeddingModel, build_model
from workbench.config import RunConfig
from workbench.control import Control, insist, wait_if_asked
from workbench.datasets.encoded_images import EncodedImages
from workbench.datasets.image_set import ImageSet
from workbench.datasets.keeping import keep
from workbench.datasets.split import Split, notes
from workbench.entries.catalog import cache_folder
from workbench.evaluation.clusters import nmi
from workbench.evaluation.geometry import class_shape
from workbench.evaluation.linear_probe import linear_probe
from workbench.evaluation.quality import quality
from workbench.evaluation.retrieval import retrieve
from workbench.events import CHECKPOINTS, Emit, Evaluated, Noted, Saved, Scalar, Status, score_of
from workbench.losses import build_loss
from workbench.losses.anatomy import spce
from workbench.losses.anatomy_view import anatomy
from workbench.losses.batch import labels_in_range
from workbench.losses.contract import Surroundings
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.training import checkpoint, device
from workbench.training.feed import Augmentation, Cropping, Feed, Images
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.probe import Probe, embed
from workbench.training.trainer import Parts, train

VALIDATED = 2048  # training images on which a companion's checks are made where no class is held out
CLASSIFIED = 4096  # embeddings at a time
COMPANION = "projections"  # its key in a checkpoint, which is as old as the first companion


@dataclass(slots=True)
class Data:
    """A decoded data set with its two halves."""

    images: ImageSet
    pixels: np.ndarray | EncodedImages  # squares uint8 [n, H, W, C], or whole images that give such
    cache: Path
    split: Split

    @property
    def notes(self) -> list[tuple[str, str]]:
        """(what, what is worth knowing) of the set and its halves; nothing is left out for it."""
        return notes(self.images, self.split)


def load_data(config: RunConfig, progress: Progress) -> Data:
    """Find, decode (once) and split the data set. Raises Problem when it cannot be used."""
    registry.discover("workbench.datasets")
    params = _params("dataset", config)
    found = registry.entry("dataset", config.dataset.name).build(params, progress=progress)
    augmentation = build_augmentation(config)
    whole = any(getattr(augmentation, name, False) for name in ("whole_training", "whole_evaluation"))
    images, pixels, cache = keep(found, cache_folder() / "pixels", config.training.keep_images, whole, progress)
    split = registry.entry("split", config.split.name).build(_params("split", config), images, config.seed)
    return Data(images, pixels, cache, split)


def build_augmentation(config: RunConfig) -> Augmentation:
    """What changes the training images of a config. Raises Problem for parameters that do not go together."""
    entry = registry.entry("augmentation", config.augmentation.name)
    return cast(Augmentation, entry.build(_params("augmentation", config)))


def build_parts(config: RunConfig, data: Data, total_steps: int) -> Parts:
    """Model, loss, optimiser and schedule on the chosen device, seeded."""
    checkpoint.seed_everything(config.seed, config.training.deterministic)
    where = device.choose(config.device)
    model = build_model(config.backbone.name, config.backbone.params, config.embedding, data.images.channels)
    classes = len(training_classes(data))
    loss = build_loss(config.loss.name, num_classes=classes, embedding_dim=model.head.dim, **config.loss.params)
    model.to(where)
    loss.to(where)
    if where.type in device.CHANNELS_LAST:
        model.to(memory_format=torch.channels_last)
    optimiser = build_optimiser(config.training, model, loss)
    schedule = build_schedule(config.training, optimiser, total_steps)
    return Parts(
        model,
        loss,
        optimiser,
        schedule,
        where,
        precision=config.training.precision,
        clip_norm=config.training.clip_norm,
        head_steps=config.training.head_epochs * (total_steps // config.training.epochs),
        backbone=list(model.backbone.parameters()),
    )


def training_classes(data: Data) -> np.ndarray:
    """Labels that occur in the training half, sorted: the loss's class c is the c-th of them."""
    return np.unique(data.images.labels[data.split.train])


def training_labels(data: Data) -> np.ndarray:
    """The loss's class of every image of the training half [n] int64."""
    found: np.ndarray = np.searchsorted(training_classes(data), data.images.labels[data.split.train])
    return found


def build_sampler(config: RunConfig, labels: np.ndarray) -> Any:
    """The config's sampler for training images with these classes [n]. Raises Problem when they do not fit."""
    build = registry.entry("sampler", config.sampler.name).build
    return build(_params("sampler", config), labels=labels, batch_size=config.training.batch_size, seed=config.seed)


class Engine:
    """One run from its parts to its last checkpoint. Used by one thread.

    Args:
        config: what to run; already checked.
        folder: of the run, for checkpoints.
        control: asked between steps.
        emit: told everything.
        before_save: called before each checkpoint: what was told must stand before it. May raise Problem.
    """

    def __init__(
        self, config: RunConfig, data: Data, folder: Path, control: Control, emit: Emit,
        before_save: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.config, self.data, self.folder, self.control, self.emit = config, data, folder, control, emit
        self._before_save, self._resumed = before_save, False
        self._compiling_since: float | None = None  # by perf_counter, until the first step is done
        train_rows, test_rows = data.split.train, data.split.test
        self.classes = training_classes(data)
        labels = training_labels(data)
        self.sampler = build_sampler(config, labels)
        self.augmentation = build_augmentation(config)
        self.total = config.training.epochs * self.sampler.steps_per_epoch
        emit(Status("Building the model"))
        self.parts = build_parts(config, data, self.total)
        self.feed = self._feed(train_rows, labels)
        self.test_feed = self._feed(test_rows, data.images.labels[test_rows])
        self.test_ids = data.images.sample_ids[test_rows]
        self.held_out = data.split.validation
        self.best, self.unimproved = -1.0, 0  # evaluations since the best
        if config.training.weight_average:
            decay = get_ema_multi_avg_fn(config.training.weight_average)
            self.parts.average = AveragedModel(self.parts.model, multi_avg_fn=decay, use_buffers=True)
        if config.training.compile_backbone:
            cast(EmbeddingModel, self.parts.model).backbone.compile()
        settings = config.evaluation
        model, feed = self.parts.model, self.feed
        around = Surroundings(
            model, labels, config.seed, lambda places: model(self.augmentation.evaluate(feed.images(places))),
            self._checked, class_shape, emit,
        )  # fmt: skip
        self.companion = self.parts.loss.companion(around)
        self.probe = Probe(
            self.parts.model, self.parts.loss, self.feed, self.augmentation,
            size=settings.probe_size, every=settings.probe_every, num_classes=len(self.classes), seed=config.seed,
            spce=spce, emit=emit, anatomy_every=settings.anatomy_every,
            anatomy=partial(anatomy, self.parts.loss),
        )  # fmt: skip

    def run(self) -> None:
        """Train to the end, a stop or an interruption. Raises Problem (with what is kept) or Cancelled."""
        batches = self.feed.training(self.sampler, self.augmentation, self.config.seed, self.config.training.views)
        try:
            if not self._resumed:  # else both were told before the checkpoint was made
                if self.config.evaluation.untrained:
                    self.evaluate(0)
                self.probe.measure(0)
            self.companion.begin()
            self._compiling_since = perf_counter() if self.config.training.compile_backbone else None
            with labels_in_range():  # the feed's labels are places in `classes`
                train(
                    self.parts, batches, epochs=self.config.training.epochs,
                    steps_per_epoch=self.sampler.steps_per_epoch, control=self.control, emit=self.emit,
                    penalty=self.companion.penalty, after_step=self._after_step, after_epoch=self._after_epoch,
                    enough=self._enough,
                )  # fmt: skip
        except (RuntimeError, MemoryError) as error:
            if device.is_out_of_memory(error):
                raise self._out_of_memory() from None
            if self.config.training.compile_backbone and type(error).__module__.startswith("torch._"):
                raise device.not_compiled(error) from None
            raise
        epoch = self.parts.step // self.sampler.steps_per_epoch
        if self.control.interrupted:
            self.save("last", epoch)
        elif self._enough() and self.parts.step < self.total:
            why = f"MAP@R of held-out classes was not better for {self.unimproved} evaluations"
            self.emit(Noted(f"Ended early, after epoch {epoch}: {why}."))

    def evaluate(self, epoch: int) -> dict[str, float]:
        """Embed the test half and measure retrieval; emits Evaluated and one scalar per metric. Fractions."""
        self.emit(Status("Evaluating"))
        embeddings = self._embed(self.test_feed)
        if not np.isfinite(embeddings).all():
            raise Problem(
                "The embeddings are not finite: training has diverged.",
                kept="The checkpoints before it are kept.",
                todo="Start again with a smaller learning rate.",
            )
        settings = self.config.evaluation
        labels = self.test_feed.labels.cpu().numpy()
        found = retrieve(
            embeddings, labels, self.test_ids, k=settings.neighbours, ks=settings.ks, distance=settings.distance,
            device=str(self.parts.device), is_query=self.data.split.is_query, between=self._stand_back,
        )  # fmt: skip
        found.metrics.update(quality(embeddings, labels, self.test_ids, found))
        if settings.other_distance:
            found.metrics.update(self._by_the_other_distance(embeddings, labels))
        if self.parts.average is not None:
            found.metrics.update(self._averaged(labels))
        found.metrics.update(self._classified(embeddings, labels))
        if settings.nmi:
            self.emit(Status("Clustering"))
            where = str(self.parts.device)
            found.metrics["NMI"] = nmi(embeddings, labels, settings.distance, self.config.seed, where, self._stand_back)
        if self.held_out is not None:
            found.metrics["validation/MAP@R"] = self._validated()
        if settings.linear_probe and epoch == self.config.training.epochs:
            found.metrics.update(self._probed(labels))
        for name in (*(f"recall@{k}" for k in settings.ks), "P@1", "P@R", "MAP@R"):
            if name in found.metrics:
                self.emit(Scalar(f"test/{name}", self.parts.step, found.metrics[name]))
        if "validation/MAP@R" in found.metrics:
            self.emit(Scalar("validation/MAP@R", self.parts.step, found.metrics["validation/MAP@R"]))
        proxies, proxy_labels = self._proxies()
        self.emit(
            Evaluated(
                epoch,
                self.parts.step,
                settings.distance,
                found.metrics,
                self.test_ids,
                labels,
                embeddings,
                found.ap,
                found.first_hit,
                found.r,
                found.neighbours,
                found.similarities,
                proxies,
                proxy_labels,
            )
        )
        return found.metrics

    def save(self, kind: str, epoch: int) -> Path:
        """Write a checkpoint that resumes bit for bit on the CPU: model, loss, optimiser, schedule, random states.

        Where the disk refuses it, an attended run waits for the person. Raises Problem; the one before it is kept.
        """
        path = self.folder / CHECKPOINTS[kind]
        parts = self.parts
        if not all(torch.isfinite(weight).all() for weight in parts.weights):
            self.emit(Status("The weights are not finite: the checkpoint before them is kept"))
            return path
        state = {
            "model": parts.model.state_dict(),
            "loss": parts.loss.state_dict(),
            "optimiser": parts.optimiser.state_dict(),
            "schedule": {"last_epoch": parts.schedule.last_epoch},
            COMPANION: self.companion.state_dict(),
            "random": checkpoint.rng_state(),
            "step": parts.step,
            "epoch": epoch,
            "best": self.best,
            "unimproved": self.unimproved,
            "first_losses": parts.first_losses,
            "config": self.config.to_toml(),
        }
        if parts.average is not None:
            state["average"] = parts.average.state_dict()
        if parts.scaler.is_enabled():
            state["scaler"] = parts.scaler.state_dict()

        def write() -> None:
            self._before_save()
            checkpoint.save(path, state)

        insist(self.control, self.emit, write)
        self.emit(Saved("best" if kind == "best" else "last", path, epoch, parts.step))
        return path

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint of this run. Raises Problem when it is damaged or of another configuration."""
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
        self.best, self._resumed = float(state["best"]), True
        self.unimproved = int(state.get("unimproved", 0))  # not in checkpoints of older versions
        checkpoint.set_rng_state(state["random"])

    def _feed(self, rows: np.ndarray, labels: np.ndarray) -> Feed:
        """Images of some rows, with their labels, as the augmentation takes them."""
        whole = getattr(self.augmentation, "whole_evaluation", False)
        side = cast(Cropping, self.augmentation).side(self.data.images.image_size) if whole else 0
        return Feed(cast(Images, self.data.pixels), rows, labels, self.parts.device, side)

    def _embed(
        self, feed: Feed, index: np.ndarray | None = None, by: Callable[[Tensor], Tensor] | None = None
    ) -> np.ndarray:
        """Embeddings [n, d] of a half, or of some of its images; stands still where the person asked for it."""
        return embed(self.parts.model, feed, self.augmentation, index, by, self._stand_back).cpu().numpy()

    def _stand_back(self) -> None:
        wait_if_asked(self.control, self.emit)

    def _validated(self) -> float:
        """MAP@R of the classes held out of the training half, searched among themselves."""
        rows = self.held_out
        assert rows is not None
        feed = self._feed(rows, self.data.images.labels[rows])
        return retrieve(
            self._embed(feed), self.data.images.labels[rows], self.data.images.sample_ids[rows], k=1,
            distance=self.config.evaluation.distance, device=str(self.parts.device),
        ).metrics["MAP@R"]  # fmt: skip

    def _by_the_other_distance(self, embeddings: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        """Retrieval metrics by the distance that is not the run's, under its name: "l2/MAP@R"."""
        settings = self.config.evaluation
        other: Literal["cosine", "l2"] = "cosine" if settings.distance == "l2" else "l2"
        metrics = retrieve(
            embeddings, labels, self.test_ids, k=1, ks=settings.ks, distance=other, device=str(self.parts.device),
            is_query=self.data.split.is_query, between=self._stand_back,
        ).metrics  # fmt: skip
        return {f"{other}/{name}": metrics[name] for name in (*(f"recall@{k}" for k in settings.ks), "P@R", "MAP@R")}

    def _averaged(self, labels: np.ndarray) -> dict[str, float]:
        """Retrieval metrics of the averaged weights: "average/MAP@R"."""
        average, settings = self.parts.average, self.config.evaluation
        assert average is not None
        embeddings = embed(average.module, self.test_feed, self.augmentation, between=self._stand_back).cpu().numpy()
        metrics = retrieve(
            embeddings, labels, self.test_ids, k=1, ks=settings.ks, distance=settings.distance,
            device=str(self.parts.device), is_query=self.data.split.is_query, between=self._stand_back,
        ).metrics  # fmt: skip
        found = {f"average/{name}": metrics[name] for name in (*(f"recall@{k}" for k in settings.ks), "P@R", "MAP@R")}
        for name, value in found.items():
            self.emit(Scalar(f"test/{name}", self.parts.step, value))
        return found

    @torch.no_grad()
    def _classified(self, embeddings: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        """Share of the test half that the trained classifier names rightly, where its classes have been trained."""
        if self.data.split.classes_disjoint:
            return {}
        loss, right, logits = self.parts.loss, 0, None
        training = loss.training
        loss.eval()
        for some in np.array_split(np.arange(len(labels)), -(-len(labels) // CLASSIFIED)):
            logits = loss.logits(torch.from_numpy(embeddings[some]).to(self.parts.device))
            if logits is None:
                break
            right += int((self.classes[logits.argmax(1).cpu().numpy()] == labels[some]).sum())
        loss.train(training)
        return {} if logits is None else {"classifier/top-1": right / len(labels)}

    def _probed(self, test_labels: np.ndarray) -> dict[str, float]:
        """Stage 2: accuracies on the frozen features before the head."""
        self.emit(Status("Training the linear probe"))
        model = cast(EmbeddingModel, self.parts.model)
        places = self.sampler.places  # a long-tailed half stays long-tailed
        train = self._embed(self.feed, places, by=model.features)
        test = self._embed(self.test_feed, by=model.features)
        train_labels = self.classes[self.feed.labels.cpu().numpy()[places]]
        found = linear_probe(train, train_labels, test, test_labels, self.config.seed)
        for name, value in found.items():
            self.emit(Scalar(f"test/{name}", self.parts.step, value))
        return found

    def _checked(self, compared: Callable[[Tensor], Tensor], distance: Literal["cosine", "l2"]) -> float:
        """MAP@R of held-out classes, else of some training images, compared as told: never of the test half."""
        if self.held_out is not None:
            return self._validated()
        some = np.sort(np.random.default_rng([self.config.seed, 1]).permutation(len(self.feed))[:VALIDATED])
        labels = self.feed.labels.cpu().numpy()[some]
        found = compared(torch.from_numpy(self._embed(self.feed, some))).numpy()
        where = str(self.parts.device)
        return retrieve(found, labels, some, k=1, distance=distance, device=where).metrics["MAP@R"]

    def _after_step(self, step: int) -> None:
        if self._compiling_since is not None:
            seconds = perf_counter() - self._compiling_since
            self.emit(Noted(f"The first step took {seconds:.0f} s, in which the backbone was compiled."))
            self._compiling_since = None
        self.probe.after_step(step)
        self.companion.after_step(step)

    def _after_epoch(self, epoch: int) -> None:
        last = epoch == self.config.training.epochs or self.control.stop_asked
        if last:
            self.probe.measure(self.parts.step)
        if last or epoch % self.config.evaluation.every == 0:
            metrics = self.evaluate(epoch)
            score = score_of(metrics)
            self.unimproved += 1
            if score is not None and score > self.best:
                self.best, self.unimproved = score, 0
                self.save("best", epoch)
            if self._enough():
                self.probe.measure(self.parts.step)
        self.save("last", epoch)

    def _enough(self) -> bool:
        return 0 < self.config.training.patience <= self.unimproved

    def _proxies(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        proxies = self.parts.loss.class_proxies()
        if proxies is None:
            return None, None
        vectors, labels = proxies
        return vectors.detach().float().cpu().numpy(), self.classes[labels.detach().cpu().numpy()]

    def _out_of_memory(self) -> Problem:
        if self.parts.device.type == "cuda":
            self.parts.optimiser.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
        batch = self.config.training.batch_size
        return Problem(
            f"A batch of {batch} images does not fit into the memory of {self.parts.device}.",
            kept="The run and its checkpoints are kept.",
            todo=f"Try a batch of {max(2, batch // 2)}.",
        )


def _params(kind: str, config: RunConfig) -> Any:
    choice = config.choice(kind)
    return registry.entry(kind, choice.name).params(**choice.params)
