"""What the Sweeps panel shows and can do, without Qt: the sweeps as read last, and which of them and of their runs."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from workbench.comparing.grouping.setting_titles import column_titles, setting_words, value_title
from workbench.comparing.grouping.settings import Settings, settings_of
from workbench.entries import catalog
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.sweeps import starting
from workbench.sweeps.objective import REPORTED as MAP_AT_R
from workbench.sweeps.objective import TRAIN_SIDE, written
from workbench.sweeps.progress import (
    epoch_words,
    remarks,
    runs_in_all,
    seconds_left,
    set_fields,
    standings,
    state_words,
    stopped_words,
    valued_untrained,
)
from workbench.ui.style.words import NO_VALUE, duration
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import OPEN, Sweep, Trial
from workbench.workspace.tables import placements

HEAD = ("Sweep", "Name", "State", "Runs done", "Time left", "Best")
Change = Callable[[Workspace], object]  # for a thread
Rows = list[tuple[int, Sequence[str]]]  # number of a sweep or trial, and its cells


@dataclass(frozen=True, slots=True)
class Look:
    """One sweep as it was read."""

    sweep: Sweep
    trials: list[Trial]
    settings: list[Settings]  # of its config, if that can be read, and of its trials: they name the fields
    titles: dict[str, str]  # of the fields that its trials set, as Set up has them
    known: Catalog  # read once a look: it is in many files
    place: str = ""  # where its runs train, if not on this machine
    best_untrained: Set[int] = frozenset()  # runs whose best epoch is 0

    @property
    def untrained(self) -> list[Trial]:
        """The trials whose objective is that of the network before training."""
        return valued_untrained(self.sweep, self.trials, self.best_untrained)


def look(workspace: Workspace, progress: Progress) -> list[Look]:
    """Every sweep of a workspace; for a thread. Raises Problem."""
    sweeps, known = stored.every(workspace), catalog.current()
    with workspace.reading() as db:
        places = [placements.of_sweep(db, sweep.id) for sweep in sweeps]
    looks = []
    for sweep, at in zip(sweeps, places, strict=True):
        trials = stored.trials(workspace, sweep.id)
        try:
            settings = [settings_of(sweep.config, known)]
        except Problem:  # the run that it would make says so
            settings = []
        settings += [trial.setting for trial in trials]  # whose losses have other fields
        untrained = stored.best_untrained(workspace, sweep.id)
        titles = column_titles(set_fields(sweep, trials), settings, known)
        looks.append(Look(sweep, trials, settings, titles, known, at, untrained))
    return looks


class SweepsModel:
    """The methods that change the workspace return the Change to be made, None if nothing is chosen."""

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self._sweep_id: int | None = None  # perhaps not read yet
        self._trial_id: int | None = None

    def take(self, looks: list[Look]) -> None:
        """Take the sweeps that were read; the choice stays, and without one the first sweep is chosen."""
        self.looks = looks
        if self._sweep_id is None and looks:
            self._sweep_id = looks[0].sweep.id

    def choose_sweep(self, number: int | None) -> None:
        """Choose a sweep; one that is not read yet is shown when it is."""
        self._sweep_id = number

    def choose_trial(self, number: int | None) -> None:
        """Choose a run of the chosen sweep."""
        self._trial_id = number

    @property
    def shown(self) -> Look | None:
        """The chosen sweep, the first one while it is not read yet; None without sweeps."""
        chosen = (shown for shown in self.looks if shown.sweep.id == self._sweep_id)
        return next(chosen, self.looks[0] if self.looks else None)

    @property
    def trial(self) -> Trial | None:
        """The chosen run of the shown sweep."""
        return next((trial for trial in self._trials if trial.id == self._trial_id), None)

    # What is shown

    def sweep_rows(self) -> Rows:
        """A row for each sweep, under HEAD."""
        return [(shown.sweep.id, _summary(shown)) for shown in self.looks]

    def trial_rows(self) -> tuple[tuple[str, ...], Rows]:
        """The head of the shown sweep's line, and a row for each of its runs; folds only where there are some."""
        if self.shown is None:
            return (), []
        titles = self.shown.titles
        folds = any(trial.fold for trial in self._trials)
        fold = ("Fold",) if folds else ()
        head = (
            "No.",
            *titles.values(),
            "Seed",
            *fold,
            "State",
            "Run",
            "Epoch",
            metric_name(self.shown.sweep.metric),
        )
        return head, [(trial.id, _cells(line, trial, self.shown, folds)) for line, trial in enumerate(self._trials, 1)]

    def words(self) -> str:
        """What the shown sweep varies, the source of its values, its objective and its trouble."""
        if self.shown is None:
            return ""
        sweep = self.shown.sweep
        parts = [f"{'; '.join(sweep.parameters)}."]
        parts += [f"Its runs train at {self.shown.place}."] if self.shown.place else []
        parts += ["The settings of each trial are proposed from the results so far."] if sweep.how == "bayes" else []
        parts += [f"{sweep.source}."] if sweep.source else []
        parts += remarks(sweep, self._trials, self.shown.best_untrained)
        return " ".join((*parts, sweep.problem)).strip()

    # What can be done

    @property
    def working(self) -> bool:
        """Whether a worker has the shown sweep or is starting: it can be paused."""
        sweep = None if self.shown is None else self.shown.sweep
        return sweep is not None and sweep.state == "active" and (sweep.alive or sweep.starting)

    @property
    def unfinished(self) -> bool:
        """Whether the shown sweep can be paused, resumed or cancelled."""
        return self.shown is not None and self.shown.sweep.state in ("active", "paused")

    @property
    def has_failed_runs(self) -> bool:
        """Whether runs of the shown sweep failed or were cancelled."""
        return any(trial.outcome in ("failed", "cancelled") for trial in self._trials)

    @property
    def judged_runs(self) -> list[int]:
        """Runs of the shown sweep that have its objective."""
        return [trial.run_id for trial in self._trials if trial.run_id is not None and trial.objective is not None]

    @property
    def report_metric(self) -> str:
        """The objective, or MAP@R where evaluations have no such number."""
        metric = "" if self.shown is None else self.shown.sweep.metric
        return MAP_AT_R if metric in TRAIN_SIDE else metric

    def can_move(self, by: int) -> bool:
        """Whether the chosen run has not begun and has another such run `by` places after it in the line."""
        movable = [trial.id for trial in self._trials if trial.state == "queued" and trial.run_id is None]
        return (number := self._trial_id) in movable and 0 <= movable.index(number) + by < len(movable)

    def pause_or_resume(self) -> Change | None:
        """Pause an active sweep; start a worker for any other one."""
        number = self._number()
        if number is None:
            return None
        return (lambda workspace: starting.pause(workspace, number)) if self.working else _resuming(number)

    def retry(self) -> Change | None:
        """Put failed and cancelled runs back into the queue."""
        number = self._number()
        if number is None:
            return None
        return lambda workspace: stored.retry(workspace, number) and starting.work_apart(workspace, number)

    def cancel(self) -> Change | None:
        """Remove the runs that have not begun from the queue, and stop the one that trains."""
        number = self._number()
        return None if number is None else lambda workspace: stored.cancel(workspace, number)

    def move(self, by: int) -> Change | None:
        """Move the chosen run in the line."""
        number, trial = self._number(), self.trial
        if number is None or trial is None:
            return None
        return lambda workspace: stored.move(workspace, number, trial.id, by)

    @property
    def _trials(self) -> list[Trial]:
        return [] if self.shown is None else self.shown.trials

    def _number(self) -> int | None:
        return None if self.shown is None else self.shown.sweep.id


def _resuming(number: int) -> Change:
    def resume(workspace: Workspace) -> None:
        starting.resume(workspace, number)
        starting.work_apart(workspace, number)

    return resume


def _summary(shown: Look) -> tuple[str, ...]:
    sweep, trials = shown.sweep, shown.trials
    done = sum(trial.state == "done" for trial in trials)
    left = seconds_left(sweep, trials)
    time = duration(left) if left and any(trial.state in OPEN for trial in trials) else NO_VALUE
    best = standings(sweep, trials)[:1]
    leader = NO_VALUE
    if best and best[0].mean is not None:
        setting = ", ".join(
            setting_words(field, value, shown.settings, shown.known) for field, value in best[0].setting.items()
        )
        epoch = f"{epoch_words(best[0].trials, shown.untrained)}{stopped_words(best[0].trials)}"
        leader = f"{written(sweep.metric, best[0].mean)}{epoch} at {setting}"
    return (
        str(sweep.id), sweep.name, state_words(sweep, trials), f"{done} of {runs_in_all(sweep, trials)}", time, leader,
    )  # fmt: skip


def _cells(line: int, trial: Trial, shown: Look, folds: bool) -> tuple[str, ...]:
    setting, metric = trial.setting, shown.sweep.metric
    values = [
        value_title(field, setting[field], shown.known) if field in setting else NO_VALUE for field in shown.titles
    ]
    fold = (str(trial.fold),) if folds else ()
    epoch = f"{trial.epoch} / {trial.epochs}" if trial.epochs else NO_VALUE
    result = trial.problem or NO_VALUE
    if trial.objective is not None:
        untrained = valued_untrained(shown.sweep, [trial], shown.best_untrained)  # of all trials they take long
        result = f"{written(metric, trial.objective)}{epoch_words([trial], untrained)}"
        result += f". {trial.problem}" if trial.problem else ""
    run = str(trial.run_id) if trial.run_id is not None else NO_VALUE
    return (str(line), *values, str(trial.seed), *fold, trial.outcome.capitalize(), run, epoch, result)
