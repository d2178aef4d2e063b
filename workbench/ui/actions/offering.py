"""A config from a dropped or chosen path: a config file, or a folder or archive of images."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.entries.catalog import Catalog
from workbench.files.archive_names import is_archive, stem
from workbench.problem import Problem

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.settings.proposals import Proposal

FOLDER_DATASET = "dataset/folder"


def can_be_offered(path: Path) -> bool:
    """Whether this path can become a config: images or a .toml file."""
    return holds_images(path) or path.suffix.lower() == ".toml"


def holds_images(path: Path) -> bool:
    """Whether the path is a folder or an archive."""
    return path.is_dir() or (is_archive(path) and path.is_file())


def is_run_folder(path: Path) -> bool:
    """Whether the path is the folder of a run that another workspace or machine has trained."""
    from workbench.workspace.folders import travelling  # late: the window is shown first

    return path.is_dir() and travelling.has_run(path)


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
    from workbench.settings.proposals import Proposal

    check_known(catalog)
    if holds_images(path):
        return _of_images(path, near, catalog)
    if path.suffix.lower() != ".toml":
        raise Problem(
            f"{path.name} is neither a folder or archive of images nor a config (.toml).",
            todo="Drop a folder or archive (zip or tar) that holds one folder per class, or a config file.",
        )
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"The config {path} cannot be read ({error}).", kept="Nothing was changed.") from None
    return Proposal(RunConfig.from_toml_text(text, str(path), catalog), {})


def _of_images(chosen: Path, near: list[Path], catalog: Catalog) -> "Proposal":
    from workbench.settings.proposals import for_photographs

    params = catalog[FOLDER_DATASET]["params"]
    path_field = next(name for name, field in params.items() if field.get("path") == "place")
    dataset = {"name": FOLDER_DATASET.partition("/")[2], path_field: str(chosen)}
    name = chosen.name if chosen.is_dir() else stem(chosen)
    return for_photographs(name[:200] or "My images", dataset, chosen, near, catalog)


def sample_config() -> "RunConfig":
    """The preset that runs anywhere in about a minute."""
    from workbench.settings.presets import presets

    return next(preset.config for preset in presets() if preset.key.startswith("sample"))
