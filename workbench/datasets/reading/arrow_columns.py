"""The image and label columns of Arrow and Parquet files, read in place; nothing in them is executed.

An image is a struct of `bytes` and `path`, as the library `datasets` stores it, or plain bytes.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from workbench.datasets.images.loader import BadImage
from workbench.files.packages import load
from workbench.files.unreadable import refusing
from workbench.problem import Problem

MOST_GROUP = 2 << 30  # bytes of one row group of a Parquet file, unpacked
GROUPS_HELD = 4  # row groups of Parquet that are in memory at a time
ARROW, PARQUET = ".arrow", ".parquet"
Features = dict[str, dict[str, Any]]


class Images:
    """The encoded images of many files under consecutive numbers; safe to use from several threads."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._loads: list[Callable[[], Any]] = []
        self._count = 0
        self._first_rows = np.empty(0, np.int64)

    def add(self, count: int, load_column: Callable[[], Any]) -> int:
        """Add `count` images, which `load_column` returns as an Arrow array; returns the number of the first."""
        start = self._count
        self._starts.append(start)
        self._loads.append(load_column)
        self._count += count
        return start

    def encoded(self, row: int) -> bytes:
        """The bytes of an image file. Raises BadImage if the record has none."""
        if len(self._first_rows) != len(self._starts):
            self._first_rows = np.array(self._starts, np.int64)
        chunk = int(np.searchsorted(self._first_rows, row, "right")) - 1
        try:
            column = self._loads[chunk]()
        except Problem as problem:
            raise BadImage(f"cannot be read ({problem})") from None
        here = column.slice(row - self._starts[chunk], 1)
        value = bytes_of(here)[0]
        if not here[0].is_valid or not (value.is_valid or _names(here)[0]):
            raise BadImage("has no image in its row")
        if not value.is_valid:
            raise BadImage("is not stored in the file, only its path is")
        return bytes(value.as_buffer())


class Column:
    """One file's part of a data set.

    Args:
        file: .arrow (a stream, as `datasets` writes it, or a file) or .parquet.

    Raises:
        Problem: pyarrow is not installed, or the file cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        with refusing(self._refused):
            self.schema = _parquet_file(file).schema_arrow if self._packed else _reader(file)[0].schema

    @property
    def _packed(self) -> bool:
        return self.file.suffix == PARQUET

    def features(self) -> Features:
        """The metadata of `datasets` for each column: {"_type": "ClassLabel", "names": [...]} and others; may be {}."""
        with refusing(self._refused):
            said = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
            features = said.get("info", {}).get("features", {})
            return {name: of for name, of in features.items() if isinstance(of, dict)}

    def parts(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        """For each part of the file: a loader of its images, their stored names (or ""), and their labels."""
        with refusing(self._refused):
            parts = list(self._row_groups(image, label) if self._packed else self._batches(image, label))
        yield from parts

    def _batches(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        reader, mapped = _reader(self.file)
        size = self.file.stat().st_size
        batches = (
            reader if hasattr(reader, "read_next_batch") else map(reader.get_batch, range(reader.num_record_batches))
        )
        for batch in batches:
            chosen = batch.select([image, label])
            chosen.validate(full=True)
            if chosen.get_total_buffer_size() > size:
                raise ValueError("it is compressed")
            images = chosen.column(0)
            yield _giving(images, mapped), _names(images), chosen.column(1).to_pylist()

    def _row_groups(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        file = _parquet_file(self.file)
        groups = _Groups(self.file, image)
        named = _is_struct(self.schema.field(image).type) and "path" in _fields(self.schema.field(image).type)
        for number in range(file.metadata.num_row_groups):
            if file.metadata.row_group(number).total_byte_size > MOST_GROUP:
                raise ValueError(f"a part of it unpacks to more than {MOST_GROUP >> 30} GiB")
            labels = file.read_row_group(number, [label]).column(label).to_pylist()
            names = [""] * len(labels)
            if named:
                names = _names(file.read_row_group(number, [f"{image}.path"]).column(image).combine_chunks())
            yield groups.giving(number), names, labels

    def _refused(self, why: str) -> Problem:
        kind = "Parquet" if self._packed else "Arrow"
        return Problem(
            f"{self.file} cannot be read as {kind} ({why}).",
            kept="Nothing was started.",
            todo="Get the file again, or save the data set again.",
        )


class _Groups:
    """The image column of a Parquet file, some row groups of it in memory."""

    def __init__(self, file: Path, image: str) -> None:
        self._file, self._image = file, image
        self._held: OrderedDict[int, Any] = OrderedDict()
        self._lock = Lock()

    def giving(self, number: int) -> Callable[[], Any]:
        return lambda: self._group(number)

    def _group(self, number: int) -> Any:
        with self._lock:
            if number not in self._held:
                with refusing(lambda why: Problem(f"{self._file} is damaged ({why}).")):
                    table = _parquet_file(self._file).read_row_group(number, [self._image])
                    column = table.column(self._image).combine_chunks()
                    column.validate(full=True)
                self._held[number] = column
                while len(self._held) > GROUPS_HELD:
                    self._held.popitem(last=False)
            self._held.move_to_end(number)
            return self._held[number]


def bytes_of(column: Any) -> Any:
    """The bytes of an image column; Arrow array of binary, null where a record has none."""
    return column.field("bytes") if _is_struct(column.type) else column


def is_image(kind: Any) -> bool:
    """Whether an Arrow type can store images: bytes, or a struct with such a field."""
    if _is_struct(kind):
        return "bytes" in _fields(kind) and str(kind.field("bytes").type) in ("binary", "large_binary")
    return str(kind) in ("binary", "large_binary")


def is_label(kind: Any) -> bool:
    """Whether an Arrow type can store classes: integers, text or booleans."""
    return str(kind).startswith(("int", "uint", "string", "large_string", "bool"))


def _names(images: Any) -> list[str]:
    """The file name that each record stores beside its image; "" where there is none."""
    if not _is_struct(images.type) or "path" not in _fields(images.type):
        return [""] * len(images)
    return [name or "" for name in images.field("path").to_pylist()]


def _giving(column: Any, mapped: Any) -> Callable[[], Any]:
    return lambda: (column, mapped)[0]


def _is_struct(kind: Any) -> bool:
    return str(kind).startswith("struct<")


def _fields(kind: Any) -> list[str]:
    return [kind.field(at).name for at in range(kind.num_fields)]


def _reader(file: Path) -> tuple[Any, Any]:
    """What reads the batches of an Arrow file, and the memory map that it reads from."""
    arrow, ipc = load("pyarrow", "Arrow", "hf"), load("pyarrow.ipc", "Arrow", "hf")
    mapped = arrow.memory_map(str(file), "r")
    try:
        return ipc.open_stream(mapped), mapped
    except arrow.ArrowInvalid:
        mapped.seek(0)
        return ipc.open_file(mapped), mapped


def _parquet_file(file: Path) -> Any:
    load("pyarrow", "Parquet", "hf")
    return load("pyarrow.parquet", "Parquet", "hf").ParquetFile(file)
