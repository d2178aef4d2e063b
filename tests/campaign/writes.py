"""SIGKILL while something is written that is no training: tests, imports, checkpoints, notes, the trash, retraining.

Afterwards the workspace opens, the doctor finds nothing, what was told as done is there, and the same command once more
does what it was asked for.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.campaign import short_run
from tests.campaign.kills import killed
from tests.campaign.outcome import Outcome, judged
from tests.campaign.program import Home, Program
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

TITLE = "kill -9 of other writers"
PROMISE = "A killed program loses nothing that it told as done, and leaves no part file and no half run."
ROUNDS = 120
SLICE = 2
HALF_MADE = "has no folder, because its program ended before it made one"  # what the doctor explains
MOST = 6  # kills in a row, before the command is left alone
PICTURES = 24
Check = Callable[[Path], list[str]]


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    scene = rng.choice((killed_test, killed_curves, killed_bring_back, killed_note, killed_trash, killed_retrain))
    yield from scene(rng, folder)


def again_and_again(
    rng: random.Random, folder: Path, home: Home, words: list[object], changes: int, part: str, done: Check
) -> Iterator[Outcome]:
    """Kill a command until it is through, then look whether it did what it was asked for.

    Args:
        changes: about as many files as it changes.
        done: what is wrong with the workspace after the command came to its end.
    """
    space = folder / "space"

    def start(**how: Any) -> Program:
        return home.start(*words, "-w", space, **how)

    before = short_run.held(space)
    for _ in range(MOST):
        ended = killed(rng, start, lambda: None, 2.0, changes, folder)
        if not ended.killed:
            break
        broken = short_run.faults(space) + lost(before, space) + _examined(home, space)
        yield judged(broken, traceback=ended.traceback, part=part)
    ended = start().end()
    home.run("list", "runs", "-w", space)  # which marks what was killed as interrupted, and removes what it left
    broken = [f"status {ended.status}"] * bool(ended.status) + lost(before, space) + _examined(home, space)
    broken += [f"{name} is left" for name in short_run.parts(space)] + done(space)
    said = ended.last_words if broken else ""
    yield judged(broken, said, traceback=ended.traceback, part=f"{part} after kills")


def lost(before: dict[int, short_run.Held], space: Path) -> list[str]:
    """What runs had before, and have no longer; deleted checkpoints are no loss."""
    now, gone = short_run.held(space), list[str]()
    for number, held in before.items():
        if number not in now:
            gone.append(f"run {number}")
        else:
            gone += [loss for loss in short_run.losses(held, now[number]) if ".pt" not in loss]
    return gone


def _examined(home: Home, space: Path) -> list[str]:
    """What the doctor finds."""
    ended = home.run("doctor", "--workspace", space, "--quiet")
    return [f"doctor: {ended.last_words}"] if ended.status and HALF_MADE not in ended.said else []


def runs_of(space: Path) -> list[Run]:
    """All runs, those in the trash too, by number."""
    with Workspace(space) as workspace:
        return sorted([*workspace.runs(), *workspace.runs(trashed=True)], key=lambda run: run.id)


def one_more(states: tuple[str, ...]) -> Check:
    """Besides run 1 there are runs in these states, and no other that nobody can explain."""

    def check(space: Path) -> list[str]:
        there = tuple(run.status for run in runs_of(space)[1:])
        return [] if there[-1:] == states and set(there) <= {"interrupted", *states} else [f"runs are {there}"]

    return check


def killed_test(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The network of a run on other images."""
    home, _ = short_run.copy_of_whole(folder)
    numbers = np.random.default_rng(0)
    for row in range(PICTURES):
        path = folder / "pictures" / f"{row % 4}" / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(numbers.integers(0, 256, (8, 8), np.uint8)).save(path)
    yield from again_and_again(
        rng, folder, home, ["test", 1, folder / "pictures"], 30, "test on other images", one_more(("done",))
    )


def killed_curves(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Curves of other programs: imported again after a kill, each run is there once, with all its points."""
    home, _ = short_run.copy_of_whole(folder)
    for name in ("one", "two"):
        rows = "\n".join(f"{step},{1 / (step + 1)},{step}" for step in range(3_000))
        (folder / "curves" / name).mkdir(parents=True)
        (folder / "curves" / name / "metrics.csv").write_text(f"step,loss,acc\n{rows}\n", "utf-8")

    def check(space: Path) -> list[str]:
        with Workspace(space) as workspace:
            made = [run for run in workspace.runs() if run.curves_of]
            points = {run.name: len(workspace.scalars(run.id, "loss")[0]) for run in made}
        return [] if points == {"one": 3_000, "two": 3_000} and len(made) == 2 else [f"{len(made)} runs: {points}"]

    yield from again_and_again(rng, folder, home, ["import", folder / "curves"], 40, "import of curves", check)


def killed_bring_back(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Checkpoints that come back from a copy of the workspace."""
    home, space = short_run.copy_of_whole(folder)
    shutil.copytree(space / "runs" / "1", folder / "backup")
    assert home.run("checkpoints", "delete", 1, "--yes", "-w", space).status == 0

    def check(after: Path) -> list[str]:
        names = [name for name in ("last.pt", "best.pt") if not (after / "runs" / "1" / name).is_file()]
        return [f"{', '.join(names)} did not come back"] if names else []

    def start(**how: Any) -> Program:
        return home.start("checkpoints", "bring-back", 1, folder / "backup", "-w", space, **how)

    for _ in range(MOST):
        ended = killed(rng, start, lambda: None, 1.0, 12, folder)
        if not ended.killed:
            break
        yield judged(short_run.faults(space) + _examined(home, space), traceback=ended.traceback, part="bring-back")
    ended = start().end()
    whole = "has its checkpoints" in ended.said  # the last kill came after the last of them
    broken = [f"status {ended.status}"] * (bool(ended.status) and not whole) + check(space) + _examined(home, space)
    broken += [f"{name} is left" for name in short_run.parts(space)]
    yield judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="bring-back after kills")


def killed_note(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Name, note and tag of a run: all three, or none of them."""
    home, space = short_run.copy_of_whole(folder)
    words = ["annotate", 1, "--name", "Named", "--note", "first try", "--tag", "kept"]

    def named(after: Path) -> tuple[Any, ...]:
        (run,) = runs_of(after)
        return run.name, run.note, run.tags

    before, whole = named(space), ("Named", "first try", ("kept",))

    def start(**how: Any) -> Program:
        return home.start(*words, "-w", space, **how)

    for _ in range(MOST):
        ended = killed(rng, start, lambda: None, 0.4, 6, folder)
        if not ended.killed:
            break
        now = named(space)
        broken = [] if now in (before, whole) else [f"half of it was written: {now}"]
        yield judged(broken + short_run.faults(space) + _examined(home, space), traceback=ended.traceback, part="notes")
    ended = start().end()
    broken = [f"status {ended.status}"] * bool(ended.status) + ([] if named(space) == whole else [f"{named(space)}"])
    yield judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="notes after kills")


def killed_trash(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A run into the trash and out of it again; what was told as done stays done."""
    home, space = short_run.copy_of_whole(folder)
    before, trashed = short_run.held(space), False
    for _ in range(MOST):
        words = ("trash", "restore" if trashed else "add", 1)
        ended = killed(
            rng, lambda words=words, **how: home.start(*words, "-w", space, **how), lambda: None, 0.4, 6, folder
        )
        now = runs_of(space)[0].trashed is not None
        broken = [] if ended.killed or now != trashed else [f"{words[1]} was told as done"]
        trashed = now
        broken += short_run.faults(space) + lost(before, space) + _examined(home, space)
        yield judged(broken, traceback=ended.traceback, part="trash")


def killed_retrain(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A run that lost its checkpoints is trained anew: there is one new run, and no third.

    The old one is in the trash: where the kill came between the two, the next start puts it there.
    """
    home, space = short_run.copy_of_whole(folder)
    config = short_run.write_config(folder)
    with Workspace(space) as workspace:
        workspace.set_status(1, "interrupted", "")
    for path in (space / "runs" / "1").glob("*.pt"):
        path.unlink()

    def start(**how: Any) -> Program:
        return home.start("run", config, "-w", space, "--quiet", "--resume", "--retrain", **how)

    for _ in range(MOST):
        ended = killed(rng, start, lambda: None, 2.0, 40, folder)
        if not ended.killed:
            break
        kept = [run for run in runs_of(space) if run.trashed is None]
        broken = [f"the list has {len(kept)} runs"] * (len(kept) not in (1, 2))
        yield judged(broken + short_run.faults(space), traceback=ended.traceback, part="retraining")
    states = [(run.status, run.trashed is not None) for run in runs_of(space)]
    ended = start().end() if ("done", False) not in states else home.run("list", "runs", "-w", space)
    states = [(run.status, run.trashed is not None) for run in runs_of(space)]
    broken = [f"status {ended.status}"] * bool(ended.status)
    broken += [] if len(states) == 2 and states[0][1] and states[1] == ("done", False) else [f"runs are {states}"]
    broken += [f"{name} is left" for name in short_run.parts(space)]
    yield judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="retrained after kills")
