"""A comparison of runs as the command line reads it once: for its tables, and as JSON and CSV for scripts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from workbench.comparing.difference.baseline import BaselineRow, against_baseline
from workbench.comparing.difference.forest import Forest, against_the_first, corrected_tests, verdict_among
from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.tested import fold_of_run
from workbench.comparing.measures import At, Summary
from workbench.comparing.overview import Overview, overview
from workbench.comparing.queries.pairing import Comparison, compare
from workbench.comparing.queries.replacing import Crossed, Replacing, replacing
from workbench.comparing.queries.similarity import Similarity, similarity
from workbench.comparing.queries.together import METRICS, Ensemble, Together, together
from workbench.comparing.queries.unread import Unread
from workbench.comparing.statistics.intervals import Interval
from workbench.entries import catalog as catalogs
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.reports.content.size_content import differences_by_size
from workbench.results.size_differences import SIZE_COLUMNS, ComparedBySize, differences_data, size_rows
from workbench.workspace import Workspace

Result = TypeVar("Result")
COLUMNS = (
    "group", "runs", "metric", "at", "seeds", "mean", "standard_deviation", "low_95", "high_95", "seconds",
    "memory_bytes", "difference", "difference_low_95", "difference_high_95", "difference_seeds", "p", "p_holm",
    "unfinished_runs",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The groups of the chosen runs, and each but the first compared with the first."""

    overview: Overview
    others: tuple[tuple[Group, Comparison | Problem], ...]  # the Problem says why two cannot be compared
    similarity: Similarity | Problem | None = None  # of the embeddings; None where it was not asked for
    together: Together | Problem | None = None  # what the runs find together; likewise
    replaced: Replacing | Problem | None = None  # whether one run may replace another; likewise
    by_size: dict[str, ComparedBySize | Problem] = field(default_factory=dict)  # the others by title, where asked for

    @property
    def first(self) -> Group:
        """The group of the first run that was named."""
        return self.overview.groups[0]


def compared(
    workspace: Workspace, numbers: tuple[int, ...], metric: str, at: At, progress: Progress = quiet, *,
    embeddings: bool = False, ensembles: bool = False, crossed: bool = False, by_size: bool = False,
) -> Compared:  # fmt: skip
    """Read and compare runs.

    Args:
        embeddings: whether those of each two groups are compared, too.
        ensembles: whether the embeddings of several runs are searched side by side, too.
        crossed: whether the gallery of each run is searched with the queries of the others, too.
        by_size: whether differences are also measured in groups of classes by size.

    Raises:
        Problem: a run that is not there, or none that has the metric there.
    """
    runs = [workspace.run(number) for number in dict.fromkeys(numbers)]
    shown = overview(workspace, runs, catalogs.current(), metric, at, progress, runs[0].id)
    shown.require()
    first, others = shown.groups[0], list[tuple[Group, Comparison | Problem]]()
    for other in shown.groups[1:]:
        try:
            others.append((other, compare(workspace, first, other, shown.measured, metric, at, progress=progress)))
        except Problem as problem:
            others.append((other, problem))
    similar = _or_problem(similarity, workspace, shown, progress) if embeddings else None
    joint = _or_problem(together, workspace, shown, progress) if ensembles else None
    replaced = _or_problem(replacing, workspace, shown, progress) if crossed else None
    sized = {other.title: _by_size(workspace, shown, made, progress) for other, made in others} if by_size else {}
    return Compared(shown, tuple(others), similar, joint, replaced, sized)


def _by_size(
    workspace: Workspace, shown: Overview, comparison: Comparison | Problem, progress: Progress
) -> ComparedBySize | Problem:
    """The difference of two groups by class size; the Problem says why there is none."""
    if isinstance(comparison, Problem):
        return comparison
    try:
        return differences_by_size(workspace, shown, comparison, progress)
    except Problem as problem:
        return problem


def _or_problem(
    measure: Callable[[Workspace, Overview, Progress], Result], workspace: Workspace, shown: Overview,
    progress: Progress,
) -> Result | Problem:  # fmt: skip
    try:
        return measure(workspace, shown, progress)
    except Problem as problem:
        return problem


def as_data(read: Compared) -> dict[str, Any]:
    """Plain data for JSON: what the tables show, in full precision."""
    shown = read.overview
    tests = corrected_tests(shown, read.first, shown.metric)
    return {
        "metric": shown.metric,
        "at": shown.at,
        "groups": [_group(shown, row) for row in _rows(shown)],
        "settings": [
            {"field": row.field, "values": dict(zip([group.title for group in shown.groups], row.values, strict=True))}
            for row in shown.differences
        ],
        "notes": list(shown.guards),
        "comparisons": [_comparison(read, tests, other, comparison) for other, comparison in read.others],
        "against_the_first": against_the_first(shown),
        **({} if read.similarity is None else {"similarity": _similarity_data(read.similarity)}),
        **({} if read.together is None else {"together": _together_data(read.together)}),
        **({} if read.replaced is None else {"replaced": _replaced_data(read.replaced)}),
        **({"by_class_size": _size_data(read.by_size)} if read.by_size else {}),
    }


def _size_data(by_size: Mapping[str, ComparedBySize | Problem]) -> dict[str, Any]:
    """By the title of each group its difference in every group of classes; or the reason why there is none."""
    return {
        title: {"problem": str(made)}
        if isinstance(made, Problem)
        else {"counted": made.measured.counted, "groups": differences_data(made.rows), "notes": made.sentences}
        for title, made in by_size.items()
    }


def _similarity_data(of_groups: Similarity | Problem) -> dict[str, Any]:
    """A row for each pair of groups; or the reason why there is none."""
    if isinstance(of_groups, Problem):
        return {"problem": str(of_groups)}
    pairs = [
        {"group": of_groups.titles[first], "other": of_groups.titles[second], "cka": similar.cka}
        | {"same_neighbours": similar.neighbours, "pairs": similar.pairs}
        for (first, second), similar in sorted(of_groups.cells.items())
        if first <= second
    ]
    facts = {
        "images": of_groups.images,
        "drawn": of_groups.drawn,
        "neighbours": of_groups.k,
        "left_out": list(of_groups.left_out),
        "unread_runs": _unread_data(of_groups.unread),
    }
    return facts | {"pairs": pairs}


def _unread_data(unread: Unread) -> list[dict[str, Any]]:
    """Runs that are left out, as their files or rows cannot be read, and why."""
    return [{"run": run, "reason": wrong} for run, wrong in unread]


def _together_data(of_runs: Together | Problem) -> dict[str, Any]:
    """A row for each run alone, each pair and all; or the reason why there is none."""
    if isinstance(of_runs, Problem):
        return {"problem": str(of_runs)}
    return {
        "ensembles": [_ensemble(of_runs, ensemble) for ensemble in of_runs.ensembles],
        "sets": [
            {"runs": list(runs), "queries": count}
            for runs, count in zip(of_runs.sets, of_runs.queries, strict=True)
        ],
        "scaled_runs": list(of_runs.scaled),
        "left_out": [{"reason": reason, "runs": list(runs)} for reason, runs in of_runs.left_out],
        "unread_runs": _unread_data(of_runs.unread),
    }  # fmt: skip


def _ensemble(of_runs: Together, ensemble: Ensemble) -> dict[str, Any]:
    return {
        "runs": list(ensemble.runs),
        "groups": [of_runs.titles[run] for run in ensemble.runs],
        "embedding_size": ensemble.dim,
        "bytes_per_image": ensemble.bytes_per_image,
        "metrics": {metric: _gain(ensemble, metric) for metric in METRICS if metric in ensemble.values},
    }


def _gain(ensemble: Ensemble, metric: str) -> dict[str, Any]:
    value, gain = {"value": ensemble.values[metric]}, ensemble.gains.get(metric)
    return value | ({} if gain is None else {"better_run": ensemble.better[metric], "gain": gain.mean, **_limits(gain)})


def _replaced_data(of_runs: Replacing | Problem) -> dict[str, Any]:
    """A row for each old and new run; or the reason why there is none."""
    if isinstance(of_runs, Problem):
        return {"problem": str(of_runs)}
    sets = zip(of_runs.sets, of_runs.queries, of_runs.chance, strict=True)
    return {
        "pairs": [
            {
                "old_run": pair.old, "new_run": pair.new, "old_group": of_runs.titles[pair.old],
                "new_group": of_runs.titles[pair.new], "old_recall@1": pair.old_alone, "new_recall@1": pair.new_alone,
                "as_they_are": _crossed_data(pair.as_they_are), "rotated": _crossed_data(pair.rotated),
            }
            for pair in of_runs.pairs
        ],
        "sets": [
            {"runs": list(runs), "queries": count, "searched": searched, "chance": chance}
            for runs, (searched, count), chance in sets
        ],
        "left_out": [{"reason": reason, "runs": list(runs)} for reason, runs in of_runs.left_out],
        "unread_runs": _unread_data(of_runs.unread),
    }  # fmt: skip


def _crossed_data(crossed: Crossed | None) -> dict[str, Any] | None:
    if crossed is None:
        return None
    change = {"change": crossed.change.mean, **_limits(crossed.change)}
    return {"recall@1": crossed.value, **change, "above_chance": crossed.above_chance}


def as_csv(read: Compared) -> str:
    """A row for each group, the first run's first; its difference from that group is empty.

    By class size more rows follow, for each group of classes of each group but the first, with more columns.
    """
    shown = read.overview
    rows = list[dict[str, Any]]()
    for row in _rows(shown):
        group = _group(shown, row)
        runs = " ".join(str(run["run"]) for run in group["runs"])
        unfinished = " ".join(str(run["run"]) for run in group["runs"] if run["status"] != "done")
        group |= {"group": group["title"], "runs": runs, "metric": shown.metric, "at": shown.at}
        group["unfinished_runs"] = unfinished
        rows.append(group)
    columns = list(COLUMNS)
    if read.by_size:
        columns += [column for column in SIZE_COLUMNS if column not in COLUMNS]
        differences = {title: made for title, made in read.by_size.items() if isinstance(made, ComparedBySize)}
        asked = {"metric": shown.metric, "at": shown.at}
        rows += [dict(zip(SIZE_COLUMNS, row, strict=True)) | asked for row in size_rows(differences)]
    return csv_text(columns, [[row.get(column, "") for column in columns] for row in rows])


def _rows(shown: Overview) -> list[BaselineRow]:
    return against_baseline(shown, shown.groups[0], [shown.metric])


def _group(shown: Overview, row: BaselineRow) -> dict[str, Any]:
    """One group with its difference from the first over seeds; None for what is not known."""
    (cell,) = row.cells
    summary = next(summary for summary in shown.summaries if summary.group is row.group)
    over = cell.difference
    known = None if over is None or not over.n else over
    return {
        "title": row.group.title,
        "runs": _runs(shown, summary),
        "seeds": summary.interval.n,
        "mean": summary.interval.mean if summary.interval.n else None,
        "standard_deviation": summary.spread,
        **_limits(summary.interval),
        "seconds": summary.seconds,
        "memory_bytes": summary.memory,
        "difference": None if known is None else known.mean,
        **{f"difference_{name}": value for name, value in _limits(known).items()},
        "difference_seeds": 0 if known is None else known.n,
        "p": cell.p,
        "p_holm": cell.adjusted,
    }


def _runs(shown: Overview, summary: Summary) -> list[dict[str, Any]]:
    """The runs of a group; only those with a value count in its mean."""
    rows = []
    for run in summary.group.runs:
        at = shown.measured[run.id].at(shown.at)
        rows.append(
            {
                "run": run.id,
                "seed": run.seed,
                "fold": fold_of_run(run),
                "status": str(run.status),
                "epoch": None if at is None else at.epoch,
                "value": summary.values.get(run.id),
            }
        )
    return rows


def _comparison(read: Compared, tests: Forest, other: Group, comparison: Comparison | Problem) -> dict[str, Any]:
    """The first group and another, the other minus the first, seed by seed."""
    head = {"first": read.first.title, "second": other.title}
    if isinstance(comparison, Problem):
        return {**head, "problem": str(comparison)}
    counts = None if comparison.queries is None else comparison.queries.count()
    return {
        **head,
        "paired": comparison.paired,
        "seeds": [
            {
                "seed": pair.seed, "fold": pair.fold, "runs": [pair.first_run, pair.second_run], "first": pair.first,
                "second": pair.second, "difference": pair.over_queries.mean, **_limits(pair.over_queries),
                "queries": pair.over_queries.n,
            }
            for pair in comparison.seeds
        ],
        "difference": comparison.over_seeds.mean,
        **_limits(comparison.over_seeds),
        "verdict": verdict_among(tests, comparison),
        "queries": None if counts is None else dict(zip(("better", "equal", "worse"), counts, strict=True)),
        "notes": list(comparison.notes),
    }  # fmt: skip


def _limits(interval: Interval | None) -> dict[str, float | None]:
    low, high = (None, None) if interval is None or not interval.known else (interval.low, interval.high)
    return {"low_95": low, "high_95": high}
