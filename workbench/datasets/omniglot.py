"""Omniglot: characters of many alphabets, in the official folder layout or still in the official zip."""

import io
import threading
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np

from workbench import files
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import BadImage, decode, load
from workbench.datasets.pixels import Progress
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register


class OmniglotParams(Params):
    place: str = param(
        "", label="Folder or zip", path="file", help="images_background, images_background_small1.zip or another part."
    )
    image_size: int = param(
        28, ge=8, le=105, label="Image size", unit="px", help="Side of the images; the originals have 105."
    )


@register(
    "dataset",
    "omniglot",
    title="Omniglot",
    params=OmniglotParams,
    source="Lake et al. 2015, folder or zip as published",
)
def omniglot(params: OmniglotParams, *, progress: Progress) -> ImageSet:
    """Handwritten characters by 20 people each; a class is a character of an alphabet."""
    if not params.place:
        raise Problem("No folder or zip is chosen for Omniglot.", kept="Nothing was started.", todo="Choose one.")
    place = Path(params.place)
    progress("Reading Omniglot", 0, 1)
    if place.is_file():
        return _from_zip(place, params.image_size)
    if place.is_dir():
        return _from_folder(place, params.image_size)
    raise Problem(f"There is no {place}.", kept="Nothing was started.", todo="Choose the folder or zip again.")


def _from_folder(root: Path, size: int) -> ImageSet:
    found = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.png") if path.is_file())
    paths, labels, names = _classes([path for path in found if len(PurePosixPath(path).parts) >= 3], str(root))
    return ImageSet("omniglot", root, paths, labels, names, 1, size, lambda row: load(root / paths[row], 1))


def _from_zip(place: Path, size: int) -> ImageSet:
    """Images are read out of the zip as they are needed; nothing is unpacked to disk."""
    try:
        archive = zipfile.ZipFile(place)
    except (zipfile.BadZipFile, OSError) as error:
        raise Problem(
            f"{place} is no whole zip file ({error}).", kept="Nothing was started.", todo="Get it again."
        ) from None
    with archive:
        files.check_archive(archive, place)
        entries = {_inner(name): name for name in archive.namelist() if name.endswith(".png")}
    paths, labels, names = _classes(sorted(path for path in entries if path.count("/") >= 2), str(place))
    lock, opened = threading.Lock(), zipfile.ZipFile(place)

    def read(row: int) -> np.ndarray:
        try:
            with lock:
                data = opened.read(entries[paths[row]])
        except (zipfile.BadZipFile, OSError, RuntimeError) as error:
            raise BadImage(f"cannot be read from the zip ({error})") from None
        return decode(io.BytesIO(data), 1)

    return ImageSet("omniglot", None, paths, labels, names, 1, size, read)


def _inner(name: str) -> str:
    """`images_background_small1/Greek/character01/0394_01.png` without its first folder, as in the unpacked layout."""
    parts = PurePosixPath(name).parts
    return "/".join(parts[-3:])


def _classes(paths: list[str], place: str) -> tuple[list[str], np.ndarray, list[str]]:
    """Sorted paths with labels; the class of ALPHABET/characterNN/file.png is ALPHABET/characterNN."""
    if not paths:
        raise Problem(
            f"{place} holds no ALPHABET/characterNN/*.png.",
            kept="Nothing was started.",
            todo="Choose another folder or zip.",
        )
    owners = [PurePosixPath(path).parent.as_posix() for path in paths]
    names = sorted(set(owners))
    at = {name: label for label, name in enumerate(names)}
    return paths, np.array([at[owner] for owner in owners], np.int64), names
