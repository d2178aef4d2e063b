"""The image and label columns of Arrow and Parquet files, read in place; nothing in them is executed.

An image is a struct of `bytes` and `path`, as the library `datasets` stores it, or plain bytes. A column inside a
struct is named with dots: `meta.label`.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from workbench.datasets.images.loader import BadImage
from workbench.datasets.reading.arrow_messages import is_packed
from workbench.files.packages import load
from workbench.files.unreadable import refusing
from workbench.problem import Problem

MOST_GROUP = 2 << 30  # bytes of one row group of a Parquet file, unpacked
LEAST_GROUP = 256 << 20  # bytes that any row group may unpack to
REPEATED = 8  # times the bytes that a row group announces, which it may unpack to where it repeats images
READ_AT_ONCE = 16  # rows
GROUPS_HELD = 4  # row groups of Parquet that are in memory at a time
LEAST_IMAGE = 16  # bytes of a row; the smallest PNG has 67
LEAST_ROWS = 10_000  # that any file may have, also of rows without an image
FILE, BEGIN = b"ARROW1", 8  # how Arrow's format of files begins, and where its stream does
MOST_COLUMNS = 10_000  # those inside structs among them
DEEPEST = 9  # structs inside each other
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
            self._paths: dict[str, tuple[str, ...]] = {}
            for path in _paths(self.schema):
                if len(self._paths) == MOST_COLUMNS:
                    raise ValueError(f"it has more than {MOST_COLUMNS:,} columns")
                self._paths.setdefault(".".join(path), path)

    @property
    def _packed(self) -> bool:
        return self.file.suffix == PARQUET

    def kinds(self) -> dict[str, Any]:
        """The Arrow type of each column; after them those of columns inside structs, such as "meta.label"."""
        return {name: _type_at(self.schema, path) for name, path in self._paths.items()}

    def features(self) -> Features:
        """The metadata of `datasets` for each column: {"_type": "ClassLabel", "names": [...]} and others; may be {}."""
        with refusing(self._refused):
            said = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
            features = said.get("info", {}).get("features", {})
            return dict(_features(features))

    def parts(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        """For each part of the file: a loader of its images, their stored names (or ""), and their labels."""
        with refusing(self._refused):
            parts = list(self._row_groups(image, label) if self._packed else self._batches(image, label))
        yield from parts

    def _batches(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        _check_messages(self.file)
        reader, mapped = _reader(self.file)
        rows, size = 0, self.file.stat().st_size
        for batch in reader:
            rows += batch.num_rows
            _check_rows(rows, size)
            chosen = batch.select(sorted({self._paths[image][0], self._paths[label][0]}))
            chosen.validate(full=True)
            if chosen.get_total_buffer_size() > size:
                raise ValueError("its columns share their bytes")
            images = _inner(chosen, self._paths[image])
            yield _giving(images, mapped), _names(images), _labels(_inner(chosen, self._paths[label]))

    def _row_groups(self, image: str, label: str) -> Iterator[tuple[Callable[[], Any], list[str], list[Any]]]:
        kind = _type_at(self.schema, self._paths[image])
        named = _is_struct(kind) and "path" in _fields(kind)
        file = _parquet_file(self.file, [label, *([f"{image}.path"] if named else [])])
        _check_rows(file.metadata.num_rows, self.file.stat().st_size)
        groups = _Groups(self.file, self._paths[image])
        for number in range(file.metadata.num_row_groups):
            if file.metadata.row_group(number).total_byte_size > MOST_GROUP:
                raise ValueError(f"a part of it unpacks to more than {MOST_GROUP >> 30} GiB")
            labels = _labels(_inner(file.read_row_group(number, [label]), self._paths[label]))
            names = [""] * len(labels)
            if named:
                names = _names(_inner(file.read_row_group(number, [f"{image}.path"]), self._paths[image]))
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

    def __init__(self, file: Path, image: tuple[str, ...]) -> None:
        self._file, self._image = file, image
        self._held: OrderedDict[int, Any] = OrderedDict()
        self._lock = Lock()

    def giving(self, number: int) -> Callable[[], Any]:
        return lambda: self._group(number)

    def _group(self, number: int) -> Any:
        with self._lock:
            if number not in self._held:
                with refusing(lambda why: Problem(f"{self._file} is damaged ({why}).")):
                    column = _inner(self._table(number), self._image)
                    column.validate(full=True)
                self._held[number] = column
                while len(self._held) > GROUPS_HELD:
                    self._held.popitem(last=False)
            self._held.move_to_end(number)
            return self._held[number]

    def _table(self, number: int) -> Any:
        """A row group, read in parts: a value that is stored once for many rows would be unpacked for each of them."""
        file, batches, size = _parquet_file(self._file), list[Any](), 0
        most = min(MOST_GROUP, max(LEAST_GROUP, REPEATED * file.metadata.row_group(number).total_byte_size))
        for batch in file.iter_batches(batch_size=READ_AT_ONCE, row_groups=[number], columns=[".".join(self._image)]):
            size += batch.get_total_buffer_size()
            if size > most:
                raise ValueError(f"its images unpack to more than {most >> 20} MiB")
            batches.append(batch)
        return load("pyarrow", "Parquet", "hf").Table.from_batches(batches)


def bytes_of(column: Any) -> Any:
    """The bytes of an image column; Arrow array of binary, null where a record has none."""
    return column.field("bytes") if _is_struct(column.type) else column


def is_image(kind: Any) -> bool:
    """Whether an Arrow type can store images: bytes, or a struct with such a field."""
    if _is_struct(kind):
        return "bytes" in _fields(kind) and str(kind.field("bytes").type) in ("binary", "large_binary")
    return str(kind) in ("binary", "large_binary")


def is_label(kind: Any) -> bool:
    """Whether an Arrow type can store classes: integers, text or booleans, also in a dictionary as pandas writes it."""
    words = str(kind).removeprefix("dictionary<values=")
    return words.startswith(("int", "uint", "string", "large_string", "bool"))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is that of decimal numbers, as pandas stores whole ones with gaps among them."""
    return str(kind).removeprefix("dictionary<values=").startswith(("halffloat", "float", "double"))


def _names(images: Any) -> list[str]:
    """The file name that each record stores beside its image; "" where there is none."""
    if not _is_struct(images.type) or "path" not in _fields(images.type):
        return [""] * len(images)
    return [name or "" for name in _labels(images.field("path"))]


def _paths(schema: Any) -> Iterator[tuple[str, ...]]:
    """The names that lead to each column, then to each field of the structs that are no image."""
    paths: list[tuple[str, ...]] = [(name,) for name in schema.names]
    for path in paths:
        yield path
        kind = _type_at(schema, path)
        if _is_struct(kind) and not is_image(kind) and len(path) < DEEPEST:
            paths += [(*path, name) for name in _fields(kind)]


def _type_at(schema: Any, path: tuple[str, ...]) -> Any:
    kind = schema.field(path[0]).type
    for name in path[1:]:
        kind = kind.field(name).type
    return kind


def _inner(table: Any, path: tuple[str, ...]) -> Any:
    """The column of a table or batch to which the names lead, as one array; null where a struct above it is null."""
    column = table.column(path[0])
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    for name in path[1:]:
        column = load("pyarrow.compute", "Arrow", "hf").struct_field(column, [name])
    return column


def _features(features: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The features of columns, and those inside structs, which `datasets` writes as objects without a `_type`."""
    for name, of in features.items():
        if isinstance(of, dict):
            yield f"{above}{name}", of
            if not isinstance(of.get("_type"), str):
                yield from _features(of, f"{above}{name}.")


def _giving(column: Any, mapped: Any) -> Callable[[], Any]:
    return lambda: (column, mapped)[0]


def _is_struct(kind: Any) -> bool:
    return str(kind).startswith("struct<")


def _fields(kind: Any) -> list[str]:
    return [kind.field(at).name for at in range(kind.num_fields)]


def _labels(column: Any) -> list[Any]:
    """The values of a column; equal ones of a dictionary are one object, so that many long ones take no memory."""
    if not hasattr(column, "indices"):
        return list(column.to_pylist())
    values = column.dictionary.to_pylist()
    return [None if at is None else values[at] for at in column.indices.to_pylist()]


def _check_rows(rows: int, size: int) -> None:
    """Raise ValueError for more rows than a file of that many bytes can have images."""
    if rows > max(LEAST_ROWS, size // LEAST_IMAGE):
        raise ValueError(f"it announces {rows:,} rows, more than its {size:,} bytes hold images")


def _check_messages(file: Path) -> None:
    """Raise ValueError where data are compressed: they would be unpacked all at once, whatever size they have."""
    ipc = load("pyarrow.ipc", "Arrow", "hf")
    for message in ipc.MessageReader.open_stream(_mapped(file)):
        if is_packed(message):
            raise ValueError("it is compressed")


def _reader(file: Path) -> tuple[Any, Any]:
    """What reads the batches of an Arrow file, and the memory map that it reads from."""
    mapped = _mapped(file)
    return load("pyarrow.ipc", "Arrow", "hf").open_stream(mapped), mapped


def _mapped(file: Path) -> Any:
    """The memory map of an Arrow file, where its stream begins: a file that is no stream holds one behind its name.

    Its list of batches is not used: it may name other places than those that were checked.
    """
    arrow, ipc = load("pyarrow", "Arrow", "hf"), load("pyarrow.ipc", "Arrow", "hf")
    mapped = arrow.memory_map(str(file), "r")
    if mapped.read(len(FILE)) == FILE:
        mapped.seek(0)
        ipc.open_file(mapped)  # refuses one that is cut short
        mapped.seek(BEGIN)
    else:
        mapped.seek(0)
    return mapped


def _parquet_file(file: Path, kept: Sequence[str] = ()) -> Any:
    """The file; equal texts of the columns `kept` stay one text, where they would be one for each row."""
    load("pyarrow", "Parquet", "hf")
    return load("pyarrow.parquet", "Parquet", "hf").ParquetFile(file, read_dictionary=list(kept))
