"""What compared runs do not share: data set, metric or epoch, as sentences that name the runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.comparing.measures import Measured, common_epochs
from workbench.entries import catalog
from workbench.metric_names import metric_name
from workbench.workspace import Workspace
from workbench.workspace.rows import Run
from workbench.workspace.run_names import told_apart

if TYPE_CHECKING:
    from workbench.comparing.overview import Overview

MOST_RUNS, MOST_PARTS = 8, 5  # named in one sentence


def nothing_in_common(workspace: Workspace, overview: "Overview") -> list[str]:
    """One sentence for each of data set, metric and epoch that not all of the runs share; none for a single run.

    Args:
        overview: of the runs, by the metric and at the place that are asked for.
    """
    if len(overview.measured) < 2:
        return []
    return [*_data(workspace, overview), *_metric(overview), *_epochs(overview)]


def _data(workspace: Workspace, overview: "Overview") -> list[str]:
    named: dict[int, list[Run]] = {}
    for _, measured in sorted(overview.measured.items(), key=_number):
        if measured.run.dataset_id is not None:
            named.setdefault(measured.run.dataset_id, []).append(measured.run)
    if len(named) < 2:
        return []
    known = catalog.current()
    words = [told_apart(known, runs[0], workspace.dataset(key)) for key, runs in named.items()]
    runs_of_each = parts(dict(zip(words, ([run.id for run in runs] for runs in named.values()), strict=True)))
    return [f"The runs have no data set in common, so their numbers cannot be compared: {runs_of_each}."]


def _metric(overview: "Overview") -> list[str]:
    bare = [
        number
        for number, measured in _evaluated(overview.measured).items()
        if not any(overview.metric in evaluation.metrics for evaluation in measured.evaluations)
    ]
    return [f"Not all of the runs have {metric_name(overview.metric)}: {runs_named(bare)} lack it."] if bare else []


def _epochs(overview: "Overview") -> list[str]:
    apart = no_epoch_in_common(overview.measured)
    if apart:
        return [apart]
    elsewhere = [
        number
        for number, measured in sorted(overview.measured.items(), key=_number)
        if measured.evaluations and measured.at(overview.at) is None
    ]
    if not elsewhere or len(_evaluated(overview.measured)) < 2:
        return []
    return [f"Not all of the runs were evaluated at epoch {overview.at}: not {runs_named(elsewhere)}."]


def no_epoch_in_common(measured: Mapping[int, Measured]) -> str:
    """The sentence for two or more evaluated runs that share no epoch; empty for any others."""
    evaluated = _evaluated(measured)
    if len(evaluated) < 2 or common_epochs(evaluated.values()):
        return ""
    return f"The runs have no epoch in common: {epochs_named(evaluated)}. Only best and last can be compared."


def _evaluated(measured: Mapping[int, Measured]) -> dict[int, Measured]:
    return {
        number: run_measures
        for number, run_measures in sorted(measured.items(), key=_number)
        if run_measures.evaluations
    }


def epochs_named(measured: Mapping[int, Measured]) -> str:
    """ "runs 1, 2: epochs 0, 1; run 3: epoch 5": at which epochs which runs were evaluated."""
    named: dict[str, list[int]] = {}
    for number, run_measures in sorted(measured.items(), key=_number):
        epochs = sorted({evaluation.epoch for evaluation in run_measures.evaluations})
        if epochs:
            named.setdefault(_epoch_words(epochs), []).append(number)
    return parts(named)


def _epoch_words(epochs: Sequence[int]) -> str:
    if len(epochs) > MOST_RUNS:
        return f"{len(epochs)} epochs from {epochs[0]} to {epochs[-1]}"
    return f"{'epoch' if len(epochs) == 1 else 'epochs'} {', '.join(map(str, epochs))}"


def parts(named: Mapping[str, Sequence[int]]) -> str:
    """ "runs 1, 2: A; run 3: B", the first few of them."""
    first = [f"{runs_named(runs)}: {words}" for words, runs in list(named.items())[:MOST_PARTS]]
    rest = len(named) - MOST_PARTS
    return "; ".join(first) + (f"; and {rest} more" if rest > 0 else "")


def runs_named(numbers: Sequence[int]) -> str:
    """ "run 3", "runs 1, 2", or the first few and how many more."""
    shown = ", ".join(map(str, numbers[:MOST_RUNS]))
    rest = len(numbers) - MOST_RUNS
    return f"{'run' if len(numbers) == 1 else 'runs'} {shown}" + (f" and {rest} more" if rest > 0 else "")


def _number(pair: tuple[int, Measured]) -> int:
    return pair[0]
