"""The epochs that compared runs share, and lists of runs and epochs in words."""

from collections.abc import Mapping, Sequence

from workbench.comparing.measures import Measured, common_epochs

MOST_RUNS, MOST_PARTS = 8, 5  # named in one sentence


def no_epoch_in_common(measured: Mapping[int, Measured]) -> str:
    """The sentence for two or more evaluated runs that share no epoch; empty for any others.

    Tests on other images are left out: each has the one epoch of the network that it is of.
    """
    runs = {number: run_measures for number, run_measures in evaluated(measured).items() if not run_measures.is_test}
    if len(runs) < 2 or common_epochs(runs.values()):
        return ""
    return f"The runs have no epoch in common: {epochs_named(runs)}. Only best and last can be compared."


def evaluated(measured: Mapping[int, Measured]) -> dict[int, Measured]:
    """The runs with an evaluation, by their numbers."""
    return {number: run_measures for number, run_measures in by_number(measured) if run_measures.evaluations}


def by_number(measured: Mapping[int, Measured]) -> list[tuple[int, Measured]]:
    """(number of a run, what was measured of it), in the order of the numbers."""
    return sorted(measured.items(), key=lambda pair: pair[0])


def epochs_named(measured: Mapping[int, Measured]) -> str:
    """ "runs 1, 2: epochs 0, 1; run 3: epoch 5": at which epochs which runs were evaluated."""
    named: dict[str, list[int]] = {}
    for number, run_measures in by_number(measured):
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
