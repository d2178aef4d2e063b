"""What a run measures between its epochs: retrieval on the test set, held-out classes, the frozen features."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import torch  # noqa: TID253 - only the engine imports this file
from torch import Tensor, nn  # noqa: TID253

from workbench.backbones.model import EmbeddingModel
from workbench.config import RunConfig
from workbench.datasets.decisions import DROPPED
from workbench.datasets.image_set import Level
from workbench.evaluation.clusters import nmi
from workbench.evaluation.conventions import VOTERS
from workbench.evaluation.linear_probe import linear_probe
from workbench.evaluation.quality import quality
from workbench.evaluation.retrieval import Retrieval, retrieve
from workbench.events import Distance, Emit, Evaluated, ProbeEmbeddings, Scalar, Status
from workbench.losses.contract import points_in_ball
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running.building import Data, build_feed, training_classes
from workbench.training.feed import Feed
from workbench.training.probe import embed, probe_rows
from workbench.training.trainer import Parts

VALIDATED = 2048  # training images for a companion's checks if no class is held out
EVALUATING = "Evaluating"
CLASSIFIED = 4096  # embeddings at a time


class Evaluator:
    """Measures the model of one run; nothing here changes it. Used by the run's thread.

    If several ranks train, all of them embed and the first one measures; all call the same methods.

    Args:
        config: of the run.
        data: with its halves.
        parts: model and loss that are measured, on their device.
        feed: the training set.
        sampler: says which of its images are drawn.
        augmentation: its deterministic version prepares every image.
        emit: called with all measurements.
        stand_back: called between parts of a search; waits while the run is paused.
        tell: the same, between parts of what takes long, and says how far it is.

    Raises:
        Problem: a linear probe is wanted of test classes that are not trained.
    """

    def __init__(
        self, config: RunConfig, data: Data, parts: Parts, feed: Feed, sampler: Any, augmentation: Any, emit: Emit,
        stand_back: Callable[[], None], tell: Progress,
    ) -> None:  # fmt: skip
        self._config, self._data, self._parts, self._feed, self._ranks = config, data, parts, feed, parts.ranks
        self._sampler, self._augmentation, self._emit, self._stand_back = sampler, augmentation, emit, stand_back
        self._tell = tell
        self._classes, self._device = training_classes(data), str(parts.device)
        self._probe = probe_rows(len(feed), config.evaluation.probe_size, config.seed)
        self._test_feed = self._feed_of(data.split.test)
        self._test_labels = data.images.labels[data.split.test]
        self._test_ids = data.images.sample_ids[data.split.test]
        if config.evaluation.linear_probe and not np.isin(self._test_labels, self._classes).all():
            raise Problem(
                "The linear probe needs all classes of the test set in the training set; here some are in the test "
                "set only.",
                kept="Nothing was started.",
                todo="Switch the linear probe off, or choose a random split.",
                field="evaluation.linear_probe",
            )

    def evaluate(self, epoch: int) -> dict[str, float]:
        """Embed the test set and measure retrieval; emits Evaluated and one scalar per metric. Fractions.

        On a rank that is not the first it only embeds, and there are no metrics.

        Raises:
            Problem: embeddings that are not finite.
        """
        self._emit(Status(EVALUATING))
        embeddings = self._embed(self._test_feed)
        if not self._ranks.first:
            self._embed_beside(epoch)
            return {}
        if not np.isfinite(embeddings).all():
            raise Problem(
                "The embeddings are not finite: training has diverged.",
                kept="The checkpoints before it are kept.",
                todo="Start again with a smaller learning rate.",
            )
        settings = self._config.evaluation
        kept = slice(settings.neighbours)
        points = self._compared(embeddings)
        retrieval = self._search(points, max(settings.neighbours, VOTERS), settings.distance)
        for metrics in self._beside(epoch, embeddings, points, retrieval):
            retrieval.metrics.update(metrics)
        self._emit_curves(retrieval.metrics)
        proxies, proxy_labels = self._proxies()
        training = self._compared(self._embed_training()) if settings.store_training else None
        self._emit(
            Evaluated(
                epoch,
                self._parts.step,
                settings.distance,
                retrieval.metrics,
                self._test_ids,
                self._test_labels,
                points,
                retrieval.ap,
                retrieval.first_hit,
                retrieval.r,
                retrieval.neighbours[:, kept],
                retrieval.similarities[:, kept],
                proxies,
                proxy_labels,
                None if training is None else self._data.images.sample_ids[self._data.split.train],
                training,
                self._embed_probe(),
            )
        )
        return retrieval.metrics

    def release(self) -> None:
        """Free the images of the test set; the evaluator is of no use afterwards."""
        self._test_feed.release()

    def map_at_r(self, compared: Callable[[Tensor], Tensor], distance: Literal["cosine", "l2"]) -> float:
        """MAP@R, never of the test set: of held-out classes, else of some training images mapped by `compared`."""
        if self._data.split.validation is not None:
            embeddings = self._embed_validation(self._data.split.validation)
            return self._ranks.same(self._validated(embeddings, self._data.split.validation))
        rows = np.sort(np.random.default_rng([self._config.seed, 1]).permutation(len(self._feed))[:VALIDATED])
        labels = self._feed.labels.cpu().numpy()[rows]
        embeddings = compared(torch.from_numpy(self._embed(self._feed, rows))).numpy()
        retrieval = retrieve(embeddings, labels, rows, k=1, distance=distance, device=self._device)
        return self._ranks.same(retrieval.metrics["MAP@R"])

    def _embed_beside(self, epoch: int) -> None:
        """Embed in the order of `_beside`, on a rank that does not measure."""
        if self._parts.average is not None:
            self._embed_averaged(self._parts.average.module)
        if self._data.split.validation is not None:
            self._embed_validation(self._data.split.validation)
        if self._config.evaluation.linear_probe and epoch == self._config.training.epochs:
            self._embed_features()
        if self._config.evaluation.store_training:
            self._embed_training()
        self._embed_probe()

    def _compared(self, embeddings: np.ndarray) -> np.ndarray:
        """Embeddings [n, d] as the run compares and stores them: points in the ball for hyperbolic distances."""
        if self._config.evaluation.distance != "hyperbolic":
            return embeddings
        return points_in_ball(self._parts.loss, embeddings)

    def _beside(
        self, epoch: int, embeddings: np.ndarray, points: np.ndarray, retrieval: Retrieval
    ) -> Iterator[dict[str, float]]:
        """Measurements beside retrieval by the run's own distance, if the config asks for them.

        `points` are the embeddings as the run compares them.
        """
        settings, labels = self._config.evaluation, self._test_labels
        yield quality(points, labels, self._test_ids, retrieval, settings.distance)
        if settings.other_distance:
            yield self._by_other_distances(embeddings)
        if self._parts.average is not None:
            yield self._averaged(self._parts.average.module)
        if self._data.decided is not None:
            yield self._decided(points, self._data.decided[self._data.split.test])
        for level in self._data.images.levels:
            yield self._by_level(level, points)
        yield self._classified(embeddings)
        if settings.nmi:
            self._emit(Status("Clustering"))
            seed = self._config.seed
            yield {"NMI": nmi(points, labels, settings.distance, seed, self._device, self._stand_back)}
        if self._data.split.validation is not None:
            embedded = self._embed_validation(self._data.split.validation)
            yield {"validation/MAP@R": self._validated(embedded, self._data.split.validation)}
        if settings.linear_probe and epoch == self._config.training.epochs:
            yield self._probed()

    def _emit_curves(self, metrics: dict[str, float]) -> None:
        curves = {name: f"test/{name}" for name in (*self._recalls, "P@1", "P@R", "MAP@R")}
        for name, curve in (curves | {"validation/MAP@R": "validation/MAP@R"}).items():
            if name in metrics:
                self._emit(Scalar(curve, self._parts.step, metrics[name]))

    @property
    def _recalls(self) -> list[str]:
        return [f"recall@{k}" for k in self._config.evaluation.ks]

    def _feed_of(self, rows: np.ndarray) -> Feed:
        labels = self._data.images.labels[rows]
        return build_feed(self._data, rows, labels, self._augmentation, self._parts.device)

    def _embed(
        self, feed: Feed, index: np.ndarray | None = None, by: Callable[[Tensor], Tensor] | None = None,
        doing: str = EVALUATING,
    ) -> np.ndarray:  # fmt: skip
        """Embeddings [n, d] of a half, or of some of its images; waits while the run is paused."""
        before = partial(self._tell, doing)
        embeddings = embed(self._parts.model, feed, self._augmentation, index, by, before, self._ranks)
        return embeddings.cpu().numpy()

    def _embed_training(self) -> np.ndarray:
        return self._embed(self._feed, doing="Embedding the training set")

    def _embed_validation(self, rows: np.ndarray) -> np.ndarray:
        return self._embed(self._feed_of(rows))

    def _embed_probe(self) -> ProbeEmbeddings | None:
        if not len(self._probe):
            return None
        ids = self._data.images.sample_ids[self._data.split.train][self._probe]
        labels = self._classes[self._feed.labels.cpu().numpy()[self._probe]]
        return ProbeEmbeddings(ids, labels, self._compared(self._embed(self._feed, self._probe)))

    def _embed_averaged(self, model: nn.Module) -> np.ndarray:
        before = partial(self._tell, "Evaluating the averaged weights")
        embeddings = embed(model, self._test_feed, self._augmentation, before=before, ranks=self._ranks)
        return embeddings.cpu().numpy()

    def _embed_features(self) -> tuple[np.ndarray, np.ndarray]:
        """Features before the head, of all training images that may be drawn and of the test set."""
        features, doing = cast(EmbeddingModel, self._parts.model).features, "Computing features for the linear probe"
        train = self._embed(self._feed, self._sampler.places, features, doing)
        return train, self._embed(self._test_feed, by=features, doing=doing)

    def _search(self, embeddings: np.ndarray, k: int, distance: Distance) -> Retrieval:
        """Retrieval in the test set with k neighbours of each query."""
        return retrieve(
            embeddings, self._test_labels, self._test_ids, k=k, ks=self._config.evaluation.ks, distance=distance,
            device=self._device, is_query=self._data.split.is_query, between=self._stand_back, progress=self._tell,
        )  # fmt: skip

    def _validated(self, embeddings: np.ndarray, rows: np.ndarray) -> float:
        """MAP@R of what is held out of the training set, or of the validation images, searched among themselves."""
        images = self._data.images
        return retrieve(
            self._compared(embeddings), images.labels[rows], images.sample_ids[rows], k=1,
            distance=self._config.evaluation.distance, device=self._device,
        ).metrics["MAP@R"]  # fmt: skip

    def _by_other_distances(self, embeddings: np.ndarray) -> dict[str, float]:
        """Retrieval metrics by the other distances than the run's, that of the loss among them: "l2/MAP@R"."""
        compared: dict[Distance, np.ndarray] = {"cosine": embeddings, "l2": embeddings}
        if (own := self._parts.loss.own_distance(torch.from_numpy(embeddings).double())) is not None:
            compared[own[0]] = own[1].numpy()
        compared.pop(self._config.evaluation.distance, None)
        named = dict[str, float]()
        for distance, points in compared.items():
            metrics = self._search(points, 1, distance).metrics
            named |= {f"{distance}/{name}": metrics[name] for name in (*self._recalls, "P@R", "MAP@R")}
        return named

    def _averaged(self, model: nn.Module) -> dict[str, float]:
        """Retrieval metrics of the averaged weights: "average/MAP@R"."""
        embeddings = self._compared(self._embed_averaged(model))
        metrics = self._search(embeddings, 1, self._config.evaluation.distance).metrics
        return self._beside_as("average", metrics)

    def _decided(self, embeddings: np.ndarray, labels: np.ndarray) -> dict[str, float]:
        """Retrieval metrics with decided labels [n]: "decided/MAP@R"; dropped images are left out."""
        stays, is_query = labels != DROPPED, self._data.split.is_query
        metrics = retrieve(
            embeddings[stays], labels[stays], self._test_ids[stays], k=1, ks=self._config.evaluation.ks,
            distance=self._config.evaluation.distance, device=self._device,
            is_query=None if is_query is None else is_query[stays], between=self._stand_back,
        ).metrics  # fmt: skip
        return self._beside_as("decided", metrics)

    def _by_level(self, level: Level, embeddings: np.ndarray) -> dict[str, float]:
        """Retrieval metrics where an image with the same wider label counts as a match: "level/genus/MAP@R"."""
        metrics = retrieve(
            embeddings, level.labels[self._data.split.test], self._test_ids, k=1, ks=self._config.evaluation.ks,
            distance=self._config.evaluation.distance, device=self._device, is_query=self._data.split.is_query,
            between=self._stand_back,
        ).metrics  # fmt: skip
        return self._beside_as(f"level/{level.name}", metrics)

    def _beside_as(self, prefix: str, metrics: dict[str, float]) -> dict[str, float]:
        """Some of these metrics under prefixed names, also emitted as curves."""
        named = {f"{prefix}/{name}": metrics[name] for name in (*self._recalls, "P@R", "MAP@R")}
        for name, value in named.items():
            self._emit(Scalar(f"test/{name}", self._parts.step, value))
        return named

    @torch.no_grad()
    def _classified(self, embeddings: np.ndarray) -> dict[str, float]:
        """Accuracy of the trained classifier on the test set, if its classes have been trained."""
        if self._data.split.classes_disjoint:
            return {}
        loss, labels, right, logits = self._parts.loss, self._test_labels, 0, None
        training = loss.training
        loss.eval()
        for rows in np.array_split(np.arange(len(labels)), -(-len(labels) // CLASSIFIED)):
            logits = loss.logits(torch.from_numpy(embeddings[rows]).to(self._parts.device))
            if logits is None:
                break
            right += int((self._classes[logits.argmax(1).cpu().numpy()] == labels[rows]).sum())
        loss.train(training)
        return {} if logits is None else {"classifier/top-1": right / len(labels)}

    def _probed(self) -> dict[str, float]:
        """Stage 2: accuracies on the frozen features before the head."""
        self._emit(Status("Training the linear probe"))
        drawn = self._sampler.places  # a long-tailed half stays long-tailed
        train, test = self._embed_features()
        train_labels = self._classes[self._feed.labels.cpu().numpy()[drawn]]
        accuracies = linear_probe(train, train_labels, test, self._test_labels, self._config.seed)
        for name, value in accuracies.items():
            self._emit(Scalar(f"test/{name}", self._parts.step, value))
        return accuracies

    def _proxies(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        proxies = self._parts.loss.class_proxies()
        if proxies is None:
            return None, None
        vectors, labels = proxies
        return vectors.detach().float().cpu().numpy(), self._classes[labels.detach().cpu().numpy()]
