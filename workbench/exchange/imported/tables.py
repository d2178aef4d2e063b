"""Arrays and tables that another program wrote: .npy, .npz, .csv, .tsv and .parquet, read without running anything."""

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.exchange.imported.named_arrays import KEPT, read_named
from workbench.files.packages import load
from workbench.files.spreadsheet import CLOSE_IT, DECIMAL_COMMA, NOT_CLOSED, plain_cell, rows_of, separated
from workbench.files.unreadable import lines_of, opened_text, refusing
from workbench.problem import Problem
from workbench.progress import Progress

ENDINGS = (".npy", ".npz", ".csv", ".tsv", ".parquet")
WORDS = {  # a user's title of a column, in small letters -> what it holds
    **dict.fromkeys(("label", "labels", "class", "target"), "label"),
    **dict.fromkeys(("path", "file", "filename", "image"), "path"),
    **dict.fromkeys(("sample_id", "id", "split", "__index_level_0__", "unnamed: 0"), "other"),  # the last: pandas' rows
}
TELL_EVERY = 500  # lines
MOST_ROWS = 2_000_000
PACKED = 20  # compression ratio above which a Parquet file is no table of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What one file holds, a row for each sample."""

    path: Path
    vectors: np.ndarray | None  # [n, d] float32; None when no column holds numbers of an embedding
    words: dict[str, list[str]] = field(default_factory=dict)  # "label", "path": n words each


def read_embeddings(path: Path, progress: Progress) -> Table:
    """Embeddings, and perhaps labels and paths in columns of those names.

    Args:
        path: .npy [n, d] of numbers; .npz with arrays of the names in `named_arrays.NAMES`; .csv or .tsv of numbers,
            with or without a line of titles; .parquet with one column of lists or one column for each number.

    Raises:
        Problem: missing, unreadable, of another type, or with non-numeric values. NaN and infinity are allowed.
    """
    ending = _ending(path)
    progress(f"Reading {path.name}", 0, 0)
    if ending == ".npy":
        return Table(path, _vectors(path, _array(path)))
    if ending == ".npz":
        arrays = read_named(path, "vectors", "label", "path")
        vectors = _vectors(path, arrays["vectors"])
        _not_too_many(path, len(vectors))
        return Table(path, vectors, _array_words(path, arrays))
    if ending == ".parquet":
        return _parquet(path)
    lines = _lines(path)
    titles = [] if _all_numbers(lines[0]) else lines.pop(0)
    if titles and not lines:
        raise Problem(f"{path} has a header row and nothing below it.", kept=KEPT)
    return _text_table(path, titles, lines, progress)


def read_words(path: Path) -> Table:
    """Labels, and perhaps paths: .npy [n] of whole numbers or text; a table with a column `label`, or one column.

    A .npz file has arrays of the names in `named_arrays.NAMES`.

    Raises:
        Problem: missing, unreadable, of another type, or without labels.
    """
    ending = _ending(path)
    if ending == ".npy":
        return Table(path, None, {"label": _label_words(path, _array(path))})
    if ending == ".npz":
        return Table(path, None, _array_words(path, read_named(path, "label", "path")))
    if ending == ".parquet":
        return _with_labels(_parquet(path, words_only=True))
    lines = _lines(path)
    if len(lines[0]) == 1:
        known = WORDS.get(lines[0][0].strip().lower(), "")
        rows = lines[1:] if known else lines
        return _with_labels(Table(path, None, {known or "label": [plain_cell(cells[0]) for cells in rows]}))
    return _with_labels(Table(path, None, _named_columns(path, lines[0], lines[1:])))


def _ending(path: Path) -> str:
    """The kind of file. Raises Problem when there is no such file, or it is of another kind."""
    if not os.path.isfile(path):
        raise Problem(f"There is no file {path}.", kept=KEPT, todo="Choose it again.")
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise Problem(f"{path} is not one of {', '.join(ENDINGS)}.", kept=KEPT, todo="Save it as one of them.")
    return ending


def mapped_array(path: Path, most_rows: int) -> np.ndarray:
    """One array of a .npy file as a read-only map. Raises Problem: no such file, no plain array, or too many rows."""
    if path.suffix.lower() != ".npy":
        raise Problem(f"{path} is not a .npy file.", kept=KEPT, todo="Save one array by numpy.save.")
    _ending(path)
    return _array(path, most_rows)


def _array(path: Path, most_rows: int = MOST_ROWS) -> np.ndarray:
    def refused(why: str) -> Problem:
        said = "it holds Python objects" if "Python objects" in why or "pickled" in why else why
        return Problem(
            f"{path} cannot be read as a NumPy array: {said}.", kept=KEPT, todo="Save plain numbers by numpy.save."
        )

    with refusing(refused):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        array.close()
        raise Problem(f"{path} holds several arrays.", kept=KEPT, todo="Save one array by numpy.save.")
    if array.ndim:
        _not_too_many(path, len(array), most_rows)
    return array


def _not_too_many(path: Path, rows: int, most: int = MOST_ROWS) -> None:
    if rows > most:
        todo = "Import them only to be searched (--search-only), or leave some out."
        raise Problem(f"{path} has {rows:,} rows, more than {most:,}.", kept=KEPT, todo=todo)


def image_array(path: Path) -> np.ndarray:
    """Images as a read-only map: uint8 [n, h, w], [n, h, w, 1] or [n, h, w, 3]. Raises Problem for anything else."""
    array = _array(path)
    if not are_images(array):
        raise Problem(
            f"{path} holds {_shape(array)}, not images.", kept=KEPT,
            todo="Save them as uint8 [n, height, width] or [n, height, width, 3].",
        )  # fmt: skip
    return array


def are_images(array: np.ndarray) -> bool:
    """Whether an array is one of images, as in `image_array`."""
    shaped = array.ndim == 3 or (array.ndim == 4 and array.shape[3] in (1, 3))
    return array.dtype == np.uint8 and shaped and min(array.shape[1:3]) >= 2


def _vectors(path: Path, array: np.ndarray) -> np.ndarray:
    """Numbers as float32 [n, d]; too large ones become infinite and are refused later."""
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.shape[1]:
        raise Problem(
            f"{path} holds {_shape(array)}, not embeddings.", kept=KEPT, todo="Save numbers of the shape [n, d]."
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float32)


def _label_words(path: Path, array: np.ndarray) -> list[str]:
    flat = array.reshape(len(array)) if array.ndim == 2 and array.shape[1] == 1 else array
    if flat.ndim == 1 and flat.dtype.kind == "U":
        return [str(word) for word in flat.tolist()]
    whole = flat.dtype.kind in "iub" or (flat.dtype.kind == "f" and _all_whole(flat))
    if flat.ndim != 1 or not whole:
        raise Problem(
            f"{path} holds {_shape(array)}, not labels.", kept=KEPT,
            todo="Save whole numbers or text of the shape [n].",
        )  # fmt: skip
    return [str(int(number)) for number in flat.tolist()]


def _array_words(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, list[str]]:
    """Labels and paths of a .npz file, as far as it has them."""
    words = {"label": _label_words(path, arrays["label"])} if "label" in arrays else {}
    if (paths := arrays.get("path")) is not None:
        if paths.ndim != 1 or paths.dtype.kind != "U":
            raise Problem(
                f"{path} holds {_shape(paths)}, not paths.", kept=KEPT, todo="Save text of the shape [n]."
            )  # fmt: skip
        words["path"] = [str(word) for word in paths.tolist()]
    return words


def _all_whole(numbers: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(numbers) & (numbers == np.floor(numbers))))


def _shape(array: np.ndarray) -> str:
    return f"{array.dtype} {list(array.shape)}"


def _lines(path: Path) -> list[list[str]]:
    """The cells of every line that is not empty. Raises Problem if there is none, or if the file is not text."""

    def refused(why: str) -> Problem:
        todo = CLOSE_IT if NOT_CLOSED in why else "Save it as UTF-8."
        return Problem(f"{path} cannot be read as a table ({why}).", kept=KEPT, todo=todo)

    with opened_text(path, "Choose it again.", "utf-8-sig", "") as file, refusing(refused):
        lines = lines_of(file)
        separator = "\t"
        if path.suffix.lower() == ".tsv":
            rows = [line.rstrip("\r\n").split("\t") for line in lines if line.strip()]
        else:
            separator, lines = separated(lines)
            rows = [cells for _, cells in rows_of(lines, separator) if any(cells)]
        if separator != ",":
            rows = [[with_point(cell) for cell in cells] for cells in rows]
    if not rows:
        raise Problem(f"{path} is empty.", kept=KEPT, todo="Choose another file.")
    return rows


def with_point(cell: str) -> str:
    """A number with a decimal comma as one with a point; other text as it is."""
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _all_numbers(cells: list[str]) -> bool:
    try:
        np.array(cells, np.float64)
    except ValueError:
        return False
    return True


def _text_table(path: Path, titles: list[str], lines: list[list[str]], progress: Progress) -> Table:
    """A table of numbers, in which columns called label or path hold words."""
    width = len(titles or lines[0])
    kinds = [WORDS.get(title.strip().lower(), "") for title in titles] or [""] * width
    if titles and not titles[0].strip() and all(title.strip() for title in titles[1:]):
        kinds[0] = "other"  # the numbers of rows that pandas writes first, without a title
    numeric = [column for column, kind in enumerate(kinds) if not kind]
    if not numeric:
        return Table(path, None, _named_columns(path, titles, lines))
    vectors = np.empty((len(lines), len(numeric)), np.float32)
    for row, cells in enumerate(lines):
        if row % TELL_EVERY == 0:
            progress(f"Reading {path.name}", row, len(lines))
        if len(cells) != width:
            raise _wrong(path, row, f"has {len(cells)} columns instead of {width}")
        try:
            vectors[row] = [float(cells[column]) for column in numeric]
        except ValueError as error:
            raise _wrong(path, row, f"holds something that is not a number ({error})") from None
        except OverflowError:
            vectors[row] = np.inf
    return Table(path, vectors, _named_columns(path, titles, lines) if titles else {})


def _named_columns(path: Path, titles: list[str], lines: list[list[str]]) -> dict[str, list[str]]:
    """The columns of labels and paths."""
    for row, cells in enumerate(lines):
        if len(cells) != len(titles):
            raise _wrong(path, row, f"has {len(cells)} columns instead of {len(titles)}")
    kinds = [WORDS.get(title.strip().lower(), "") for title in titles]
    return {
        kind: [plain_cell(cells[kinds.index(kind)].strip()) for cells in lines]
        for kind in ("label", "path")
        if kind in kinds
    }


def _parquet(path: Path, words_only: bool = False) -> Table:
    """A Parquet file: columns label and path, and the numbers in one column of lists or in all other columns."""
    load("pyarrow", "Parquet", "parquet")
    parquet = load("pyarrow.parquet", "Parquet", "parquet")

    def refused(why: str) -> Problem:
        return Problem(f"{path} cannot be read as Parquet ({why}).", kept=KEPT, todo="Choose another file.")

    with refusing(refused), parquet.ParquetFile(path) as file:
        kinds = {name: WORDS.get(name.strip().lower(), "") for name in file.schema_arrow.names}
    named = {kind: name for name, kind in kinds.items() if kind in ("label", "path")}
    with refusing(refused), parquet.ParquetFile(path, read_dictionary=list(named.values())) as file:
        _not_too_many(path, file.metadata.num_rows)
        _check_packing(path, file.metadata)
        words = {kind: _words_of(file.read([name]).column(0)) for kind, name in named.items()}
        wanted = [] if words_only else [name for name, kind in kinds.items() if not kind]
        for name in wanted:
            if str(file.schema_arrow.field(name).type).startswith(("string", "large_string", "binary", "large_binary")):
                raise _no_numbers(path, f"the column {name} is text")
        table = file.read(wanted)
    numbers = {name: table.column(name) for name in wanted}
    return Table(path, _vectors(path, _parquet_vectors(path, numbers)) if numbers else None, words)


def _words_of(column: Any) -> list[str]:
    """A column as text, "" where there is nothing; equal words are one object, as in the file."""
    words: list[str] = []
    for chunk in column.dictionary_encode().chunks:
        distinct = [str(value) for value in chunk.dictionary.to_pylist()]
        words += ["" if at is None else distinct[at] for at in chunk.indices.to_pylist()]
    return words


def _no_numbers(path: Path, why: str) -> Problem:
    said = f"{path} holds something that is not a number, or rows of different lengths ({why})."
    return Problem(said, kept=KEPT, todo="Keep the columns label, path and those of the embedding.")


def _check_packing(path: Path, metadata: Any) -> None:
    """Raises ValueError if numbers or text take much more memory than the file has bytes: runs of one value."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    columns = [group.column(column) for group in groups for column in range(group.num_columns)]
    needed = sum(max(4 * column.num_values, column.total_uncompressed_size) for column in columns)
    if needed > max(64 << 20, PACKED * path.stat().st_size):
        raise ValueError(f"it asks for {needed:,} bytes and more")


def _parquet_vectors(path: Path, columns: dict[str, Any]) -> np.ndarray:
    """[n, d] float64 from one column of lists, or from columns of numbers; a missing number is NaN."""

    with refusing(partial(_no_numbers, path)):
        if len(columns) == 1:
            [values] = [column.to_numpy() for column in columns.values()]  # an array of arrays, for lists
            return np.array([np.atleast_1d(row) for row in values], np.float64)
        return np.stack([np.asarray(column.to_numpy(), np.float64) for column in columns.values()], axis=1)


def _with_labels(table: Table) -> Table:
    if "label" not in table.words:
        raise Problem(
            f"{table.path} has no column of labels.", kept=KEPT, todo="Give it a header row with a column label."
        )
    return table


def _wrong(path: Path, row: int, what: str) -> Problem:
    return Problem(f"{path}: row {row + 1} {what}.", kept=KEPT, todo="Correct the row.")
