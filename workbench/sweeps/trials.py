"""A sweep's trials: the config of one, its title, the results so far, and all of them as a table."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from workbench.config import BadConfig, RunConfig
from workbench.entries import catalog as catalogs
from workbench.running import folds_and_seeds
from workbench.sweeps.progress import set_fields
from workbench.sweeps.space import Setting, configured, in_words
from workbench.workspace.experiments.sweeps import Sweep, Trial


def config_of(sweep: Sweep, trial: Trial, known: catalogs.Catalog) -> RunConfig:
    """The config of the trial's run. Raises BadConfig if the setting's fields contradict each other."""
    before = RunConfig.from_toml_text(sweep.config, known=known)
    config = configured(before, trial.setting, known)
    for child in folds_and_seeds.children(config):
        if (child.seed, child.fold) == (trial.seed, trial.fold):
            return child.config
    sentence = "The setting changes the folds: leave them out of the sweep."
    raise BadConfig(titled(trial, before, known), {"split": sentence})


def refusal(config: RunConfig, setting: Setting, known: catalogs.Catalog) -> str:
    """Why a setting of that config's sweep cannot be trained, by field; empty if it can."""
    try:
        folds_and_seeds.children(configured(config, setting, known))
    except BadConfig as problem:
        return " ".join(f"{field}: {sentence}" for field, sentence in problem.errors.items())
    return ""


def results_so_far(trials: list[Trial]) -> list[tuple[Setting, float | None]]:
    """Each setting in the order in which it was proposed, with the mean of its objectives.

    None if it has none, or if one of its runs failed: the mean of the others is not comparable.
    """
    failed = {trial.point for trial in trials if trial.state == "failed"}
    by_point: dict[int, tuple[Setting, list[float]]] = {}
    for trial in sorted(trials, key=lambda child: child.point):
        values = by_point.setdefault(trial.point, (trial.setting, []))[1]
        if trial.objective is not None:
            values.append(trial.objective)
    return [
        (setting, fmean(values) if values and point not in failed else None)
        for point, (setting, values) in by_point.items()
    ]


def pending(trials: list[Trial]) -> list[Setting]:
    """Settings that are training or queued and have no objective yet."""
    settings = {trial.point: trial.setting for trial in trials if trial.state in ("queued", "running", "paused")}
    measured = {trial.point for trial in trials if trial.objective is not None}
    return [setting for point, setting in settings.items() if point not in measured]


def first_waiting(trials: list[Trial]) -> Trial | None:
    """The next queued trial; None if none is left."""
    return next((trial for trial in trials if trial.state in ("queued", "paused")), None)


def titled(trial: Trial, config: RunConfig, known: catalogs.Catalog) -> str:
    """A trial of that config's sweep in words: "Setting 3 (learning rate 0.1), seed 0"."""
    fold = f", fold {trial.fold}" if trial.fold else ""
    return f"Setting {trial.point} ({in_words(trial.setting, config, known)}), seed {trial.seed}{fold}"


def table_of(sweep: Sweep, trials: Sequence[Trial]) -> tuple[list[str], list[list[Any]]]:
    """Head and rows of the trials in the order of the line, for a file: numbers as they are stored.

    A field that a setting has not, and what a trial has not yet, is None.
    """
    fields = set_fields(sweep, trials)
    head = ["no", "setting", *fields, "seed", "fold", "state", "run", "epoch", "epochs", "seconds", sweep.metric]
    rows = [
        [
            line, trial.point, *(trial.setting.get(field) for field in fields), trial.seed, trial.fold, trial.outcome,
            trial.run_id, trial.epoch, trial.epochs, trial.seconds, trial.objective, trial.problem,
        ]
        for line, trial in enumerate(trials, 1)
    ]  # fmt: skip
    return [*head, "problem"], rows
