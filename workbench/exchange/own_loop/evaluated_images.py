"""The test images of a training loop of the user's own: labels, and pixels where it has them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import numpy as np

from workbench.config import OWN_LOOP
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.image_set import ImageSet
from workbench.exchange.imported import labelled_embeddings
from workbench.exchange.imported.importing import check_searchable
from workbench.exchange.imported.named_arrays import KEPT as NOT_IMPORTED
from workbench.exchange.imported.tables import are_images
from workbench.exchange.own_loop.arguments import encodable
from workbench.problem import UNSTARTED, Problem
from workbench.progress import quiet
from workbench.workspace import Workspace

ADD_PATHS = "Give `paths`, from that folder on, in the order of the labels."


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedImages:
    """Images that are evaluated, as a data set of their own or as a part of one that the workspace has."""

    images: ImageSet  # those of `rows`
    rows: np.ndarray  # [m] int64 of the n labels that were given: without images that cannot be read
    fingerprint: str  # of the data set
    cache: Path | None = None  # of their pixels
    dataset: int | None = None  # its number, where another run of the workspace has read it


def of_loop(
    words: list[str],
    paths: Sequence[str | PurePath],
    images: Path | np.ndarray | None,
    image_size: int,
    place: Path,
) -> EvaluatedImages:
    """Images of a loop's own, decoded into the folder `place`; the arguments are those of `own_loop.record_run`.

    Raises:
        Problem: labels or images that cannot be used, as in `labelled_embeddings`.
    """
    relative = _relative(paths, images if isinstance(images, Path) else None)
    if relative and len(relative) != len(words):
        raise Problem(f"There are {len(words):,} labels, but {len(relative):,} paths.", kept=UNSTARTED)
    if images is not None and not isinstance(images, Path):
        _check_pixels(images, len(words))
    if isinstance(images, Path) and not relative:
        raise Problem(f"Which image of {images} belongs to which label is not known.", kept=UNSTARTED, todo=ADD_PATHS)
    try:
        numbers, classes = labelled_embeddings.numbered(words, Path("labels"))
        every = labelled_embeddings.image_set(numbers, classes, relative or None, images, image_size, quiet)
        every = replace(every, name=OWN_LOOP)
        kept, cache = every, None
        if every.image_size:
            kept, _, cache = decoded(every, place, quiet)
        check_searchable(kept)
    except Problem as problem:
        if problem.kept != NOT_IMPORTED:
            raise
        raise Problem(problem.what, kept=UNSTARTED, todo=problem.todo) from None
    row_of: dict[str, int] = {path: row for row, path in enumerate(every.paths)}
    rows = np.array([row_of[path] for path in kept.paths], np.int64)
    return EvaluatedImages(kept, rows, kept.fingerprint, cache)


def of_run(workspace: Workspace, run_id: int, words: list[str], paths: Sequence[str | PurePath]) -> EvaluatedImages:
    """Images of the data set of another run, by their paths in it.

    Raises:
        Problem: the run has read no data, has no image of such a path, or has another label for it; labels among which
            there is nothing to find.
    """
    labelled_embeddings.numbered(words, Path("labels"))
    number = workspace.run(run_id).dataset_id
    if number is None:
        raise Problem(f"Run {run_id} has not read its data yet.", kept=UNSTARTED, todo="Wait until it trains.")
    data, samples = workspace.dataset(number), workspace.samples(number)
    if not samples.paths:
        raise Problem(f"The data set of run {run_id} has no images.", kept=UNSTARTED)
    relative = _relative(paths, Path(data.root) if data.root else None)
    if len(relative) != len(words):
        raise Problem(f"There are {len(words):,} labels, but {len(relative):,} paths.", kept=UNSTARTED)
    row_of: dict[str, int] = {path: row for row, path in enumerate(samples.paths)}
    missing = next((path for path in relative if path not in row_of), "")
    if missing:
        todo = f"Write paths as that run has them, such as {samples.paths[0]}."
        raise Problem(f"The data set of run {run_id} has no image {missing}.", kept=UNSTARTED, todo=todo)
    rows = np.array([row_of[path] for path in relative], np.int64)
    labels = samples.labels[rows]
    for path, word, name in zip(relative, words, map(data.class_name, labels.tolist()), strict=True):
        if word != name:
            what = f"The label of {path} is {word}, but {name} in run {run_id}."
            raise Problem(what, kept=UNSTARTED, todo="Give the names of the classes as that run has them.")
    images = ImageSet(
        OWN_LOOP, None, relative, labels, list(data.class_names), data.channels, 0, labelled_embeddings.no_image
    )
    return EvaluatedImages(images, np.arange(len(words)), data.fingerprint, dataset=number)


def _relative(paths: Sequence[str | PurePath], root: Path | None) -> list[str]:
    """The paths from the folder of images on; others are as they are, and refused later if they leave it."""
    root = root.absolute() if root is not None else None
    relative = [
        PurePath(path).relative_to(root).as_posix()
        if root is not None and PurePath(path).is_relative_to(root)
        else PurePath(path).as_posix()
        for path in paths
    ]
    encodable(relative, "path")
    twice = next((path for path, count in Counter(relative).items() if count > 1), "")
    if twice:
        raise Problem(f"The path {twice} is there more than once.", kept=UNSTARTED, todo="Give each image once.")
    return relative


def _check_pixels(pixels: np.ndarray, count: int) -> None:
    """Raise TypeError or ValueError unless these are `count` images."""
    if not isinstance(pixels, np.ndarray):
        raise TypeError(f"`images` is a folder or an array of NumPy, not {type(pixels).__name__}.")
    if not are_images(pixels):
        what = f"`images` is {pixels.dtype} {list(pixels.shape)}"
        raise ValueError(f"{what}: write uint8 [n, height, width] or [n, height, width, 3].")
    if len(pixels) != count:
        raise ValueError(f"There are {count:,} labels, but {len(pixels):,} images.")
