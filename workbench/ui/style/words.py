"""Numbers and states in the words of the window."""

import re
import sys
from datetime import datetime
from functools import partial
from math import isfinite
from pathlib import Path

from workbench import numerals, progress
from workbench.control import Control
from workbench.events import RunState
from workbench.files.archive_names import ENDINGS
from workbench.workspace.rows import Placement, Run
from workbench.workspace.tables.placements import ELSEWHERE, REMOVED

MACOS = sys.platform == "darwin"
ON_MACOS = {"Ctrl": "⌘", "Alt": "⌥", "Shift": "⇧"}
PICTURES = {  # icon and colour of each state
    RunState.QUEUED: ("hourglass", "muted"),
    RunState.RUNNING: ("play-circle", "accent"),
    RunState.WAITING: ("pause-circle", "warning"),
    RunState.STOPPED: ("stop-circle", "muted"),
    RunState.DONE: ("check-circle", "right"),
    RunState.CANCELLED: ("prohibit", "muted"),
    RunState.FAILED: ("x-circle", "wrong"),
    RunState.INTERRUPTED: ("warning-circle", "warning"),
}
STATES = {state.value: (state.word, *picture) for state, picture in PICTURES.items()}
ARCHIVES = f"Archives ({' '.join(f'*{ending}' for ending in ENDINGS)});;All files (*)"  # of a file dialog
CONFIGS = "Config (*.toml)"
PAUSE, RESUME = "Pause", "Resume"  # also of an ended run, from its checkpoint
QUEUE_AGAIN = "Put back in the queue"  # a run that was taken out before it began
STOP, STOP_NOW, STOP_FIRST = "Stop after this epoch", "Stop now, keep finished epochs", "Stop now, keep the curves"
STOPPING, STOPPING_NOW = "Stopping after this epoch", "Stopping now"  # what a run is doing that was asked to end
WHICH_EVALUATION = "Which evaluation of each run"  # to a screen reader
SEARCH_RUNS = "Search name, loss, data, state"
NO_VALUE = "–"
FAMILIAR = 100  # from this speed on no decimals are shown
THIN = "\u202f"  # between a number and its unit: a narrow space at which no line breaks
BYTES = re.compile(r"(?<=\d) (?=(?:[kMGT]i?)?B\b)")  # the space before the unit of a size


def state_word(status: str) -> str:
    """ "Running" for "running"."""
    return STATES.get(status, (status.capitalize(), "", ""))[0]


def is_ending_now(control: Control) -> bool:
    """Whether a run was asked to end before its next step."""
    return control.cancelled or control.kept or control.interrupted


def can_pause(run: Run, control: Control | None) -> bool:
    """Whether a run can be paused, or go on after a pause; not while it is queued, waits for an answer, or ends."""
    steered = control is not None and control.can_pause and not is_ending_now(control)
    return steered and run.status != "queued" and not run.problem


def can_stop(run: Run, control: Control | None) -> bool:
    """Whether a run can be asked to stop: one that has begun, and a loop of the user's own that looks for that."""
    return run.status != "queued" if control is not None else run.looks_for_stop and not run.loop_asked_to_stop


def work_word(run: Run, control: Control | None, away: bool = False) -> str:
    """What a run does, in a word or how it is being ended: "Running", "Stopping after this epoch", "Stopping now".

    Args:
        control: None for a run that this window does not steer.
        away: the workspace cannot be read at the moment, which leaves the state of a run that had not ended unknown.
    """
    if control is not None and run.status in ("running", "waiting"):
        if is_ending_now(control):
            return STOPPING_NOW
        if control.stop_asked:
            return STOPPING
    word = "Asked to stop" if control is None and run.loop_asked_to_stop else state_word(run.status)
    return f"Last seen {word.lower()}" if away and run.live else word


def where(placement: Placement) -> str:
    """Where a run trains and the state of that place: "at box", "box has not answered since 14:02"."""
    if placement.silent == REMOVED and placement.open:
        return f"{placement.place} was removed"
    if placement.silent == ELSEWHERE and placement.open:
        return f"{placement.place} does not know it"
    if placement.silent and placement.open:
        moment = _moment(placement.reached or "")
        if moment is None:
            return f"{placement.place} does not answer"
        today = moment.date() == datetime.now().astimezone().date()
        return f"{placement.place} has not answered since {moment:%H:%M}" + ("" if today else f" on {moment:%d %b}")
    return ", ".join(filter(None, (f"at {placement.place}", placement.words if placement.open else "")))


def _moment(stored: str) -> datetime | None:
    """A stored moment in the time of this machine; None for one that cannot be read: the workspace may be anybody's."""
    try:
        return datetime.fromisoformat(stored).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def epoch_at_work(run: Run) -> int:
    """The epoch that a run works on, counted from 1; the last that it finished once it has ended."""
    return min(run.epoch + (run.status in ("running", "waiting")), run.epochs)


def device_name(device: str) -> str:
    """ "CPU" and "MPS" for "cpu" and "mps"; others, as "cuda:0" or a card's name, as they are."""
    return device.upper() if device in ("cpu", "mps") else device


def device_of(run: Run) -> str:
    """What a run worked on: "CPU", "NVIDIA H200 (cuda:1)"; empty before it is known."""
    device = str(run.environment.get("device", ""))
    named = device_name(device)
    places = places_of(run)
    return f"{named} ({places})" if named and places and places != device else named


def places_of(run: Run) -> str:
    """The devices that a run had, by number: "cpu", "cuda:1", "cuda:0,cuda:1"; empty before it is known."""
    return str(run.environment.get("devices", ""))


def percent(fraction: float | None, digits: int = 1) -> str:
    """0.8123 as "81.2"; a dash when there is no number, "∞" for an infinite one. The header shows the %."""
    if fraction is None:
        return NO_VALUE
    return f"{100 * fraction:.{digits}f}" if isfinite(fraction) else numerals.words_of(fraction)


counted = numerals.counted  # "1 file", "1,234 files"
duration = partial(progress.duration, space=THIN)  # 130 as "2 min 10 s"
short_time = partial(progress.short_time, space=THIN)  # 0.0123 as "12.3 ms", 130 as "2 min 10 s"


def how_far(text: str, done: int, total: int, seconds_left: float | None) -> str:
    """ "Trying rates, 12 / 100, 8 s left"; without a total (0) no count, and without a time (None) no time left."""
    count = f"{done:,} / {total:,}" if total else ""
    remaining = "" if seconds_left is None else f"{duration(seconds_left)} left"
    return ", ".join(filter(None, (text, count, remaining)))


def pace(images_per_second: float) -> str:
    """A speed in images a second, without decimals from 100 on; empty for 0."""
    if not images_per_second:
        return ""
    familiar = images_per_second >= FAMILIAR
    return f"{images_per_second:,.0f}" if familiar else numerals.significant(images_per_second)


memory = partial(numerals.byte_size, space=THIN)  # 412,000,000 as "412 MB"


def unbroken(text: str) -> str:
    """The text, where no line breaks between the number and the unit of a size: "0.46 MB"."""
    return BYTES.sub(THIN, text)


def from_home(path: Path) -> str:
    """A path below the home folder as "~/Workbench"; any other unchanged."""
    try:
        home = Path.home()
    except RuntimeError:  # this account has none
        return str(path)
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)


def own_keys(text: str) -> str:
    """A text with the names that keys have on this system: where Qt says Ctrl, a Mac has ⌘."""
    if not MACOS:
        return text
    text = re.sub(r"\b(Ctrl|Alt|Shift)\+", lambda key: ON_MACOS[key[1]], text)
    return re.sub(r"\b(Ctrl|Alt)\b", lambda key: ON_MACOS[key[1]], text)
