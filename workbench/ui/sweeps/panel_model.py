"""What the Sweeps panel shows and can do, without Qt: the sweeps as read last, and which of them and of their runs."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from workbench.comparing.grouping.setting_titles import column_titles, setting_words, value_title
from workbench.comparing.grouping.settings import Settings, settings_of
from workbench.comparing.measures import BEST, LAST
from workbench.entries import catalog
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.sweeps import starting
from workbench.sweeps.history import Reached, best_so_far
from workbench.sweeps.objective import PROBED, TRAIN_SIDE, least_is_best, written
from workbench.sweeps.objective import REPORTED as MAP_AT_R
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
from workbench.sweeps.trial_search import fits, why_unmet
from workbench.ui.style.words import NO_VALUE, counted, duration
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import OPEN, Sweep, Trial
from workbench.workspace.run_search import words_of
from workbench.workspace.tables import placements

HEAD = ("Sweep", "Name", "State", "Runs done", "Time left", "Best")
LINE, OBJECTIVE = "line", "objective"  # columns of the runs: the number in the line, and the last one
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

    def title_of(self, field: str, value: Any) -> str:
        """What the form calls this value of a field."""
        return value_title(field, value, self.known)


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
        self._order, self._descending = LINE, False  # a column of the runs: a field, or another one
        self._words: list[str] = []  # of the search

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
        """The chosen run of the shown sweep; None while the search leaves it out."""
        chosen = next((trial for trial in self._trials if trial.id == self._trial_id), None)
        return None if chosen is None or not self._fits(chosen) else chosen

    # What is shown

    def sweep_rows(self) -> Rows:
        """A row for each sweep, under HEAD."""
        return [(shown.sweep.id, _summary(shown)) for shown in self.looks]

    def trial_rows(self) -> tuple[tuple[str, ...], Rows]:
        """The head of the shown sweep's runs, and a row for each in the chosen order; folds only if there are some."""
        if self.shown is None:
            return (), []
        shown, folds = self.shown, "fold" in self._columns()
        left = [(line, trial) for line, trial in self._ordered() if self._fits(trial)]
        rows: Rows = [(trial.id, _cells(line, trial, shown, folds)) for line, trial in left]
        return tuple(self._columns().values()), rows

    def search(self, text: str) -> None:
        """List only the runs of which each word is in settings, state or problem, or is a condition that they meet."""
        self._words = words_of(text)

    def _fits(self, trial: Trial) -> bool:
        if not self._words or self.shown is None:
            return True
        return fits(trial, self.shown.sweep.metric, self._words, self.shown.title_of)

    def order_by(self, column: int) -> None:
        """Order the runs by the column of that place, by the objective with the best first; again, the other way."""
        chosen = list(self._columns())[column]
        if chosen == self._order:
            self._descending = not self._descending
        elif chosen == OBJECTIVE:
            self.best_first()
        else:
            self._order, self._descending = chosen, False

    def best_first(self) -> None:
        """Order the runs by the objective, the best first."""
        self._order = OBJECTIVE
        self._descending = self.shown is not None and not least_is_best(self.shown.sweep.metric)

    def in_line(self) -> None:
        """Order the runs as they are trained."""
        self._order, self._descending = LINE, False

    @property
    def order(self) -> tuple[int, bool]:
        """The place of the column by which the runs are ordered, and whether the greatest is first."""
        columns = list(self._columns())
        return (columns.index(self._order), self._descending) if self._order in columns else (0, False)

    @property
    def best(self) -> Trial | None:
        """The run of the shown sweep that leads its table: the best of the best setting; None before the first."""
        if self.shown is None:
            return None
        leaders = standings(self.shown.sweep, self._trials)[:1]
        valued = [trial for leader in leaders for trial in leader.trials if trial.objective is not None]
        sign = 1 if least_is_best(self.shown.sweep.metric) else -1
        return min(valued, key=lambda trial: sign * (trial.objective or 0.0), default=None)

    def history(self) -> list[Reached]:
        """What the settings of the shown sweep have reached."""
        return [] if self.shown is None else best_so_far(self.shown.sweep, self._trials)

    def _columns(self) -> dict[str, str]:
        """The titles of the columns of the runs: of the fields by their dotted names, and of the others."""
        if self.shown is None:
            return {}
        fold = {"fold": "Fold"} if any(trial.fold for trial in self._trials) else {}
        last = {OBJECTIVE: metric_name(self.shown.sweep.metric)}
        others = {"seed": "Seed"} | fold | {"state": "State", "run": "Run", "epoch": "Epoch"} | last
        return {LINE: "No."} | self.shown.titles | others

    def _ordered(self) -> list[tuple[int, Trial]]:
        """The runs with their numbers in the line.

        Either way those without a value of the column are the last, and by the objective those that were stopped early
        come just before them: their values cannot be compared with the others.
        """
        lines = list(enumerate(self._trials, 1))
        if self._order not in self._columns():  # a field of another sweep
            return lines
        parts: tuple[list[tuple[tuple[bool, Any], tuple[int, Trial]]], ...] = ([], [], [])
        for line, trial in lines:
            key = _key(self._order, line, trial)
            place = 2 if key is None else int(self._order == OBJECTIVE and trial.stopped_early)
            parts[place].append(((isinstance(key, str), key), (line, trial)))
        for part in parts[:2]:
            part.sort(key=lambda entry: entry[0], reverse=self._descending)
        return [entry for part in parts for _, entry in part]

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
        parts += [self._searched()] if self._words else []
        return " ".join((*parts, sweep.problem)).strip()

    def _searched(self) -> str:
        left = sum(map(self._fits, self._trials))
        why = ""
        if not left and self.shown is not None:
            why = why_unmet(self._trials, self.shown.sweep.metric, self._words, self.shown.title_of)
        return f"The search matches {left:,} of {counted(len(self._trials), 'run')}.{why}"

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

    @property
    def report_at(self) -> str:
        """The epoch at which evaluations have that metric: the best, or the last for what only that one has."""
        return LAST if self.report_metric == PROBED else BEST

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


def _key(column: str, line: int, trial: Trial) -> Any:
    """By what a run is ordered in a column; None without a value."""
    match column:
        case "line":
            return line
        case "seed" | "fold":
            return getattr(trial, column)
        case "state":
            return trial.outcome
        case "run":
            return trial.run_id
        case "epoch":
            return trial.epoch if trial.epochs else None
        case "objective":
            return trial.objective
    return trial.setting.get(column)


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
