"""A data set that was listed, for the runs behind: listing millions of images takes minutes."""

import os
from collections.abc import Callable
from hashlib import blake2b

from workbench.config import Choice
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import on_disk


class Listed:
    """The data set that was listed last; listed again when files came or went in the folders that it has images in.

    An image that is written in place changes nothing here: runs read the images that were decoded before, and what is
    decoded later is looked at again (`cache.kept_images`).
    """

    def __init__(self) -> None:
        self._choice: Choice | None = None
        self._places: list[str] = []
        self._state = b""
        self._images: ImageSet | None = None

    def images(self, choice: Choice, list_now: Callable[[], ImageSet]) -> ImageSet:
        """The chosen set, from `list_now` unless it was listed and its folders are as they were."""
        if self._images is not None and choice == self._choice and _state(self._places) == self._state:
            return self._images
        self._images = None  # two lists of millions are not in memory at once
        images = list_now()
        self._choice, self._places = choice, _places(choice, images)
        self._state, self._images = _state(self._places), images
        return images


def _places(choice: Choice, images: ImageSet) -> list[str]:
    """What the set was read from: the places in its parameters, its packed files, the folders of its images."""
    named = [os.path.expanduser(value) for value in choice.params.values() if isinstance(value, str)]
    folders = set() if images.root is None else {""} | {os.path.dirname(path) for path in images.paths}
    for folder in list(folders):
        while folder := os.path.dirname(folder):
            folders.add(folder)
    return named + [str(file) for file in images.packed_in] + [on_disk(images.root or "", inside) for inside in folders]


def _state(places: list[str]) -> bytes:
    """Hash of the times and sizes of files and folders: a folder's time changes with the names in it."""
    state = blake2b(digest_size=16)
    for place in places:
        try:
            facts = os.stat(place)
        except (OSError, ValueError):  # a parameter that is no path; one with a zero byte
            state.update(b"none;")
        else:
            state.update(b"%d %d %d;" % (facts.st_ino, facts.st_size, facts.st_mtime_ns))
    return state.digest()
