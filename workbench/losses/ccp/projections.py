"""The projections of CCP: when one has ended, its best weights are restored and the next proxies are chosen."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.charts import Chart, Marks
from workbench.events import Event, Scalar, Status
from workbench.losses.batch import bounded
from workbench.losses.ccp.k_center import k_center, proxy_radii
from workbench.losses.ccp.pairs import CCPParams
from workbench.losses.contract import Companion, Surroundings
from workbench.numerals import percentage
from workbench.problem import Problem

if TYPE_CHECKING:
    from workbench.losses.ccp.loss import CCP

BATCH = 512
EMBEDDING = "Embedding images for the proxies"
SETTLING = 40  # batches: 0.9^40 of the initial values is left
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
PICTURED = 20  # classes in the chart of the proxies
MEASURED = 256  # classes: the distance between classes takes memory and time that grow with their square
COVERED = 2000  # training images on which radii and distances are measured; at least a pool's number of each class


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """A projection has ended; arrays are this event's own copies, vectors are `ccp.bounded` (no longer than 1).

    Radii and distances are those of the restored network and proxies, on `measured` training images.
    """

    index: int  # of the projection, from 0
    step: int  # optimiser steps done
    measured: int  # images, the same ones in every projection of a run
    radius: float  # mean over classes of the largest distance from a sample to its nearest converged proxy
    k_center: float  # mean covering radius of a class by 1 to n of its n samples (supplement, Section 1.2)
    distance: float  # mean distance between samples of two classes; NaN with one class
    map_at_r: float  # the projection's best, a fraction; NaN if no check returned a number
    converged: np.ndarray  # [K * m, d] float32: the proxies as they were trained (boxes in Figure 2)
    next: np.ndarray  # [K * m, d] float32: where the next projection's proxies start (circles in Figure 2)
    classes: np.ndarray  # [K * m] int64

    @property
    def relative(self) -> float:
        """Radius over distance, free of scale: an untrained network gives nearly equal embeddings."""
        return self.radius / self.distance if self.distance else float("nan")


class Projections(Companion):
    """Algorithm 1 of Gürbüz et al. 2023 (CCP) around a training loop that does not know about it.

    A projection ends after `patience` checks in a row whose MAP@R is not above its best. The optimiser's moments are
    kept, as the paper does not mention them. One object per run, used by the thread that trains.

    Args:
        loss: holds the proxies.
        around: the run. The model's weights are changed in place when a projection ends; it embeds in evaluation mode
            without gradients, and, for the variant "samples", in training mode with them. Pools are drawn by its seed
            and differ from projection to projection.
        emit: receives MAP@R of each check, and when a projection ends five Scalars and Projected (`projection_charts`).

    Raises:
        Problem: a class without a sample.
    """

    def __init__(
        self, loss: "CCP", around: Surroundings, params: CCPParams, emit: Callable[[Event | Projected], None]
    ) -> None:
        self._around, self._model, self._embed_rows, self._seed = around, around.model, around.embed, around.seed
        self._loss, self._params, self._emit = loss, params, emit
        self._members = [np.flatnonzero(around.labels == label) for label in range(loss.num_classes)]
        if not all(len(rows) for rows in self._members):
            raise Problem("CCP needs at least one training image of every class.")
        self._covered = self._sample()
        self._index, self._since, self._unimproved, self._best = 0, 0, 0, -1.0
        self._best_model: dict[str, Tensor] = {}  # of the projection that runs; empty before its first number
        self._best_proxies = loss.proxies.detach().clone()
        self._previous: list[Tensor] = []  # weights at the end of the last projection; empty in the first one
        self.history: list[dict[str, float]] = []  # of the projections that ended
        self._chosen = torch.zeros(0, dtype=torch.int64)  # [K * m] places of the samples at which the proxies started
        if params.variant == "samples":
            loss.follow(lambda: around.embed(self._chosen.numpy()))

    def begin(self) -> None:
        """Choose the first proxies, away from random samples; does nothing if a resumed run has proxies already."""
        if not self._loss.begun:
            self._settle()
            rng = np.random.default_rng([self._seed, 0])
            random = self._embed(self._draw(rng, self._params.proxies))
            self._place(*self._pool(rng, 0), random)

    def after_step(self, step: int) -> None:
        """Check MAP@R every `check_every` steps; maybe end the projection, unless it is the last of `projections`.

        Raises RuntimeError before `begin`.
        """
        if not self._loss.begun:
            raise RuntimeError("begin() chooses the first proxies and must come before training")
        if step % self._params.check_every:
            return
        self._refresh()
        value = self._around.validate(bounded, "l2")
        self._emit(Scalar("projection/MAP@R", step, value))
        if value > self._best:
            self._best, self._unimproved = value, 0
            self._best_model = {name: tensor.detach().clone() for name, tensor in self._model.state_dict().items()}
            self._best_proxies = self._loss.proxies.detach().clone()
        else:
            self._unimproved += 1
        last = self._index + 1 == self._params.projections
        if self._unimproved >= self._params.patience and not last:
            self._end(step)

    def penalty(self) -> Tensor | None:
        """What is added to the loss: Eq. 4.11's pull to the last projection's weights; None in the first projection."""
        if not self._previous or not self._params.penalty:
            return None
        return self._loss.penalty(self._weights(), self._previous)

    def state_dict(self) -> dict[str, Any]:
        """Tensors and plain numbers from which another object continues bit for bit; the loss saves its own state."""
        return {
            "index": self._index,
            "since": self._since,
            "unimproved": self._unimproved,
            "best": self._best,
            "best_model": dict(self._best_model),
            "best_proxies": self._best_proxies,
            "previous": list(self._previous),
            "chosen": self._chosen,
            "history": [dict(record) for record in self.history],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from `state_dict()`. Raises KeyError or ValueError when it is of another run."""
        previous = [value.clone() for value in state["previous"]]
        weights = self._weights()
        if previous and [value.shape for value in previous] != [weight.shape for weight in weights]:
            raise ValueError("the last projection's weights are of another model")
        self._previous = [value.to(weight.device) for value, weight in zip(previous, weights, strict=False)]
        self._index, self._since, self._unimproved = int(state["index"]), int(state["since"]), int(state["unimproved"])
        self._best, self._chosen = float(state["best"]), state["chosen"].clone()
        self.history = [dict(record) for record in state["history"]]
        self._best_model = {name: value.clone() for name, value in state["best_model"].items()}
        self._best_proxies = state["best_proxies"].clone()

    @torch.no_grad()
    def _settle(self) -> None:
        """Compute statistics for a batch-norm that has seen no batch: else evaluation gives wrong embeddings."""
        layers = [module for module in self._model.modules() if isinstance(module, BATCH_NORMS)]
        if all(layer.num_batches_tracked for layer in layers):
            return
        places = np.concatenate(self._members)
        rng = np.random.default_rng([self._seed, 2])
        training = self._model.training
        self._model.train()
        device = self._loss.proxies.device
        of_gpu = torch.random.fork_rng([device], device_type=device.type) if device.type != "cpu" else nullcontext()
        with torch.random.fork_rng([]), of_gpu:  # dropout must not change the global random states
            for _ in range(SETTLING):
                self._embed_rows(rng.permutation(places)[:BATCH])
        self._model.train(training)

    def _end(self, step: int) -> None:
        """Restore the best weights, then draw a new pool: measure it, choose from it, report."""
        if self._best_model:
            self._model.load_state_dict(self._best_model)
            self._loss.place(self._best_proxies)
        self._refresh()
        converged = self._loss.class_proxies()[0].detach()
        rows, vectors = self._pool(np.random.default_rng([self._seed, self._index + 1]), self._index + 1)
        measured, radius, k_center_radius, distance = self._geometry(converged.cpu().double().numpy())
        self._place(rows, vectors, converged.cpu().double().numpy().reshape(len(vectors), -1, vectors.shape[2]))
        after, classes = self._loss.class_proxies()
        best = self._best if self._best_model else float("nan")
        steps = float(step - self._since)
        arrays = _array(converged), _array(after), classes.cpu().numpy().copy()
        ended = Projected(self._index, step, measured, radius, k_center_radius, distance, best, *arrays)
        measures = {
            "steps": steps, "covering_radius": radius, "relative_radius": ended.relative,
            "k_center_radius": k_center_radius, "class_distance": distance,
        }  # fmt: skip
        for name, value in measures.items():
            self._emit(Scalar(f"projection/{name}", step, value))
        self.history.append(measures | {"MAP@R": best})
        self._emit(ended)
        self._previous = [weight.detach().clone() for weight in self._weights()]
        self._index, self._since, self._unimproved, self._best, self._best_model = self._index + 1, step, 0, -1.0, {}

    def _draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Places [K, count], drawn without repeats within a class as long as it has enough samples."""
        return np.stack([np.resize(rng.permutation(rows), count) for rows in self._members])

    def _pool(self, rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Places [K, b] and their embeddings [K, b, d]; the number tells pools of a run apart."""
        rows = self._draw(rng, max(self._params.pool, self._params.proxies))
        return rows, self._embed(rows, number if self._params.pool_images == "augmented" else None)

    def _place(self, rows: np.ndarray, vectors: np.ndarray, centres: np.ndarray) -> None:
        """Algorithm 2: the next proxies are samples of the pool, far from `centres` [K, m, d] and each other."""
        count = self._params.proxies
        picked = [k_center(pool, count, standing)[0] for pool, standing in zip(vectors, centres, strict=True)]
        picked_rows = np.arange(len(rows))[:, None], np.stack(picked)
        self._chosen = torch.from_numpy(rows[picked_rows].ravel())
        self._loss.place(torch.from_numpy(vectors[picked_rows]).to(self._loss.proxies))

    def _refresh(self) -> None:
        """In the variant "samples" the proxies that are shown are the chosen samples as they are embedded now."""
        if self._params.variant == "samples":
            vectors = self._embed(self._chosen.numpy().reshape(len(self._members), -1))
            self._loss.place(torch.from_numpy(vectors).to(self._loss.proxies))

    @torch.no_grad()
    def _embed(self, rows: np.ndarray, pool: int | None = None) -> np.ndarray:
        """Embeddings [..., d] float64 of places [...], bounded, in evaluation mode; the model's mode is put back.

        With the number of a pool the images are augmented.
        """
        training = self._model.training
        self._model.eval()
        parts = np.array_split(rows.ravel(), -(-rows.size // BATCH))
        made = []
        for at, part in enumerate(parts):
            self._emit(Status(EMBEDDING, at * len(part), rows.size))
            if pool is None:
                made.append(self._embed_rows(part))
            else:
                made.append(self._around.embed_augmented(part, pool * len(parts) + at))
        embeddings = torch.cat([bounded(vectors.float()) for vectors in made])
        self._model.train(training)
        return embeddings.cpu().double().numpy().reshape(*rows.shape, -1)

    def _sample(self) -> tuple[np.ndarray, np.ndarray]:
        """Places [n] of the images that are measured and their classes [n]; as many of each, where it has them."""
        spread = np.unique(np.linspace(0, len(self._members) - 1, MEASURED).round().astype(int))
        rng = np.random.default_rng([self._seed, 0, 1])
        count = max(self._params.pool, self._params.proxies, COVERED // len(spread))
        rows = [rng.permutation(self._members[label])[:count] for label in spread]
        return np.concatenate(rows), spread.repeat([len(members) for members in rows])

    def _geometry(self, converged: np.ndarray) -> tuple[int, float, float, float]:
        """Of the proxies [K * m, d] and the measured images: how many, proxy and k-center radius, class distance."""
        rows, labels = self._covered
        vectors = self._embed(rows)
        radius = proxy_radii(vectors, labels, converged, self._loss.classes.cpu().numpy()).mean()
        return len(rows), float(radius), *self._around.class_shape(vectors, labels)

    def _weights(self) -> list[nn.Parameter]:
        return [weight for weight in self._model.parameters() if weight.requires_grad]


def _array(vectors: Tensor) -> np.ndarray:
    return vectors.detach().float().cpu().numpy().copy()


def projection_charts(ended: Projected, history: list[dict[str, float]]) -> tuple[Chart, ...]:
    """Figure 2 of the paper in 2-D (by principal components where d is more), and how the projections went."""
    pictured = ended.classes < PICTURED
    both = np.concatenate([ended.converged[pictured], ended.next[pictured]])
    if both.shape[1] > 2:
        centred = both - both.mean(0)
        both = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    points = np.pad(both, ((0, 0), (0, 2 - both.shape[1])))
    classes = tuple(ended.classes[pictured].tolist())
    half = len(classes)
    x, y = (tuple(points[:, axis].tolist()) for axis in range(2))
    marks = [
        Marks("converged", "boxes", x[:half], y[:half], classes),
        Marks("next", "circles", x[half:], y[half:], classes),
    ]
    first = "Proxies, 2-D" if ended.converged.shape[1] == 2 else "Proxies, first two principal components"
    steps, score = f"{history[-1]['steps']:,.0f}", percentage(ended.map_at_r)
    note = f"Projection {ended.index + 1}: {steps} steps, validation MAP@R {score}."
    numbers = tuple(float(number) for number in range(1, len(history) + 1))

    def over(*curves: tuple[str, str]) -> tuple[Marks, ...]:
        # a run that was resumed from before a curve was measured has gaps in it
        return tuple(
            Marks(title, "line", numbers, tuple(record.get(name, float("nan")) for record in history))
            for title, name in curves
        )

    radii = (
        f"On the same {ended.measured:,} training images each time. Covering radius: from a class's proxies to its "
        "farthest image. Relative: by class distance. Spread: 1 to n k-centers."
    )
    return (
        Chart(first, "", tuple(marks), note),
        Chart(
            "Covering radius and class distance", "projection",
            over(
                ("covering radius", "covering_radius"), ("relative radius", "relative_radius"),
                ("spread", "k_center_radius"), ("class distance", "class_distance"),
            ),
            radii,
        ),
        Chart("Validation MAP@R at the end of each projection", "projection", over(("MAP@R", "MAP@R"))),
        Chart("Steps of each projection", "projection", over(("steps", "steps"))),
    )  # fmt: skip
