"""Which images form a batch; a pure function of seed and epoch, so that a run can be resumed."""

import numpy as np

from workbench.datasets.split import rows_by_class
from workbench.params import NoParams, Params, param
from workbench.problem import Problem
from workbench.registry import register

BATCH = "training.batch_size"


@register("sampler", "random", title="Random images", params=NoParams, source="Boudiaf et al. 2020, Section 6.3")
class RandomSampler:
    """Every image once per epoch in a new order; images that do not fill a batch wait for the next epoch.

    Raises:
        Problem: a batch larger than the training set.
    """

    def __init__(self, params: NoParams, *, labels: np.ndarray, batch_size: int, seed: int) -> None:
        if batch_size > len(labels):
            raise Problem(
                f"A batch of {batch_size} is larger than the training set, which has {len(labels)} images.",
                kept="Nothing was started.",
                todo=f"Choose a batch of {len(labels)} or less.",
                field=BATCH,
                fits=len(labels),
            )
        self._images, self._batch, self._seed = len(labels), batch_size, seed
        self.places = np.arange(len(labels))
        self.steps_per_epoch = len(labels) // batch_size

    def batches(self, epoch: int) -> list[np.ndarray]:
        """`steps_per_epoch` arrays of `batch_size` places."""
        order = np.random.default_rng([self._seed, epoch]).permutation(self._images)
        return list(order[: self.steps_per_epoch * self._batch].reshape(self.steps_per_epoch, self._batch))


class LongTailedParams(Params):
    """Parameters of the long-tailed training set."""

    ratio: float = param(
        100.0, ge=1, le=100_000, symbol="ρ",
        help="Ratio of images in the largest class to the smallest; PSCE's Table 4 has 100, 50 and 10.",
    )  # fmt: skip


@register(
    "sampler", "long_tailed", title="Long-tailed", params=LongTailedParams,
    source="Prototype softmax cross entropy, Section 5.2: class i keeps n_max ρ^(-i/(C-1)) images",
)  # fmt: skip
class LongTailedSampler:
    """Random batches from a training set that is made long-tailed: class 0 keeps most images, the last class fewest.

    The seed decides once which images are kept; every class keeps at least one. `kept` counts them, [C].

    Raises:
        Problem: a batch larger than what is kept.
    """

    def __init__(self, params: LongTailedParams, *, labels: np.ndarray, batch_size: int, seed: int) -> None:
        every = rows_by_class(labels)
        most = max(len(rows) for rows in every)
        last = max(1, len(every) - 1)
        shares = [(1 / params.ratio) ** (place / last) for place in range(len(every))]  # not numpy: its powers differ
        rng = np.random.default_rng(seed)
        chosen = [rng.permutation(rows)[: max(1, int(most * share))] for rows, share in zip(every, shares, strict=True)]
        self.kept = np.array([len(rows) for rows in chosen])
        self.places = np.concatenate(chosen)
        self._random = RandomSampler(NoParams(), labels=labels[self.places], batch_size=batch_size, seed=seed)
        self.steps_per_epoch = self._random.steps_per_epoch

    def batches(self, epoch: int) -> list[np.ndarray]:
        """`steps_per_epoch` arrays of `batch_size` places."""
        return [self.places[index] for index in self._random.batches(epoch)]


class ClassesImagesParams(Params):
    """Parameters of batches with several images of each class."""

    images_per_class: int = param(
        4, ge=1, le=1000, symbol="N_c", unit="images",
        help="Images of one class in a batch; the batch size is a multiple of it.",
    )  # fmt: skip


@register(
    "sampler", "classes_images", title="Classes x images", params=ClassesImagesParams,
    source="Wang et al. 2019 (ICE), Section 4.1 (C x N_c batches)",
    images_of_class="images_per_class",
)  # fmt: skip
class ClassesImagesSampler:
    """Batches of some classes with the same number of images each, so that every anchor has positives.

    A class with too few images is filled by drawing some again; if two or more images of each are wanted, classes with
    one image are left out (`left_out` is their number).

    Raises:
        Problem: the batch is not a multiple of the images per class, or needs more classes than there are.
    """

    def __init__(self, params: ClassesImagesParams, *, labels: np.ndarray, batch_size: int, seed: int) -> None:
        per_class = params.images_per_class
        every = rows_by_class(labels)
        self._rows = [rows for rows in every if len(rows) >= min(2, per_class)]
        self.left_out = len(every) - len(self._rows)
        self._classes, rest = divmod(batch_size, per_class)
        if rest:
            near = sorted({max(1, self._classes) * per_class, (self._classes + 1) * per_class})
            raise Problem(
                f"A batch of {batch_size} is not a multiple of {per_class} images per class.",
                kept="Nothing was started.",
                todo=f"Choose a batch of {' or '.join(map(str, near))}.",
                field=BATCH,
                fits=near[0],
            )
        if self._classes > len(self._rows) == 1 and per_class > 1:
            raise Problem(
                f"A batch of {self._classes} classes x {per_class} images needs more classes than the 1 of the "
                "training set that has two images or more: without a second one there is nothing to tell it from.",
                kept="Nothing was started.",
                todo="Choose another split or training fraction, or add images of other classes.",
                field="split.name",
            )
        if self._classes > len(self._rows):
            if per_class == 1:
                what = (
                    f"A batch with one image of each of {self._classes} classes needs more than the {len(self._rows)} "
                )
                what += "classes of the training set."
            else:
                what = f"A batch of {self._classes} classes x {per_class} images needs more classes than the "
                what += f"{len(self._rows)} of the training set that have two images or more."
            raise Problem(
                what,
                kept="Nothing was started.",
                todo=f"Choose a batch of {len(self._rows) * per_class} or less, or more images per class."
                if self._rows
                else "Use a data set with two images or more in each class.",
                field=BATCH if self._rows else "",
                fits=len(self._rows) * per_class or None,
            )
        self._per_class, self._seed = per_class, seed
        self.places = np.arange(len(labels))
        self.steps_per_epoch = max(1, len(labels) // batch_size)

    def batches(self, epoch: int) -> list[np.ndarray]:
        """`steps_per_epoch` arrays of places; classes take turns, so that all are drawn about equally often."""
        rng = np.random.default_rng([self._seed, epoch])
        deck: list[int] = []
        batches = []
        for _ in range(self.steps_per_epoch):
            chosen: list[int] = []
            while len(chosen) < self._classes:
                if not deck:
                    deck = rng.permutation(len(self._rows)).tolist()
                fresh = next((at for at, label in enumerate(deck) if label not in chosen), None)
                if fresh is None:
                    deck = [*deck, *rng.permutation(len(self._rows)).tolist()]
                    continue
                chosen.append(deck.pop(fresh))
            batches.append(np.concatenate([self._draw(rng, self._rows[label]) for label in chosen]))
        return batches

    def _draw(self, rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
        """`images_per_class` of the rows; each once before any comes twice."""
        if (lacking := self._per_class - len(rows)) <= 0:
            return rng.permutation(rows)[: self._per_class]
        again = rng.choice(rows, lacking)  # first, as ever: a run of an earlier version is resumed with its own batches
        return np.concatenate([rng.permutation(rows), again])
