"""Tags of images from and to a table: a row for each image, a column for each attribute."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workbench import files
from workbench.files.disk_names import ByName
from workbench.files.spreadsheet import CLOSE_IT, NOT_CLOSED, csv_text, plain_cell, rows_of, separated
from workbench.files.unreadable import lines_of, opened_text, refusing
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import (
    IS,
    LONGEST,
    Tagged,
    all_tags,
    attribute_of,
    attributes,
    change_tags,
)

PATHS = ("path", "file", "filename", "image")  # titles of the column of images
PLAIN = ("tag", "tags")  # titles of a column of tags that are no attributes, with semicolons between them
IGNORED = ("", "sample_id", "id")
MOST_VALUES = 200  # of an attribute: a map and a list of queries offer each
PART = re.compile(r' ?(?:"((?:[^"]|"")*)" ?|([^;]*))(?:;|$)')  # of a cell of tags; quotes inside a tag are its own
UNCHANGED = "No tag was changed."


@dataclass(frozen=True, slots=True)
class Imported:
    """What a table brought."""

    tags: int  # that the images have by it
    images: int
    unknown: int  # rows about images that the data set does not have
    added: tuple[Tagged, ...] = field(default=(), compare=False)  # tags that their images did not have before
    replaced: tuple[Tagged, ...] = field(default=(), compare=False)  # earlier values, which are gone


def import_tags(workspace: Workspace, dataset_id: int | None, path: Path) -> Imported:
    """Store the tags of a table. A cell of a column "view" becomes the attribute "view=front".

    A value of an attribute replaces the earlier one of its image; an empty cell changes nothing. A column "tags" has
    other tags, with semicolons between them; one that has a semicolon itself is in double quotes.

    Args:
        path: CSV or TSV with a line of titles; one column, `path`, has the paths of the images in their data set.

    Raises:
        Problem: a file that is no such table, or about no image of the data set; a tag of over 80 characters; two
            values of an attribute for one image; an attribute with over 200 values, such as one of measured numbers. No
            tag was changed then.
    """
    samples = workspace.samples(dataset_id)
    if dataset_id is None or not samples.paths:
        raise Problem("This run has no data set with images.", kept=UNCHANGED)
    ids: ByName[int] = ByName(zip(samples.paths, samples.ids.tolist(), strict=True))
    added: dict[Tagged, None] = {}
    value_of: dict[Tagged, str] = {}  # of an image, by the name of the attribute
    values: dict[str, set[str]] = {}
    images, lines, unknown, no_image = set[int](), 0, 0, ""
    for number, cells in _rows(path):
        lines += 1
        sample = ids.find(cells.path)
        if sample is None and (sample := ids.find(cells.path.strip())) is None:
            unknown, no_image = unknown + 1, no_image or cells.path
            continue
        for tag in cells.tags:
            if len(tag) > LONGEST:
                what = f"{path.name}, line {number}: “{tag[:LONGEST]}…” has over {LONGEST} characters."
                raise Problem(what, kept=UNCHANGED, todo="Shorten it.")
            name, value = attribute_of(tag)
            if name:
                values.setdefault(name, set()).add(value)
                if (other := value_of.setdefault((sample, name), value)) != value:
                    pair = f"“{visible_name(f'{name}{IS}{other}')}” and “{tag}”"
                    what = f"{path.name}, line {number}: {visible_name(cells.path)} has {pair}."
                    raise Problem(what, kept=UNCHANGED, todo="An image has only one value of an attribute: keep one.")
            added[sample, tag] = None
            images.add(sample)
    for name, distinct in values.items():
        if len(distinct) > MOST_VALUES:
            what = f"The column {name} has {len(distinct):,} different values; an attribute has at most {MOST_VALUES}."
            raise Problem(what, kept=UNCHANGED, todo="Leave it out, or write ranges in place of numbers.")
    if unknown and unknown == lines:
        what = f"No image of the data set has a path of {path.name}; its first is {visible_name(no_image) or 'empty'}."
        raise Problem(what, kept=UNCHANGED, todo=f"Write paths as the data set has them, such as {samples.paths[0]}.")
    had = {(sample, tag) for tag, members in all_tags(workspace, dataset_id).items() for sample in members}
    replaced = change_tags(workspace, dataset_id, added)
    new = tuple(tagged for tagged in added if tagged not in had)
    return Imported(len(added), len(images), unknown, new, tuple(replaced))


def export_tags(workspace: Workspace, dataset_id: int | None, path: Path) -> int:
    """Write all tags of a data set as a table that `import_tags` reads; returns its number of images.

    Raises:
        Problem: there are no tags, or the file cannot be written.
    """
    by_tag = {} if dataset_id is None else all_tags(workspace, dataset_id)
    samples = workspace.samples(dataset_id)
    if not by_tag:
        todo = "`workbench export RUN --format npy` writes the paths of the test images, for a table of your own."
        raise Problem("No image of this data set has a tag.", kept="Nothing was written.", todo=todo)
    names = attributes(filter(_has_column, by_tag))
    of_sample: dict[int, list[str]] = {}
    for tag, members in by_tag.items():
        for sample in members:
            of_sample.setdefault(sample, []).append(tag)
    paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    rows = []
    for sample in sorted(of_sample, key=lambda number: paths.get(number, "")):
        known = dict(attribute_of(tag) for tag in of_sample[sample] if _has_column(tag))
        plain = _cell_of([tag for tag in of_sample[sample] if not _has_column(tag)])
        rows.append([paths.get(sample, ""), *(known.get(name, "") for name in names), plain])
    with files.named_file(path) as file:
        file.write(csv_text(["path", *names, "tags"], rows).encode())
    return len(rows)


def _cell_of(tags: list[str]) -> str:
    """Tags in one cell, which `_tags` reads: those with a semicolon or a quote of their own are quoted."""
    cell = io.StringIO()
    csv.writer(cell, delimiter=";", lineterminator="").writerow(tags)
    return cell.getvalue()


def _has_column(tag: str) -> bool:
    """Whether a tag is an attribute that `import_tags` reads from a column of its own; "id=7" stands among the tags."""
    name, value = attribute_of(tag)
    as_read = [" ".join(words.split()) for words in (name, value)]
    return bool(name) and as_read == [name, value] and name.lower() not in (*PATHS, *PLAIN, *IGNORED)


@dataclass(frozen=True, slots=True)
class _Cells:
    path: str
    tags: list[str]


def _rows(path: Path) -> Iterator[tuple[int, _Cells]]:
    """The number of each line from the second on, with its image and its tags."""

    def refused(why: str) -> Problem:
        todo = CLOSE_IT if NOT_CLOSED in why else "Save it as UTF-8."
        return Problem(f"{path.name} cannot be read as a table ({why}).", kept=UNCHANGED, todo=todo)

    with opened_text(path, "Choose it again.", "utf-8-sig", "") as file, refusing(refused):
        separator, lines = ("\t", lines_of(file)) if path.suffix.lower() == ".tsv" else separated(lines_of(file))
        text = io.StringIO("".join(lines), newline="")
        reader = (cells for _, cells in rows_of(text, separator) if any(cells))
        titles = [" ".join(title.split()) for title in map(plain_cell, next(reader, []))]
        lowered = [title.lower() for title in titles]
        column = next((lowered.index(name) for name in PATHS if name in lowered), None)
        if column is None or len(titles) < 2:
            what = f"{path.name} needs a column path, and a column for each attribute."
            raise Problem(what, kept=UNCHANGED, todo="Write their titles in the first line.")
        if bad := next((title for title in titles if IS in title), ""):
            raise Problem(f"The column {bad!r} has an equals sign in its title.", kept=UNCHANGED, todo="Rename it.")
        counts = Counter(title for title in titles if title.lower() not in (*IGNORED, *PLAIN))
        if twice := next((title for title, count in counts.items() if count > 1), ""):
            what = f"{path.name} has more than one column {twice!r}."
            raise Problem(what, kept=UNCHANGED, todo="Rename one, or leave it out.")
        for number, cells in enumerate(reader, start=2):
            named = zip(titles, map(plain_cell, cells), strict=False)
            tags = [tag for title, cell in named if title != titles[column] for tag in _tags(title, cell)]
            yield number, _Cells(plain_cell(cells[column]).replace("\\", "/") if column < len(cells) else "", tags)


def _unquoted(quoted: str, plain: str) -> str:
    return quoted.replace('""', '"') or plain


def _tags(title: str, cell: str) -> list[str]:
    """The tags that a cell gives its image."""
    if title.lower() in IGNORED:
        return []
    if title.lower() in PLAIN:
        parts = (_unquoted(*part.groups("")) for part in PART.finditer(" ".join(cell.split())))
        return [visible_name(words) for part in parts if (words := " ".join(part.split()))]
    value = " ".join(cell.split())
    return [visible_name(f"{title}{IS}{value}")] if value else []
