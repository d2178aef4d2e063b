"""Places behind a real sshd: lost connections, full disks, killed nodes, wrong clocks, absence, two laptops, malice.

Most runs there are played: a recorded run of Digits is written in pieces by a small program that holds the locks of
the real one. Where clocks are wrong the real program trains. As root it mounts small disks; libfaketime sets clocks.
"""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from tests.campaign import hostile_places, short_run
from tests.campaign.disks import disk, fill
from tests.campaign.outcome import Outcome, judged, long_run
from tests.campaign.place_parts import (
    FAKETIME,
    LOOK,
    PATIENCE,
    Laptop,
    Machine,
    came_home,
    faked,
    machine,
    recorded,
    sshd,
    unlike,
    until_ended,
)
from tests.campaign.program import ROOT
from workbench.places import sending, working
from workbench.places.contract import Ending, JobState
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.problem import Problem
from workbench.workspace import Workspace

TITLE = "places"
PROMISE = "A run at a place comes home whole, nothing outside is written, and what went wrong is one sentence."
ROUNDS = 60
SLICE = 1 if shutil.which("sshd") or Path("/usr/sbin/sshd").exists() else 0
CUTS = 12  # connections lost while one run is followed
LEFT = (0, 4096, 40_000)  # bytes that a full disk still has
CLOCKS = ("+5h", "-5h", "+9d", "-9d", "+400d", "-400d")
DAYS = ("+7d", "+30d")


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One scene; the suite plays one that needs neither root nor a mount."""
    scenes: dict[Callable[[random.Random, Path], Iterator[Outcome]], int] = {
        lost_connection: 6, full_there: 3, killed_node: 3, wrong_clock_there: 1, wrong_clock_here: 3, gone_a_week: 3,
        two_laptops: 3, two_laptops_one_run: 3, two_machines_one_workspace: 1, hostile_places.folders: 6,
        hostile_places.answers: 4,
    }  # fmt: skip
    if not long_run():
        scenes = {lost_connection: 1}
    elif not (shutil.which("sshfs") and os.path.exists("/dev/fuse")):
        del scenes[two_machines_one_workspace]
    if not Path(FAKETIME).exists():
        for scene in (wrong_clock_there, wrong_clock_here, gone_a_week):
            scenes.pop(scene, None)
    (scene,) = rng.choices(list(scenes), list(scenes.values()))
    yield from scene(rng, folder)


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
    with disk(folder) as small, machine(folder, there=small / "there") as there:
        with Workspace(folder / "space", create=True) as space:
            filler, left = fill(small, rng.choice((0, 0, 4096, 12_000))), rng.choice(LEFT)
            (run_id,) = sending.prepare(space, recorded().config, there.place)
            broken = []
            try:
                resumed(space, run_id, there)
            except Problem as problem:
                broken = no_sentence(str(problem)) + no_sentence(space.run(run_id).problem)
            following = Following(space, there.place, launcher_of(there.place))
            broken += _ended_in_words(space, run_id, following)
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
                launcher_of(there.place).stop(_uid(space, run_id), rng.choice((Ending.SAVED, Ending.AT_ONCE)))
                looked_until(following, lambda: not space.run(run_id).live)
            there.let_go()
            broken = _ended_in_words(space, run_id, following)
            broken += ["points are gone"] * (points(space, run_id) < before)
            yield judged(broken, part=f"full disk there while it {'is ended' if ends else 'writes'}")
            if filler:
                filler.unlink()
            if space.run(run_id).status != "done":
                resumed(space, run_id, there)
            broken = until_ended(following) + at_home(space, there)
            yield judged(broken, part="full disk there, gone on with")


def _uid(space: Workspace, run_id: int) -> str:
    placement = space.run(run_id).placement
    assert placement is not None
    return placement.uid


def _ended_in_words(space: Workspace, run_id: int, following: Following) -> list[str]:
    """Follow a run that may have failed to its end; what is wrong with what is told of it."""
    placement = space.run(run_id).placement
    broken = until_ended(following) if placement is not None and placement.job else []
    run = space.run(run_id)
    if run.status in ("failed", "interrupted"):
        broken += no_sentence(run.problem)
    elif run.status not in ("done", "stopped"):
        broken.append(f"it is {run.status}")
    return broken


def killed_node(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """SIGKILL of all that works there, the shell and the run; then it goes on."""
    with machine(folder) as there, Workspace(folder / "space", create=True) as space:
        there.hold()
        run_id, following = sent(space, there)
        uid = _uid(space, run_id)
        deaths = rng.randint(1, 3)
        for _ in range(deaths):
            comes = rng.random() < 0.8  # else it is killed before its first point has come
            looked_until(following, lambda: _works(there, uid) and (points(space, run_id) or not comes))  # noqa: B023
            before = points(space, run_id)
            _kill_all(there, uid)
            broken = until_ended(following)
            run = space.run(run_id)
            broken += no_sentence(run.problem) + [f"it is {run.status}"] * (run.status != "interrupted")
            broken += ["points are gone"] * (points(space, run_id) < before)
            yield judged(broken, part="node killed")
            resumed(space, run_id, there)
        there.let_go()
        broken = until_ended(following) + at_home(space, there)
        broken += [f"begun: {there.trace(uid)}"] * (there.trace(uid).count("begun") != deaths + 1)
        yield judged(broken, part="node killed, gone on with")


def _works(there: Machine, uid: str) -> psutil.Process | None:
    """The process of a run there, if it is one: a number alone may be another's."""
    try:
        number = int((Path(there.place.folder) / uid / "pid").read_text())
        process = psutil.Process(number)
        return process if any(uid in word for word in process.cmdline()) else None
    except (OSError, ValueError, psutil.Error):
        return None


def _kill_all(there: Machine, uid: str) -> None:
    process = _works(there, uid)
    if process is None:
        return
    group = os.getpgid(process.pid)
    assert group not in (0, 1, os.getpgid(0)), "the run has no group of its own"
    os.killpg(group, 9)
    psutil.wait_procs([process], timeout=PATIENCE)


def wrong_clock_there(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The real program trains at a machine whose clock is off, and jumps meanwhile."""
    with machine(folder) as there, Workspace(folder / "space", create=True) as space:
        clock = folder / "clock"
        clock.write_text(rng.choice(CLOCKS))
        words = " ".join(f"{name}={value}" for name, value in faked(clock).items())
        home = f"XDG_CACHE_HOME={folder} OMP_NUM_THREADS=1 PYTHONPATH={ROOT}"
        there.set_python(f'#!/bin/sh\n{words} {home} exec {os.sys.executable} "$@"\n')  # type: ignore[attr-defined]
        findings = launcher_of(there.place).check()
        said = [finding for finding in findings if finding.what == "Clock" and "min off" in finding.said]
        yield judged(["the check does not say it"] * (not said), part="clock off there, check")
        run_id, following = sent(space, there)
        looked_until(following, lambda: points(space, run_id))
        clock.write_text(rng.choice(CLOCKS))
        broken = until_ended(following)
        run, wanted = space.run(run_id), recorded()
        broken += [f"it is {run.status} ({run.problem})"] * (run.status != "done")
        with Workspace(folder / "direct", create=True) as direct:
            from workbench.workspace.ingest import ingest

            whole = ingest(direct, wanted.folder).run_id
            for mine, other in zip(space.scalars(run_id, "batch/loss"), direct.scalars(whole, "batch/loss"), strict=True):
                broken += ["other losses"] * (not len(mine) or mine.tolist() != other.tolist())
            metrics = [[each.metrics for each in one.evaluations(number)] for one, number in ((space, run_id), (direct, whole))]
            broken += ["other metrics"] * (metrics[0] != metrics[1])
        yield judged(broken + short_run.faults(space.path), part="clock off there, the run at home")


def _answered(laptop: Laptop, answer: dict, broken: list[str], part: str) -> Outcome:
    """The outcome of what a laptop was asked for."""
    if problem := answer.get("problem"):
        broken = [*broken, problem]
    for run in answer.get("runs", ()):
        broken = [*broken, *(no_sentence(run["problem"]) if run["problem"] else [])]
    return judged(broken, laptop.said * laptop.traceback, traceback=laptop.traceback, part=part)


def wrong_clock_here(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The laptop's clock is off, and jumps while it follows."""
    with machine(folder) as there:
        clock = folder / "clock"
        clock.write_text(rng.choice(CLOCKS))
        there.hold()
        laptop = Laptop(folder, folder / "space", there.place, clock)
        answer = laptop.ask("send", config=str(_config(folder)))
        yield _answered(laptop, answer, [], "clock off here, sent")
        for _ in range(rng.randint(2, 5)):
            clock.write_text(rng.choice((*CLOCKS, "+0s")))
            answer = laptop.ask("look")
            states = {run["status"] for run in answer.get("runs", ())}
            broken = [f"it is {states}"] * bool(states - {"queued", "running"})
            yield _answered(laptop, answer, broken, "clock off here, jumps")
        there.let_go()
        laptop.ask("follow")
        laptop.close()
        with Workspace(folder / "space") as space:
            yield judged(at_home(space, there), laptop.said * laptop.traceback, traceback=laptop.traceback, part="clock off here, the run at home")


def _config(folder: Path) -> Path:
    path = folder / "sent.toml"
    path.write_text(recorded().config.to_toml())
    return path


def gone_a_week(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Nobody answers for a week; the laptop is closed and opened meanwhile; then all comes."""
    with machine(folder) as there:
        clock = folder / "clock"
        clock.write_text("+0s")
        there.hold()
        laptop = Laptop(folder, folder / "space", there.place, clock)
        answer = laptop.ask("send", config=str(_config(folder)))
        for _ in range(rng.randint(0, 4)):
            answer = laptop.ask("look")
        before = answer["runs"][0]["points"]
        if goes_on := rng.random() < 0.5:  # it ends while nobody looks
            there.let_go()
        there.wire.gone = True
        there.wire.cut()
        answer = laptop.ask("look")
        broken = no_sentence(answer.get("silent", "")) + ["points are gone"] * (answer["runs"][0]["points"] < before)
        yield _answered(laptop, answer, broken, "gone for a week: said")
        clock.write_text(rng.choice(DAYS))
        for again in range(3):
            if again == 1:  # the window is closed, and opened a week later
                laptop.close()
                laptop = Laptop(folder, folder / "space", there.place, clock)
            laptop.ask("facts")
            answer = laptop.ask("look")
            run = answer["runs"][0]
            broken = no_sentence(answer["silent"]) + no_sentence(run["silent"])
            broken += [f"it is {run['status']}"] * (run["status"] not in ("queued", "running"))
            broken += ["points are gone"] * (run["points"] < before)
            yield _answered(laptop, answer, broken, "gone for a week: looked at again")
        there.wire.gone = False
        if not goes_on:
            there.let_go()
        answer = laptop.ask("follow")
        laptop.close()
        with Workspace(folder / "space") as space:
            yield judged(at_home(space, there), laptop.said * laptop.traceback, traceback=laptop.traceback, part="gone for a week: the run at home")


def two_laptops(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Two workspaces send to one place, and follow it at a time; each also takes in the other's folders."""
    with machine(folder) as there:
        laptops = [Laptop(folder, folder / name, there.place) for name in ("one", "two")]
        for laptop in laptops:
            laptop.tell("send", config=str(_config(folder)))
        for laptop in laptops:
            yield _answered(laptop, laptop.hear(), [], "two laptops, one place")
        for _ in range(rng.randint(0, 3)):
            there.wire.left = int(10 ** rng.uniform(3, 6.3))
            for laptop in laptops:
                laptop.tell("look")
            for laptop in laptops:
                yield _answered(laptop, laptop.hear(), [], "two laptops, one place")
        there.wire.left = None
        for laptop in laptops:
            laptop.tell("follow")
        for laptop in laptops:
            laptop.hear()
        for name, laptop in zip(("one", "two"), laptops, strict=True):
            laptop.ask("close")
            with Workspace(folder / name) as space:
                yield judged(at_home(space, there), laptop.said * laptop.traceback, traceback=laptop.traceback, part="two laptops, one place, at home")
        folders = [path for path in Path(there.place.folder).iterdir() if (path / "run.json").exists()]
        for path in folders * 2:
            for laptop in laptops:
                laptop.tell("ingest", folder=str(path))
            for laptop in laptops:
                yield _answered(laptop, laptop.hear(), [], "two laptops take in each other's runs")
        for name, laptop in zip(("one", "two"), laptops, strict=True):
            laptop.close()
            with Workspace(folder / name) as space:
                count = len(space.runs())
                broken = [f"{count} runs for 2"] * (count != 2) + unlike(came_home(space), 2)
                yield judged(broken, traceback=laptop.traceback, part="two laptops take in each other's runs, whole")


def two_laptops_one_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A workspace was copied: both laptops follow its run, and both have it go on at the same moment."""
    with machine(folder) as there:
        there.hold()
        with Workspace(folder / "one", create=True) as space:
            run_id, following = sent(space, there)
            uid = _uid(space, run_id)
            looked_until(following, lambda: points(space, run_id))
        shutil.copytree(folder / "one", folder / "two")
        laptops = [Laptop(folder, folder / name, there.place) for name in ("one", "two")]

        def both(what: str) -> list[dict]:
            for laptop in laptops:
                laptop.tell(what)
            return [laptop.hear() for laptop in laptops]

        for answer, laptop in zip(both("look"), laptops, strict=True):
            yield _answered(laptop, answer, [], "two laptops follow one run")
        for _ in range(2):
            _kill_all(there, uid)
            for answer, laptop in zip(both("follow"), laptops, strict=True):
                yield _answered(laptop, answer, [], "two laptops follow one run")
            for answer, laptop in zip(both("resume"), laptops, strict=True):
                yield _answered(laptop, answer, [], "two laptops resume one run")
            limit = time.monotonic() + PATIENCE
            while _works(there, uid) is None and time.monotonic() < limit:
                time.sleep(LOOK)
        there.let_go()
        both("follow")
        for name, laptop in zip(("one", "two"), laptops, strict=True):
            laptop.close()
            with Workspace(folder / name) as space:
                yield judged(at_home(space, there), laptop.said * laptop.traceback, traceback=laptop.traceback, part="two laptops, one run, at home")


def two_machines_one_workspace(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Two machines on one workspace on sshfs: the lease tells them apart, whoever is killed or suspended."""
    part, mounts = "two machines, one workspace (sshfs)", [folder / "mount-a", folder / "mount-b"]
    (folder / "disk").mkdir()
    with machine(folder) as there:
        try:
            for mount in mounts:
                mount.mkdir()
                words = ["sshfs", "-F", sshd()["CONFIG"], f"here:{folder / 'disk'}", str(mount)]
                subprocess.run(words, check=True, capture_output=True)
            laptops = [
                Laptop(folder, mount / "space", there.place, name=name) for name, mount in zip("ab", mounts, strict=True)
            ]
            owner, written = 0, 0
            yield _answered(laptops[0], laptops[0].ask("open"), [], part)
            for _ in range(rng.randint(3, 6)):
                other = 1 - owner
                answer = laptops[owner].ask("write")
                written += "problem" not in answer
                yield _answered(laptops[owner], answer, [], part)
                said = laptops[other].ask("facts").get("problem", "it was opened")
                yield judged([] if "is open on" in said else [said], traceback=laptops[other].traceback, part=part)
                if rng.random() < 0.5:
                    laptops[owner].kill()
                    laptops[owner] = Laptop(folder, mounts[owner] / "space", there.place, name="ab"[owner])
                    answer = laptops[other].ask("take over")
                else:
                    answer = laptops[owner].ask("close")
                yield _answered(laptops[other], answer, [], part)
                owner = other
            count = len(laptops[owner].ask("facts").get("runs", ()))
            yield judged([f"{count} runs for {written}"] * (count != written), part=f"{part}, whole")
            for laptop in laptops:
                laptop.close()
            yield judged(short_run.faults(folder / "disk" / "space"), part=f"{part}, whole")
        finally:
            for mount in mounts:
                subprocess.run(["fusermount", "-u", "-z", str(mount)], check=False, capture_output=True)
