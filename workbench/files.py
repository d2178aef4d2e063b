"""Files that are whole or not there: atomic writes and hashes."""

import contextlib
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write beside `path`, then move into place; on any failure the old file stays and nothing is left behind."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def digest(path: Path) -> str:
    """The file's blake2b hash, 16 bytes, as hexadecimal text."""
    with path.open("rb") as file:
        found = blake2b(digest_size=16)
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()
