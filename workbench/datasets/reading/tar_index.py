"""Positions of the samples in a WebDataset tar: read once, kept in the cache, used without unpacking."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isnan
from pathlib import Path
from typing import Any

from workbench import files
from workbench.datasets.images.loader import ENDINGS, MOST_BYTES, display_name
from workbench.datasets.images.scan import Problems
from workbench.files import archives
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem
from workbench.progress import Progress

MOST_LABEL = 1 << 20  # bytes of the file with the class of an image
MOST_NAMED = 9  # endings or fields in a message
LONGEST_NAMED = 60  # letters of one of them
TELL_EVERY = 500  # files
FORM = 3  # of the index
AGAIN = "Get the shard again, or create it again."


@dataclass(slots=True)
class Shard:
    """The samples of one tar, in its order; lists of equal length.

    Args:
        keys: the common part of the names of a sample's files, folders included.
        endings: extensions of the images, such as "jpg".
        starts, sizes: positions of the images' bytes in the tar.
        labels: the class as text.
        problems: (key, reason) of samples that are left out.
    """

    keys: list[str] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which file of a sample is the image, and which has the class.

    Args:
        image: its extension; empty for the first file with the extension of an image.
        label: its extension, such as "cls", "txt" or "json".
        field: in JSON: the name of the class's field, with dots between nested names.
    """

    image: str
    label: str
    field: str


@dataclass(slots=True)
class _Sample:
    key: str
    image: tuple[str, int, int] | None = None  # ending, start, size
    label: str | None = None
    wrong: str = ""


def shard_index(tar: Path, wanted: Wanted, cache: Path, progress: Progress) -> Shard:
    """The samples of a tar; read from `cache` if the tar has not changed since.

    Args:
        tar: not compressed.
        wanted: which files of a sample are used.
        cache: folder of such indices; created if missing.
        progress: called every 500 files, with the bytes read so far; may raise Cancelled.

    Raises:
        Problem: the tar is compressed, truncated or no tar, or the index cannot be written.
    """
    try:
        facts = tar.stat()
    except OSError as error:
        raise Problem(f"{tar} cannot be opened ({error.strerror}).", kept="Nothing was started.", todo=AGAIN) from None
    stamp = [FORM, str(tar.resolve()), facts.st_size, facts.st_mtime_ns, wanted.image, wanted.label, wanted.field]
    kept = cache / f"{tar.stem}-{blake2b(json.dumps(stamp).encode(), digest_size=8).hexdigest()}.json"
    if (stored := _stored(kept, facts.st_size)) is not None:
        return stored
    shard = Shard()
    for sample in _samples(tar, wanted, facts.st_size, progress):
        _take(sample, shard, wanted)
    files.make_folder(cache)
    with files.atomic_write(kept) as file:
        file.write(json.dumps([getattr(shard, name) for name in Shard.__slots__]).encode())
    return shard


def split_name(name: str) -> tuple[str, str]:
    """A file's key and ending: the extension begins after the first dot of the last part, as in webdataset."""
    match = re.fullmatch(r"((?:.*/)?[^./][^./]*)\.([^/]*)", name, re.DOTALL)
    return (match[1], match[2].lower()) if match else ("", "")


def first_contents(tar: Path, wanted: Wanted) -> tuple[list[str], list[str]]:
    """The endings of the files of a tar's first sample (".jpg"), and the fields of its JSON label, if it is one.

    Those that no user would write are left out: empty ones, very long ones, and those with letters that cannot be seen.
    """
    first, endings, fields = "", list[str](), list[str]()
    for member, content in archives.tar_files(tar):
        key, ending = split_name(display_name(member.name))
        if not key:
            continue
        if key != (first := first or key) or len(endings) >= MOST_NAMED:
            break
        endings.append(f".{ending}")
        if ending == wanted.label and ending.rpartition(".")[2] == "json":
            with suppress(ValueError, RecursionError):
                fields = sorted(_fields(json.loads(content.read(MOST_LABEL))))
    return sorted(filter(_can_be_named, endings)), list(filter(_can_be_named, fields))[:MOST_NAMED]


def _can_be_named(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAMED and name.isprintable()


def _fields(value: Any, above: str = "") -> Iterator[str]:
    """Names of the text and whole numbers in a JSON object, with dots between nested names."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _fields(inner, f"{above}.{name}" if above else str(name))
    elif isinstance(value, str | int):
        yield above


def _take(sample: _Sample, shard: Shard, wanted: Wanted) -> None:
    """Add a sample to the shard, or to its problems."""
    if sample.image is None and sample.label is None and not sample.wrong:
        return  # files of another kind, such as a list of classes
    wrong = sample.wrong
    if not wrong and sample.image is None:
        wrong = f"has no image with the ending {wanted.image}" if wanted.image else "has no image"
    if not wrong and sample.label is None:
        wrong = f"has no .{wanted.label} beside it"
    if wrong or sample.image is None or sample.label is None:
        shard.problems.append((sample.key, wrong))
        return
    ending, start, size = sample.image
    shard.keys.append(sample.key)
    shard.endings.append(ending)
    shard.starts.append(start)
    shard.sizes.append(size)
    shard.labels.append(sample.label)


def _samples(tar: Path, wanted: Wanted, size: int, progress: Progress) -> Iterator[_Sample]:
    """Neighbouring files with one key, as one sample."""
    sample = _Sample("")
    for number, (member, content) in enumerate(archives.tar_files(tar)):
        if number % TELL_EVERY == 0:
            progress(f"Looking through {tar.name}", member.offset_data >> 10, size >> 10)
        key, ending = split_name(display_name(member.name))
        if not key:
            continue
        if key != sample.key:
            yield sample
            sample = _Sample(key)
        if member.offset_data + member.size > size:
            raise Problem(f"{tar} is truncated in {member.name[:99]!r}.", kept="Nothing was started.", todo=AGAIN)
        if ending == wanted.label:
            _read_label(sample, content.read(MOST_LABEL + 1), wanted)
        elif ending == wanted.image or (not wanted.image and f".{ending}" in ENDINGS):
            if sample.image is not None and sample.image[0] == ending:
                sample.wrong = f"is in the shard twice as .{ending}"
            elif member.size > MOST_BYTES:
                sample.wrong = f"is over {MOST_BYTES >> 20} MiB"
            elif sample.image is None:
                sample.image = ending, member.offset_data, member.size
    yield sample


def _read_label(sample: _Sample, content: bytes, wanted: Wanted) -> None:
    """The class in the bytes of its file, or why there is none."""
    if len(content) > MOST_LABEL:
        sample.wrong = f"has a .{wanted.label} of over {MOST_LABEL >> 20} MiB"
        return
    try:
        text: Any = content.decode()
        if wanted.label.rpartition(".")[2] == "json":
            text = json.loads(text)
            for name in wanted.field.split(".") if wanted.field else ():
                text = text[name]
    except (ValueError, LookupError, TypeError, RecursionError):
        sample.wrong = f"has a .{wanted.label} without {wanted.field or 'a class'}"
        return
    if isinstance(text, float) and text.is_integer():  # as pandas writes whole numbers with gaps among them
        text = int(text)
    if isinstance(text, float) and not isnan(text):
        sample.wrong = f"has {text:g} in its .{wanted.label}, which is not a class: classes are whole numbers or text"
        return
    if isinstance(text, dict | list | float) or text is None or not str(text).strip():
        sample.wrong = f"has a .{wanted.label} without a class"
        return
    sample.label = str(text).strip()


def _stored(kept: Path, size: int) -> Shard | None:
    """The index in the cache; None if it is missing or damaged."""
    try:
        shard = Shard(*json.loads(kept.read_bytes()))
        shard.problems = [(str(key), str(reason)) for key, reason in shard.problems]
        lengths = {len(getattr(shard, name)) for name in ("keys", "endings", "starts", "sizes", "labels")}
        if len(lengths) != 1:
            return None
        inside = all(0 <= start <= start + long <= size for start, long in zip(shard.starts, shard.sizes, strict=True))
    except NO_ARRAY:
        return None
    return shard if inside else None
