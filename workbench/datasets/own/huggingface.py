"""Data sets of Hugging Face's library `datasets` on this disk: Arrow or Parquet, read in place.

Layouts: what `save_to_disk` writes (dataset_dict.json with a folder per split, or state.json beside its files), the
library's own cache, and folders of Parquet files as data sets are published. Nothing is downloaded, and no script of a
data set is executed.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.scan import Problems
from workbench.datasets.reading.arrow_columns import (
    ARROW,
    PARQUET,
    Column,
    Features,
    Images,
    is_image,
    is_label,
    is_number,
)
from workbench.datasets.reading.data_folder import DEEPEST, open_place
from workbench.datasets.reading.packed_records import (
    PackedParams,
    Records,
    chosen_column,
    half_of,
    packed_set,
    plain_name,
)  # fmt: skip
from workbench.datasets.split import WORDS
from workbench.files.unreadable import opened_text, refusing
from workbench.params import param
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

WHOLE, ONE_SPLIT = "dataset_dict.json", "state.json"
PASSED_OVER = ("cache-", "indices", "tmp", ".")  # prefixes of files without rows of the data set
LONGEST = 64 << 20  # characters of one of its JSON files
KEPT = "Nothing was started."
NAMED = 5  # columns in a sentence
NUMBERED = re.compile(r"(.*?)(\d{5})-of-(\d{5})(?:\D.*)?", re.DOTALL)  # a file's name, which says how many there are
UNLABELLED = "without a label"  # none, -1 as the library writes it, or an empty text
UNKNOWN = "with a number outside the named classes"


class HuggingFaceParams(PackedParams):
    """Where the data set is stored, and which of its columns and splits are used."""

    folder: str = param(
        "", label="Folder or archive", path="place",
        help="As save_to_disk wrote it, the library's cache of one data set, or a folder of Parquet files.",
    )  # fmt: skip
    image: str = param(
        "", label="Image column",
        help="Name of the column; may be empty if only one has images. Dots lead into structs.",
    )  # fmt: skip
    label: str = param(
        "", label="Label column",
        help="Name of the column; may be empty if only one has classes. Dots lead into structs, as in meta.label.",
    )  # fmt: skip
    split: str = param(
        "", label="Split of the data set", help="A single split, such as train; empty for all, as the official split."
    )


@register(
    "dataset", "huggingface", title="Hugging Face data set", params=HuggingFaceParams,
    source="datasets 4 (Lhoest et al. 2021): Arrow of save_to_disk and of its cache, Parquet",
    markers=[WHOLE, ONE_SPLIT], named_by="folder",
)  # fmt: skip
def huggingface(params: HuggingFaceParams, *, progress: Progress) -> ImageSet:
    """Images of a data set of Hugging Face that is on this disk, in Arrow or Parquet files."""
    root = open_place(params.folder, "the data set", progress)
    splits = _splits(root)
    if params.split:
        if params.split not in splits:
            known = ", ".join(name or "one without a name" for name in splits)
            said = f"{root} has no split {params.split!r}; there are {known}."
            raise Problem(said, kept=KEPT, todo="Name one of them.")
        splits = {params.split: splits[params.split]}
    files = [file for files_of_split in splits.values() for file in files_of_split]
    first = Column(files[0])
    image, label, names = _columns(first, params)
    images, records = Images(), []
    done = 0
    for split, files_of_split in splits.items():
        records.append(Records(split))
        unusable = Counter[str]()
        for file in files_of_split:
            progress("Reading the data set", done, len(files))
            column = first if file == files[0] else _same_columns(Column(file), first, image, label)
            _add(records[-1], unusable, column, image, label, names, images)
            done += 1
        _complain(records[-1], unusable)
    class_names = None if names is None else list(dict.fromkeys(names))
    image_set = packed_set(
        "huggingface", files, records, class_names, images.encoded, params, f"{image} {label} {params.split}", "row"
    )
    return replace(image_set, remarks=[*image_set.remarks, *_missing_files(files)])


def _missing_files(files: list[Path]) -> Problems:
    """A remark on each group of files, such as train-00000-of-00003.parquet, of which some are not there."""
    groups: dict[tuple[Path, str, int], set[int]] = {}
    for file in files:
        if match := NUMBERED.fullmatch(file.name):
            groups.setdefault((file.parent, match[1], int(match[3])), set()).add(int(match[2]))
    return [
        (
            f"{name}*-of-{count:05d}",
            f"are {count:,} files, of which {len(numbers):,} {'is' if len(numbers) == 1 else 'are'} here",
        )
        for (_, name, count), numbers in groups.items()
        if len(numbers) < count
    ]


def _columns(first: Column, params: HuggingFaceParams) -> tuple[str, str, list[str] | None]:
    """The image column, the label column, and the names of the classes, if the data set has them."""
    features, kinds = first.features(), first.kinds()
    images = [name for name, kind in kinds.items() if is_image(kind)]
    labels = [name for name, kind in kinds.items() if is_label(kind)]
    numbers = [name for name, kind in kinds.items() if is_number(kind)]  # classes only where a name says so
    stated = [name for name in images if _is_stated(features, name, "Image")]
    classes = [name for name in (*labels, *numbers) if _is_stated(features, name, "ClassLabel")]
    called = [name for name in (*labels, *numbers) if name.rpartition(".")[2] in ("label", "labels")]
    outer = first.schema.names
    image = chosen_column(params.image, _likely(outer, stated, images), list(kinds), "image", first.file)
    label = chosen_column(params.label, _likely(outer, classes, called, labels), list(kinds), "label", first.file)
    for name, fitting, what in ((image, images, "images"), (label, [*labels, *numbers], "classes")):
        if name not in fitting:
            said = f"The column {name} of {first.file} holds no {what} ({str(kinds[name])[:60]})."
            inside = [other for other in fitting if other.startswith(f"{name}.")]
            raise Problem(said, kept=KEPT, todo=_other_column(str(kinds[name]), inside))
    names = features.get(label, {}).get("names")
    return image, label, _checked_names(names) if isinstance(names, list) and label in classes else None


def _is_stated(features: Features, name: str, kind: str) -> bool:
    """Whether the data set says that the column is of that kind of `datasets`."""
    return features.get(name, {}).get("_type") == kind


def _likely(outer: list[str], *groups: list[str]) -> list[str]:
    """The columns of the first group that has some; those inside structs follow all but the last of the others."""
    inside = [[name for name in group if name not in outer] for group in groups]
    outside = [[name for name in group if name in outer] for group in groups]
    ordered = [*outside[:-1], *inside[:-1], outside[-1], inside[-1]]
    return next((group for group in ordered if group), [])


def _other_column(kind: str, inside: list[str]) -> str:
    """What to do about a column of a wrong type; `inside` are fitting ones in it."""
    if inside:
        return f"Name one inside it: {', '.join(inside[:NAMED])}."
    if "list<" in kind or "list_view<" in kind:
        return "A row has one image and one class: name another column, or save the data set with a row for each."
    return "Name another column."


def _checked_names(names: list[Any]) -> list[str]:
    """Names of classes, all different."""
    texts = [str(name) for name in names]
    repeated = len(set(texts)) < len(texts)
    return [f"{number} {text}" for number, text in enumerate(texts)] if repeated else texts


def _same_columns(column: Column, first: Column, image: str, label: str) -> Column:
    """The file, if it has the columns of the first one. Raises Problem."""
    for name in (image, label):
        if name not in column.kinds() or column.kinds()[name] != first.kinds()[name]:
            said = f"The column {name} of {column.file} has another type than in {first.file.name}, or is missing."
            raise Problem(said, kept=KEPT, todo="Choose a folder with one data set.")
    return column


def _add(
    records: Records, unusable: Counter[str], column: Column, image: str, label: str, names: list[str] | None,
    images: Images,
) -> None:  # fmt: skip
    """The rows of one file; those without a class are counted in `unusable` by the reason."""
    for load_images, stored, labels in column.parts(image, label):
        first = images.add(len(labels), load_images)
        for at, (name, stored_value) in enumerate(zip(stored, labels, strict=True)):
            value = _whole(stored_value, column.file, label)
            number = len(records.rows) + unusable.total()
            words = "" if value is None else _class(value, names)
            if not words.strip():
                unusable[UNLABELLED if value in (None, -1) or isinstance(value, str) else UNKNOWN] += 1
                continue
            records.names.append(plain_name(name))
            records.fallbacks.append(f"{number:09d}")
            records.classes.append(words)
            records.rows.append(first + at)


def _whole(value: Any, file: Path, label: str) -> Any:
    """The label of a row; a whole one of decimal numbers as an integer, None for NaN. Raises Problem for any other."""
    if not isinstance(value, float):
        return value
    if isnan(value):
        return None
    if not value.is_integer():
        raise Problem(
            f"The column {label} of {file} has {value:g}, which is not a class: classes are whole numbers or text.",
            kept=KEPT,
            todo="Name another column, or save the data set with these numbers as text or in groups.",
        )
    return int(value)


def _complain(records: Records, unusable: Counter[str]) -> None:
    """One remark for all rows of a split that lack a class for one reason, as in published test splits."""
    split = f"split {records.split}" if records.split else "the data set"
    for reason, many in unusable.items():
        records.problems.append((split, f"has {'1 row' if many == 1 else f'{many:,} rows'} {reason}"))
    records.more_left_out = unusable.total() - len(unusable)


def _class(value: Any, names: list[str] | None) -> str:
    """The class as text; empty for -1, which is no class, and for a number outside the named classes."""
    if names is None:
        return "" if value == -1 else str(value)
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else ""


def _splits(root: Path) -> dict[str, list[Path]]:
    """The files of each split, in their order; "" names what has no split. Raises Problem if there are none."""
    if (root / WHOLE).is_file():
        names = _json(root / WHOLE).get("splits")
        folders = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        splits = {name: _saved(_below(root, name))[1] for name in folders}
    elif (root / ONE_SPLIT).is_file():
        name, files = _saved(root)
        splits = {name: files}
    else:
        splits = _by_names(root)
    if not any(splits.values()):
        raise Problem(f"{root} holds no Arrow or Parquet files.", kept=KEPT, todo="Choose the folder of a data set.")
    return {name: files for name, files in splits.items() if files}


def _saved(folder: Path) -> tuple[str, list[Path]]:
    """The split's name, and its files as `save_to_disk` lists them."""
    state = _json(folder / ONE_SPLIT)
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise Problem(
            f"{folder} holds a selection of rows as a list of indices, as old versions of datasets saved it.",
            kept=KEPT,
            todo="Save it again with a version from 2022 or later.",
        )
    listed = state.get("_data_files")
    names = [file.get("filename") for file in listed if isinstance(file, dict)] if isinstance(listed, list) else []
    files = [_below(folder, str(name)) for name in names]
    gone = [file for file in files if not file.is_file()]
    if gone:
        raise Problem(f"{gone[0]} is missing.", kept=KEPT, todo="Copy the data set again.")
    split = state.get("_split")
    return split if isinstance(split, str) else "", files


def _by_names(root: Path) -> dict[str, list[Path]]:
    """Files of the cache or of a published folder; the split is named in the file's or folder's name."""
    files = sorted(_found(root))
    folders = sorted({file.parent for file in files})
    if len(folders) > 1 and not all(folder.name.lower() in WORDS for folder in folders):
        named = ", ".join(folder.relative_to(root).as_posix() or "." for folder in folders[:3])
        raise Problem(
            f"{root} holds more than one data set ({named}{', ...' if folders[3:] else ''}).",
            kept=KEPT,
            todo="Choose the folder of one.",
        )
    splits: dict[str, list[Path]] = {}
    for file in files:
        split = half_of(file.stem) or (file.parent.name if file.parent.name.lower() in WORDS else "")
        splits.setdefault(split, []).append(file)
    return splits


def _found(root: Path) -> Iterator[Path]:
    for ending in (ARROW, PARQUET):
        for depth in range(DEEPEST + 1):
            for file in root.glob("*/" * depth + f"*{ending}"):
                if file.is_file() and not file.name.startswith(PASSED_OVER):
                    yield file


def _below(folder: Path, name: str) -> Path:
    """The file or folder of that name in the folder. Raises Problem for a name that leads out of it."""
    if not name or name in (".", "..") or any(letter in name for letter in "/\\:\0"):
        raise Problem(
            f"{folder} lists {name[:60]!r}, which is not a file name.", kept=KEPT, todo="Get the data set again."
        )
    return folder / name


def _json(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises Problem."""

    def refused(why: str) -> Problem:
        return Problem(f"{file} cannot be read ({why}).", kept=KEPT, todo="Get the data set again.")

    with opened_text(file, "Choose it again.") as text, refusing(refused):
        content = text.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise ValueError("it is too long")
        stored = json.loads(content)
        if not isinstance(stored, dict):
            raise ValueError("it holds no names")
    return stored
