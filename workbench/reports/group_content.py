"""What a report of several runs says, as plain data: what workbench/comparing finds, nothing computed anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.comparing.groups import Group
from workbench.comparing.measures import At
from workbench.comparing.overview import Overview, overview
from workbench.comparing.pairing import Comparison, compare
from workbench.comparing.papers import GroupsBeside
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

MOST_PAIRS = 12  # groups set against the first: each takes a bootstrap over all queries of all seeds


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
    workspace: Workspace, runs: Sequence[Run], sections: Sequence[str], metric: str, at: At, progress: Progress
) -> GroupContent:
    """Read, group and compare the runs. Takes seconds: not on the window's thread.

    Args:
        sections: of GROUP_SECTIONS; differences and published tables are looked for only where they are told.
        metric, at: as in `comparing.overview`.
        progress: hears what is done; may raise Cancelled.

    Raises:
        Problem: the runs have evaluations, but none of that metric or at that epoch; it says what there is.
    """
    found = overview(workspace, runs, catalogs.current(), metric, at, progress)
    if found.metrics:
        found.require()
    pairs = _pairs(workspace, found, progress) if "differences" in sections and found.metrics else ()
    published = found.papers if "group-published" in sections else ()
    return GroupContent(found, pairs, max(0, len(found.groups) - 1 - MOST_PAIRS), published)


def _pairs(workspace: Workspace, found: Overview, progress: Progress) -> tuple[Comparison | tuple[Group, str], ...]:
    pairs: list[Comparison | tuple[Group, str]] = []
    first, *others = found.groups
    for done, other in enumerate(others[:MOST_PAIRS]):
        progress(f"Differences of {other.title}", done, min(len(others), MOST_PAIRS))
        try:
            pairs.append(compare(workspace, first, other, found.measured, found.metric, found.at))
        except Problem as problem:
            pairs.append((other, str(problem)))
    return tuple(pairs)
