"""`workbench plugins` and `workbench new`: plug-ins of other people, and a template for one's own."""

from pathlib import Path
from typing import Any

import click

from workbench import plugins as known_plugins
from workbench import registry
from workbench.commands.arguments import FOLDER, Group
from workbench.commands.terminal import printable, show_json, show_lines
from workbench.config import KINDS
from workbench.entries import catalog as catalogs
from workbench.files import atomic_write, make_folder
from workbench.files.new_files import NewFiles
from workbench.files.resources import resources
from workbench.jobs import command_line
from workbench.problem import Problem

WRAPPED = ("pytorch-metric-learning",)  # libraries with a template of their own in resources/new


@click.group(cls=Group, short_help="Third-party losses, backbones and data sets.")
def plugins() -> None:
    """Losses, backbones, data sets, samplers and augmentations of other people: folders of Python files."""


@plugins.command("list", short_help="Show the folders that were added, and what they contain.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def list_them(as_json: bool) -> None:
    """Show the folders that were added, and what is loaded from them and from installed packages."""
    from workbench.commands.machine.checks import plugin_findings

    if as_json:
        show_json({"folders": [str(folder) for folder in known_plugins.folders()], "plugins": _loaded()})
        return
    lines = [f"{folder}\n    {known_plugins.WARNING}" for folder in known_plugins.folders()]
    lines += [f"{'   ' if finding.good else 'BAD'} {finding.said}" for finding in plugin_findings()]
    show_lines(map(printable, lines), "There are no plug-ins: `workbench plugins add FOLDER` adds some.")


@plugins.command(short_help="Load the Python files of a folder from now on.")
@click.argument("folder", type=FOLDER, required=False)
def add(folder: Path | None) -> None:
    """Load the Python files in FOLDER from now on; without FOLDER from the one in your settings."""
    if folder is None:
        folder = known_plugins.standard_folder()
        make_folder(folder)
    added = known_plugins.add(folder)
    click.echo(f"Added {folder.resolve()}. {known_plugins.WARNING}")
    for file in added:
        click.echo(f"    {file}")


@plugins.command()
@click.argument("folder", type=FOLDER)
def remove(folder: Path) -> None:
    """Stop loading FOLDER. Its files stay."""
    known_plugins.remove(folder)
    click.echo(f"Removed {folder.resolve()}. Its files stay.")


@click.group(cls=Group, short_help="Write a template for your own loss.")
def new() -> None:
    """Write a template of a plug-in."""


@new.command("loss")
@click.argument("name")
@click.option("--into", type=FOLDER, default=Path(), help="The folder; by default the working folder.")
@click.option("--wraps", type=click.Choice(WRAPPED), help="Call a loss and a miner of this library.")
def loss(name: str, into: Path, wraps: str | None) -> None:
    """Write a working loss NAME (a lower-case word) and its test."""
    for file in write_loss(name, into, wraps):
        click.echo(f"Wrote {file}")
    click.echo(f"Test it with pytest; use it with: {command_line('workbench', 'plugins', 'add', str(into))}")


def _loaded() -> list[dict[str, Any]]:
    """Every plug-in with its entries, such as loss/my_margin, or the problem with it. Loads torch."""
    registry.discover_all()
    entries: dict[str, list[str]] = {}
    for kind in KINDS:
        for entry in registry.entries(kind):
            if entry.origin:
                entries.setdefault(entry.origin, []).append(f"{kind}/{entry.name}")
    good = [{"origin": origin, "entries": names, "problem": ""} for origin, names in entries.items()]
    bad = [{"origin": origin, "entries": [], "problem": said} for origin, said in registry.broken().items()]
    return good + bad


def write_loss(name: str, into: Path, wraps: str | None = None) -> list[Path]:
    """A loss of that name and its test in the folder `into`, which is made; the two files.

    Args:
        wraps: one of WRAPPED, whose loss is called; None for one written out.

    Raises:
        Problem: a name that no config can have or that is taken, a file that is there already, or a folder that cannot
            be written.
    """
    if not name.isidentifier() or name != name.lower() or name.startswith(known_plugins.LEFT_OUT):
        raise Problem(f"{name!r} cannot be the name of a loss.", todo="Use a lower-case word, such as my_margin.")
    words = name.split("_")
    changes = {"loss_name": name, "LossName": "".join(word.capitalize() for word in words)}
    changes["LossTitle"] = " ".join(words).capitalize()
    templates = resources() / "new"
    sources = templates / (wraps or "") / "loss_name.py", templates / "test_loss_name.py"
    targets = {into / path.name.replace("loss_name", name): path for path in sources}
    for target in targets:
        if target.exists():
            raise Problem(f"{target} already exists.", kept="It was not changed.", todo="Choose another name.")
    if f"loss/{name}" in catalogs.current():
        raise Problem(f"A loss named {name} already exists.", kept="Nothing was written.", todo="Choose another name.")
    with NewFiles() as new:
        for target, template in targets.items():
            text = template.read_text("utf-8")
            for before, after in changes.items():
                text = text.replace(before, after)
            new.add(target)
            make_folder(into)
            with atomic_write(target) as file:
                file.write(text.encode())
    return sorted(targets)
