"""What became of a run or a sweep, as one sentence for somebody who works in another window."""

from dataclasses import dataclass

from workbench.metric_names import metric_name
from workbench.names import in_one_line, visible_name
from workbench.numerals import percentage
from workbench.progress import duration
from workbench.sweeps.objective import written
from workbench.sweeps.progress import standings
from workbench.ui.style.words import counted
from workbench.workspace.experiments.sweeps import Sweep, Trial
from workbench.workspace.rows import Run

LONG = 60.0  # s of training from which on the end of a run is told; a failure is told of every run
LONGEST_NAME, LONGEST_REASON = 60, 160  # letters
HEADS = {"failed": "Run failed", "interrupted": "Run interrupted", "stopped": "Run stopped", "done": "Run ended"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sentence to tell, with its head.

    Attributes:
        head: "Run failed".
        text: one sentence with the name of the run; names are data, and may look like HTML.
        run_id: the run that it is about; None for a sweep.
        wrong: whether something went wrong.
    """

    head: str
    text: str
    run_id: int | None
    wrong: bool = False


def outcome_of(run: Run) -> Outcome | None:
    """How a run ended; None for one that the user cancelled, and for the end of one that trained for under LONG."""
    wrong = run.status in ("failed", "interrupted")
    if run.status not in HEADS or (not wrong and run.seconds < LONG):
        return None
    name, epochs = _short(run.name), counted(run.epochs, "epoch")
    part = f"{run.epoch} of {epochs}"
    time = duration(run.seconds)
    match run.status:
        case "failed":
            text = f"{name} failed{f' after {part}' if run.epoch else ''}{_reason(run.problem)}"
        case "interrupted":
            text = f"{name} was interrupted after {part}{_reason(run.problem)}"
        case "stopped":
            text = f"{name} stopped after {part}, {time}{_score(run)}"
        case _:
            text = f"{name} ended{f' after {epochs}' if run.epochs else ''}, {time}{_score(run)}"
    return Outcome(HEADS[run.status], _sentence(text), run.id, wrong)


def unrecorded(run: Run) -> Outcome:
    """A failure that the workspace does not hold, as where its disk is full."""
    return Outcome(HEADS["failed"], f"{_short(run.name)} failed, and its end could not be recorded.", run.id, True)


def waiting(run: Run) -> Outcome:
    """That a run waits for its user's answer."""
    return Outcome("Run waits for you", _sentence(f"{_short(run.name)} waits{_reason(run.problem)}"), run.id, True)


def goes_on(sweep: Sweep) -> bool:
    """Whether a worker has the sweep, or is about to."""
    return sweep.state == "active" and (sweep.alive or sweep.starting)


def outcome_of_sweep(sweep: Sweep, trials: list[Trial]) -> Outcome | None:
    """How a sweep ended that goes on no longer; None where the user paused or cancelled it."""
    name = f"Sweep {_short(sweep.name)}"
    if sweep.state == "done":
        best = next((standing.mean for standing in standings(sweep, trials)), None)
        score = "" if best is None else f": best {metric_name(sweep.metric)} {written(sweep.metric, best)}"
        return Outcome("Sweep ended", _sentence(f"{name} ended after {counted(len(trials), 'run')}{score}"), None)
    if sweep.state == "paused" and sweep.problem:
        return Outcome("Sweep paused", _sentence(f"{name} was paused{_reason(sweep.problem)}"), None, True)
    if sweep.state == "active":
        return Outcome("Sweep stalled", f"{name} no longer has a worker process.", None, True)
    return None


def _short(name: str) -> str:
    return visible_name(in_one_line(name), LONGEST_NAME)


def _reason(problem: str) -> str:
    return f": {visible_name(in_one_line(problem), LONGEST_REASON)}" if problem else ""


def _score(run: Run) -> str:
    """The best MAP@R with its epoch; empty for a run without one."""
    score = run.best.get("MAP@R")
    if score is None:
        return ""
    epoch = f"at epoch {run.best_epoch}" if run.best_epoch else "before training"
    return f": best MAP@R {percentage(score)} {epoch}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…", "!", "?")) else f"{text}."
