"""`workbench find-rate`: a learning-rate range test of a config, and the rate that it suggests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from workbench.commands.arguments import SETTING
from workbench.commands.results.columns import Column, table_lines, terminal_width
from workbench.commands.terminal import show_json, told
from workbench.jobs import command_line
from workbench.numerals import minus
from workbench.running.facts import rate_curve
from workbench.settings.changed import parted, read_config

if TYPE_CHECKING:
    from workbench.running.rate_range import RateTest

FIELD = "training.lr"
LINES, BAR = 25, 30  # of the table at most; characters of the bar for the largest loss
COLUMNS = (Column("rate", numbers=True), Column("loss", numbers=True), Column("smoothed", numbers=True), Column(""))
RATE = click.FloatRange(0, 100, min_open=True)


@click.command("find-rate", short_help="Find a learning rate for a config, by a range test.")
@click.argument("config")
@click.option("--set", "changes", multiple=True, metavar=SETTING, help="Change a field, such as loss.name=norm_ce.")
@click.option(
    "--steps", type=click.IntRange(rate_curve.LEAST_STEPS, rate_curve.MOST_STEPS), default=None,
    help="Batches that are trained; by default 100, or as many as 10 epochs have.",
)  # fmt: skip
@click.option("--first", type=RATE, default=None, help="The smallest rate; by default 0.000001.")
@click.option("--last", type=RATE, default=None, help="The largest rate; by default 1, for SGD 10.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def find_rate(
    config: str, changes: tuple[str, ...], steps: int | None, first: float | None, last: float | None, as_json: bool
) -> None:
    """Train the network of CONFIG, a .toml file or a preset, for a few steps at a rising learning rate.

    The table has the loss of every few batches. Only images of the training set are used, and nothing is stored. The
    suggested rate is where the smoothed loss falls most steeply, over the logarithm of the rate.
    """
    from workbench.running import rate_range

    wanted = read_config(config, changes)
    with told() as progress:
        test = rate_range.find_rate(wanted, steps=steps, first=first, last=last, progress=progress)
    if as_json:
        suggested = test.suggestion
        numbers = {"rates": test.rates, "losses": test.losses, "smoothed": test.smooth, "planned_steps": test.steps}
        show_json(
            numbers
            | {"suggested": suggested.rate, "tenth_of_least": suggested.tenth}
            | {"reason": suggested.reason, "note": suggested.note}
        )
        return
    for line in _table(test):
        click.echo(line)
    for line in _suggestion(test, config, changes):
        click.echo(line)


def _table(test: "RateTest") -> list[str]:
    """Some of the points, evenly spaced and with the last one; the bars begin at the least smoothed loss."""
    every = -(-len(test.rates) // LINES)
    shown = range((len(test.rates) - 1) % every, len(test.rates), every)
    smooth = test.smooth
    finite = [smooth[at] for at in shown if abs(smooth[at]) < float("inf")]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    rows = []
    for at in shown:
        share = (smooth[at] - low) / (high - low) if high > low and smooth[at] in finite else 0.0
        numbers = (minus(f"{value:.4f}") for value in (test.losses[at], smooth[at]))
        rows.append([f"{test.rates[at]:.1e}", *numbers, "█" * round(BAR * share)])
    return table_lines(COLUMNS, rows, terminal_width())


def _suggestion(test: "RateTest", config: str, changes: tuple[str, ...]) -> Iterator[str]:
    """What the test suggests, and the command that takes it; or why it suggests nothing."""
    suggested = test.suggestion
    if test.ended_early:
        yield f"Ended after {len(test.rates)} of {test.steps} steps: the loss diverged."
    if suggested.rate is None or suggested.tenth is None:
        yield f"No rate is suggested. {suggested.reason}"
        return
    if suggested.note:
        yield suggested.note
    rate = rate_curve.in_words(suggested.rate)
    yield f"Suggested: {rate}, {rate_curve.RULE}."
    yield f"Or {rate_curve.in_words(suggested.tenth)}, {rate_curve.TENTH_RULE}."
    others = [f"{field}={value}" for field, value in parted(changes).items() if field != FIELD]
    words = [word for change in (*others, f"{FIELD}={suggested.rate:g}") for word in ("--set", change)]
    yield f"Use it: {command_line('workbench', 'run', config, *words)}"
