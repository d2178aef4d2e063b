"""WebDataset: tar shards in which KEY.jpg is followed by KEY.cls, KEY.txt or KEY.json; nothing is unpacked."""

import os
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import BadImage
from workbench.datasets.reading.data_folder import DEEPEST, open_place
from workbench.datasets.reading.packed_records import PackedParams, Records, half_of, packed_set, plain_name
from workbench.datasets.reading.tar_index import Shard, Wanted, first_contents, shard_index
from workbench.datasets.split import WORDS
from workbench.entries.catalog import cache_folder
from workbench.files import typed_path
from workbench.files.archive_names import is_archive
from workbench.params import param
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register


class WebDatasetParams(PackedParams):
    """Where the shards are stored, and which files of a sample are the image and its class."""

    folder: str = param(
        "", label="Folder or shard", path="place",
        help="Folder with the shards (*.tar), which may be in folders train and val; or one shard. Not compressed.",
    )  # fmt: skip
    image: str = param(
        "", label="Image", suggestions=["jpg", "png", "webp"],
        help="Ending of the image's file; empty takes the first file of a sample that is an image.",
    )  # fmt: skip
    label: str = param(
        "cls", label="Class", suggestions=["cls", "txt", "json"], help="Ending of the file that holds the class."
    )
    field: str = param("label", label="Field of the JSON", help="For JSON: the field with the class; dots lead inside.")


@register(
    "dataset", "webdataset", title="WebDataset", params=WebDatasetParams,
    source="Aizman et al. 2019, the layout of the library webdataset", named_by="folder",
)  # fmt: skip
def webdataset(params: WebDatasetParams, *, progress: Progress) -> ImageSet:
    """Images in tar shards beside their classes, read in place."""
    tars = _shards(params.folder, progress)
    wanted = Wanted(params.image.lower().lstrip("."), params.label.lower().lstrip("."), params.field)
    cache = cache_folder() / "shards"
    shards = [shard_index(tar, wanted, cache, progress) for tar in tars]
    starts = list(accumulate((len(shard.keys) for shard in shards), initial=0))
    records: dict[str, Records] = {}
    for tar, name, shard, first in zip(tars, _names(tars), shards, starts, strict=False):
        split = _split_of(tar)
        _add(records.setdefault(split, Records(split)), name, shard, first)
    if not starts[-1]:
        raise _without_samples(tars, list(records.values()), wanted)
    places = [np.array([shard.starts, shard.sizes], np.int64) for shard in shards]

    def encoded(row: int) -> bytes:
        number = bisect_right(starts, row) - 1
        start, size = places[number][:, row - starts[number]].tolist()
        try:
            with tars[number].open("rb") as file:
                file.seek(start)
                return file.read(size)
        except OSError as error:
            raise BadImage(f"cannot be read ({error.strerror or error})") from None

    said = f"{wanted.image} {wanted.label} {wanted.field}"
    return packed_set("webdataset", tars, list(records.values()), None, encoded, params, said, "sample")


def _without_samples(tars: list[Path], records: list[Records], wanted: Wanted) -> Problem:
    """The Problem of shards of which no sample can be used: the first reason, and what there is instead."""
    samples = [problem for split in records for problem in split.problems]
    count = "1 was" if len(samples) == 1 else f"{len(samples):,} were"
    example = " {} left out: {} {}.".format(count, *samples[0]) if samples else ""
    endings, fields = first_contents(tars[0], wanted)
    there = f" Its first sample has {', '.join(endings)}." if endings else ""
    there += f" The fields of its .{wanted.label} are {', '.join(fields)}." if fields else ""
    todo = "Name one of the fields as the field of the JSON." if fields else "Name the endings of image and class."
    said = f"No sample in the shards of {tars[0].parent} can be used.{example}{there}"
    return Problem(said, kept="Nothing was started.", todo=todo if endings else "Choose another folder.")


def _add(records: Records, called: str, shard: Shard, first: int) -> None:
    """The samples of one shard; `first` is the number of its first one."""
    names = [plain_name(f"{key}.{ending}") for key, ending in zip(shard.keys, shard.endings, strict=True)]
    records.names += names
    records.fallbacks += [f"{called}/{name}" for name in names]
    records.classes += shard.labels
    records.rows += range(first, first + len(names))
    records.problems += [(f"{called}/{plain_name(key)}", reason) for key, reason in shard.problems]


def _split_of(tar: Path) -> str:
    """The data set's name of the split that a shard belongs to, by its own name or its folder's; or ""."""
    folder = tar.parent.name.lower()
    return half_of(tar.stem).lower() or (folder if folder in WORDS else "")


def _names(tars: list[Path]) -> list[str]:
    """The name of each shard, with its folders where another of its split is called the same."""
    alike = Counter((_split_of(tar), tar.stem) for tar in tars)
    root = os.path.commonpath([tar.parent for tar in tars])
    return [
        tar.stem if alike[_split_of(tar), tar.stem] == 1 else tar.relative_to(root).with_suffix("").as_posix()
        for tar in tars
    ]


def _shards(chosen: str, progress: Progress) -> list[Path]:
    """The shards in the chosen folder, sorted, or the chosen shard. Raises Problem if there are none."""
    tar = typed_path(chosen)
    if tar.suffix.lower() == ".tar" and tar.is_file():
        return [tar]
    if not tar.exists() and any(letter in tar.name for letter in "{*"):
        said = f"{tar} is a pattern for several shards, not a file."
        raise Problem(said, kept="Nothing was started.", todo="Choose their folder: all of its shards are read.")
    root = open_place(chosen, "the shards", progress)
    tars = [path for depth in range(DEEPEST) for path in root.glob("*/" * depth + "*.[tT][aA][rR]") if path.is_file()]
    if not tars:
        packed = tar.is_file() or any(is_archive(path) for path in root.iterdir())
        todo = "Shards must not be compressed: unpack each to a .tar." if packed else "Choose another folder."
        where = tar if tar.is_file() else root
        raise Problem(f"{where} holds no shards (*.tar).", kept="Nothing was started.", todo=todo)
    return sorted(tars)
