"""Image files decoded by processes: Pillow holds the interpreter lock for a sixth of the time, which bounds threads.

They run decode_server.py.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Protocol

from workbench.datasets.cache.unfinished import Facts, Rows
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.loader import BadImage, Picture
from workbench.jobs import BytePool

MODULE = "workbench.datasets.cache.decode_server"
LEAST_CORES = 6  # fewer threads share the interpreter without much waiting; on two cores processes are slower
MOST_PROCESSES = 16  # 60 MB each; hashing and writing, by one thread, does not keep up with more
LEAST_FILES = 4000  # starting a process takes as long as decoding 200


class Format(Protocol):
    """What one image becomes in the file of a cache."""

    @property
    def size(self) -> int:
        """Side of the squares, px."""

    @property
    def side(self) -> int:
        """The short side that is kept of an image at most, px."""

    @property
    def channels(self) -> int:
        """1 or 3."""

    @property
    def ending(self) -> str:
        """Of the file's name, with the dot; names the format."""

    def kept(self, image: Picture) -> tuple[bytes, Facts]:
        """One image as it is stored in the file, and its entry in the index at the end."""


def decoders(files: int, cores: int) -> BytePool | None:
    """Processes to decode this many files, or None if threads are as fast."""
    if cores < LEAST_CORES or files < LEAST_FILES:
        return None
    return BytePool(MODULE, [], min(MOST_PROCESSES, cores))


def read_rows(
    read: Callable[[int], Picture], rows: Iterable[int], form: Format, given_up: Callable[[], bool] = lambda: False
) -> Rows:
    """Some images as they are stored, up to the one before which `given_up` is true."""
    kept: list[bytes] = []
    made = Rows(b"", [], {})
    for at, row in enumerate(rows):
        if given_up():
            break
        try:
            payload, facts = form.kept(read(row))
        except BadImage as reason:
            made.bad[at] = str(reason)
        else:
            kept.append(payload)
            made.facts.append(facts)
    return replace(made, payload=b"".join(kept))


def read_apart(pool: BytePool, files: ImageFiles, rows: range, form: Format) -> Rows:
    """As `read_rows`, by one of the processes. Raises Problem if it ends."""
    part = asdict(replace(files, paths=[files.paths[row] for row in rows])) | {"root": str(files.root)}
    answer = pool.answer({"files": part, "ending": form.ending, "form": [form.size, form.channels, form.side]})
    end = answer.index(b"\n")
    said, payload = json.loads(answer[:end]), bytes(memoryview(answer)[end + 1 :])
    bad = {int(at): str(reason) for at, reason in said["bad"].items()}
    return Rows(payload, [tuple(map(int, facts)) for facts in said["facts"]], bad)
