"""Classes that are added after training: how many images stored of each are enough to put new images into them.

Few-shot classification in episodes of N classes (Vinyals et al., 2016; Snell et al., 2017), and among all classes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.evaluation.conventions import Between, rows_of_classes
from workbench.results.stored import Stored
from workbench.workspace.measured.deployments import Episodes, NewClasses, Shots

SHOTS = (1, 2, 5, 10, 20)  # images stored of each class
EPISODES = ((5, 1), (5, 5), (20, 1), (20, 5))  # classes and images of each: the usual ones of Omniglot
REPEATS, QUERIES = 600, 15  # episodes of each kind, and queries of each class in one, as miniImageNet is reported
DRAWS = 20  # of the images that are stored
MOST_STORED = 100_000  # images in a draw
MOST_QUERIES = 1_000  # in a draw
BLOCK = 2**22  # similarities held at once
LEVEL = 0.95
SEED = 0


def few_shot_sentence(measured: Mapping[str, Any]) -> str:
    """What was measured, in words, of NewClasses as plain data with "trained_on"."""
    if not measured["points"]:
        return "New classes were not measured: no two classes have two images."
    classes, there = measured["classes"], measured["classes_there"]
    some = f"{classes:,}" if classes == there else f"{classes:,} of {there:,}"
    said = (
        f"A few images of each of {some} classes are stored, and {measured['queries']:,} others are classified. Ranges "
        f"hold 95% of {measured['draws']} draws of the stored images."
    )
    return with_training(said, measured["trained_on"])


def with_training(said: str, trained_on: bool | None) -> str:
    """What was measured of classes, and whether they were in training; None: that is not known."""
    if trained_on is None:
        return f"{said} It is not known whether these classes were in training."
    return f"{said} These classes were in training: new ones will do worse." if trained_on else said


def new_classes(stored: Stored, between: Between = lambda: None) -> NewClasses:
    """Measure how often images are put into their class when few of each class are stored.

    Args:
        stored: compared by cosine or by Euclidean distance; queries and gallery count alike.
        between: called after each draw and now and then between episodes; may raise Cancelled.

    Returns:
        No points where no two classes have two images. All points are of the same classes: those with more images than
        are stored of each in the last one, in which at least half of the classes with two images still take part.
    """
    rows = rows_of_classes(stored.labels)
    several = [of_class for of_class in rows if len(of_class) > 1]
    points, classes, queries = list[Shots](), list[np.ndarray](), 0
    if len(several) > 1:
        shots = _shots(np.array([len(of_class) for of_class in several]))
        classes = [of_class for of_class in several if len(of_class) > shots[-1]]
        points, queries = _among_all(stored, classes, shots, between)
    episodes = [made for ways, count in EPISODES if (made := _episodes(stored, rows, ways, count, between)) is not None]
    return NewClasses(len(classes), len(rows), DRAWS if points else 0, queries, points, episodes)


def _shots(counts: np.ndarray) -> list[int]:
    """The numbers of stored images for classes of so many images each [c], all of them 2 or more."""

    def fits(images: int) -> bool:
        taking_part = int((counts > images).sum())
        return taking_part >= max(2, len(counts) / 2) and taking_part * images <= MOST_STORED

    return [images for images in SHOTS if images == 1 or fits(images)]


def _among_all(
    stored: Stored, classes: Sequence[np.ndarray], shots: Sequence[int], between: Between
) -> tuple[list[Shots], int]:
    """The accuracy for each number of stored images, and how many queries a draw has."""
    random, most = np.random.default_rng(SEED), shots[-1]
    right = np.empty((DRAWS, 2, len(shots)))  # by mean, by nearest
    share, queries = max(1, MOST_QUERIES // len(classes)), 0
    for draw in range(DRAWS):
        drawn = [random.permutation(of_class) for of_class in classes]
        asked = [of_class[most : most + share] for of_class in drawn]
        truth = np.repeat(np.arange(len(classes)), [len(of_class) for of_class in asked])
        chosen = np.sort(random.permutation(len(truth))[:MOST_QUERIES])
        queries = len(chosen)
        kept = stored.vectors(np.concatenate([of_class[:most] for of_class in drawn])).reshape(len(classes), most, -1)
        asking = stored.vectors(np.concatenate(asked)[chosen])
        right[draw] = accuracies(asking, truth[chosen], kept, shots, stored.distance)
        between()
    return [Shots(images, spread(right[:, 0, at]), spread(right[:, 1, at])) for at, images in enumerate(shots)], queries


def spread(values: np.ndarray) -> tuple[float, float, float]:
    """The mean of values [r], one of each draw, and the limits between which 95% of them lie."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(values.mean()), float(low), float(high)


def accuracies(
    asking: np.ndarray, truth: np.ndarray, kept: np.ndarray, shots: Sequence[int], distance: str
) -> np.ndarray:
    """Shares of right queries [2, s], by the mean and by the nearest of the first images that are stored.

    Args:
        asking: [q, d] float64. truth: [q] the class of each. kept: [c, k, d] stored images.
    """
    right = np.zeros((2, len(shots)))
    step = max(1, BLOCK // (kept.shape[0] * kept.shape[1]))
    means = [class_means(kept[:, :images], distance) for images in shots]
    for start in range(0, len(asking), step):
        part, labels = asking[start : start + step], truth[start : start + step]
        for at, centres in enumerate(means):
            right[0, at] += (similarities(part, centres, distance).argmax(axis=1) == labels).sum()
        to_all = similarities(part, kept.reshape(-1, kept.shape[2]), distance).reshape(len(part), *kept.shape[:2])
        np.maximum.accumulate(to_all, axis=2, out=to_all)
        for at, images in enumerate(shots):
            right[1, at] += (to_all[:, :, images - 1].argmax(axis=1) == labels).sum()
    return right / len(asking)


def class_means(kept: np.ndarray, distance: str) -> np.ndarray:
    """The prototype [c, d] of each class, from its stored images [c, k, d]: their mean, for cosine of length one."""
    means = kept.mean(axis=1)
    if distance != "cosine":
        return np.asarray(means)
    sizes = np.sqrt(np.einsum("ij,ij->i", means, means))[:, None]
    return np.asarray(np.divide(means, sizes, out=np.zeros_like(means), where=sizes > 0))


def similarities(queries: np.ndarray, others: np.ndarray, distance: str) -> np.ndarray:
    """How similar vectors [q, d] and [m, d] are, [q, m]: cosine of unit vectors, else the nearest has the most."""
    products = queries @ others.T
    if distance == "cosine":
        return np.asarray(products)
    return np.asarray(2 * products - np.einsum("ij,ij->i", others, others))


def _episodes(stored: Stored, rows: Sequence[np.ndarray], ways: int, shots: int, between: Between) -> Episodes | None:
    """Episodes of `ways` classes; None where fewer classes have an image more than `shots`."""
    able = [of_class for of_class in rows if len(of_class) > shots]
    if len(able) < ways:
        return None
    random, accuracies = np.random.default_rng(SEED), np.empty(REPEATS)
    for repeat in range(REPEATS):
        chosen = [random.permutation(able[at]) for at in random.choice(len(able), ways, replace=False)]
        asked = [of_class[shots : shots + QUERIES] for of_class in chosen]
        kept = stored.vectors(np.concatenate([of_class[:shots] for of_class in chosen])).reshape(ways, shots, -1)
        scores = similarities(
            stored.vectors(np.concatenate(asked)), class_means(kept, stored.distance), stored.distance
        )
        right = scores.argmax(axis=1) == np.repeat(np.arange(ways), [len(of_class) for of_class in asked])
        accuracies[repeat] = right.mean()
        if repeat % 50 == 0:
            between()
    half_width = 1.96 * accuracies.std(ddof=1) / REPEATS**0.5
    return Episodes(ways, shots, float(accuracies.mean()), float(half_width))
