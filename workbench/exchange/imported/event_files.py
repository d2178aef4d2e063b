"""Scalars of TensorBoard's event files: TFRecord frames, and the few fields of their protobuf messages.

Read are the old `simple_value` and tensors of the plug-in "scalars", as tensorflow/core/util/event.proto, summary.proto
and tensorboard/plugins/scalar/metadata.py describe them. Everything in a file may be wrong: no length in it is
believed before it is compared with the file, and nothing larger than LARGEST_RECORD is read.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from workbench.exchange.event_records import FOOT, HEAD, is_whole, length_of
from workbench.exchange.imported.foreign_run import MOST_CURVES, TENSORBOARD, ForeignRun, curve_name
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace.paths import opened

MARK = "tfevents"  # in the name of each event file
LARGEST_RECORD = 1 << 20  # bytes; larger ones hold images, audio or graphs
TELL_EVERY = 2_000  # records
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # protobuf's wire types
LONGEST_VARINT = 10  # bytes
SCALARS = b"scalars"  # the plug-in
FLOAT, DOUBLE = 1, 2  # TensorProto's dtypes, with the field of their values and their format
TENSORS = {FLOAT: (5, "<f"), DOUBLE: (6, "<d")}


@dataclass(frozen=True, slots=True)
class EventFolder:
    """A folder with event files: one run."""

    path: Path
    name: str  # its path below the folder that was searched, with "/"; that folder's own name for itself
    files: tuple[str, ...]  # by name, which begins with the moment in which each was made
    size: int  # bytes


def read_folder(folder: EventFolder, progress: Progress) -> ForeignRun:
    """The scalars in the event files of one folder, the first file first: a later point at a step replaces it.

    A file that ends in a record, as while it is written, or whose frames are broken, is read up to there.

    Args:
        progress: called with the bytes that are read; may raise Cancelled.
    """
    run = ForeignRun(visible_name(folder.name), str(folder.path.absolute()), TENSORBOARD)
    scalars, before = set[str](), 0
    for name in folder.files:
        try:
            with opened(folder.path / name) as file:
                size = os.fstat(file.fileno()).st_size
                for number, (at, data, foot) in enumerate(_records(file, size, run)):
                    if number % TELL_EVERY == 0:
                        progress(f"Reading {run.name}", before + at, folder.size)
                    _take(data, foot, run, scalars)
            before += size
        except (OSError, Problem):
            run.left_out[f"{visible_name(name)}, which is a link or cannot be opened"] += 1
    return run


def _records(file: BinaryIO, size: int, run: ForeignRun) -> Iterator[tuple[int, bytes, bytes]]:
    """The data of each record that may have scalars, and its checksum, with the position before it."""
    at = 0
    while at < size:
        head = file.read(HEAD)
        if len(head) < HEAD:
            run.left_out["files that end within a record"] += 1
            return
        length = length_of(head)
        if length is None:
            run.left_out["rests of files after a wrong length"] += 1
            return
        if at + HEAD + length + FOOT > size:
            run.left_out["files that end within a record"] += 1
            return
        if length <= LARGEST_RECORD:
            yield at, file.read(length), file.read(FOOT)
        else:
            file.seek(length + FOOT, os.SEEK_CUR)
        at += HEAD + length + FOOT


def _take(data: bytes, foot: bytes, run: ForeignRun, scalars: set[str]) -> None:
    """Add the scalars of one record; the checksum is compared only where there are any, it takes the longest."""
    try:
        seconds, step, points = _points(data, scalars)
    except ValueError:
        run.left_out["records that cannot be read"] += 1
        return
    if not points:
        return
    if not is_whole(data, foot):
        run.left_out["records with a wrong checksum"] += 1
        return
    run.written_at(seconds)
    for tag, value in points:
        run.add(tag, step, value)


def _points(event: bytes, scalars: set[str]) -> tuple[float, int, list[tuple[str, float]]]:
    """The seconds since 1970 and the step of an Event message, and its scalars by tag. Raises ValueError."""
    seconds, step, points = 0.0, 0, list[tuple[str, float]]()
    for number, wire, content in _fields(event):
        if (number, wire) == (1, FIXED64):
            (seconds,) = struct.unpack("<d", _bytes(content))
        elif (number, wire) == (2, VARINT):
            step = _whole(content)
            step -= (step >> 63) << 64  # two's complement
        elif (number, wire) == (5, BYTES):
            for of_value, its_wire, value in _fields(_bytes(content)):
                if (of_value, its_wire) == (1, BYTES) and (point := _scalar(_bytes(value), scalars)) is not None:
                    points.append(point)
    return seconds, step, points


def _scalar(value: bytes, scalars: set[str]) -> tuple[str, float] | None:
    """The tag and the number of a Summary.Value; None for images, histograms and other things. Raises ValueError.

    `scalars` are the tags that the plug-in has named before: it need not name them again.
    """
    tag, tensor, plugin = "", b"", b""
    number: float | None = None
    for of_value, wire, content in _fields(value):
        match of_value, wire:
            case 1, 2:
                tag = curve_name(_bytes(content).decode("utf-8", "replace"))
            case 2, 5:
                (number,) = struct.unpack("<f", _bytes(content))
            case 8, 2:
                tensor = _bytes(content)
            case 9, 2:
                plugin = _plugin(_bytes(content))
    if number is None and tensor and (plugin == SCALARS or (not plugin and tag in scalars)):
        number = _number(tensor)
        if len(scalars) < MOST_CURVES:
            scalars.add(tag)
    return None if number is None else (tag, number)


def _plugin(metadata: bytes) -> bytes:
    """The plug-in that a SummaryMetadata names."""
    for number, wire, content in _fields(metadata):
        if (number, wire) == (1, BYTES):
            return b"".join(_bytes(name) for of_data, w, name in _fields(_bytes(content)) if (of_data, w) == (1, BYTES))
    return b""


def _number(tensor: bytes) -> float | None:
    """The one number of a TensorProto; None for another type, or another amount of numbers."""
    dtype, content, values = 0, b"", dict[int, bytes]()
    for number, wire, part in _fields(tensor):
        if (number, wire) == (1, VARINT):
            dtype = _whole(part)
        elif (number, wire) == (4, BYTES):
            content = _bytes(part)
        elif number in (5, 6) and wire != VARINT:
            values[number] = values.get(number, b"") + _bytes(part)
    of_type, form = TENSORS.get(dtype, (0, ""))
    packed = content or values.get(of_type, b"")
    return float(struct.unpack(form, packed)[0]) if form and len(packed) == struct.calcsize(form) else None


def _fields(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a protobuf message: number, wire type, and its whole number or bytes. Raises ValueError."""
    at, size = 0, len(message)
    while at < size:
        key, at = _varint(message, at)
        wire = key & 7
        if wire == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, wire, value
            continue
        if wire == BYTES:
            length, at = _varint(message, at)
        else:
            length = {FIXED64: 8, FIXED32: 4}.get(wire, size + 1)
        if at + length > size:
            raise ValueError("a field is longer than its message, or of an unknown type")
        yield key >> 3, wire, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, and the position behind it. Raises ValueError."""
    value = 0
    for place in range(LONGEST_VARINT):
        if at + place >= len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (1 << 64) - 1, at + place + 1
    raise ValueError("a number does not end")


def _whole(content: int | bytes) -> int:
    assert isinstance(content, int)  # of wire type VARINT
    return content


def _bytes(content: int | bytes) -> bytes:
    assert isinstance(content, bytes)  # of any other
    return content
