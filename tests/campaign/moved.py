"""Files of a workspace deleted or moved away behind the program's back, in mid-run and between runs."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.campaign import short_run
from tests.campaign.disks import judged_end
from tests.campaign.kills import ends_alike
from tests.campaign.outcome import Outcome, judged
from tests.campaign.program import Home

TITLE = "files deleted and moved"
PROMISE = "What is gone is named in a sentence; the database is rebuilt from the runs' folders; nothing else is lost."
ROUNDS = 40
SLICE = 1
DATABASE = ("workspace.db", "workspace.db-wal", "workspace.db-shm")
# What is taken away; with `space/` of the workspace, with `home/` of the person's caches.
VICTIMS: dict[str, tuple[str, ...]] = {
    "database": tuple(f"space/{each}" for each in DATABASE),
    "database without its WAL": ("space/workspace.db",),
    "WAL": ("space/workspace.db-wal",),
    "checkpoints": ("space/runs/1/last.pt", "space/runs/1/best.pt"),
    "last checkpoint": ("space/runs/1/last.pt",),
    "embeddings": ("space/runs/1/embeddings-0.npy", "space/runs/1/embeddings-2.npy"),
    "proxies and ranking": ("space/runs/1/proxies-0.npz", "space/runs/1/ranking-0.npz"),
    "journal": ("space/runs/1/journal.jsonl",),
    "run's folder": ("space/runs/1",),
    "pixel cache": ("home/cache/workbench/pixels",),
    "config": ("space/runs/1/config.toml",),
}


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    yield from rng.choice((in_mid_run, between_runs))(rng, folder)


def taken(folder: Path, paths: tuple[str, ...]) -> None:
    """Move what is there of them aside."""
    for each in paths:
        if (folder / each).exists():
            aside = folder / "aside" / each
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder / each, aside)


def given_back(folder: Path, paths: tuple[str, ...]) -> None:
    """Move them back over whatever has been made in their place."""
    for each in paths:
        if (folder / "aside" / each).exists():
            if (folder / each).is_dir():
                shutil.rmtree(folder / each)
            (folder / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder / "aside" / each, folder / each)


def in_mid_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Taken while the run works; then every command, and the repair where the database is gone."""
    home, space, config = Home(folder / "home"), folder / "space", short_run.write_config(folder)
    victim = rng.choice(list(VICTIMS))
    moment, gone = rng.randint(0, 150), False
    last = short_run.Held("", 0, {}, {})

    def look() -> None:
        nonlocal gone, last
        now = short_run.held(space).get(1)
        if now is None or gone:
            return
        last = now
        if len(now.curves.get("batch/loss", ())) >= moment:
            gone = True
            taken(folder, VICTIMS[victim])

    ended = home.start("run", config, "-w", space, "--quiet").end(look=look)
    now = short_run.held(space).get(1)
    done = now is not None and not short_run.differences(now, short_run.whole().run)
    yield judged_end(ended, [], f"{victim}, in mid-run", done=done)
    yield from commands(home, folder, config, victim)
    if "database" in victim and gone:
        yield repaired(home, space, last)


def between_runs(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Taken from a finished workspace; given back, all is as it was."""
    home, space = short_run.copy_of_whole(folder)
    config, victim = short_run.write_config(folder), rng.choice(list(VICTIMS))
    taken(folder, VICTIMS[victim])
    yield from commands(home, folder, config, victim)
    if "database" in victim:
        yield repaired(home, space, short_run.whole().run)
    else:
        given_back(folder, VICTIMS[victim])
        yield from ends_alike(home.run("list", "runs", "-w", space), home, space, short_run.whole(), "given back")


def commands(home: Home, folder: Path, config: Path, victim: str) -> Iterator[Outcome]:
    """What a person tries next: each works or says why not, in a sentence."""
    space = folder / "space"
    for words in (
        ("list", "runs", "-w", space), ("doctor", "-w", space),
        ("run", config, "-w", space, "--quiet", "--resume"),
        ("report", 1, "-w", space, "--out", folder / "report"),
        ("export", 1, "-w", space, "--format", "npy", "--format", "torch", "--out", folder / "export"),
    ):  # fmt: skip
        ended = home.run(*words)
        broken = [] if ended.status in (0, 1) else [f"status {ended.status}"]
        broken += ["no sentence"] * (ended.status == 1 and not ended.said.strip())
        said = f"`{words[0]}`: {ended.last_words}" if broken or ended.traceback else ""
        yield judged(broken, said, traceback=ended.traceback, part=f"{victim}, commands")


def repaired(home: Home, space: Path, before: short_run.Held) -> Outcome:
    """`doctor --repair` brings back every epoch and point that was there."""
    ended = home.run("doctor", "--repair", "-w", space)
    now = short_run.held(space).get(1)
    broken = [f"status {ended.status}"] * bool(ended.status)
    if now is None:
        broken.append("the run is not there")
    else:
        broken += [each for each in short_run.losses(before, now) if not each.startswith("the file")]
    return judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="database rebuilt")
