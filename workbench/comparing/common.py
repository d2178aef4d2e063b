"""What compared runs lack in common: data set, metric or epoch, as sentences that name the runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.comparing.measures import Measured
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.comparing.overview import Overview

MOST_RUNS, MOST_PARTS = 8, 5  # named in one sentence


def nothing_in_common(workspace: Workspace, found: "Overview") -> list[str]:
    """One sentence for each of data set, metric and epoch that not all of the runs share; none for a single run.

    Args:
        found: of the runs, by the metric and at the place that are asked for.
    """
    if len(found.measured) < 2:
        return []
    return [*_data(workspace, found), *_metric(found), *_epochs(found)]


def _data(workspace: Workspace, found: "Overview") -> list[str]:
    named: dict[int, list[int]] = {}
    for number, each in sorted(found.measured.items(), key=_number):
        if each.run.dataset_id is not None:
            named.setdefault(each.run.dataset_id, []).append(number)
    if len(named) < 2:
        return []
    sets = [workspace.dataset(key) for key in named]
    words = [f"{each.name} (fingerprint {each.fingerprint[:8]})" for each in sets]
    told = parts(dict(zip(words, named.values(), strict=True)))
    return [f"The runs have no data set in common, so their numbers cannot be compared: {told}."]


def _metric(found: "Overview") -> list[str]:
    evaluated = {number: each for number, each in sorted(found.measured.items(), key=_number) if each.evaluations}
    bare = [
        number for number, each in evaluated.items() if not any(found.metric in one.metrics for one in each.evaluations)
    ]
    return [f"Not all of the runs have {found.metric}: {runs_named(bare)} lack it."] if bare else []


def _epochs(found: "Overview") -> list[str]:
    evaluated = {number: each for number, each in sorted(found.measured.items(), key=_number) if each.evaluations}
    if len(evaluated) < 2:
        return []
    if not found.epochs:
        return [f"The runs have no epoch in common: {epochs_named(evaluated)}. Only best and last can be compared."]
    elsewhere = [number for number, each in evaluated.items() if each.at(found.at) is None]
    return (
        [f"Not all of the runs were evaluated at epoch {found.at}: not {runs_named(elsewhere)}."] if elsewhere else []
    )


def epochs_named(measured: Mapping[int, Measured]) -> str:
    """ "runs 1, 2: epochs 0, 1; run 3: epoch 5": at which epochs which runs were evaluated."""
    named: dict[str, list[int]] = {}
    for number, each in sorted(measured.items(), key=_number):
        epochs = sorted({one.epoch for one in each.evaluations})
        if epochs:
            named.setdefault(_epoch_words(epochs), []).append(number)
    return parts(named)


def _epoch_words(epochs: Sequence[int]) -> str:
    if len(epochs) > MOST_RUNS:
        return f"{len(epochs)} epochs from {epochs[0]} to {epochs[-1]}"
    return f"{'epoch' if len(epochs) == 1 else 'epochs'} {', '.join(map(str, epochs))}"


def parts(named: Mapping[str, Sequence[int]]) -> str:
    """ "runs 1, 2: A; run 3: B", the first few of them."""
    told = [f"{runs_named(runs)}: {words}" for words, runs in list(named.items())[:MOST_PARTS]]
    rest = len(named) - MOST_PARTS
    return "; ".join(told) + (f"; and {rest} more" if rest > 0 else "")


def runs_named(numbers: Sequence[int]) -> str:
    """ "run 3", "runs 1, 2", or the first few and how many more."""
    shown = ", ".join(map(str, numbers[:MOST_RUNS]))
    rest = len(numbers) - MOST_RUNS
    return f"{'run' if len(numbers) == 1 else 'runs'} {shown}" + (f" and {rest} more" if rest > 0 else "")


def _number(pair: tuple[int, Measured]) -> int:
    return pair[0]
