"""The content of a report of several runs, as plain data computed by workbench/comparing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import At
from workbench.comparing.overview import Overview, overview
from workbench.comparing.published.papers import GroupsBeside
from workbench.comparing.queries.pairing import Comparison, compare
from workbench.comparing.queries.replacing import Replacing, replacing
from workbench.comparing.queries.similarity import Similarity, similarity
from workbench.comparing.queries.together import Together, together
from workbench.entries import catalog as catalogs
from workbench.fair.stored import read_comparisons
from workbench.fair.table import Comparison as FairComparison
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.reports.content.size_content import differences_by_size
from workbench.reports.content.sweep_content import SweepContent, gather_sweeps
from workbench.results.size_differences import ComparedBySize
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

Result = TypeVar("Result")
MOST_PRODUCTS = 2e11  # of searches with the embeddings of several runs: ten seconds on one core
MOST_PAIRS = 12  # groups set against the first: each takes a bootstrap over all queries of all seeds


@dataclass(frozen=True, slots=True, eq=False)
class GroupContent:
    """The content of a report about groups of runs."""

    overview: Overview
    pairs: tuple[Comparison | tuple[Group, str], ...]  # against the first group; or why there is none
    unpaired: int  # groups that were not set against the first
    published: tuple[GroupsBeside, ...]
    fair: tuple[FairComparison, ...] = ()  # of the whole workspace, the newest first
    sweeps: tuple[SweepContent, ...] = ()  # of the runs, with several parameters
    more_sweeps: int = 0  # that are left out
    similarity: Similarity | str | None = None  # of the embeddings; a sentence where nothing could be compared
    together: Together | str | None = None  # what the runs find together; likewise
    replaced: Replacing | str | None = None  # whether one may replace another; likewise
    by_size: Mapping[str, ComparedBySize | str] = field(default_factory=dict)  # of `pairs` with queries, by title

    @property
    def runs(self) -> list[Run]:
        """All runs, group by group."""
        return [run for group in self.overview.groups for run in group.runs]


def gather_groups(
    workspace: Workspace, runs: Sequence[Run], sections: Sequence[str], metric: str, at: At, progress: Progress
) -> GroupContent:
    """Read, group and compare the runs. Takes seconds: not on the window's thread.

    Args:
        runs: the others are compared with the group of the first one.
        sections: of GROUP_SECTIONS; differences, similarity, published tables, fair comparisons and the importance of
            parameters are read only where listed.
        metric, at: as in `comparing.overview`.
        progress: called at each stage; may raise Cancelled.

    Raises:
        Problem: the runs have evaluations, but none of that metric or at that epoch; it says what there is.
    """
    compared = overview(workspace, runs, catalogs.current(), metric, at, progress, runs[0].id)
    if compared.metrics:
        compared.require()
    pairs = _pairs(workspace, compared, progress) if "differences" in sections and compared.metrics else ()
    published = compared.papers if "group-published" in sections else ()
    fair = read_comparisons(workspace, catalogs.current()).comparisons if "fair" in sections else ()
    sweeps, more = gather_sweeps(workspace, runs, catalogs.current(), progress) if "importance" in sections else ((), 0)
    unpaired = max(0, len(compared.groups) - 1 - MOST_PAIRS)
    similar, joint, replaced = (
        _similarity(workspace, compared, progress) if "similarity" in sections else (None, None, None)
    )
    by_size = _by_size(workspace, compared, pairs, progress)
    return GroupContent(compared, pairs, unpaired, published, fair, sweeps, more, similar, joint, replaced, by_size)


def _by_size(
    workspace: Workspace, compared: Overview, pairs: Sequence[Comparison | tuple[Group, str]], progress: Progress
) -> dict[str, ComparedBySize | str]:
    """The differences by class size, by the title of the second group; a sentence where they cannot be read."""
    with_queries = [pair for pair in pairs if isinstance(pair, Comparison) and pair.queries is not None]
    return {
        pair.second.title: _or_sentence(differences_by_size, workspace, compared, pair, progress)
        for pair in with_queries
    }


def _similarity(
    workspace: Workspace, compared: Overview, progress: Progress
) -> tuple[Similarity | str, Together | str | None, Replacing | str | None]:
    """How similar runs are, what they find together and in place of each other; a sentence where there is no answer.

    None where another of them has said the same sentence. None needs the answer of another.
    """
    similar = _or_sentence(similarity, workspace, compared, progress)
    joint = _or_sentence(together, workspace, compared, progress, MOST_PRODUCTS)
    replaced = _or_sentence(replacing, workspace, compared, progress, MOST_PRODUCTS)
    return (
        similar,
        None if joint == similar else joint,
        None if replaced in (similar, joint) else replaced,
    )


def _or_sentence(measure: Callable[..., Result], *asked: Any) -> Result | str:
    try:
        return measure(*asked)
    except Problem as problem:
        return str(problem)


def _pairs(workspace: Workspace, compared: Overview, progress: Progress) -> tuple[Comparison | tuple[Group, str], ...]:
    pairs: list[Comparison | tuple[Group, str]] = []
    first, *others = compared.groups
    for done, other in enumerate(others[:MOST_PAIRS]):
        progress(f"Differences of {other.title}", done, min(len(others), MOST_PAIRS))
        try:
            pairs.append(compare(workspace, first, other, compared.measured, compared.metric, compared.at))
        except Problem as problem:
            pairs.append((other, str(problem)))
    return tuple(pairs)
