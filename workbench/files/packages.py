"""Optional packages: one sentence says what to install, without the project's name: no index has the project yet."""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from workbench.problem import Problem


def is_bundle() -> bool:
    """Whether this program is a bundle with its own Python and without pip (`sys.frozen` is set by PyInstaller)."""
    return bool(getattr(sys, "frozen", False))


def how_to_add(extra: str) -> str:
    """How the packages of an extra come in, as the end of a sentence: by pip, or in a bundle, by an installation."""
    if is_bundle():
        return f"this bundle is without it and has no pip, so use an installation with the extra {extra} (page Install)"
    return f"install the extra {extra} with pip (page Install)"


def missing(format_name: str, extra: str, packages: tuple[str, ...]) -> str:
    """A sentence if one of the packages is not installed, else "". Loads none of them.

    Args:
        format_name: the name that users know, such as "Parquet".
        extra: the name of the optional dependencies in pyproject.toml.
        packages: names to import.
    """
    lacking = [name for name in packages if find_spec(name) is None]
    if not lacking:
        return ""
    return f"{format_name} needs {' and '.join(lacking)}: {how_to_add(extra)}."


def load(module: str, format_name: str, extra: str) -> ModuleType:
    """The module of an optional package. Raises Problem when it is not installed."""
    said = missing(format_name, extra, (module.partition(".")[0],))
    if said:
        raise Problem(said, kept="Nothing was changed.")
    return import_module(module)
