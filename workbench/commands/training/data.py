"""`workbench data`: what is in the data set of a config, before anything is trained."""

import os
from pathlib import Path

import click

from workbench.commands.terminal import one_line, show_json, told
from workbench.config import RunConfig
from workbench.entries import catalog as catalogs
from workbench.files.archive_names import holds_images
from workbench.jobs import command_line
from workbench.settings.changed import as_changes, changed_by_texts, parted, read_config
from workbench.settings.presets import presets
from workbench.settings.proposals import RECIPE, for_images

NEAR = (RECIPE, "sample-digits")  # the presets with and without pretrained weights


@click.command("data", short_help="Check a config's images: classes, unreadable files, copies.")
@click.argument("config")
@click.option(
    "--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field, such as split.name=classes."
)
@click.option(
    "--near-duplicates", "near", is_flag=True,
    help="Also compare every image with every other, and list pairs that are nearly the same.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(0), default=20, show_default=True, help="Lines printed of each list.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def data(config: str, changes: tuple[str, ...], near: bool, most: int, as_json: bool) -> None:
    """Show what is in the data set of CONFIG, a .toml file or a preset: its split, unreadable images, and copies.

    Of a folder with a folder of images for each class, or an archive of it, also the command that trains on it: with
    pretrained weights where the folder beside it named weights, or torch's cache, has some.

    Images are read, and decoded into the cache that a run uses. No file of the data set is changed.
    """
    from workbench.running import preflight
    from workbench.running.facts.inspected import lines_of, plain

    of_images = holds_images(Path(config))
    wanted, reasons = _proposed(Path(config), changes) if of_images else (read_config(config, changes), [])
    with told() as progress:
        inspection = preflight.inspect_data(wanted, progress)
        pairs = preflight.near_duplicates(wanted, progress) if near else None
    if as_json:
        show_json(plain(inspection, pairs) | ({"train": _training(wanted)} if of_images else {}))
        return
    for line in lines_of(inspection, pairs, most):
        click.echo(one_line(line))
    for reason in reasons:
        click.echo(one_line(reason))
    if of_images:
        click.echo(f"Train on it with: {command_line(*_training(wanted))}")


def _proposed(images: Path, changes: tuple[str, ...]) -> tuple[RunConfig, list[str]]:
    """The config that the window proposes for a folder or an archive of images, with these changes, and its reasons."""
    known, texts = catalogs.current(), parted(changes, "--set ")
    proposal = for_images(Path(os.path.abspath(images)), [], known)
    config = changed_by_texts(proposal.config, texts, known, str(images)).with_whole_paths(known)
    return config, [reason for field, reason in proposal.reasons.items() if field not in texts]


def _training(config: RunConfig) -> list[str]:
    """The words of the command that trains a config: the preset that is nearest to it, with what differs."""
    known = catalogs.last()
    ways = [(preset.key, as_changes(preset.config, config, known)) for preset in presets() if preset.key in NEAR]
    name, changes = min(ways, key=lambda way: len(way[1]))
    return ["workbench", "run", name, *(word for change in changes for word in ("--set", change))]
