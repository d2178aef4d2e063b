"""A sweep in words, as a table and as data for JSON, for the command line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.commands.results.columns import Column
from workbench.commands.terminal import one_line
from workbench.problem import Problem
from workbench.progress import duration
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.run_search import unquoted

if TYPE_CHECKING:
    from workbench.comparing.grouping.settings import Settings
    from workbench.entries.catalog import Catalog
    from workbench.sweeps.importance import Share
    from workbench.sweeps.plan import SweepPreset
    from workbench.sweeps.progress import Standing
    from workbench.sweeps.space import Setting

COLUMNS = (
    Column("sweep", numbers=True), Column("state", narrowest=12), Column("runs done", numbers=True),
    Column("time left", numbers=True), Column("how"), Column("name", narrowest=20),
)  # fmt: skip
NONE = "–"


def preset_as_data(preset: "SweepPreset") -> dict[str, Any]:
    """A paper's sweep; `parameters` has for each field what `--param FIELD=` takes."""
    from workbench.sweeps.space import written

    return {
        "name": preset.key, "title": preset.title, "summary": preset.summary, "source": preset.source,
        "config": preset.preset, "how": preset.how, "trials": preset.trials, "set": dict(preset.changes),
        "metric": preset.metric,
        "parameters": {parameter.field: written(parameter) for parameter in preset.parameters},
    }  # fmt: skip


def table(workspace: Workspace, number: int, words: Sequence[str] = ()) -> list[str]:
    """The sweep in words and its settings as a Markdown table, best first.

    Args:
        words: only settings with a run that has each of them, or meets it as a condition: see sweeps/trial_search.py.
            Means, and the importance of parameters, are of all runs.

    Raises:
        Problem: there is no such sweep.
    """
    from workbench.comparing.grouping.setting_titles import column_titles
    from workbench.entries import catalog
    from workbench.sweeps.objective import written
    from workbench.sweeps.progress import epoch_words, remarks, set_fields, standings, stopped_words, valued_untrained

    sweep, trials = stored.one(workspace, number), stored.trials(workspace, number)
    lines = [line(workspace, sweep), "Varied: " + "; ".join(sweep.parameters)]
    lines += [f"Source: {sweep.source}"] if sweep.source else []
    best_untrained = stored.best_untrained(workspace, number)
    untrained = valued_untrained(sweep, trials, best_untrained)
    lines += remarks(sweep, trials, best_untrained)
    lines += [sweep.problem] if sweep.problem else []
    every, known = standings(sweep, trials), catalog.current()
    settings, why = _searched(sweep, every, words, known)
    fields = set_fields(sweep, trials)
    chosen = [*_settings_of(sweep), *(standing.setting for standing in every)]  # whose losses have other fields
    titles = column_titles(fields, chosen, known)
    if len(settings) < len(every):
        lines += [f"The search matches {len(settings):,} of {len(every):,} settings.{why}"]
    if settings:
        means = f"{sweep.metric}, mean ± SD over its runs"
        lines += ["", f"| {' | '.join(('setting', *titles.values(), means, 'runs', 'state'))} |"]
        lines.append("|---" * (len(fields) + 4) + "|")
    elif not every:
        lines.append("It has no settings yet.")
    for standing in settings:
        values = [_cell(field, standing.setting, known) for field in fields]
        spread = f" ± {written(sweep.metric, standing.spread)}" if standing.spread is not None else ""
        at = f"{epoch_words(standing.trials, untrained)}{stopped_words(standing.trials)}"
        mean = f"{written(sweep.metric, standing.mean)}{spread}{at}" if standing.mean is not None else ""
        cells = (str(standing.point), *values, mean, " ".join(map(str, standing.runs)), states(standing.trials))
        lines.append(f"| {' | '.join(cells)} |")
    points = {standing.point for standing in settings}
    left = [trial for trial in trials if trial.point in points]
    problems = [
        f"Setting {trial.point}, seed {trial.seed}: {trial.problem}"
        for trial in left if trial.problem and not trial.refused
    ]  # fmt: skip
    problems += _refusals(left)
    lines += ["", *problems] if problems else []
    lines += ["", *_importance(sweep, trials, titles)] if len(sweep.parameters) > 1 else []
    return list(map(one_line, lines))  # a setting may be named by what steers a terminal


def _searched(
    sweep: stored.Sweep, settings: "list[Standing]", words: Sequence[str], known: "Catalog"
) -> "tuple[list[Standing], str]":
    """The settings that have a run which fits every word of a search; if none has, why, after a blank."""
    from workbench.comparing.grouping.setting_titles import value_title
    from workbench.sweeps.trial_search import fits, why_unmet

    searched = [unquoted(word) for word in words]

    def shown(field: str, value: Any) -> str:
        return value_title(field, value, known)

    left = [
        standing
        for standing in settings
        if any(fits(trial, sweep.metric, searched, shown) for trial in standing.trials)
    ]
    trials = [] if left else [trial for standing in settings for trial in standing.trials]
    return left, why_unmet(trials, sweep.metric, searched, shown)


def _importance(sweep: stored.Sweep, trials: list[stored.Trial], titles: dict[str, str]) -> list[str]:
    """The shares of the parameters with their ranges, and what they are of."""
    from workbench.entries import catalog
    from workbench.sweeps.importance import importance, notes

    measured = importance(sweep, trials, catalog.current())
    lines = ["Parameter importance:"] if measured.any_shares else []
    lines += _share_lines(measured.shares, titles)
    for part in measured.parts:
        if part.shares:
            lines += [f"{part.among[:1].upper()}{part.among[1:]}:", *_share_lines(part.shares, titles)]
    return [*lines, *notes(measured, titles)]


def _share_lines(shares: "Sequence[Share]", titles: dict[str, str]) -> list[str]:
    from workbench.sweeps.importance import share_words

    return [f"{share_words(share):26} {titles.get(share.field, share.field)}" for share in shares]


def _refusals(trials: list[stored.Trial]) -> list[str]:
    """Why settings were refused, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for trial in trials:
        if trial.refused:
            by_reason.setdefault(trial.problem, []).append(str(trial.point))
    return [
        f"{'Setting' if len(points) == 1 else 'Settings'} {', '.join(points)}, refused: {reason}"
        for reason, points in by_reason.items()
    ]


def _cell(field: str, setting: "Setting", known: "Catalog") -> str:
    """The value of a field as people write it; a long path is shortened, and a field that it has not is a dash."""
    from workbench.comparing.grouping.setting_titles import value_title
    from workbench.sweeps.space import short

    value = setting.get(field)
    return value_title(field, short(value) if isinstance(value, str) else value, known)


def _settings_of(sweep: stored.Sweep) -> list["Settings"]:
    """The settings of its config, which name its fields; none where that cannot be read."""
    from workbench.comparing.grouping.settings import settings_of
    from workbench.entries import catalog

    try:
        return [settings_of(sweep.config, catalog.current())]
    except Problem:
        return []


def as_data(workspace: Workspace, number: int, words: Sequence[str] = ()) -> dict[str, Any]:
    """The sweep and its settings, best first, as plain data: values of the objective as they are stored.

    Args:
        words: as of `table`.

    Raises:
        Problem: there is no such sweep.
    """
    from workbench.entries import catalog
    from workbench.sweeps import importance
    from workbench.sweeps.progress import remarks, standings

    sweep, trials = stored.one(workspace, number), stored.trials(workspace, number)
    settings = [
        {
            "setting": standing.point,
            "values": standing.setting,
            "mean": standing.mean,
            "standard_deviation": standing.spread,
            "runs": [
                {
                    "run": trial.run_id, "seed": trial.seed, "fold": trial.fold, "state": trial.state,
                    "refused": trial.refused, "stopped_early": trial.stopped_early,
                    "value": trial.objective, "epoch": trial.epoch, "epochs": trial.epochs, "seconds": trial.seconds,
                    "problem": trial.problem,
                }
                for trial in standing.trials
            ],
        }
        for standing in _searched(sweep, standings(sweep, trials), words, catalog.current())[0]
    ]  # fmt: skip
    notes = remarks(sweep, trials, stored.best_untrained(workspace, number))
    shares = importance.as_data(importance.importance(sweep, trials, catalog.current()))
    return {**head_as_data(workspace, sweep), "notes": notes, "settings": settings, "importance": shares}


def head_as_data(workspace: Workspace, sweep: stored.Sweep) -> dict[str, Any]:
    """One sweep in a list, as plain data."""
    from workbench.sweeps.progress import runs_in_all, seconds_left

    trials = stored.trials(workspace, sweep.id)
    return {
        "sweep": sweep.id, "name": sweep.name, "state": sweep.state, "works": sweep.alive or sweep.starting,
        "problem": sweep.problem, "how": sweep.how, "metric": sweep.metric, "parameters": list(sweep.parameters),
        "stop_early": sweep.stop_early,
        "source": sweep.source, "created": sweep.created, "runs": runs_in_all(sweep, trials),
        "runs_done": sum(trial.state == "done" for trial in trials), "seconds_left": seconds_left(sweep, trials),
    }  # fmt: skip


def states(trials: tuple[stored.Trial, ...]) -> str:
    """ "2 done, 1 stopped early": how many trials are in which state."""
    names = [trial.outcome for trial in trials]
    return ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))


def line(workspace: Workspace, sweep: stored.Sweep) -> str:
    """One sweep in words: number, state, runs done, time left, way and name."""
    number, state, done, left, how, name = cells(workspace, sweep)
    time = f", {left} left" if left != NONE else ""
    return f"{number:>4}  {state:22} {done} runs done{time}  {how}  {name}"


def cells(workspace: Workspace, sweep: stored.Sweep) -> list[str]:
    """One sweep in a list: the cells of COLUMNS."""
    from workbench.sweeps.progress import runs_in_all, seconds_left, state_words

    trials = stored.trials(workspace, sweep.id)
    closed = sum(trial.state == "done" for trial in trials)
    left = seconds_left(sweep, trials)
    done = f"{closed} of {runs_in_all(sweep, trials)}"
    time = duration(left) if left else NONE
    return [str(sweep.id), one_line(state_words(sweep, trials)), done, time, sweep.how, one_line(sweep.name)]
