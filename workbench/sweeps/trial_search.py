"""Trials of a sweep by the words and conditions of a search: the same in the window's panel and on the command line."""

from collections.abc import Callable, Sequence
from typing import Any

from workbench.sweeps.objective import written
from workbench.workspace.experiments.sweeps import Trial
from workbench.workspace.run_search import row_meets, why_no_row_meets

OUTCOMES = ("queued", "running", "paused", "done", "failed", "cancelled", "refused", "stopped early")
Shown = Callable[[str, Any], str]  # a field and its value -> what the value is called


def fits(trial: Trial, metric: str, words: Sequence[str], shown: Shown) -> bool:
    """Whether a trial has every word in settings, state or problem, or meets it as a condition.

    Conditions are those of the list of runs: of the state, of a field, of seed, fold, run and epoch, and of the
    objective as it is shown.

    Args:
        metric: the objective of its sweep.
        words: of `run_search.words_of`; without any every trial fits.
    """
    if not words:
        return True
    values = _values(trial, metric, shown)
    text = " ".join((trial.problem, *(word for written_so in values.values() for word in written_so))).casefold()
    return all(word in text or row_meets(values, word) for word in words)


def why_unmet(trials: Sequence[Trial], metric: str, words: Sequence[str], shown: Shown) -> str:
    """A sentence, after a blank, on the first condition that no trial can meet, as `run_search.why_unmet`."""
    rows = [_values(trial, metric, shown) for trial in trials]
    return why_no_row_meets(rows, words, "The sweep varies no field", OUTCOMES)


def _values(trial: Trial, metric: str, shown: Shown) -> dict[str, tuple[str, ...]]:
    """What a trial is searched by: the values of its fields and columns, each as it is written and as it is shown."""
    values: dict[str, tuple[str, ...]] = {
        field.casefold(): (str(value), shown(field, value)) for field, value in trial.setting.items()
    }
    run = "" if trial.run_id is None else str(trial.run_id)
    values |= {"state": (trial.outcome, trial.state), "seed": (str(trial.seed),), "fold": (str(trial.fold),)}
    values |= {"run": (run,), "epoch": (str(trial.epoch),)}
    if trial.objective is not None:
        name, value = metric.casefold(), written(metric, trial.objective).removesuffix("%")
        values |= {name: (value,), name.rpartition("/")[2]: (value,)}
    return values
