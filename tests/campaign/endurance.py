"""Memory and open files over many evaluations of a run, and over many page turns of the window."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from tests.campaign import short_run
from tests.campaign.outcome import Outcome, judged, long_run
from tests.campaign.program import Home

TITLE = "endurance"
PROMISE = "Memory and open files do not rise with the work that is done."
ROUNDS = 1
SLICE = 1
ONE_POOL = {"MALLOC_ARENA_MAX": "1"}  # glibc keeps what is free for each thread: steps of 10 MB that are no growth
SETTLED = 0.3  # of the measurements, at the beginning, are left out: pages are made and caches filled
MEMORY = {"evaluations": 100_000.0, "page turns": 10_000.0}  # bytes for each, at most: 20 MB over 200 and 2,000
FILES = 0.002  # open files for each, at most: 4 over 2,000


@dataclass(frozen=True)
class Moment:
    """After so many evaluations or page turns."""

    count: int
    files: int
    memory: int  # bytes


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    yield from evaluations(folder, 200 if long_run() else 4)
    yield from page_turns(folder, 2000 if long_run() else 40)


def evaluations(folder: Path, count: int) -> Iterator[Outcome]:
    """A run of the command line that evaluates after each epoch."""
    home, space, config = Home(folder / "home"), folder / "space", short_run.write_config(folder, epochs=count)
    config.write_text(config.read_text().replace("every = 2", "every = 1\nanatomy_every = 0"))
    program = home.start("run", config, "-w", space, "--quiet")
    process, moments = psutil.Process(program.pid), [Moment(0, 0, 0)]

    def look() -> None:
        done = len(list((space / "runs" / "1").glob("ranking-*.npz")))
        if done > moments[-1].count:
            try:
                moments.append(Moment(done, process.num_fds(), process.memory_info().rss))
            except psutil.Error:  # it has just ended
                return

    ended = program.end(3600.0, look)
    broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status)
    found = len(short_run.held(space)[1].evaluations)
    broken += [f"{found} of {count + 1} evaluations"] * (found != count + 1)
    yield judged(broken, traceback=ended.traceback, part=f"run, {count} evaluations")
    yield level(moments[1:], "evaluations")


def page_turns(folder: Path, count: int) -> Iterator[Outcome]:
    """The window on a finished run, page after page."""
    (folder / "turned").mkdir()
    home, space = short_run.copy_of_whole(folder / "turned")
    out = folder / "turned.jsonl"
    turning = home.start("turn", space, count, out, module="tests.campaign.window", fresh=True, variables=ONE_POOL)
    ended = turning.end(3600.0)
    moments = [Moment(**json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []
    broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status)
    broken += ["pages were not turned"] * (not moments or moments[-1].count != count)
    yield judged(broken, traceback=ended.traceback, part=f"window, {count} page turns")
    yield level(moments, "page turns")


def level(moments: Sequence[Moment], what: str) -> Outcome:
    """Whether neither rises: slopes of the least squares line through what comes after the beginning."""
    told = moments[max(1, int(SETTLED * len(moments))) :]
    if len(told) < 3 or not long_run():  # over a few the noise is larger than the bound
        grown = told[-1].files - told[0].files if told else 0
        return judged(
            [f"{grown} more open files after {told[-1].count} {what}"] * (grown > 8), part=f"{what}, open files"
        )
    counts = [each.count for each in told]
    files, memory = (
        float(np.polyfit(counts, [getattr(each, name) for each in told], 1)[0]) for name in ("files", "memory")
    )
    broken = [f"{files:.4f} more open files for each of {told[-1].count} {what}"] * (files > FILES)
    broken += [f"{memory:,.0f} more bytes for each of {told[-1].count} {what}"] * (memory > MEMORY[what])
    print(f"  {what}: {files:.4f} files, {memory:,.0f} bytes for each", flush=True)
    return judged(broken, part=f"{what}, memory and open files")
