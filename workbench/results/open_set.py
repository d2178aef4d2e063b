"""Open-set identification: is a query of one of the stored classes, and of which, or of none of them?

In each of several draws one half of the classes is stored, and the images of the other half are queries of unknown
classes. A query is given the class of the most similar image, or class mean, if that similarity reaches a threshold.
FPIR, the false positive identification rate, is the share of unknown queries that reach it; DIR, the detection and
identification rate, is the share of known queries that reach it and are given their class, which is 1 - FNIR at rank
one (ISO/IEC 19795-1:2021; NIST IR 8271, face recognition 1:N; Phillips et al., 2011). OSCR is the curve of DIR
against FPIR over all thresholds, there called CCR and FPR (Dhamija et al., 2018). Its area is the share of pairs of a
known and an unknown query in which the known one is given its class and has the higher similarity, ties counted half,
which Wang et al. (2022) call OpenAUC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.evaluation.conventions import Between, rows_of_classes
from workbench.numerals import counted
from workbench.results.few_shot import BLOCK, DRAWS, MOST_STORED, SEED, similarities, spread, with_training
from workbench.results.stored import Stored, comparable
from workbench.workspace.measured.deployments import AtRate, Identified, OpenPoint, OpenSet

SHOTS = (1, 5)  # images stored of each class, beside all of them
RATES = (0.001, 0.01, 0.1)  # FPIR at which DIR and its threshold are stated
USUAL_RATE = 0.01  # of them in a sentence
CURVE = tuple(float(rate) for rate in np.round(np.geomspace(0.001, 1, 31), 6))  # FPIR at which the curve is drawn
MOST_KNOWN, MOST_UNKNOWN = 1_000, 2_000  # queries in a draw
RULES = {"by_nearest": "Nearest image", "by_mean": "Class mean"}
DIGITS = 10  # of a similarity: the last ones differ between matrix kernels


def open_set(stored: Stored, between: Between = lambda: None) -> OpenSet:
    """Measure how well queries of stored classes are identified, and those of other classes are refused.

    All points are of the same draws and queries. Of the classes with two images or more those take part which have
    more images than are stored of each: five if at least half of the classes, and four of them, have more, else one.

    Args:
        stored: compared by cosine or by Euclidean distance; queries and gallery count alike.
        between: called after each draw and number of stored images; may raise Cancelled.

    Returns:
        No points where no two classes have two images.
    """
    rows = rows_of_classes(stored.labels)
    several = [of_class for of_class in rows if len(of_class) > 1]
    if len(several) < 2:
        return OpenSet(0, len(rows), 0, 0, 0, 0, [], [])
    sizes = np.array([len(of_class) for of_class in several])
    fixed = [images for images in SHOTS if images == 1 or _fits(sizes, images)]
    classes = [of_class for of_class in several if len(of_class) > fixed[-1]]
    shots: list[int | None] = [*fixed]
    if any(len(of_class) > fixed[-1] + 1 for of_class in classes):
        shots.append(None)
    random, answers = np.random.default_rng(SEED), list[list[tuple[Answers, Answers]]]()
    for _ in range(DRAWS):
        draw = _draw(classes, fixed[-1], random)
        answers.append([])
        for images in shots:
            answers[-1].append(_answers(stored, draw, images))
            between()
    known = min(len(of_draw[0][0].right) for of_draw in answers)
    unknown = min(len(of_draw[0][0].unknown) for of_draw in answers)
    curve, rates = resolved(CURVE, unknown), resolved(RATES, unknown)
    points = [
        OpenPoint(images, *(identified([of_draw[at][rule] for of_draw in answers], rates, curve) for rule in (0, 1)))
        for at, images in enumerate(shots)
    ]
    return OpenSet(len(classes), len(rows), len(classes) // 2, DRAWS, known, unknown, curve, points)


def resolved(rates: Sequence[float], unknown: int) -> list[float]:
    """The rates, each in 0..1, at which at least one of so many unknown queries may reach the threshold."""
    return [rate for rate in rates if rate * unknown >= 1 - 1e-9]


def lowest_limit(negatives: np.ndarray, wanted: float) -> float:
    """The lowest threshold that at most a share `wanted` of these similarities [p] reaches or passes."""
    allowed = min(int(np.floor(wanted * len(negatives) + 1e-9)), len(negatives) - 1)
    first_refused = np.partition(negatives, len(negatives) - 1 - allowed)[len(negatives) - 1 - allowed]
    return float(np.nextafter(first_refused, np.inf))


def share_above(known: np.ndarray, right: np.ndarray, unknown: np.ndarray) -> float:
    """The share of pairs in which a known query [k] is right [k] and more similar than an unknown one [u].

    Ties count half. With all of them right it is the AUROC; with those that are given their class, the area under OSCR.
    """
    ordered = np.sort(unknown)
    below = np.searchsorted(ordered, known, side="left") + np.searchsorted(ordered, known, side="right")
    return float((below[right] / 2).sum() / (len(known) * len(unknown)))


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The top similarity of each query of one draw by one rule."""

    known: np.ndarray  # [k] float64
    right: np.ndarray  # [k] bool, whether the class is the query's own
    unknown: np.ndarray  # [u] float64


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """Rows of the images of one draw."""

    known: list[np.ndarray]  # [c] of each stored class, in the order in which they are stored
    asked: np.ndarray  # [k, 2] class and place in it of each known query
    unknown: np.ndarray  # [u] rows


def _fits(counts: np.ndarray, images: int) -> bool:
    """Whether so many images can be stored of each class, of which there are as many as these counts [c]."""
    taking_part = int((counts > images).sum())
    return taking_part >= max(4, len(counts) / 2) and taking_part * images <= MOST_STORED


def _draw(classes: Sequence[np.ndarray], most: int, random: np.random.Generator) -> _Draw:
    """One half of the classes as stored ones; of these, the images after the first `most` are queries."""
    order, half = random.permutation(len(classes)), len(classes) // 2
    known = [random.permutation(classes[at]) for at in order[:half]]
    others = [random.permutation(classes[at]) for at in order[half:]]
    share = max(1, MOST_KNOWN // half)
    asked = np.array([
        (at, place) for at, of_class in enumerate(known) for place in range(most, min(len(of_class), most + share))
    ])  # fmt: skip
    asked = asked[np.sort(random.permutation(len(asked))[:MOST_KNOWN])]
    share = max(1, MOST_UNKNOWN // len(others))
    unknown = random.permutation(np.concatenate([of_class[:share] for of_class in others]))[:MOST_UNKNOWN]
    return _Draw(known, asked, unknown)


def _answers(stored: Stored, draw: _Draw, images: int | None) -> tuple[Answers, Answers]:
    """The answers by the nearest image and by the class mean."""
    most = max(1, MOST_STORED // len(draw.known)) if images is None else images
    kept = [of_class[:most] for of_class in draw.known]
    starts = np.cumsum([0, *map(len, kept)])
    vectors = stored.vectors(np.concatenate(kept))
    truth, place = draw.asked.T
    rows = np.array([draw.known[at][where] for at, where in draw.asked])
    itself = np.where(place < np.diff(starts)[truth], starts[truth] + place, -1)  # its own place where it is stored
    asking = np.concatenate([stored.vectors(rows), stored.vectors(draw.unknown)])
    itself = np.concatenate([itself, np.full(len(draw.unknown), -1)])
    classes, tops = top_classes(asking, itself, vectors, starts, stored.distance)
    count = len(rows)
    by_nearest, by_mean = (
        Answers(top[:count], of[:count] == truth, top[count:]) for of, top in zip(classes, tops, strict=True)
    )
    return by_nearest, by_mean


def top_classes(
    asking: np.ndarray, itself: np.ndarray, kept: np.ndarray, starts: np.ndarray, distance: str
) -> tuple[np.ndarray, np.ndarray]:
    """The classes [2, q] of queries and their similarities [2, q], by the nearest image and by the class mean.

    A query that is stored does not count as an image of its class. Of classes that are equally similar the first is
    taken.

    Args:
        asking: [q, d] float64. itself: [q] its place among `kept`, or -1; its class has another image.
        kept: [m, d] stored images, class after class. starts: [c + 1] where each class begins, and m.
        distance: "cosine", or Euclidean: the similarity is minus the distance.
    """
    sizes, sums = np.diff(starts), np.add.reduceat(kept, starts[:-1], axis=0)
    means = comparable(sums / sizes[:, None], distance)
    step, count = max(1, BLOCK // len(kept)), len(asking)
    classes, tops = np.empty((2, count), np.int64), np.empty((2, count))
    for start in range(0, count, step):
        part, own = asking[start : start + step], itself[start : start + step]
        there = np.flatnonzero(own >= 0)
        of = np.searchsorted(starts, own[there], side="right") - 1
        to_images, to_means = similarities(part, kept, distance), similarities(part, means, distance)
        to_images[there, own[there]] = -np.inf
        rest = comparable((sums[of] - part[there]) / (sizes[of] - 1)[:, None], distance)
        to_means[there, of] = _paired(part[there], rest, distance)
        for rule, scores in enumerate((np.maximum.reduceat(to_images, starts[:-1], axis=1), to_means)):
            similar = _across_queries(part, scores, distance)
            classes[rule, start : start + step] = similar.argmax(axis=1)
            tops[rule, start : start + step] = similar.max(axis=1)
    return classes, tops


def _paired(queries: np.ndarray, others: np.ndarray, distance: str) -> np.ndarray:
    """What `similarities` gives [q] of pairs of vectors [q, d]."""
    products = np.einsum("ij,ij->i", queries, others)
    return np.asarray(products if distance == "cosine" else 2 * products - np.einsum("ij,ij->i", others, others))


def _across_queries(queries: np.ndarray, scores: np.ndarray, distance: str) -> np.ndarray:
    """Scores of `similarities` [q, c] as similarities that one threshold suits for all queries [q, d]."""
    if distance != "cosine":
        squares = np.einsum("ij,ij->i", queries, queries)[:, None] - scores
        scores = -np.sqrt(np.maximum(squares, 0))
    return np.asarray(np.round(scores, DIGITS))


def identified(draws: Sequence[Answers], rates: Sequence[float], curve: Sequence[float]) -> Identified:
    """The numbers of one rule over the draws, at these FPIR, each in 0..1, and at those of the curve."""
    limits = np.array([
        [lowest_limit(draw.unknown, rate) if rate < 1 else -np.inf for rate in (*rates, *curve)] for draw in draws
    ])  # fmt: skip
    shares = np.array([
        [(draw.right & (draw.known >= limit)).mean() for limit in of_draw]
        for draw, of_draw in zip(draws, limits, strict=True)
    ])  # fmt: skip
    at_rates = [AtRate(rate, spread(shares[:, at]), spread(limits[:, at])) for at, rate in enumerate(rates)]
    return Identified(
        at_rates, shares[:, len(rates) :].mean(axis=0).tolist(),
        spread(np.array([share_above(draw.known, draw.right, draw.unknown) for draw in draws])),
        spread(np.array([share_above(draw.known, np.ones(len(draw.known), bool), draw.unknown) for draw in draws])),
        spread(np.array([draw.right.mean() for draw in draws])),
    )  # fmt: skip


def open_set_sentence(measured: Mapping[str, Any], images: int | None) -> str:
    """What is identified with so many images stored, in words, by the rule with the higher DIR; empty without a rate.

    Args:
        measured: OpenSet as plain data, with this point.
        images: stored of each known class; None: all of them.
    """
    point = next(point for point in measured["points"] if point["images"] == images)
    if not point["by_nearest"]["rates"]:
        return ""
    at = {rule: min(point[rule]["rates"], key=lambda one: abs(one["fpir"] - USUAL_RATE)) for rule in RULES}
    rule = max(RULES, key=lambda rule: at[rule]["dir"][0])
    mean, low, high = (f"{100 * share:.0f}" for share in at[rule]["dir"])
    return (
        f"With {stored_words(images)} of each known class, {mean}% ({low} to {high}) of queries of known classes are "
        f"identified by the {RULES[rule].lower()} when {100 * at[rule]['fpir']:g}% of queries of unknown classes are "
        "taken for a known one."
    )


def open_set_facts(measured: Mapping[str, Any]) -> str:
    """What was measured and what was left out, in words, of OpenSet as plain data with "trained_on"."""
    if not measured["points"]:
        return "Open-set identification was not measured: no two classes have two images."
    classes, there, half = measured["classes"], measured["classes_there"], measured["stored_classes"]
    said = (
        f"In each of {measured['draws']} draws, {counted(half, 'class is', 'classes are')} stored and "
        f"{counted(classes - half, 'is', 'are')} unknown; "
        f"{measured['known']:,} and {measured['unknown']:,} of their images are queries. Ranges hold 95% of the draws."
    )
    if classes != there:
        said += f" {classes:,} of {there:,} classes take part."
    there_too = {rate["fpir"] for rate in measured["points"][0]["by_nearest"]["rates"]}
    for rate in RATES:
        if rate not in there_too:
            said += f" FPIR {100 * rate:g}% needs {round(1 / rate):,} queries of unknown classes and is left out."
    return with_training(said, measured["trained_on"])


def stored_words(images: int | None) -> str:
    """How many images are stored of each class, in words: "1 image stored", "all images stored"."""
    return "all images stored" if images is None else f"{images:,} image{'s' * (images != 1)} stored"
