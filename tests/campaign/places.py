"""Places behind a real sshd: lost connections, full disks, killed nodes, wrong clocks, absence, two laptops, malice.

Most runs there are played: a recorded run of Digits is written in pieces by a small program that holds the locks of
the real one. Where clocks are wrong the real program trains. As root it mounts small disks; libfaketime sets clocks.
"""

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.campaign import hostile_places, laptops, short_run
from tests.campaign.disks import disk, fill
from tests.campaign.outcome import Outcome, judged, long_run
from tests.campaign.place_parts import FAKETIME, WRONG_CLOCK, machine, recorded, until_ended
from tests.campaign.placed_run import (
    at_home,
    ended_in_words,
    kill_all,
    looked_until,
    no_sentence,
    points,
    resumed,
    sent,
    uid_of,
    works,
)
from tests.campaign.program import ROOT
from workbench.places import sending
from workbench.places.contract import Ending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest

TITLE = "places"
PROMISE = "A run at a place comes home whole, nothing outside is written, and what went wrong is one sentence."
ROUNDS = 60
SLICE = 1 if shutil.which("sshd") or Path("/usr/sbin/sshd").exists() else 0
CUTS = 12  # connections lost while one run is followed
LEFT = (0, 4096, 40_000)  # bytes that a full disk still has


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One scene; the suite plays one that needs neither root nor a mount."""
    scenes: dict[Callable[[random.Random, Path], Iterator[Outcome]], int] = {
        lost_connection: 6,
        full_there: 3,
        killed_node: 3,
        wrong_clock_there: 1,
        laptops.wrong_clock_here: 3,
        laptops.gone_a_week: 3,
        laptops.two_laptops: 3,
        laptops.two_laptops_one_run: 3,
        laptops.two_machines_one_workspace: 1,
        hostile_places.folders: 6,
        hostile_places.answers: 4,
    }
    if not long_run():
        scenes = {lost_connection: 1}
    elif not (shutil.which("sshfs") and os.path.exists("/dev/fuse")):
        del scenes[laptops.two_machines_one_workspace]
    if not Path(FAKETIME).exists():
        for scene in (laptops.wrong_clock_here, laptops.gone_a_week):
            scenes.pop(scene, None)
    (scene,) = rng.choices(list(scenes), list(scenes.values()))
    yield from scene(rng, folder)


def lost_connection(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The connection is lost at a drawn byte, while the run is sent and while it is followed."""
    with machine(folder) as there, Workspace(folder / "space", create=True) as space:
        launcher = launcher_of(there.place)
        (run_id,) = sending.prepare(space, recorded().config, there.place)
        for tries_left in reversed(range(4)):
            there.wire.left = int(10 ** rng.uniform(0, 4.5)) if tries_left else None
            broken = []
            try:
                sending.submit(space, [run_id], there.place, launcher)
            except Problem as problem:
                broken = no_sentence(str(problem)) + no_sentence(space.run(run_id).problem)
            yield judged(broken, part="connection lost while a run is sent")
            if space.run(run_id).live and (placement := space.run(run_id).placement) and placement.job:
                break
        following, before = Following(space, there.place, launcher), 0
        for _ in range(CUTS if long_run() else 3):
            if rng.random() < 0.2:  # another program goes on from what is there
                following = Following(space, there.place, launcher_of(there.place))
            there.wire.left = int(10 ** rng.uniform(0, 6.3))
            looked = following.look()
            now = points(space, run_id)
            broken = no_sentence(looked.silent) if looked.silent else []
            broken += [f"{before - now} points are gone"] * (now < before)
            broken += [*looked.problems]
            before = now
            yield judged(broken, part="connection lost while it is followed")
        there.wire.left = None
        broken = until_ended(following) + at_home(space, there)
        yield judged(broken, part="connection lost, the run at home")


def full_there(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The disk of the place is full while orders are sent, while the run writes, and has room again."""
    with (
        disk(folder) as small,
        machine(folder, there=small / "there") as there,
        Workspace(folder / "space", create=True) as space,
    ):
        filler, left = fill(small, rng.choice((0, 0, 4096, 12_000))), rng.choice(LEFT)
        (run_id,) = sending.prepare(space, recorded().config, there.place)
        broken = []
        try:
            resumed(space, run_id, there)
        except Problem as problem:
            broken = no_sentence(str(problem)) + no_sentence(space.run(run_id).problem)
        following = Following(space, there.place, launcher_of(there.place))
        broken += ended_in_words(space, run_id, following)
        yield judged(broken, part="full disk there while a run is sent")
        if filler:
            filler.unlink()
        there.hold()
        if space.run(run_id).status != "done":
            resumed(space, run_id, there)
        looked_until(following, lambda: points(space, run_id))
        before = points(space, run_id)
        filler = fill(small, left)
        ends = rng.random() < 0.4
        if ends:
            launcher_of(there.place).stop(uid_of(space, run_id), rng.choice((Ending.SAVED, Ending.AT_ONCE)))
            looked_until(following, lambda: not space.run(run_id).live)
        there.let_go()
        broken = ended_in_words(space, run_id, following)
        broken += ["points are gone"] * (points(space, run_id) < before)
        yield judged(broken, part=f"full disk there while it {'is ended' if ends else 'writes'}")
        if filler:
            filler.unlink()
        if space.run(run_id).status != "done":
            resumed(space, run_id, there)
        broken = until_ended(following) + at_home(space, there)
        yield judged(broken, part="full disk there, gone on with")


def killed_node(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """SIGKILL of all that works there, the shell and the run; then it goes on."""
    with machine(folder) as there, Workspace(folder / "space", create=True) as space:
        there.hold()
        run_id, following = sent(space, there)
        uid = uid_of(space, run_id)
        deaths = rng.randint(1, 3)
        for _ in range(deaths):
            comes = rng.random() < 0.8  # else it is killed before its first point has come
            looked_until(following, lambda: works(there, uid) and (points(space, run_id) or not comes))  # noqa: B023
            before = points(space, run_id)
            kill_all(there, uid)
            broken = until_ended(following)
            run = space.run(run_id)
            broken += no_sentence(run.problem) + [f"it is {run.status}"] * (run.status != "interrupted")
            broken += ["points are gone"] * (points(space, run_id) < before)
            yield judged(broken, part="node killed")
            resumed(space, run_id, there)
        there.let_go()
        broken = until_ended(following) + at_home(space, there)
        broken += [f"begun: {there.trace(uid)}"] * (there.trace(uid).count("begun") > deaths + 1)
        yield judged(broken, part="node killed, gone on with")


def wrong_clock_there(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The real program trains at a machine whose clock is off, and jumps meanwhile."""
    with machine(folder) as there, Workspace(folder / "space", create=True) as space:
        clock, hours = folder / "clock", (-9600, -216, -5, 5, 216, 9600)
        clock.write_text(str(3600 * rng.choice(hours)))
        (folder / "sitecustomize.py").write_text(WRONG_CLOCK)
        words = f"CLOCK_OFF={clock} XDG_CACHE_HOME={folder} PYTHONPATH={folder}:{ROOT}"
        words += " OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
        there.set_python(f'#!/bin/sh\n{words} exec {sys.executable} "$@"\n')
        findings = launcher_of(there.place).check()
        said = [finding for finding in findings if finding.what == "Clock" and "min off" in finding.said]
        yield judged(["the check does not say it"] * (not said), part="clock off there, check")
        run_id, following = sent(space, there)
        looked_until(following, lambda: points(space, run_id))
        clock.write_text(str(3600 * rng.choice(hours)))
        broken = until_ended(following)
        run, wanted = space.run(run_id), recorded()
        broken += [f"it is {run.status} ({run.problem})"] * (run.status != "done")
        with Workspace(folder / "direct", create=True) as direct:
            whole = ingest(direct, wanted.folder).run_id
            for mine, other in zip(
                space.scalars(run_id, "batch/loss"), direct.scalars(whole, "batch/loss"), strict=True
            ):
                broken += ["other losses"] * (not len(mine) or mine.tolist() != other.tolist())
            measured = [one.evaluations(number)[-1].metrics for one, number in ((space, run_id), (direct, whole))]
            broken += ["other metrics"] * any(
                abs(value - measured[1].get(name, value)) > 1e-3 for name, value in measured[0].items()
            )
        yield judged(broken + short_run.faults(space.path), part="clock off there, the run at home")
