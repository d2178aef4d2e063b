"""Where the icons, templates and presets are: inside the wheel, or beside the package in a checkout."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def resources() -> Path:
    """The folder of resources. Raises FileNotFoundError when the installation is incomplete."""
    for folder in (PACKAGE / "resources", PACKAGE.parent / "resources"):
        if (folder / "presets").is_dir():
            return folder
    raise FileNotFoundError("Workbench's resources are missing: install it again.")
