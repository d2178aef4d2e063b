"""The menu entry, icon and file association of Workbench on a Linux desktop, for one person."""

import os
import sys
import sysconfig
from pathlib import Path

import click

from workbench.files import atomic_write, make_folder
from workbench.files.resources import resources
from workbench.jobs import call_tool
from workbench.problem import Problem

NAME = "metric-workbench"
MENU, TYPE, ICON = (
    f"applications/{NAME}.desktop", f"mime/packages/{NAME}.xml", f"icons/hicolor/scalable/apps/{NAME}.svg",
)  # fmt: skip
RESERVED = {character: f"\\{character}" for character in '"`$\\'}  # in a quoted argument of Exec


@click.command("install-desktop", short_help="Add Workbench to the menu of a Linux desktop.")
@click.option("--remove", is_flag=True, help="Remove the files that this command wrote.")
def install_desktop(remove: bool) -> None:
    """Put Workbench into the menu of a Linux desktop, with its icon; *.workbench.toml files open with it."""
    if not sys.platform.startswith("linux"):
        raise Problem("This command is for Linux desktops.", kept="Nothing was changed.", todo="Start `workbench-gui`.")
    done = take_away(data_folder()) if remove else put(data_folder(), program())
    for path in done:
        click.echo(f"{'Removed' if remove else 'Wrote'} {path}")
    if not done:
        click.echo("There is nothing to remove.")
    elif lacking := refresh(data_folder()):
        click.echo(f"The desktop shows the change after the next login: {', '.join(lacking)} could not be run.")


def data_folder() -> Path:
    """The user's data folder: XDG_DATA_HOME where it is absolute, else ~/.local/share."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


def program() -> list[str]:
    """The program that starts the window: an AppImage, `workbench-gui` beside this one, or this Python (a checkout)."""
    if getattr(sys, "frozen", False):  # set by PyInstaller
        return [os.environ.get("APPIMAGE") or str(Path(sys.executable).with_name("workbench-gui"))]
    script = Path(sysconfig.get_path("scripts")) / "workbench-gui"
    return [str(script)] if script.is_file() else [sys.executable, "-m", "workbench.app"]


def put(data: Path, words: list[str]) -> list[Path]:
    """Write menu entry, file type and icon into the data folder; the files. Those of an earlier call are replaced.

    Args:
        words: the program and its arguments; the desktop adds the file that it opens.

    Raises:
        Problem: the folder cannot be written.
    """
    entry = (resources() / "desktop" / f"{NAME}.desktop").read_text("utf-8")
    entry = entry.format(program=" ".join(_quoted(word) for word in words), tried=_escaped(words[0]))
    texts = {MENU: entry.encode()}
    for name in (TYPE, ICON):
        texts[name] = (resources() / "desktop" / Path(name).name).read_bytes()
    for name, text in texts.items():
        make_folder((data / name).parent)
        with atomic_write(data / name) as file:
            file.write(text)
    return [data / name for name in texts]


def take_away(data: Path) -> list[Path]:
    """Delete what `put` wrote; the files that were there. Folders stay: others use them."""
    there = [path for path in (data / MENU, data / TYPE, data / ICON) if path.is_file()]
    for path in there:
        path.unlink()
    return there


def refresh(data: Path) -> list[str]:
    """Notify the desktop; returns the tools that are not installed or failed."""
    calls = (["update-mime-database", str(data / "mime")], ["update-desktop-database", str(data / "applications")])
    return [words[0] for words in calls if not call_tool(words)]


def _quoted(word: str) -> str:
    """An argument of Exec, quoted as the Desktop Entry Specification says."""
    quoted = "".join(RESERVED.get(character, character) for character in word)
    return _escaped(f'"{quoted}"').replace("%", "%%")


def _escaped(text: str) -> str:
    """A string value of a desktop file: a backslash is written twice."""
    return text.replace("\\", "\\\\")
