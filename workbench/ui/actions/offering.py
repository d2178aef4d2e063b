"""A config from a dropped or chosen path: a config file, or a folder or archive of images."""

import os
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.entries.catalog import Catalog
from workbench.files.archive_names import holds_images
from workbench.problem import Problem

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.settings.proposals import Proposal

LIST_DATASET = "dataset/csv"
MOST_LOOKED_AT = 200  # files and folders of a dropped folder, to see what it is


@dataclass(frozen=True, slots=True)
class Offered:
    """What a dropped or chosen path is; one of the fields is set."""

    space: Path | None = None  # the folder of a workspace
    run_folders: bool = False
    curves: bool = False
    proposal: "Proposal | None" = None  # a config
    of_images: bool = False  # whether the config is for the images that the path has


def looked_at(path: Path, near: list[Path], catalog: Catalog) -> Offered:
    """Find out what a path is, and read it as far as that needs: not on the window's thread.

    Args:
        near: folders that may hold weights.

    Raises:
        Problem: as `proposed_from`, for what is neither a workspace nor runs nor curves.
    """
    if (space := workspace_of(path)) is not None:
        return Offered(space)
    if holds_run_folders(path):
        return Offered(run_folders=True)
    if holds_event_files(path) or (may_be_curves(path) and are_curves(path)):
        return Offered(curves=True)
    if may_be_curves(path) and (columns := list_columns(path)) is not None:
        return Offered(proposal=proposed_list(path, columns, near, catalog))
    proposal = proposed_from(path, near, catalog)
    return Offered(proposal=proposal, of_images=holds_images(path))


def can_be_offered(path: Path) -> bool:
    """Whether this path can be dropped: images, a .toml file, a folder of another kind, or curves."""
    return holds_images(path) or path.suffix.lower() == ".toml" or may_be_curves(path)


def holds_run_folders(path: Path) -> bool:
    """Whether the path is the folder of a run that another workspace or machine has trained, or has such folders."""
    from workbench.workspace.folders import travelling  # late: the window is shown first

    return path.is_dir() and (travelling.has_run(path) or any(map(travelling.has_run, _first_folders(path))))


def workspace_of(path: Path) -> Path | None:
    """The workspace that a folder is, or that it is a run of; None for any other folder."""
    from workbench.workspace.paths import DATABASE

    of_runs = path if path.name == "runs" else path.parent if path.name.isdecimal() else None
    around = of_runs.parent if of_runs is not None and of_runs.name == "runs" else None
    return next((folder for folder in (path, around) if folder is not None and (folder / DATABASE).is_file()), None)


def may_be_curves(path: Path) -> bool:
    """Whether the name is that of an event file or of a table, or a folder has tables; nothing is opened for it."""
    from workbench.exchange.imported import curve_folders, curve_tables, event_files

    if path.is_dir():
        return bool(curve_folders.first_tables(path))
    return path.is_file() and (event_files.MARK in path.name or path.suffix.lower() in curve_tables.ENDINGS)


def holds_event_files(path: Path) -> bool:
    """Whether the folder is one of TensorBoard, by a short look at the names in it."""
    from workbench.exchange.imported.curve_folders import has_event_files

    return path.is_dir() and has_event_files(path)


def are_curves(path: Path) -> bool:
    """Whether a file or folder has curves; first lines of tables are read: not on the window's thread."""
    from workbench.exchange.imported.curve_import import holds_curves

    return holds_curves(path)


def list_columns(path: Path) -> dict[str, str] | None:
    """Parameters for the columns of a table that lists images; None for another file. Reads first lines of it."""
    from workbench.datasets.own.csv_list import columns_of_images  # late: the window is shown first

    return columns_of_images(path) if path.is_file() else None


def proposed_list(path: Path, columns: dict[str, str], near: list[Path], catalog: Catalog) -> "Proposal":
    """A config for a table that lists images, with reasons. Raises Problem while the catalog is not there yet."""
    from workbench.config import Choice
    from workbench.settings.proposals import for_photographs

    check_known(catalog)
    field = catalog[LIST_DATASET]["facts"]["named_by"]
    dataset = {"name": LIST_DATASET.partition("/")[2], field: str(path), **columns}
    proposal = for_photographs(path.stem[:200] or "My images", dataset, path, near, catalog)
    if "split" not in columns:
        return proposal
    proposal.reasons["split.name"] = f"The column {columns['split']} says which images train."
    official = proposal.config.model_copy(update={"split": Choice(name="official")})
    return replace(proposal, config=official)


def _first_folders(path: Path) -> list[Path]:
    """Some of the folders right in a folder; none if it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return [path / entry.name for entry in islice(entries, MOST_LOOKED_AT) if entry.is_dir()]
    except OSError:
        return []


def check_known(catalog: Catalog) -> None:
    """Raises Problem while the catalog is not there yet."""
    if not catalog:
        raise Problem("The list of losses and data sets is not ready yet.", todo="Try again in a few seconds.")


def proposed_from(path: Path, near: list[Path], catalog: Catalog) -> "Proposal":
    """A config for a folder or archive of images, with reasons, or the config in a file, which needs none.

    `near` are folders that may hold weights.

    Raises:
        Problem: none of these, unreadable, or the catalog is not there yet.
    """
    from workbench.config import RunConfig
    from workbench.settings.proposals import Proposal, for_images

    check_known(catalog)
    if holds_images(path):
        return for_images(path, near, catalog)
    if path.suffix.lower() != ".toml":
        raise Problem(
            f"{path.name} is not a folder or archive of images, a config (.toml) or a table of curves.",
            todo="Drop a folder or archive (zip or tar) that holds one folder per class, a CSV file with a column of "
            "image files or with a column step or epoch, or a config file.",
        )
    return Proposal(RunConfig.from_toml_text(_text_of(path), str(path), catalog), {})


def _text_of(path: Path) -> str:
    """The text of a config. Raises Problem for what is none; a pipe is not opened, as it may never end."""
    from workbench.config import LARGEST

    try:
        if not path.is_file():
            raise ValueError("it is not a file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST >> 20} MiB")
        return content.decode("utf-8-sig")  # some editors of Windows write the mark
    except (OSError, ValueError) as error:
        raise Problem(f"The config {path} cannot be read ({error}).", kept="Nothing was changed.") from None


def sample_config() -> "RunConfig":
    """The preset that runs anywhere in about a minute."""
    from workbench.settings.presets import presets

    return next(preset.config for preset in presets() if preset.key.startswith("sample"))
