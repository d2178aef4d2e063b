"""Pairs of images that show nearly the same: saved again, resized, brightened or slightly retouched copies.

Two images are compared by the correlation of their brightness in SIDE x SIDE px. It does not see colour, and mirrored
or cropped copies are not found. Of 3,030 photographs of Caltech-101, 43 pairs reach LEAST: those above 0.99 are the
same picture, some with a changed detail or colour, most others the same object once more. Of 303 of them,
all reach it after being saved again, halved, made 10% narrower or grey, and 95% after being made 20% brighter.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

from workbench import jobs
from workbench.datasets.cache.encoded_images import EncodedImages
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import as_picture
from workbench.datasets.split import Split
from workbench.problem import Problem
from workbench.progress import Progress

SIDE = 16  # px of the version that is compared
LEAST = 0.98  # correlation from which a pair counts
MOST_PAIRS = 500  # that are shown
MOST_IMAGES = 150_000  # whose pairs are compared in minutes
SHOWN = 96  # px of a shown picture
AT_ONCE = 1 << 23  # correlations in memory
TELL_EVERY = 500  # images
PARTS = ("train", "held out", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One image of a pair."""

    path: str
    class_name: str
    half: str  # one of PARTS; empty for an image that the split leaves out
    picture: np.ndarray  # uint8 [h, w, 3], at most SHOWN px


@dataclass(frozen=True, slots=True, eq=False)
class NearDuplicate:
    """Two images and the correlation of their brightness, in [LEAST, 1]."""

    similarity: float
    first: Member
    second: Member


@dataclass(frozen=True, slots=True, eq=False)
class NearDuplicates:
    """The most similar pairs, and what all of them amount to."""

    pairs: list[NearDuplicate]  # most similar first, at most MOST_PAIRS
    total: int  # pairs in all
    shared: int  # test images that have a near-duplicate among the training images
    other_class: int  # pairs in all whose images are of different classes


def find(
    image_set: ImageSet, pixels: np.ndarray | EncodedImages, split: Split, copies: Sequence[Sequence[int]],
    progress: Progress,
) -> NearDuplicates:  # fmt: skip
    """Compare every image with every other; `progress` may raise to cancel.

    Args:
        image_set: the decoded set. pixels: its images, as squares or encoded, in its order. split: of its rows.
        copies: groups of rows with the same pixels; their pairs are left out.

    Raises:
        Problem: more than MOST_IMAGES images.
    """
    if len(pixels) > MOST_IMAGES:
        raise Problem(
            f"Near-duplicates are searched among at most {MOST_IMAGES:,} images; this data set has {len(pixels):,}.",
            todo="Limit the classes or the images of each class.",
        )
    parts = {"train": split.train, "held out": split.validation, "test": split.test}
    part_of = np.full(len(pixels), -1)
    for part, rows in enumerate(parts.values()):
        if rows is not None:
            part_of[rows] = part
    group_of = np.full(len(pixels), -1)
    for group, members in enumerate(copies):
        group_of[list(members)] = group
    pairs, totals = _pairs(brightness(pixels, progress), image_set.labels, part_of, group_of, progress)

    def member(row: int) -> Member:
        half = PARTS[part_of[row]] if part_of[row] >= 0 else ""
        class_name = image_set.class_names[image_set.labels[row]]
        return Member(image_set.paths[row], class_name, half, _thumbnail(pixels, row))

    return NearDuplicates(
        [NearDuplicate(similarity, member(first), member(second)) for similarity, first, second in pairs], *totals
    )


def brightness(pixels: np.ndarray | EncodedImages, progress: Progress) -> np.ndarray:
    """Of each image SIDE x SIDE values of brightness: mean 0, unit length; zeros where all is equally bright.

    Returns:
        [n, SIDE * SIDE] float32.
    """
    values = np.empty((len(pixels), SIDE * SIDE), np.float32)
    with closing(jobs.in_threads(partial(_grey, pixels), range(len(pixels)), jobs.cores(), ahead=4)) as greys:
        for row, grey in enumerate(greys):
            if row % TELL_EVERY == 0:
                progress("Reading images", row, len(pixels))
            centred = grey - grey.mean()
            values[row] = centred / max(float(np.linalg.norm(centred)), 1.0)
    return values


def _pairs(
    values: np.ndarray, labels: np.ndarray, part_of: np.ndarray, group_of: np.ndarray, progress: Progress
) -> tuple[list[tuple[float, int, int]], tuple[int, int, int]]:
    """The most similar pairs of rows, and the three totals of NearDuplicates."""
    count, total, other_class = len(values), 0, 0
    shared = np.zeros(count, bool)
    best = np.empty((0, 3))
    block = max(1, AT_ONCE // max(1, count))
    for start in range(0, count, block):
        progress("Comparing images", start, count)
        correlation = values[start : start + block] @ values[start:].T
        first, second = np.nonzero(correlation >= LEAST)
        similarity = correlation[first, second]
        first, second = first + start, second + start
        wanted = (second > first) & ((group_of[first] < 0) | (group_of[first] != group_of[second]))
        first, second, similarity = first[wanted], second[wanted], similarity[wanted]
        total += len(first)
        other_class += int((labels[first] != labels[second]).sum())
        for these, those in ((first, second), (second, first)):
            shared[these[(part_of[these] == 2) & (part_of[those] == 0)]] = True
        most = np.argsort(-similarity, kind="stable")[:MOST_PAIRS]  # frames of a video are millions of pairs
        best = np.concatenate([best, np.stack([similarity[most], first[most], second[most]], axis=1)])
        best = best[np.argsort(-best[:, 0], kind="stable")[:MOST_PAIRS]]
    pairs = [(min(1.0, float(similarity)), int(first), int(second)) for similarity, first, second in best]
    return pairs, (total, int(shared.sum()), other_class)


def _grey(pixels: np.ndarray | EncodedImages, row: int) -> np.ndarray:
    picture = _picture(pixels, row, SIDE).convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return np.asarray(picture, np.float32).ravel()


def _thumbnail(pixels: np.ndarray | EncodedImages, row: int) -> np.ndarray:
    picture = _picture(pixels, row, SHOWN).convert("RGB")
    picture.thumbnail((SHOWN, SHOWN))
    return np.asarray(picture)


def _picture(pixels: np.ndarray | EncodedImages, row: int, side: int) -> Image.Image:
    return pixels.small(row, side) if isinstance(pixels, EncodedImages) else as_picture(pixels[row])
