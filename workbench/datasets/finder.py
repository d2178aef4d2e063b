"""Finds published data sets below the user's data folders."""

from pathlib import Path
from typing import Any

from workbench.files.archive_names import is_archive

DEPTH = 3  # folders between a data folder and a marker


def find_data(folders: list[Path], markers: dict[str, list[str]]) -> dict[str, list[str]]:
    """Paths to choose, by data set, nearest first: the folder of a marker, or the marker itself if it is an archive.

    Args:
        folders: where to look; missing ones are skipped.
        markers: by data set, patterns of files in its folder, such as "images.txt" or "cifar-10-*/batches.meta*".
    """
    folders_of: dict[str, list[str]] = {}
    for name, patterns in markers.items():
        for depth in range(DEPTH):
            for folder in folders:
                for pattern in patterns:
                    folders_of.setdefault(name, []).extend(_places(folder, "*/" * depth + pattern))
    return {name: list(dict.fromkeys(places)) for name, places in folders_of.items() if places}


def markers_of(known: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The patterns of every data set of the catalog that has some."""
    entries = {key.partition("/")[2]: entry for key, entry in known.items() if key.startswith("dataset/")}
    return {name: list(entry["facts"]["markers"]) for name, entry in entries.items() if entry["facts"].get("markers")}


def _places(folder: Path, pattern: str) -> list[str]:
    try:
        matches = sorted(folder.glob(pattern))
    except OSError:
        return []
    return [str(match if match.is_dir() or is_archive(match) else match.parent) for match in matches]
