"""Disks that are full, read-only or closed to the person, at the start and in mid-run, under each kind of file."""

import contextlib
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.campaign import short_run
from tests.campaign.kills import PICTURES, ends_alike, packed_images
from tests.campaign.outcome import Outcome, judged
from tests.campaign.program import Ended, Home

TITLE = "full, read-only and closed disks"
PROMISE = "A disk that cannot be written ends in one sentence and status 1, harms nothing, and the work goes on after."
ROUNDS = 60
SLICE = 1
MEGABYTES = 24  # of the small disk: a run's folder, its database and a log of 4 MB, which may be copied once
LEFT = (0, 4096, 40_000, 200_000)  # bytes that a full disk still has
REPORTS = ("html", "pdf", "latex", "csv")
EXPORTS = ("npy", "csv", "tensorboard", "torch", "config", "projector")


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    scenes = {full_in_mid_run: 3, closed_in_mid_run: 3, full_cache: 2, full_out: 3, read_only: 1}
    (scene,) = rng.choices(list(scenes), list(scenes.values()))
    yield from scene(rng, folder)


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A disk of a few MB where root can mount one; else a plain folder, which `limits` makes small."""
    place = folder / "disk"
    place.mkdir()
    mounted = can_mount() and _mount("-t", "tmpfs", "-o", f"size={MEGABYTES}m", "campaign", place)
    try:
        yield place
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


def can_mount() -> bool:
    """Whether this is root on a system with mount."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("mount") is not None


def _mount(*words: object) -> bool:
    return subprocess.run(["mount", *map(str, words)], check=False, capture_output=True).returncode == 0


def fill(place: Path, left: int) -> Path | None:
    """Fill a mounted disk up to `left` bytes; the file that does it, or None on a disk that is not small."""
    if not os.path.ismount(place):
        return None
    facts = os.statvfs(place)
    filler = place / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(4096, facts.f_bavail * facts.f_bsize - left))
    return filler


def limits(rng: random.Random, place: Path, largest: int) -> dict[str, Any]:
    """A limit on the size of each file where the disk cannot be filled."""
    return {} if os.path.ismount(place) else {"file_size": rng.randint(1024, largest)}


def judged_end(ended: Ended, broken: list[str], part: str, *, done: bool) -> Outcome:
    """A program under such a disk: done, or one sentence and status 1; never a traceback, never a silent failure."""
    if ended.status not in (0, 1):
        broken = [*broken, f"status {ended.status}"]
    elif ended.status == 0 and not done:
        broken = [*broken, "status 0 without having done it"]
    elif ended.status == 1 and not ended.last_words.endswith("."):
        broken = [*broken, "no sentence"]
    return judged(broken, ended.last_words if broken or ended.traceback else "", traceback=ended.traceback, part=part)


def disturbed_run(
    rng: random.Random, folder: Path, space: Path, home: Home, disturb: Callable[[], object],
    mend: Callable[[], object], part: str, **how: Any,
) -> Iterator[Outcome]:  # fmt: skip
    """A run that is disturbed once, at a moment of its life, then resumed when all is well again."""
    loss = rng.choice(short_run.LOSSES)
    whole, config = short_run.whole(loss), short_run.write_config(folder, loss)
    moment, before, disturbed = rng.randint(0, 100), short_run.Held("", 0, {}, {}), False

    def look() -> None:
        nonlocal before, disturbed
        now = short_run.held(space).get(1)
        if now is not None and not disturbed:
            before = now
        if not disturbed and now is not None and len(now.curves.get("batch/loss", ())) >= moment:
            disturbed = True
            disturb()

    ended = home.start("run", config, "-w", space, "--quiet", **how).end(look=look)
    mend()
    broken = short_run.faults(space)
    now = short_run.held(space).get(1)
    broken += short_run.losses(before, now) if now else []
    yield judged_end(ended, broken, part, done=now is not None and not short_run.differences(now, whole.run))
    if now is None or now.status != "done":
        ended = home.run("run", config, "-w", space, "--quiet", *(["--resume"] if now else []))
    yield from ends_alike(ended, home, space, whole, f"{part}, gone on with")


def full_in_mid_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The workspace's disk becomes full: database, journal, checkpoints, arrays, whichever comes first."""
    with disk(folder) as place:
        home, left = Home(folder / "home"), rng.choice(LEFT)
        yield from disturbed_run(
            rng, folder, place / "space", home, lambda: fill(place, left),
            lambda: (place / "filler").unlink(missing_ok=True), "full in mid-run", **limits(rng, place, 100_000),
        )  # fmt: skip


def closed_in_mid_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The workspace or the run's folder may not be written any more, or its disk has become read-only."""
    home, space = Home(folder / "home"), folder / "space"
    below = rng.choice((".", "runs", "runs/1"))
    mounts = can_mount() and rng.random() < 0.5

    def close() -> None:
        if not mounts:
            (space / below).chmod(0o555)
        elif _mount("--bind", space / below, space / below):
            _mount("-o", "remount,bind,ro", space / below)

    def open_again() -> None:
        subprocess.run(["umount", "-l", str(space / below)], check=False, capture_output=True)
        if (space / below).exists():
            (space / below).chmod(0o755)

    try:
        part = "read-only in mid-run" if mounts else "closed in mid-run"
        yield from disturbed_run(rng, folder, space, home, close, open_again, part, bound=True)
    finally:
        open_again()


def full_cache(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The disk of the caches is full while an archive is unpacked or its images are decoded."""
    archive = packed_images(folder, rng.choice(("zip", "tar.gz")))
    config, space = folder / "archive.toml", folder / "space"
    text = short_run.write_config(folder, epochs=1).read_text()
    config.write_text(text.replace('"digits"', f'"folder"\nfolder = "{archive}"\nimage_size = 64'))
    with disk(folder) as place:
        home = Home(folder / "home")
        shutil.move(home.cache, place / "cache")
        home.cache.symlink_to(place / "cache")
        filler = fill(place, rng.randint(0, 3 * PICTURES * 4096))
        ended = home.run("run", config, "-w", space, "--quiet", **limits(rng, place, 500_000))
        done = short_run.held(space).get(1, short_run.Held("", 0, {}, {})).status == "done"
        broken = short_run.faults(space) + [f"{each} is left" for each in short_run.parts(home.cache / "workbench")]
        yield judged_end(ended, broken, "full cache", done=done)
        if filler:
            filler.unlink()
        ended = home.run("run", config, "-w", space, "--quiet")
        broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status) + short_run.faults(space)
        yield judged(broken, traceback=ended.traceback, part="full cache, gone on with")


def full_out(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The disk that a report or an export goes to is full; what lies there already is not touched."""
    home, space = short_run.copy_of_whole(folder)
    kind = rng.choice(("report", "export"))
    formats = rng.sample(REPORTS if kind == "report" else EXPORTS, 2)
    words = [kind, 1, "-w", space, *(word for each in formats for word in ("--format", each))]
    with disk(folder) as place:
        out = place / "out"
        first = home.run(*words, "--out", out)
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        filler = fill(place, rng.choice((0, 4096, 20_000)))
        ended = home.run(*words, "--out", out, **limits(rng, place, 20_000))
        broken = [f"status {first.status}: {first.last_words}"] * bool(first.status)
        broken += [f"{path.name} is cut" for path, content in before.items() if not _same_or_whole(path, content)]
        broken += [f"{each} is left" for each in short_run.parts(place)] + short_run.faults(space)
        yield judged_end(ended, broken, f"full disk, {kind}", done=True)
        if filler:
            filler.unlink()
        ended = home.run(*words, "--out", out)
        broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status)
        yield judged(broken, traceback=ended.traceback, part=f"full disk, {kind}, gone on with")


def _same_or_whole(path: Path, before: bytes) -> bool:
    """Whether a file is what it was, or as long as one written anew: times in it differ by few bytes."""
    return path.exists() and path.stat().st_size > 0.9 * len(before)


def read_only(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A workspace that may only be read: everything that reads works, everything that writes ends in a sentence."""
    with disk(folder) as place:
        home, copied = short_run.copy_of_whole(folder)
        space = place / "space"
        shutil.copytree(copied, space)
        config = short_run.write_config(folder)
        mounted = os.path.ismount(place) and rng.random() < 0.5 and _mount("-o", "remount,ro", place)
        if not mounted:
            for each in (space, *space.rglob("*")):
                each.chmod(0o555 if each.is_dir() else 0o444)
        reading = (
            ("list", "runs", "-w", space), ("compare", 1, 1, "-w", space),
            ("report", 1, "-w", space, "--out", folder / "out"),
            ("export", 1, "-w", space, "--format", "npy", "--out", folder / "out"),
        )  # fmt: skip
        writing = (
            ("run", config, "-w", space, "--quiet"), ("run", config, "-w", space, "--quiet", "--resume"),
            ("sweep", "start", config, "-p", "training.lr=0.1,0.2", "-w", space),
            ("export", 1, "-w", space, "--format", "npy", "--out", space / "out"),
        )  # fmt: skip
        for words in (rng.choice(reading), rng.choice(writing)):
            ended = home.run(*words, bound=True)
            broken = short_run.faults(space)
            if words in reading and ended.status:
                broken.append(f"`{words[0]}` does not work")
            yield judged_end(
                ended, broken, f"read-only, {'reads' if words in reading else 'writes'}", done=words in reading
            )
        for each in () if mounted else (space, *(path for path in space.rglob("*") if path.is_dir())):
            each.chmod(0o755)
