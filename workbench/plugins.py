"""Methods of other people: Python files in folders that the user added, and entry points of installed packages.

A file in a folder is code that runs with the user's rights, so nothing is loaded from a folder that was not added.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_config_path

from workbench import files
from workbench.problem import Problem, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = tuple(f"workbench.{kind}" for kind in ("losses", "backbones", "datasets", "samplers", "augmentations"))
LEFT_OUT = ("_", "test_", "conftest.")  # beginnings of names of files that are no plug-ins
LARGEST, LONGEST = 1 << 20, 200  # bytes of the list of folders; letters of one that a message names
INSTALLED = ("site-packages", "dist-packages")
WARNING = "Python files in this folder run with your rights whenever Workbench starts: add only what you trust."


@dataclass(frozen=True, slots=True)
class Plugin:
    """One file, one package in a folder, or one entry point; `load` imports it and may raise anything."""

    origin: str  # where it comes from, in words
    stamp: str  # another one when it has changed
    load: Callable[[], object]


def standard_folder() -> Path:
    """The folder that is offered for plug-ins, below the user's folder of settings; added like any other."""
    return user_config_path("workbench", appauthor=False) / "plugins"


def package_folder() -> Path:
    """Where a bundle, which has no pip, looks for packages of plug-ins: filled by another Python's `pip --target`."""
    return user_config_path("workbench", appauthor=False) / INSTALLED[0]


def folders() -> list[Path]:
    """The folders that the user added, in that order, each once.

    Raises:
        Problem: the list of them cannot be read, or names a folder without its full path, which would be another one
            in each working folder.
    """
    list_file = _list()
    try:
        # Not by splitlines: a folder may have other separators, such as U+2028, in its name.
        named = [Path(line) for line in dict.fromkeys(_text(list_file).split("\n")) if line]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise _unreadable_list(str(error)) from None
    if partial_paths := [folder for folder in named if not folder.is_absolute() or "\0" in str(folder)]:
        raise _unreadable_list(f"{str(partial_paths[0])[:LONGEST]!r} is not the full path of a folder")
    return named


def _text(list_file: Path) -> str:
    """The list with line feeds alone. Raises OSError, or ValueError: it is no text of LARGEST bytes at the most."""
    if not list_file.is_file() and list_file.exists():
        raise ValueError("it is no file")
    with list_file.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST:,} bytes")
    return content.decode("utf-8-sig").replace("\r\n", "\n")  # as Notepad stores it


def _unreadable_list(why: str) -> Problem:
    return Problem(
        f"The list of plug-in folders {_list()} cannot be read ({why}).", kept="No folder of it is loaded.",
        todo="Correct the file, or remove it.",
    )  # fmt: skip


def add(folder: Path) -> list[Path]:
    """Trust a folder from now on; the files in it that will be loaded.

    Raises:
        Problem: it is no folder, or one whose name has two lines; the list cannot be read or written.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise Problem(f"{folder} is not a folder.", kept="Nothing was added.")
    if "\n" in str(folder):
        what = f"{str(folder)!r} has a line break in its name, and the list has one folder a line."
        raise Problem(what, kept="Nothing was added.", todo="Rename the folder.")
    if folder not in (before := folders()):
        _write([*before, folder])
    return _files(folder)


def remove(folder: Path) -> None:
    """Load nothing from this folder any more; its files stay. Raises Problem when it was not added."""
    before, gone = folders(), folder.resolve()
    if gone not in before:
        raise UnknownName(f"{gone} is not a plug-in folder.", todo="See: workbench plugins list")
    _write([trusted for trusted in before if trusted != gone])


def all_plugins() -> list[Plugin]:
    """All plug-ins, none of them loaded. The `load` of one that cannot be read says why."""
    from importlib.metadata import entry_points  # late: a twentieth of the time that the window needs to start

    declared = entry_points()  # once: each call reads what all installed packages declare
    return [*_in_folders(), *(_installed(entry) for group in GROUPS for entry in declared.select(group=group))]


def stamps() -> list[str]:
    """Cheap facts that change when a plug-in comes, goes or changes: no package's files are read for them."""
    places = [Path(folder) for folder in sys.path if Path(folder).name in INSTALLED]
    installed = [f"{site} {site.stat().st_mtime_ns}" for site in places if site.is_dir()]
    return [*installed, *(f"{plugin.origin} {plugin.stamp}" for plugin in _in_folders())]


def _in_folders() -> list[Plugin]:
    try:
        added = folders()
    except Problem as problem:
        return [_unreadable(str(_list()), problem)]
    every: list[Plugin] = []
    for folder in added:
        if folder.is_dir():
            every += [Plugin(str(file), _stamp(file), partial(load_file, file)) for file in _files(folder)]
        else:
            every.append(_unreadable(str(folder), Problem(f"The plug-in folder {folder} is gone.")))
    return every


def load_file(file: Path) -> object:
    """Import a plug-in's file, or a package's `__init__.py`, under its own module name; exceptions are passed on."""
    is_package = file.name == "__init__.py"
    digest = sha256(str(file).encode()).hexdigest()[:8]
    name = f"workbench_plugin_{digest}_{file.parent.name if is_package else file.stem}"
    spec = spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)] if is_package else None)
    if spec is None or spec.loader is None:
        raise Problem(f"{file} is not a Python file.")
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _files(folder: Path) -> list[Path]:
    every = [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    return sorted(path for path in every if not path.relative_to(folder).parts[0].startswith(LEFT_OUT))


def _stamp(file: Path) -> str:
    parts = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return " ".join(f"{part.stat().st_size}-{part.stat().st_mtime_ns}" for part in parts if part.exists())


def _installed(point: "EntryPoint") -> Plugin:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    return Plugin(f"package {package} ({point.value})", package, point.load)


def _unreadable(origin: str, problem: Problem) -> Plugin:
    def load() -> object:
        raise problem

    return Plugin(origin, str(problem), load)


def _list() -> Path:
    """One folder a line: WORKBENCH_PLUGINS when it is set, else in the user's folder of settings."""
    named = os.environ.get("WORKBENCH_PLUGINS")
    return Path(named) if named else user_config_path("workbench", appauthor=False) / "plugin-folders.txt"


def _write(trusted: list[Path]) -> None:
    list_file = _list()
    try:
        list_file.parent.mkdir(parents=True, exist_ok=True)
        with files.atomic_write(list_file) as file:
            file.write("".join(f"{folder}\n" for folder in trusted).encode())
    except OSError as error:
        raise Problem(f"The list of plug-in folders {list_file} cannot be written ({error}).") from None
