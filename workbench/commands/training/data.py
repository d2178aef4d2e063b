"""`workbench data`: what is in the data set of a config, before anything is trained."""

import click

from workbench.commands.terminal import one_line, show_json, told
from workbench.settings.changed import read_config


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

    Images are read, and decoded into the cache that a run uses. No file of the data set is changed.
    """
    from workbench.running import preflight
    from workbench.running.facts.inspected import lines_of, plain

    wanted = read_config(config, changes)
    with told() as progress:
        inspection = preflight.inspect_data(wanted, progress)
        pairs = preflight.near_duplicates(wanted, progress) if near else None
    if as_json:
        show_json(plain(inspection, pairs))
        return
    for line in lines_of(inspection, pairs, most):
        click.echo(one_line(line))
