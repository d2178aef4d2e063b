"""What a report of several runs says, as plain data: what workbench/comparing finds, nothing computed anew."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench import catalog as catalogs
from workbench.comparing.groups import Group
from workbench.comparing.measures import At, summarised
from workbench.comparing.overview import Overview, overview
from workbench.comparing.pairing import Comparison, compare
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.published_tables import Table, beside
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

MOST_PAIRS = 12  # groups set against the first: each takes a bootstrap over all queries of all seeds
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group in a paper's table: percent for each of its columns (NaN: none), mean over seeds."""

    group: Group
    values: tuple[float, ...]
    seeds: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupsBeside:
    """A paper's table, the groups of its protocol, and what each does not share with it."""

    table: Table
    rows: tuple[GroupRow, ...]
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GroupContent:
    """Everything that a report says of groups of runs."""

    found: Overview
    pairs: tuple[Comparison | tuple[Group, str], ...]  # against the first group; or why there is none
    unpaired: int  # groups that were not set against the first
    published: tuple[GroupsBeside, ...]

    @property
    def runs(self) -> list[Run]:
        """All runs, group by group."""
        return [run for group in self.found.groups for run in group.runs]


def gather_groups(
    workspace: Workspace, runs: Sequence[Run], sections: Sequence[str], metric: str, at: At, tell: Tell
) -> GroupContent:
    """Read, group and compare the runs. Takes seconds: not on the window's thread.

    Args:
        sections: of GROUP_SECTIONS; differences and published tables are looked for only where they are told.
        metric, at: as in `comparing.overview`.
        tell: hears what is done; may raise Cancelled.

    Raises:
        Problem: the runs have evaluations, but none of that metric or at that epoch; it says what there is.
    """
    found = overview(workspace, runs, catalogs.current(), metric, at, tell)
    if found.metrics:
        found.require()
    pairs = _pairs(workspace, found, tell) if "differences" in sections and found.metrics else ()
    published = _published(found) if "group-published" in sections else ()
    return GroupContent(found, pairs, max(0, len(found.groups) - 1 - MOST_PAIRS), published)


def _pairs(workspace: Workspace, found: Overview, tell: Tell) -> tuple[Comparison | tuple[Group, str], ...]:
    pairs: list[Comparison | tuple[Group, str]] = []
    first, *others = found.groups
    for done, other in enumerate(others[:MOST_PAIRS]):
        tell(f"Differences of {other.title}", done, min(len(others), MOST_PAIRS))
        try:
            pairs.append(compare(workspace, first, other, found.measured, found.metric, found.at))
        except Problem as problem:
            pairs.append((other, str(problem)))
    return tuple(pairs)


def _published(found: Overview) -> tuple[GroupsBeside, ...]:
    """Tables in the order of the groups; a group's numbers are those of its runs at the place asked for."""
    tables: dict[tuple[str, str, str, str], Table] = {}
    rows: dict[tuple[str, str, str, str], list[tuple[GroupRow, list[str]]]] = {}
    for group in found.groups:
        measured = [each.metrics for run in group.runs if (each := found.measured[run.id].at(found.at)) is not None]
        config = RunConfig.recorded(group.runs[0].config)
        if not measured or config.imported:
            continue
        for table in beside(config, measured[0]):
            key = (table.paper, table.source, table.title, table.note)
            by_seed = _by_seed(found, group, table)
            values = tuple(sum(column) / len(column) if column else float("nan") for column in by_seed)
            tables[key] = table
            row = GroupRow(group, values, max(map(len, by_seed), default=0))
            rows.setdefault(key, []).append((row, [f"“{group.title}”: {said}" for said in table.differences(config)]))
    return tuple(
        GroupsBeside(
            table,
            tuple(row for row, _ in rows[key]),
            tuple(dict.fromkeys(one for _, told in rows[key] for one in told)),
        )
        for key, table in tables.items()
    )


def _by_seed(found: Overview, group: Group, table: Table) -> list[list[float]]:
    """For each metric of the table the values of the seeds, in percent."""
    return [
        [100 * value for value in summarised(group, found.measured, metric, found.at).by_seed.values()]
        for metric in table.metrics
    ]
