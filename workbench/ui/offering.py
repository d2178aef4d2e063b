"""A config from a dropped or chosen path: a config file, or a folder or archive of images."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.entries.catalog import Catalog
from workbench.files.archive_names import is_archive, stem
from workbench.problem import Problem

if TYPE_CHECKING:
    from workbench.config import RunConfig

FOLDER_DATASET = "dataset/folder"


def can_be_offered(path: Path) -> bool:
    """Whether this path can become a config: images or a .toml file."""
    return holds_images(path) or path.suffix.lower() == ".toml"


def holds_images(path: Path) -> bool:
    """Whether the path is a folder or an archive."""
    return path.is_dir() or (is_archive(path) and path.is_file())


def check_known(catalog: Catalog) -> None:
    """Raises Problem while the catalog is not there yet."""
    if not catalog:
        raise Problem("The list of losses and data sets is still being made.", todo="Try again in some seconds.")


def config_from(path: Path, catalog: Catalog) -> "RunConfig":
    """The config for a folder or archive of images, or the config in a file.

    Raises:
        Problem: none of these, unreadable, or the catalog is not there yet.
    """
    from workbench.config import RunConfig

    check_known(catalog)
    if holds_images(path):
        return _of_images(path, catalog)
    if path.suffix.lower() != ".toml":
        raise Problem(
            f"{path.name} is neither a folder or archive of images nor a config (.toml).",
            todo="Drop a folder or archive (zip or tar) that holds one folder per class, or a config file.",
        )
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"The config {path} cannot be read ({error}).", kept="Nothing was changed.") from None
    return RunConfig.from_toml_text(text, str(path), catalog)


def _of_images(chosen: Path, catalog: Catalog) -> "RunConfig":
    from workbench.config import RunConfig

    params = catalog[FOLDER_DATASET]["params"]
    path_field = next(name for name, field in params.items() if field.get("path") == "place")
    dataset = {"name": FOLDER_DATASET.partition("/")[2], path_field: str(chosen)}
    name = chosen.name if chosen.is_dir() else stem(chosen)
    return RunConfig.model_validate({"name": name[:200] or "My images", "dataset": dataset})


def sample_config() -> "RunConfig":
    """The preset that runs anywhere in about a minute."""
    from workbench.settings.presets import presets

    return next(preset.config for preset in presets() if preset.key.startswith("sample"))
