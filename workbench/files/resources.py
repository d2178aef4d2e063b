"""Where the icons, templates and presets are: inside the wheel, or beside the package in a checkout."""

import json
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]


def resources() -> Path:
    """The folder of resources. Raises FileNotFoundError when the installation is incomplete."""
    for folder in (PACKAGE / "resources", PACKAGE.parent / "resources"):
        if (folder / "presets").is_dir():
            return folder
    raise FileNotFoundError("Workbench's resources are missing: install it again.")


def shipped(name: str) -> dict[str, Any]:
    """The content of a JSON file among the resources; empty where it is missing, as if only the code was copied."""
    try:
        return dict(json.loads((resources() / name).read_text("utf-8")))
    except (OSError, json.JSONDecodeError):
        return {}
