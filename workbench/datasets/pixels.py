"""Images decoded once: squares of uint8 in a memory map that training, map and browser share."""

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import BinaryIO

import numpy as np

from workbench import files
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import BadImage, square
from workbench.datasets.pixel_blocks import damage, read_side, write_side
from workbench.files import parts
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem
from workbench.progress import Progress

TELL_EVERY = 0.1  # seconds


def decoded(image_set: ImageSet, cache: Path, progress: Progress) -> tuple[ImageSet, np.ndarray, Path]:
    """Every image of the set as a square of uint8, decoded now or found in the cache.

    Args:
        image_set: what to decode.
        cache: folder of pixel caches; made when missing.
        progress: told ten times a second; may raise Cancelled, which leaves no half cache behind.

    Returns:
        The set without the images that cannot be read (each is in `problems` with its reason), their pixels as a
        read-only memory map [n, S, S, C], and the file.

    Raises:
        Problem: no image can be read, or the cache cannot be written.
    """
    key = "-".join(
        part
        for part in (image_set.fingerprint, f"{image_set.image_size}x{image_set.channels}", image_set.stamp)
        if part
    )
    place = cache / f"{key}.npy"
    found, harm = _cached(image_set, place, progress)
    if found is None:
        if harm:
            progress(f"The cache of images is damaged ({harm}); decoding again, nothing is lost", 0, 0)
        _make_room(image_set, cache)
        bad = _decode(image_set, place, progress)
        with contextlib.suppress(FileNotFoundError):  # told below
            write_side(place, bad)
        found, _ = _cached(image_set, place, progress)
        if found is None:
            raise Problem(f"The cache {place} was changed while it was written.", todo="Try again.")
    if harm:
        said = f"was damaged ({harm}) and was decoded again from the images; nothing is lost"
        found = replace(found[0], remarks=[*found[0].remarks, ("the cache of decoded images", said)]), found[1]
    return *found, place


def _cached(image_set: ImageSet, place: Path, progress: Progress) -> tuple[tuple[ImageSet, np.ndarray] | None, str]:
    """The cache, or None when it is missing or is not exactly what it should be; and how it is damaged, in words."""
    try:
        bad, stored = read_side(place)
        pixels = np.load(place, mmap_mode="r", allow_pickle=False)
        harm = "" if stored is None else damage(place, stored, progress)
    except NO_ARRAY:
        return None, "it cannot be read" if place.exists() else ""
    size, n = image_set.image_size, len(image_set.paths) - len(bad)
    if any(not 0 <= row < len(image_set.paths) for row in bad):
        return None, "its list of images left out is of another set"
    if harm or pixels.dtype != np.uint8 or pixels.shape != (n, size, size, image_set.channels):
        return None, harm or f"it holds {pixels.dtype} {list(pixels.shape)}"
    if stored is None:
        write_side(place, bad)  # a cache of an older Workbench
    return (image_set.without(bad), pixels), ""


def _make_room(image_set: ImageSet, cache: Path) -> None:
    """The cache folder, without what a killed program left there. Raises Problem when the disk is too full."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        parts.remove_dead(cache)
        free = shutil.disk_usage(cache).free
    except OSError as error:
        raise files.explain(error, cache) from error
    needed = len(image_set.paths) * image_set.image_size**2 * image_set.channels
    if needed > free:
        raise Problem(
            f"The decoded images need {needed / 1e9:.2f} GB in {cache}, where {free / 1e9:.2f} GB are free.",
            kept="Nothing was written.",
            todo="Free some space, or choose a smaller image size.",
        )


def _decode(image_set: ImageSet, place: Path, progress: Progress) -> dict[int, str]:
    """Write the pixels of every readable image; returns the rows that are not, with their reasons."""
    n, size, channels = len(image_set.paths), image_set.image_size, image_set.channels
    bad: dict[int, str] = {}
    told = float("-inf")
    with files.atomic_write(place) as file:
        header = _write_header(file, n, size, channels)
        for row in range(n):
            if monotonic() - told >= TELL_EVERY:
                progress("Decoding images", row, n)
                told = monotonic()
            try:
                file.write(square(image_set.read(row), size, channels).tobytes())
            except BadImage as reason:
                bad[row] = str(reason)
        if len(bad) == n:
            row, said = next(iter(bad.items()))
            raise Problem(
                f"None of the {n:,} images can be read; {image_set.paths[row]} {said}.", todo="Choose another data set."
            )
        file.seek(0)
        if _write_header(file, n - len(bad), size, channels) != header:
            raise RuntimeError("numpy's header changed its length with the number of images")
    progress("Decoding images", n, n)
    return bad


def _write_header(file: BinaryIO, n: int, size: int, channels: int) -> int:
    """The .npy header of [n, S, S, C] uint8; its length does not depend on n. Returns where the pixels start."""
    shape = (n, size, size, channels)
    np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return file.tell()
