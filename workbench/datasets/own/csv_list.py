"""A CSV file with path, label and, perhaps, split; it and its images may be in an archive."""

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal
from unicodedata import normalize

from workbench.datasets.image_set import ImageSet, Level, numbered
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.image_parts import Box, ImageParts, Numbers, box_of, part_name
from workbench.datasets.images.loader import ENDINGS, Picture, on_disk
from workbench.datasets.images.scan import missing
from workbench.datasets.reading.data_folder import DEEPEST, open_place
from workbench.datasets.reading.depth_and_pages import bits_said, remarks_on_files
from workbench.datasets.reading.fields import bits_used, colours, short_side, stored_at
from workbench.datasets.split import WORDS, official_halves
from workbench.files import typed_path, unreadable
from workbench.files.archive_names import is_archive
from workbench.files.spreadsheet import CLOSE_IT, NOT_CLOSED, plain_cell, rows_of, separated
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

TELL_EVERY = 1000  # lines
NEEDED = ("path", "label")  # columns
SIDES = 4  # columns of a box
OUTSIDE = "Choose the folder above all images (dataset.folder), or save the list there."
BOXES = "Correct the line, or, if lines name boxes in an image, name their columns as Box columns (dataset.box)."
LOOKED_AT = 20  # lines, of which two are not empty


class CsvParams(Params):
    """Where the CSV file and its images are stored, and how the images are read."""

    file: str = param(
        "", label="CSV file or archive", path="file",
        help="Columns path, label and, optionally, split (train or test), separated by commas, semicolons or tabs; a "
        "header line, unless it is clear which is which; or an archive with one.",
    )  # fmt: skip
    path: str = param("", label="Path column", optional=True, help="Column of the paths, if it is not called path.")
    label: str = param("", label="Label column", optional=True, help="Column of the labels, if it is not called label.")
    split: str = param(
        "", label="Split column", optional=True, help="Column of the halves (train, test, validation), if not split."
    )
    folder: str = stored_at(
        "Where relative paths start; the CSV file's own folder when empty. An archive is unpacked once.",
        "Folder or archive of the images (optional)",
        optional=True,
    )
    levels: str = param(
        "", label="Columns above the label", optional=True,
        help="Columns of coarser labels, the coarsest first, such as: family genus. They are scored beside the label. "
        "Separate names that contain blanks by commas.",
    )  # fmt: skip
    box: str = param(
        "", label="Box columns", optional=True,
        help="Four columns with a box in each image, such as: left top width height. Only the box is read, and each "
        "line is an image of its own. Separate names that contain blanks by commas.",
    )  # fmt: skip
    box_numbers: Numbers = param(
        "sizes", label="Box numbers",
        help="sizes: left, top, width, height in px; corners: left, top, right, bottom in px; fractions: left, top, "
        "width, height as fractions of the image's width and height. From the upper left corner of the upright image.",
    )  # fmt: skip
    image_size: int = short_side()
    colour: Literal["colour", "grey"] = colours()
    bits: int = bits_used()


@register(
    "dataset", "csv", title="CSV list", params=CsvParams, source="Workbench 2026: columns path, label, split",
    named_by="file",
)  # fmt: skip
def csv_list(params: CsvParams, *, progress: Progress) -> ImageSet:
    """Your own images, listed in a CSV file with their labels and, perhaps, their split."""
    if not params.file:
        raise Problem("No CSV file is chosen.", kept="Nothing was started.", todo="Choose one.")
    path = _list(params.file, progress)
    root = open_place(params.folder, "the images", progress) if params.folder else path.parent
    problems: list[tuple[str, str]] = []
    kept: list[Line] = []
    rows, above = _rows(path, root, params, progress)
    if not rows:
        raise _wrong(path, 1, "the names of the columns stand alone", "Add a line for each image.")
    odd = {line.path for line in rows if not line.path.isascii()}
    for done, line in enumerate(rows):
        if done % TELL_EVERY == 0:
            progress(f"Looking for the images of {path.name}", done, len(rows))
        if not (why := missing(os.path.join(root, line.path))):
            kept.append(line)
        elif (written := _as_on_disk(root, line.path)) and written not in odd:
            kept.append(replace(line, path=written))
        else:
            problems.append((line.name, f"is in line {line.number} of {path.name}, but {why}"))
    kept.sort(key=lambda line: line.name)
    labels, names = numbered([line.label for line in kept])
    files, boxes = [line.path for line in kept], [line.box for line in kept if line.box is not None]
    channels, size, bits = (3 if params.colour == "colour" else 1), params.image_size, params.bits
    read: Callable[[int], Picture] = ImageFiles(root, files, channels, size, bits=bits)
    if boxes:
        read = ImageParts(root, files, boxes, params.box_numbers, channels, bits)
    return ImageSet(
        name="csv", root=None if boxes else root, paths=[line.name for line in kept], labels=labels,
        class_names=names, channels=channels, image_size=size, read=read,
        content=f"boxes, {params.box_numbers} {bits_said(bits)}" if boxes else bits_said(bits),
        official=official_halves([line.half for line in kept]) if kept and kept[0].half else None,
        problems=problems, remarks=remarks_on_files(root, sorted(set(files)), bits),
        levels=[Level(name, *numbered(line.above[column] for line in kept)) for column, name in enumerate(above)],
        packed_in=[Path(on_disk(root, file)) for file in sorted(set(files))] if boxes else [],
    )  # fmt: skip


def columns_of_images(path: Path) -> dict[str, str] | None:
    """Parameters of this set for the columns of a table, by its first two lines; None if it lists no images.

    The table may be of anything: a column of names of image files makes it a list. One column beside those of paths and
    halves has the labels; of several, none is chosen.
    """
    rows = _first_rows(path)
    if rows and _columns_of(rows[0]):
        return {}
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return None
    header, cells = (_names(row) for row in rows[:2])
    of_images = [name for name, cell in zip(header, cells, strict=True) if cell.endswith(ENDINGS)]
    if not of_images:
        return None
    halves = [name for name, cell in zip(header, cells, strict=True) if cell in WORDS]
    others = [name for name in header if name not in (of_images[0], *halves)]
    chosen = {"path": of_images[0], "split": halves[0] if halves else "split", "label": "label"}
    if "label" not in header and len(others) == 1:
        chosen["label"] = others[0]
    return {name: column for name, column in chosen.items() if column != name}


def columns_named(path: Path) -> list[str]:
    """The cells of the first line of a table, in small letters; none where it cannot be read."""
    return _names(next(iter(_first_rows(path)), []))


def _first_rows(path: Path) -> list[list[str]]:
    """The first lines of a table that are not empty; none where it cannot be read."""
    try:
        with (
            unreadable.opened_text(path, "", unreadable.TABLES, "") as file,
            unreadable.refusing(lambda why: Problem(f"{path} is not a table ({why}).")),
        ):
            separator, lines = separated(islice(unreadable.lines_of(file), LOOKED_AT))
            return [row for row in csv.reader(lines, delimiter=separator) if any(map(str.strip, row))]
    except Problem:
        return []


def _list(chosen: str, progress: Progress) -> Path:
    """The chosen CSV file, or the only one in the chosen archive. Raises Problem if there is not exactly one."""
    list_path = typed_path(chosen)
    if not is_archive(list_path):
        if os.path.exists(list_path) and not (list_path.is_file() or list_path.is_dir()):
            what = f"{list_path} is a pipe or a device, and the list is read again later."
            raise Problem(what, kept="Nothing was started.", todo="Save it as a file.")
        return list_path
    root = open_place(chosen, "the CSV file", progress)
    lists = sorted(path for depth in range(DEEPEST + 1) for path in root.glob("*/" * depth + "*.[cC][sS][vV]"))
    if len(lists) != 1:
        named = ", ".join(path.relative_to(root).as_posix() for path in lists[:3]) + (", ..." if lists[3:] else "")
        raise Problem(
            f"{chosen} holds {f'{len(lists):,} CSV files ({named})' if lists else 'no CSV file'}.",
            kept="Nothing was started.",
            todo="Unpack it and choose the CSV file." if lists else "Choose another one.",
        )
    return lists[0]


def _as_on_disk(root: Path, path: str) -> str:
    """The path with its letters as Macs, or as others, write é in names of files; empty if neither is there."""
    written = () if path.isascii() else (normalize("NFC", path), normalize("NFD", path))
    return next((other for other in written if other != path and not missing(os.path.join(root, other))), "")


@dataclass(frozen=True, slots=True)
class Line:
    """One image of the list."""

    number: int  # in the file, from 1
    path: str  # relative, posix
    label: str
    half: str  # the word in the file; empty in every line or in none
    above: tuple[str, ...] = ()  # wider labels
    box: Box | None = None  # in every line or in none

    @property
    def name(self) -> str:
        """Of the image in the set: the path, and the box if there is one."""
        return self.path if self.box is None else part_name(self.path, self.box)


def _cells(source: Path, named: dict[str, str], progress: Progress) -> list[tuple[int, list[str]]]:
    """The number and the cells of every line that is not empty. Raises Problem."""
    needed = {named.get(name, name) for name in NEEDED}

    def refused(why: str) -> Problem:
        todo = CLOSE_IT if NOT_CLOSED in why else "Save it as UTF-8 text."
        return Problem(f"{source} cannot be read as CSV ({why}).", kept="Nothing was started.", todo=todo)

    def fits(cells: list[str]) -> bool:
        return needed <= set(_names(cells)) or bool(_columns_of(cells))

    with (
        unreadable.opened_text(source, "Choose it again.", unreadable.TABLES, "") as file,
        unreadable.refusing(refused),
    ):
        separator, text = separated(unreadable.lines_of(file), fits)
        lines = []
        for done, (number, line) in enumerate(rows_of(text, separator)):
            if done % TELL_EVERY == 0:
                progress(f"Reading {source.name}", done, 0)
            if any(map(str.strip, line)):
                lines.append((number, line))
        return lines


def _names(cells: list[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _columns_of(cells: list[str]) -> list[str]:
    """The names of the columns by a line with an image, where they are clear: path, label, perhaps split. Else none."""
    words = _names(cells)
    columns = ["path" if word.endswith(ENDINGS) else "label" for word in words]
    halves = [at for at, word in enumerate(words) if word in WORDS and len(words) == len(NEEDED) + 1]
    if len(halves) == 1:
        columns[halves[0]] = "split"
    clear = all(words) and len(set(columns)) == len(columns) and set(NEEDED) <= set(columns)
    return columns if clear else []


def _with_header(
    source: Path, lines: list[tuple[int, list[str]]], named: dict[str, str]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the lines behind those. Raises Problem where they are not known.

    Args:
        named: "path", "label" or "split" -> the column that the user named for it, in small letters. The header that is
            returned calls it so; a column that has that name without being meant has none.
    """
    number, first = lines[0] if lines else (1, [])
    header = _names(first)
    for name, column in named.items():
        if column not in header:
            said = f"there is no column {column}; found {', '.join(header) or 'nothing'}"
            raise _wrong(source, number, said, f"Choose one of them as {name} column.", f"dataset.{name}")
    if len(set(named.values())) < len(named):
        raise _wrong(source, number, "one column is chosen twice", "Choose a column for each.", "dataset.label")
    meant = {column: name for name, column in named.items()}
    header = [meant.get(name, "" if name in named else name) for name in header]
    if set(NEEDED) <= set(header):
        return header, lines[1:]
    if not named and (columns := _columns_of(first)):
        return columns, lines
    field = ""
    if any(name.endswith(ENDINGS) for name in header):
        said = f"the names of the columns are missing, and it is not clear which is which in {', '.join(first)}"
    else:
        said = f"the columns path and label are needed; found {', '.join(_names(first)) or 'nothing'}"
        if header:
            field = next(f"dataset.{name}" for name in NEEDED if name not in header)  # where it can be named
    todo = "Name the columns in the first line, as in “path,label”, or choose them as Path column and Label column"
    raise _wrong(source, number, said, f"{todo} (dataset.path, dataset.label).", field)


def columns_in(written: str, header: list[str]) -> list[str]:
    """The columns that the user named: between commas, or between blanks where no column has a name with them.

    Args:
        written: the names, as in `dataset.levels` and `dataset.box`.
        header: the columns of the list, in small letters.
    """
    parts = [part.strip() for part in written.split(",")]
    return [name for part in parts for name in ([part] if part and part.lower() in header else part.split())]


def _rows(source: Path, root: Path, params: CsvParams, progress: Progress) -> tuple[list[Line], list[str]]:
    """Every line with an image, and the columns of its wider labels. Raises Problem naming file and line."""
    chosen = {"path": params.path, "label": params.label, "split": params.split}
    named = {name: column.strip().lower() for name, column in chosen.items() if column.strip()}
    cells_of = _cells(source, named, progress)
    header, lines = _with_header(source, cells_of, named)
    first = cells_of[0][0]  # the header's line
    above, boxed = columns_in(params.levels, header), columns_in(params.box, header)
    if boxed and len(boxed) != SIDES:
        raise _wrong(source, first, f"{len(boxed)} box columns are named", "Name four, or none.", "dataset.box")
    others = [name.lower() for name in (*above, *boxed)]
    twice = [name for name in ("path", "label", "split", *others) if header.count(name) > 1]
    if twice:
        raise _wrong(source, first, f"there are {header.count(twice[0])} columns {twice[0]}", "Rename all but one.")
    missing = [name for name in (*above, *boxed) if name.lower() not in header]
    if missing:
        raise _wrong(source, first, f"there is no column {missing[0]}; found {', '.join(filter(None, header))}")
    parsed: list[Line] = []
    wider: dict[str, tuple[str, ...]] = {}
    seen: dict[str, int] = {}
    for done, (number, cells) in enumerate(lines):
        if done % TELL_EVERY == 0:
            progress(f"Checking {source.name}", done, len(lines))
        if len(cells) != len(header):
            raise _wrong(source, number, f"{len(cells)} columns instead of {len(header)}")
        values = {name: plain_cell(cell.strip()) for name, cell in zip(header, cells, strict=True)}
        if not values["path"] or not values["label"]:
            raise _wrong(source, number, "path or label is empty")
        half, path = values.get("split", ""), _relative(_path_of(cells[header.index("path")].strip(), root), root)
        if half and half.lower() not in WORDS:
            raise _wrong(source, number, f"the split {half!r} is neither train nor test")
        if parsed and bool(half) != bool(parsed[0].half):
            raise _wrong(source, number, "the split must be filled in on every line or on none")
        if not path:
            raise _wrong(source, number, f"{values['path']} lies outside {root}", OUTSIDE)
        try:
            box = box_of([values[name.lower()] for name in boxed], params.box_numbers) if boxed else None
        except ValueError as error:
            raise _wrong(source, number, f"the box cannot be used: {error}", field="dataset.box") from None
        name = path if box is None else part_name(path, box)
        if name in seen:
            what = values["path"] if box is None else f"the same box of {values['path']}"
            todo = BOXES if box is None else "Correct the line."
            raise _wrong(source, number, f"{what} is already in line {seen[name]}", todo)
        seen[name] = number
        labels = tuple(values[name.lower()] for name in above)
        if "" in labels:
            raise _wrong(source, number, f"{above[labels.index('')]} is empty")
        if wider.setdefault(values["label"], labels) != labels:
            raise _wrong(source, number, f"{values['label']} is of {' '.join(wider[values['label']])} in a line above")
        parsed.append(Line(number, path, values["label"], half, labels, box))
    return parsed, above


def _path_of(written: str, root: Path) -> str:
    """A path without the apostrophe that keeps a spreadsheet from running it, unless the file's own name has one."""
    plain = plain_cell(written)
    return written if plain != written and os.path.isfile(root / written) else plain


def _relative(written: str, root: Path) -> str:
    """The path below the root, posix; empty when it leaves the root."""
    parts = written.split("/")
    if not ({"", ".", ".."} & set(parts) or "\\" in written or ":" in written):
        return written  # as nearly all are: the rest takes most of the time of a long list
    try:
        path = os.path.relpath(root / written.replace("\\", "/"), root).replace(os.sep, "/")
    except ValueError:  # another drive, or no path at all
        return ""
    return "" if ".." in PurePosixPath(path).parts else path


def _wrong(path: Path, number: int, what: str, todo: str = "Correct the line.", field: str = "") -> Problem:
    return Problem(f"{path}, line {number}: {what}.", kept="Nothing was started.", todo=todo, field=field)
