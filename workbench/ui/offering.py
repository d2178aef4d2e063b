"""A config out of what a person drops on the window or picks: a config file, or a folder of images."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.catalog import Catalog
from workbench.problem import Problem

if TYPE_CHECKING:
    from workbench.config import RunConfig

FOLDER_DATASET = "dataset/folder"


def can_be_offered(path: Path) -> bool:
    """Whether a drop of this path means something: a folder or a .toml file."""
    return path.is_dir() or path.suffix.lower() == ".toml"


def config_from(path: Path, catalog: Catalog) -> "RunConfig":
    """The config that a folder of images or a config file stands for.

    Raises:
        Problem: neither of the two, unreadable, or the catalog is not there yet.
    """
    from workbench.config import RunConfig

    if not catalog:
        raise Problem("The list of losses and data sets is still being made.", todo="Try again in some seconds.")
    if path.is_dir():
        return _of_images(path, catalog)
    if path.suffix.lower() != ".toml":
        raise Problem(
            f"{path.name} is neither a folder of images nor a config (.toml).",
            todo="Drop a folder that holds one folder per class, or a config file.",
        )
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"The config {path} cannot be read ({error}).", kept="Nothing was changed.") from None
    return RunConfig.from_toml_text(text, str(path), catalog)


def _of_images(folder: Path, catalog: Catalog) -> "RunConfig":
    from workbench.config import RunConfig

    params = catalog[FOLDER_DATASET]["params"]
    place = next(name for name, field in params.items() if field.get("path") == "folder")
    dataset = {"name": FOLDER_DATASET.partition("/")[2], place: str(folder)}
    return RunConfig.model_validate({"name": folder.name[:200] or "My images", "dataset": dataset})


def sample_config() -> "RunConfig":
    """The preset that runs anywhere in about a minute."""
    from workbench.config import presets

    return next(preset.config for preset in presets() if preset.key.startswith("sample"))
