"""The progress of a sweep: its settings by objective, its state in words, the time left."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from workbench.config import RunConfig
from workbench.running import folds_and_seeds
from workbench.sweeps.objective import OPTIMISTIC, PROBED, TRAIN_SIDE, least_is_best, on_other_images, on_other_steps
from workbench.workspace.experiments.sweeps import OPEN, Sweep, Trial

ONE_RUN = (
    "Each setting has one run, so small differences between settings may be due to the seed alone. Several seeds for "
    "each setting show how much the values vary."
)
STOPS_EARLY = (
    "Trials that are worse than the median of the others at the same epoch are stopped early: their values are of the "
    "epochs until then and rank behind those of the others."
)


@dataclass(frozen=True, slots=True)
class Standing:
    """One setting with the results of its runs."""

    point: int
    setting: dict[str, Any]
    trials: tuple[Trial, ...]
    mean: float | None  # of the objective, over seeds and folds; None before the first is done
    spread: float | None  # standard deviation; None for fewer than two

    @property
    def runs(self) -> list[int]:
        """Numbers of the runs of this setting that have started, in the order of its trials."""
        return [trial.run_id for trial in self.trials if trial.run_id is not None]


def set_fields(sweep: Sweep, trials: Sequence[Trial]) -> list[str]:
    """The fields that its trials set, in the order in which the sweep names them; a setting may lack some."""
    varied = dict.fromkeys(text.partition("=")[0] for text in sweep.parameters)
    there = dict.fromkeys(field for trial in trials for field in trial.setting)
    return [*(field for field in varied if field in there), *(field for field in there if field not in varied)]


def standings(sweep: Sweep, trials: Sequence[Trial]) -> list[Standing]:
    """The settings, best first: before all others those with a result of every run, last those without any.

    A mean over some of the folds is not comparable with one over all: the hardest may be the one that failed. A value
    of a run that was stopped early is not, either: the run could have become better.
    """
    by_point: dict[int, list[Trial]] = {}
    for trial in sorted(trials, key=lambda child: (child.point, child.seed, child.fold)):
        by_point.setdefault(trial.point, []).append(trial)
    ranked = []
    for point, several in by_point.items():
        values = [child.objective for child in several if child.objective is not None]
        ranked.append(
            Standing(
                point,
                several[0].setting,
                tuple(several),
                fmean(values) if values else None,
                stdev(values) if len(values) > 1 else None,
            )
        )
    sign = 1 if least_is_best(sweep.metric) else -1

    def order(standing: Standing) -> tuple[bool, bool, float, int]:
        partial = any(child.objective is None or child.stopped_early for child in standing.trials)
        return standing.mean is None, partial, sign * (standing.mean or 0), standing.point

    return sorted(ranked, key=order)


def remarks(sweep: Sweep, trials: Sequence[Trial], best_untrained: Set[int]) -> list[str]:
    """Sentences on what the objectives cannot say. `best_untrained`: the runs whose best epoch is 0."""
    values: dict[str, set[str]] = {}
    for trial in trials:
        for name, value in trial.setting.items():
            values.setdefault(name, set()).add(repr(value))
    varied = [name for name, different in values.items() if len(different) > 1]
    sentences = (
        OPTIMISTIC if sweep.reported else "",
        ONE_RUN if _may_differ_by_seed(trials) else "",
        on_other_images(varied),
        on_other_steps(varied),
        _untrained_words(sweep, trials, best_untrained),
        _refused_words(sweep, trials),
        STOPS_EARLY if sweep.stop_early else "",
    )
    return [sentence for sentence in sentences if sentence]


def _may_differ_by_seed(trials: Sequence[Trial]) -> bool:
    """Whether settings are compared of which none has more than one run."""
    measured = [trial.point for trial in trials if trial.objective is not None]
    return len(measured) > 1 and len({trial.point for trial in trials}) == len(trials)


def valued_untrained(sweep: Sweep, trials: Sequence[Trial], best_untrained: Set[int]) -> list[Trial]:
    """The trials whose objective is of the network before training: none for a metric of training or of its end."""
    if sweep.metric in (*TRAIN_SIDE, PROBED):
        return []
    return [trial for trial in trials if trial.objective is not None and trial.run_id in best_untrained]


def _untrained_words(sweep: Sweep, trials: Sequence[Trial], best_untrained: Set[int]) -> str:
    """What the objectives say nothing of, because the network was best before training; empty if there are none."""
    untrained = len(valued_untrained(sweep, trials, best_untrained))
    measured = sum(trial.objective is not None for trial in trials)
    if not untrained:
        return ""
    if untrained < measured:
        return f"Best at epoch 0, so training did not contribute to the value: {untrained} of {measured} runs."
    if all(trial.objective == 1.0 for trial in trials if trial.objective is not None):
        return "Every run has 100% at epoch 0, before training: these data do not tell the settings apart."
    whole = {1: "The only run is best", 2: "Both runs are best"}.get(measured, f"All {measured:,} runs are best")
    return (
        f"{whole} at epoch 0, before training, so the values do not show how the settings train. More epochs, a lower "
        "learning rate of the backbone, pretrained weights or another loss may help."
    )


def _refused_words(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """How many proposals cannot be trained; empty if there are none."""
    refused = sum(trial.refused for trial in trials)
    if not refused:
        return ""
    were, are = ("1 proposed setting was", "is") if refused == 1 else (f"{refused:,} proposed settings were", "are")
    ended = " No other setting is left." if sweep.state == "done" and to_propose(sweep, trials) else ""
    why = "as the fields do not fit together, or do not fit the data"
    return f"{were} refused before training, {why}, and {are} not counted as trials.{ended}"


def epoch_words(trials: Sequence[Trial], untrained: Sequence[Trial]) -> str:
    """ "(epoch 0)" behind the value of trials that are all best before training, "(1 of 3 at epoch 0)" of some."""
    measured = [trial for trial in trials if trial.objective is not None]
    before = sum(trial in untrained for trial in measured)
    if not before:
        return ""
    return " (epoch 0)" if before == len(measured) else f" ({before} of {len(measured)} at epoch 0)"


def stopped_words(trials: Sequence[Trial]) -> str:
    """ "(stopped early)" behind the value of trials that all were, "(1 of 3 stopped early)" of some."""
    measured = [trial for trial in trials if trial.objective is not None]
    stopped = sum(trial.stopped_early for trial in measured)
    if not stopped:
        return ""
    return " (stopped early)" if stopped == len(measured) else f" ({stopped} of {len(measured)} stopped early)"


def runs_in_all(sweep: Sweep, trials: Sequence[Trial]) -> int:
    """The number of runs of the sweep, including those that are not proposed yet; what was refused has none."""
    proposed = sum(not trial.refused for trial in trials)
    more = 0 if sweep.state == "done" else to_propose(sweep, trials)
    return proposed + more * len(folds_and_seeds.children(RunConfig.recorded(sweep.config))) if more else proposed


def to_propose(sweep: Sweep, trials: Sequence[Trial]) -> int:
    """How many settings the sweep may try besides those that it has; one that was refused is not counted."""
    return max(0, sweep.points - len({trial.point for trial in trials if not trial.refused}))


def seconds_left(sweep: Sweep, trials: Sequence[Trial]) -> float | None:
    """Seconds that are left with as many runs at once as now, from the times of the runs so far; None without any.

    Of runs at a place it is not known how many train at once: these seconds are of one after the other.
    """
    if sweep.state in ("done", "cancelled"):
        return 0.0
    ended = [trial.seconds for trial in trials if trial.state == "done" and trial.seconds > 0]
    begun = [trial for trial in trials if trial.state in OPEN and trial.run_id is not None]
    timed = [trial.seconds + trial.seconds_left for trial in begun if trial.seconds_left > 0]
    if not (ended or timed):
        return None
    each_run = fmean(ended or timed)
    going_on = sum(trial.seconds_left or max(each_run - trial.seconds, 0.0) for trial in begun)
    closed = sum(trial.state not in OPEN and not trial.refused for trial in trials)
    at_once = max(1, sum(trial.state == "running" for trial in begun)) if sweep.holds else 1
    return (going_on + (runs_in_all(sweep, trials) - closed - len(begun)) * each_run) / at_once


def state_words(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """The sweep's state in one or two words."""
    if sweep.state == "active":
        if not sweep.alive:
            return "Starting" if sweep.starting else "Worker is gone"
        return "Working" if sweep.holds else "Waiting for the device"
    if sweep.state == "paused":
        return "Pausing" if sweep.alive else "Paused"
    failed = sum(trial.outcome == "failed" for trial in trials)
    return f"Done, {failed} failed" if sweep.state == "done" and failed else sweep.state.capitalize()
