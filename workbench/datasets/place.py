"""Where a published data set lies: in the chosen folder, in one below it, or in an archive that is unpacked once."""

from pathlib import Path

from workbench import archives
from workbench.catalog import cache_folder
from workbench.datasets.pixels import Progress
from workbench.problem import Problem


def find_place(chosen: str, marker: str, name: str, progress: Progress) -> Path:
    """The folder that holds the file `marker` (a relative path): the chosen one, or one up to two levels below.

    Args:
        chosen: a folder, or an archive (it is unpacked into the cache; an unchanged one only once).
        marker: what must lie there, such as "images.txt".
        name: of the data set, for sentences.

    Raises:
        Problem: nothing chosen, no such place, no marker there, or a bad archive.
    """
    if not chosen:
        raise Problem(f"No folder or archive is chosen for {name}.", kept="Nothing was started.", todo="Choose one.")
    place = Path(chosen).expanduser()
    if place.is_file():
        if not archives.is_archive(place):
            raise Problem(
                f"{place} is neither a folder nor an archive (zip or tar).",
                kept="Nothing was started.",
                todo=f"Choose the folder or archive of {name}.",
            )
        place = archives.unpacked(place, cache_folder() / "unpacked", progress)
    if not place.is_dir():
        raise Problem(f"There is no {place}.", kept="Nothing was started.", todo="Choose the folder again.")
    for pattern in (marker, f"*/{marker}", f"*/*/{marker}"):
        found = sorted(place.glob(pattern))
        if found:
            return found[0].parents[marker.count("/")]
    raise Problem(
        f"{place} holds no {marker}.", kept="Nothing was started.", todo=f"Choose the folder or archive of {name}."
    )
