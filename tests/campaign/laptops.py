"""Scenes of the drill of places with laptops of their own: wrong clocks, a week of absence, two of them at a time."""

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.campaign import short_run
from tests.campaign.outcome import Outcome, judged
from tests.campaign.place_parts import LOOK, PATIENCE, Laptop, came_home, machine, recorded, sshd, unlike
from tests.campaign.placed_run import at_home, kill_all, looked_until, no_sentence, points, sent, uid_of, works
from workbench.workspace import Workspace

CLOCKS = ("+5h", "-5h", "+9d", "-9d", "+400d", "-400d")
DAYS = ("+7d", "+30d")


def _answered(laptop: Laptop, answer: dict[str, Any], broken: list[str], part: str) -> Outcome:
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
            yield judged(
                at_home(space, there),
                laptop.said * laptop.traceback,
                traceback=laptop.traceback,
                part="clock off here, the run at home",
            )


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
            yield judged(
                at_home(space, there),
                laptop.said * laptop.traceback,
                traceback=laptop.traceback,
                part="gone for a week: the run at home",
            )


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
                yield judged(
                    at_home(space, there),
                    laptop.said * laptop.traceback,
                    traceback=laptop.traceback,
                    part="two laptops, one place, at home",
                )
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
            uid = uid_of(space, run_id)
            looked_until(following, lambda: points(space, run_id))
        shutil.copytree(folder / "one", folder / "two")
        laptops = [Laptop(folder, folder / name, there.place) for name in ("one", "two")]

        def both(what: str) -> list[dict[str, Any]]:
            for laptop in laptops:
                laptop.tell(what)
            return [laptop.hear() for laptop in laptops]

        for answer, laptop in zip(both("look"), laptops, strict=True):
            yield _answered(laptop, answer, [], "two laptops follow one run")
        for _ in range(2):
            kill_all(there, uid)
            for answer, laptop in zip(both("follow"), laptops, strict=True):
                yield _answered(laptop, answer, [], "two laptops follow one run")
            for answer, laptop in zip(both("resume"), laptops, strict=True):
                yield _answered(laptop, answer, [], "two laptops resume one run")
            limit = time.monotonic() + PATIENCE
            while works(there, uid) is None and time.monotonic() < limit:
                time.sleep(LOOK)
        there.let_go()
        both("follow")
        for name, laptop in zip(("one", "two"), laptops, strict=True):
            laptop.close()
            with Workspace(folder / name) as space:
                yield judged(
                    at_home(space, there),
                    laptop.said * laptop.traceback,
                    traceback=laptop.traceback,
                    part="two laptops, one run, at home",
                )


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
                Laptop(folder, mount / "space", there.place, name=name)
                for name, mount in zip("ab", mounts, strict=True)
            ]
            owner, written, how = 0, 0, "at first"
            yield _answered(laptops[0], laptops[0].ask("open"), [], part)
            for _ in range(rng.randint(3, 6)):
                other = 1 - owner
                answer = laptops[owner].ask("write")
                written += "problem" not in answer
                yield _answered(laptops[owner], answer, [], part)
                said = laptops[other].ask("facts").get("problem", f"it was opened ({how})")
                yield judged([] if "is open on" in said else [said], traceback=laptops[other].traceback, part=part)
                if killed := rng.random() < 0.4:
                    laptops[owner].kill()
                    laptops[owner] = Laptop(folder, mounts[owner] / "space", there.place, name="ab"[owner])
                    answer = laptops[other].ask("take over")
                else:
                    answer = laptops[owner].ask("close")
                yield _answered(laptops[other], answer, [], part)
                owner, how = other, "after a kill" if killed else "after it was closed"
            count = len(laptops[owner].ask("facts").get("runs", ()))
            yield judged([f"{count} runs for {written}"] * (count != written), part=f"{part}, whole")
            for laptop in laptops:
                laptop.close()
            yield judged(short_run.faults(folder / "disk" / "space"), part=f"{part}, whole")
        finally:
            for mount in mounts:
                subprocess.run(["fusermount", "-u", "-z", str(mount)], check=False, capture_output=True)
