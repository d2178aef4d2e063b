"""Images decoded once: squares of uint8 in a memory map that training, map and browser share."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from workbench import files
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import BadImage, square
from workbench.problem import Problem

TELL_EVERY = 64  # images
Progress = Callable[[str, int, int], None]


def decoded(image_set: ImageSet, cache: Path, progress: Progress) -> tuple[ImageSet, np.ndarray, Path]:
    """Every image of the set as a square of uint8, decoded now or found in the cache.

    Args:
        image_set: what to decode.
        cache: folder of pixel caches; made when missing.
        progress: told now and then; may raise Cancelled, which leaves no half cache behind.

    Returns:
        The set without the images that cannot be read (each is in `problems` with its reason), their pixels as a
        read-only memory map [n, S, S, C], and the file.

    Raises:
        Problem: no image can be read, or the cache cannot be written.
    """
    key = f"{image_set.fingerprint}-{image_set.image_size}x{image_set.channels}"
    place, list_of_bad = cache / f"{key}.npy", cache / f"{key}.json"
    found = _cached(image_set, place, list_of_bad)
    if found is not None:
        return *found, place
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise files.explain(error, cache) from error
    bad = _decode(image_set, place, progress)
    with files.atomic_write(list_of_bad) as file:
        file.write(json.dumps({str(row): reason for row, reason in bad.items()}).encode())
    found = _cached(image_set, place, list_of_bad)
    if found is None:
        raise Problem(f"The cache {place} was changed while it was written.", todo="Try again.")
    return *found, place


def _cached(image_set: ImageSet, place: Path, list_of_bad: Path) -> tuple[ImageSet, np.ndarray] | None:
    """The cache, or None when it is missing or is not exactly what it should be."""
    try:
        bad = {int(row): str(reason) for row, reason in json.loads(list_of_bad.read_text("utf-8")).items()}
        pixels = np.load(place, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    size, n = image_set.image_size, len(image_set.paths) - len(bad)
    if pixels.dtype != np.uint8 or pixels.shape != (n, size, size, image_set.channels):
        return None
    return image_set.without(bad), pixels


def _decode(image_set: ImageSet, place: Path, progress: Progress) -> dict[int, str]:
    """Write the pixels of every readable image; returns the rows that are not, with their reasons."""
    n, size, channels = len(image_set.paths), image_set.image_size, image_set.channels
    bad: dict[int, str] = {}
    raw = place.with_suffix(".part")
    try:
        with raw.open("wb") as file:
            for row in range(n):
                try:
                    file.write(square(image_set.read(row), size, channels).tobytes())
                except BadImage as reason:
                    bad[row] = str(reason)
                if row % TELL_EVERY == 0:
                    progress("Decoding images", row, n)
        if len(bad) == n:
            row, reason = next(iter(bad.items()))
            raise Problem(
                f"None of the {n:,} images can be read; {image_set.paths[row]} {reason}.",
                todo="Choose another data set.",
            )
        pixels = np.memmap(raw, np.uint8, "r", shape=(n - len(bad), size, size, channels))
        with files.atomic_write(place) as whole:
            np.save(whole, pixels, allow_pickle=False)
        del pixels  # Windows cannot remove a file that is mapped
    except OSError as error:
        raise files.explain(error, place) from error
    finally:
        raw.unlink(missing_ok=True)
    progress("Decoding images", n, n)
    return bad
