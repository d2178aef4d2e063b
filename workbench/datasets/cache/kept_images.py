"""Images decoded once into one file of the cache: its name, its check, and its making."""

import contextlib
import shutil
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import BinaryIO, Protocol, TypeVar

import numpy as np

from workbench import files, jobs
from workbench.datasets.cache import unfinished
from workbench.datasets.cache.decode_processes import Format, decoders, read_apart, read_rows
from workbench.datasets.cache.pixel_blocks import damage, read_side, write_side
from workbench.datasets.cache.unfinished import Rows
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.loader import Picture
from workbench.datasets.images.packed_images import PackedImages
from workbench.files import parts
from workbench.files.unreadable import NO_ARRAY
from workbench.numerals import byte_size
from workbench.problem import Problem
from workbench.progress import Progress

WAITS = "Waiting for another run, which decodes the same images"
TELL_EVERY = 0.1  # seconds
FILES_AT_ONCE = 8  # files that a thread takes at a time: one at a time is a tenth slower with two threads
THREADS_BEYOND_CORES = 1  # so that a core has work while another thread waits for the interpreter lock
SAMPLE = 64  # images that are measured where there is no room for the most that all can take
SPARE = 1.2  # room for a set that takes more than its sample
AT_ONCE = 64  # images at a time of a set in memory, which take microseconds each
Reader = TypeVar("Reader", covariant=True)


class Form(Format, Protocol[Reader]):
    """A format in which images are stored in a file."""

    @property
    def name(self) -> str:
        """Part of the file's name: what, besides the images, decides its content."""

    def room(self, count: int) -> int:
        """About how many bytes `count` images need."""

    def head(self, count: int) -> bytes:
        """The first bytes of a file of `count` images; always of the same length."""

    def finish(self, file: BinaryIO, facts: np.ndarray) -> None:
        """Write the index [n, numbers of an entry] after the images, and the head for their final number."""

    def opened(self, path: Path, count: int) -> Reader:
        """The images of a file. Raises ValueError, which says what the file has instead, and OSError."""


def kept_images(
    image_set: ImageSet, cache: Path, form: Form[Reader], progress: Progress
) -> tuple[ImageSet, Reader, Path]:
    """Every image of the set in that form, decoded now on all cores or read from the cache.

    Args:
        image_set: what to decode.
        cache: folder of such files; created if missing.
        form: their format.
        progress: called ten times a second; may raise Cancelled. The next call continues with what was decoded. Where
            another program decodes the same images, its end is waited for.

    Returns:
        The set without the images that cannot be read (each is in `problems` with its reason), their reader, and the
        file.

    Raises:
        Problem: no image can be read, or the cache cannot be written.
    """
    path = _path(image_set, cache, form)
    harm = ""
    cached, _ = _cached(image_set, path, form, progress)
    if cached is None:  # what is decoded now bears its own times: it may have been listed long ago
        image_set, before = replace(image_set), path
        path = _path(image_set, cache, form)
        if path != before:
            cached, _ = _cached(image_set, path, form, progress)
    if cached is None:
        _prepare(cache)
        with unfinished.turn(path, lambda: progress(WAITS, 0, 0)) as journal:
            cached, harm = _cached(image_set, path, form, progress)  # another program may have made it meanwhile
            if cached is None:
                if harm:
                    progress(f"The cache of images is damaged ({harm}); decoding again, nothing is lost", 0, 0)
                _refuse_without_room(image_set, cache, form)
                _decode(image_set, path, form, progress, journal)
                cached, _ = _cached(image_set, path, form, progress)
        if cached is None:
            raise Problem(f"The cache {path} was changed while it was written.", todo="Try again.")
    if harm:
        said = f"was damaged ({harm}) and was decoded again from the images; nothing is lost"
        cached = replace(cached[0], remarks=[*cached[0].remarks, ("the cache of decoded images", said)]), cached[1]
    return *cached, path


def _path(image_set: ImageSet, cache: Path, form: Form[Reader]) -> Path:
    """The file of the images as they were when they were listed."""
    key = "-".join(part for part in (image_set.fingerprint, form.name, image_set.stamp) if part)
    return cache / f"{key}{form.ending}"


def _cached(
    image_set: ImageSet, path: Path, form: Form[Reader], progress: Progress
) -> tuple[tuple[ImageSet, Reader] | None, str]:
    """The cache, or None if it is missing or not exactly as expected; and how it is damaged, in words."""
    try:
        bad, stored = read_side(path)
        harm = "" if stored is None else damage(path, stored, progress)
    except NO_ARRAY:
        return None, "it cannot be read" if path.exists() else ""
    if any(not 0 <= row < len(image_set.paths) for row in bad):
        return None, "its list of images left out is of another set"
    if harm:
        return None, harm
    try:
        reader = form.opened(path, len(image_set.paths) - len(bad))
    except ValueError as error:
        return None, str(error)
    except NO_ARRAY:
        return None, "it cannot be read"
    if stored is None:
        write_side(path, bad)  # a cache of an older Workbench
    return (image_set.without(bad), reader), ""


def _prepare(cache: Path) -> None:
    """Make the cache folder, without what killed programs left in it."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        parts.remove_dead(cache)
        unfinished.remove_forgotten(cache)
    except OSError as error:
        raise files.explain(error, cache) from error


def _refuse_without_room(image_set: ImageSet, cache: Path, form: Form[Reader]) -> None:
    """Raise Problem if the disk is too full."""
    try:
        free = shutil.disk_usage(cache).free
    except OSError as error:
        raise files.explain(error, cache) from error
    needed = form.room(len(image_set.paths))
    if needed > free:
        needed = _measured(image_set, form)
    if needed > free:
        smaller = "choose a smaller image size" if form.side == form.size else 'set "Short side kept" lower'
        raise Problem(
            f"The decoded images need {byte_size(needed)} in {cache}, where {byte_size(free)} are free.",
            kept="Nothing was written.",
            todo=f"Free some space, or {smaller}.",
        )


def _measured(image_set: ImageSet, form: Form[Reader]) -> int:
    """Bytes to expect, from a sample of the images: those that are smaller than what is kept take less."""
    count = len(image_set.paths)
    rows = range(0, count, max(1, count // SAMPLE))
    sample = read_rows(_reading(image_set, form), rows, form)
    return round(SPARE * len(sample.payload) / len(rows) * count)


def _reading(image_set: ImageSet, form: Form[Reader]) -> Callable[[int], Picture]:
    """What reads an image as large as it is kept."""
    read = image_set.read
    return read.at_least(form.side) if isinstance(read, ImageFiles | PackedImages) else read


def _decode(
    image_set: ImageSet, path: Path, form: Form[Reader], progress: Progress, journal: BinaryIO | None
) -> None:  # fmt: skip
    """Write every readable image, and beside them the rows of the others, with the reasons."""
    count = len(image_set.paths)
    reported = float("-inf")

    def finished(written: unfinished.Unfinished) -> None:
        with contextlib.suppress(FileNotFoundError):  # the caller finds that it is gone
            write_side(path, written.bad)

    with unfinished.going_on(path, form.head(count), finished, journal) as going:
        with contextlib.closing(_read(image_set, form, going.rows)) as images:
            while going.rows < count:
                if monotonic() - reported >= TELL_EVERY:
                    progress("Decoding images", going.rows, count)
                    reported = monotonic()
                going.add(next(images))
        if not going.kept:
            row, said = next(iter(going.bad.items()))
            raise Problem(
                f"None of the {count:,} images can be read; {image_set.paths[row]} {said}.",
                todo="Choose another data set.",
            )
        form.finish(going.file, going.facts)
    progress("Decoding images", count, count)


def _read(image_set: ImageSet, form: Form[Reader], start: int) -> Generator[Rows, None, None]:
    """Images from a row on, in their order, read on all cores; when closed, threads finish their current image."""
    given_up, cores, count = Event(), jobs.cores(), len(image_set.paths)
    at_once = AT_ONCE if image_set.root is None and not image_set.packed_in else FILES_AT_ONCE
    read = _reading(image_set, form)
    files = read if isinstance(read, ImageFiles) else None
    pool = decoders(count - start, cores) if files is not None else None

    def read_range(first: int) -> Rows:
        rows = range(first, min(first + at_once, count))
        if files is not None and pool is not None:
            return Rows(b"", [], {}) if given_up.is_set() else read_apart(pool, files, rows, form)
        return read_rows(read, rows, form, given_up.is_set)

    ranges = range(start, count, at_once)
    threads = cores + THREADS_BEYOND_CORES
    with contextlib.ExitStack() as closed:
        if pool is not None:
            closed.callback(pool.close)
        batches = closed.enter_context(contextlib.closing(jobs.in_threads(read_range, ranges, threads, ahead=4)))
        try:
            yield from batches
        finally:
            given_up.set()
