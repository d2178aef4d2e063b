"""The importance of the parameters of sweeps, as blocks."""

from collections.abc import Sequence

from workbench.metric_names import metric_name
from workbench.reports.content.sweep_content import SweepContent
from workbench.reports.writing.blocks import Block, Table, heading, said
from workbench.sweeps.importance import Share, notes

HEAD = ("Parameter", "Share %", "Least %", "Most %", "Settings")


def importance_blocks(sweeps: Sequence[SweepContent], more: int) -> list[Block]:
    """A table for each sweep with what its shares say and do not say; nothing without a sweep."""
    blocks: list[Block] = []
    for sweep in sweeps:
        measured = sweep.measured
        rows = [_row(sweep, share, measured.settings, "") for share in measured.shares]
        for part in measured.parts:
            rows += [_row(sweep, share, part.measured.settings, part.titles) for share in part.shares]
        title = f"Sweep {sweep.number}, {sweep.name}"
        blocks.append(heading(title))
        if rows:
            caption = f"{title}: share of the variance of {metric_name(measured.metric)} that each explains alone."
            key = f"importance-{sweep.number}"
            blocks.append(Table(key, caption, HEAD, tuple(rows), frozenset(range(1, len(HEAD)))))
        blocks += [said(sentence, muted=True) for sentence in notes(measured, sweep.titles)]
    if more:
        blocks.append(said(f"{more:,} older sweeps of these runs are left out: report them separately.", muted=True))
    return blocks


def _row(sweep: SweepContent, share: Share, settings: int, entries: str) -> tuple[str, ...]:
    """The cells of HEAD; `entries` are those that alone have the field."""
    title = sweep.titles.get(share.field, share.field)
    numbers = (f"{100 * number:.1f}" for number in (share.share, share.low, share.high))
    return (f"{title} ({entries})" if entries else title, *numbers, f"{settings:,}")
