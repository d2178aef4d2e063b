"""Omniglot: characters of many alphabets, in the official folders, in the official zip, or in a tar."""

import io
import os
import zipfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workbench.datasets.image_set import ImageSet, numbered
from workbench.datasets.images.loader import MOST_BYTES, BadImage, decode, load, on_disk
from workbench.datasets.images.scan import Problems, find_images
from workbench.datasets.reading.data_folder import open_place
from workbench.datasets.reading.fields import side_of_square, stored_at
from workbench.datasets.reading.published import Counts, count_differences
from workbench.files import archives, typed_path
from workbench.files.archive_names import stem
from workbench.files.unreadable import refusing
from workbench.params import Params
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

DEPTH = 3  # ALPHABET/characterNN/file.png
PARTS = {  # by the name of the folder, or of the zip
    "images_background": Counts(964, 19_280),
    "images_evaluation": Counts(659, 13_180),
    "images_background_small1": Counts(136, 2_720),
    "images_background_small2": Counts(156, 3_120),
}


class OmniglotParams(Params):
    """Where Omniglot is stored, a folder or a zip file, and the side of the images."""

    place: str = stored_at("images_background, images_background_small1.zip or another part.")
    image_size: int = side_of_square(28, originals=105, largest=105)


@register(
    "dataset",
    "omniglot",
    title="Omniglot",
    params=OmniglotParams,
    source="Lake et al. 2015, folder or zip as published",
    markers=["images_background*"],
    may_be_mirrored=False,
)
def omniglot(params: OmniglotParams, *, progress: Progress) -> ImageSet:
    """Handwritten characters, each drawn by 20 people; a class is a character of an alphabet."""
    if not params.place:
        raise Problem("No folder or archive is chosen for Omniglot.", kept="Nothing was started.", todo="Choose one.")
    path = typed_path(params.place)
    progress("Reading Omniglot", 0, 0)
    if os.path.isfile(path) and path.suffix.lower() == ".zip":
        return _from_zip(path, params.image_size)
    return _from_folder(open_place(params.place, "Omniglot", progress), path, params.image_size, progress)


def _from_folder(folder: Path, chosen: Path, size: int, progress: Progress) -> ImageSet:
    """The images below `folder`, which is the chosen folder or that of a chosen archive."""
    problems: Problems = []
    image_paths = find_images(folder, problems, progress)
    above = {PurePosixPath(path).parts[:-DEPTH] for path in image_paths if path.count("/") >= DEPTH - 1}
    root = folder.joinpath(*above.pop()) if len(above) == 1 else folder  # one part: the same numbers as from its zip
    inside = "" if root == folder else root.relative_to(folder).as_posix() + "/"
    paths = [path.removeprefix(inside) for path in image_paths if path.count("/") >= DEPTH - 1]
    part = stem(chosen) if root == folder else root.name
    return _image_set(
        paths, chosen, part, root=root, image_size=size, read=lambda row: load(on_disk(root, paths[row]), 1),
        problems=problems,
    )  # fmt: skip


def _from_zip(zip_path: Path, size: int) -> ImageSet:
    """Images are read from the zip when they are needed; nothing is unpacked to disk."""
    archive = archives.CheckedZip(zip_path)  # stays open as long as the set is in use
    entries = {"/".join(PurePosixPath(entry.filename).parts[-DEPTH:]): entry for entry in _images_of(archive)}
    paths = sorted(entries)
    whole = blake2b(b"".join(b"%d;" % entries[path].CRC for path in paths), digest_size=16)

    def read(row: int) -> np.ndarray:
        entry = entries[paths[row]]
        if entry.file_size > MOST_BYTES:
            raise BadImage(f"is over {MOST_BYTES >> 20} MiB")
        with refusing(_unread, BadImage):
            return decode(io.BytesIO(archive.read(entry)), 1)

    return _image_set(paths, zip_path, zip_path.stem, root=None, image_size=size, read=read, content=whole.hexdigest())


def _unread(why: str) -> BadImage:
    return BadImage(f"cannot be read from the zip ({why})")


def _images_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Entries that are images of characters, without what macOS adds to a zip."""
    return [
        entry
        for entry in archive.infolist()
        if entry.filename.lower().endswith(".png")
        and entry.filename.count("/") >= DEPTH - 1
        and not any(part.startswith((".", "__MACOSX")) for part in entry.filename.split("/"))
    ]


def _image_set(paths: Sequence[str], chosen: Path, part: str, **facts: Any) -> ImageSet:
    """The characters at these paths; the class of ALPHABET/characterNN/file.png is ALPHABET/characterNN.

    If `part` is the name of a published part, counts are compared with the published ones.
    """
    if not paths:
        raise Problem(
            f"{chosen} holds no ALPHABET/characterNN/*.png.",
            kept="Nothing was started.",
            todo="Choose another folder or archive.",
        )
    labels, names = numbered([PurePosixPath(path).parent.as_posix() for path in paths])
    unlike = count_differences(part, PARTS[part], len(names), len(paths)) if part in PARTS else []
    return ImageSet(
        name="omniglot", paths=paths, labels=labels, class_names=names, channels=1, unlike_published=unlike, **facts
    )
