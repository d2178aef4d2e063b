"""A run at the machine of the drill of places: sent, looked at, killed there, and compared when it has come home."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.campaign import short_run
from tests.campaign.place_parts import LOOK, PATIENCE, Machine, came_home, recorded, unlike, until_ended
from workbench.places import sending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.workspace import Workspace


def sent(space: Workspace, there: Machine) -> tuple[int, Following]:
    """A run that is at work there, and who follows it."""
    (run_id,) = sending.prepare(space, recorded().config, there.place)
    launcher = launcher_of(there.place)
    sending.submit(space, [run_id], there.place, launcher)
    return run_id, Following(space, there.place, launcher)


def resumed(space: Workspace, run_id: int, there: Machine) -> None:
    """The run goes on there."""
    sending.submit(space, [run_id], there.place, launcher_of(there.place))


def points(space: Workspace, run_id: int) -> int:
    """How many points of the loss have come."""
    return len(space.scalars(run_id, "batch/loss")[0]) if "batch/loss" in space.scalar_names(run_id) else 0


def looked_until(following: Following, wanted: Callable[[], object]) -> None:
    """Look until something is true. Raises AssertionError after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not wanted():
        looked = following.look()
        assert time.monotonic() < end, f"it did not come: {looked}"
        time.sleep(LOOK)


def no_sentence(words: str) -> list[str]:
    """What is wrong with what a person is told."""
    plain = words.strip().endswith((".", "?")) and "\n" not in words and "Traceback" not in words
    return [] if plain else [f"no sentence: {words[:200]!r}"]


def at_home(space: Workspace, there: Machine, copies: int = 1) -> list[str]:
    """What is wrong with runs that have come home."""
    broken = unlike(came_home(space), copies)
    for run in space.runs():
        if run.status != "done" or run.placement is None or run.placement.open:
            broken.append(f"run {run.id} is {run.status} ({run.problem})")
        elif (trace := there.trace(run.placement.uid))[-1:] != ["ended"]:
            broken.append(f"run {run.id} there: {trace}")
    return broken + short_run.faults(space.path)


def uid_of(space: Workspace, run_id: int) -> str:
    placement = space.run(run_id).placement
    assert placement is not None
    return placement.uid


def ended_in_words(space: Workspace, run_id: int, following: Following) -> list[str]:
    """Follow a run that may have failed to its end; what is wrong with what is told of it."""
    placement = space.run(run_id).placement
    broken = until_ended(following) if placement is not None and placement.job else []
    run = space.run(run_id)
    if run.status in ("failed", "interrupted"):
        broken += no_sentence(run.problem)
    elif run.status not in ("done", "stopped"):
        broken.append(f"it is {run.status}")
    return broken


def works(there: Machine, uid: str) -> psutil.Process | None:
    """The process of a run there, if it is one: a number alone may be another's."""
    try:
        number = int((Path(there.place.folder) / uid / "pid").read_text())
        process = psutil.Process(number)
        return process if any(uid in word for word in process.cmdline()) else None
    except (OSError, ValueError, psutil.Error):
        return None


def kill_all(there: Machine, uid: str) -> None:
    process = works(there, uid)
    if process is None:
        return
    group = os.getpgid(process.pid)
    assert group not in (0, 1, os.getpgid(0)), "the run has no group of its own"
    os.killpg(group, 9)
    psutil.wait_procs([process], timeout=PATIENCE)
