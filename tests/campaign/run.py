"""The campaign: damage, kills, full disks, hostile and fuzzed input against the real program, with counts.

    python tests/campaign/run.py [--minutes N] [--seed S] [--workers 2] [--only DRILL ...] [--scale X]

Prints the counts as Markdown and ends with status 1 if a promise broke. Each failure names its drill, seed and round:
`--only DRILL --seed S --round R` repeats it. The minutes are shared out: no drill takes those of the ones behind it.
"""

import argparse
import atexit
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the checkout

from tests.campaign.outcome import Drill, Outcome, Tally

# One module of this folder each; the order of the table.
DRILLS: tuple[str, ...] = (
    "endurance",
    "monkey",
    "kills",
    "disks",
    "moved",
    "sandbox",
    "hostile",
    "cells",
    "writes",
    "flips",
    "owners",
    "repairs",
    "fuzz",
    "bombs",
    "places",
)


_ENDING = threading.Event()  # this process was asked to end
_PLAYING: list["subprocess.Popen[bytes]"] = []  # the processes of `played_apart` that have not ended


def drills(names: Sequence[str] = DRILLS) -> dict[str, Drill]:
    """The named drills, imported."""
    return {name: cast(Drill, importlib.import_module(f"tests.campaign.{name}")) for name in names}


def attempt(drill: Drill, name: str, seed: int, number: int) -> Iterator[Outcome]:
    """One round in a folder of its own. A traceback of the drill itself is an outcome, too."""
    folder = Path(tempfile.mkdtemp(prefix=f"campaign-{name}-"))
    try:
        yield from drill.attempt(random.Random(f"{name}-{seed}-{number}"), folder)
    except Exception as error:  # noqa: BLE001 - counted, and shown with its place
        frame = traceback.extract_tb(error.__traceback__)[-1]
        yield Outcome("traceback", f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def play(name: str, drill: Drill, seed: int, numbers: Sequence[int], until: float) -> dict[str, Tally]:
    """The rounds of one drill, until the time is over: its counts by part."""
    tallies: dict[str, Tally] = {}
    for number in numbers:
        since = monotonic()
        if since > until:
            break
        for outcome in attempt(drill, name, seed, number):
            tally = tallies.setdefault(outcome.part, Tally(drill.TITLE, outcome.part, drill.PROMISE))
            tally.add(outcome, f"--only {name} --seed {seed} --round {number}", monotonic() - since)
            since = monotonic()
            if outcome.kind != "survived":
                what = ": ".join(each for each in (outcome.kind, outcome.part, outcome.words) if each)
                print(f"  {name}, round {number}: {what}", flush=True)
    return tallies


def played_apart(name: str, share: str, seed: int, scale: float, minutes: float) -> dict[str, Tally]:
    """A share of a drill's rounds in a process of its own: what it leaks or breaks stays there."""
    with tempfile.TemporaryDirectory(prefix="campaign-tallies-") as folder:
        out = Path(folder) / "tallies.json"
        words = ["--only", name, "--share", share, "--seed", seed, "--scale", scale, "--minutes", minutes, "--out", out]
        process = subprocess.Popen([sys.executable, "-X", "faulthandler", __file__, *map(str, words)])
        _PLAYING.append(process)
        if _ENDING.is_set():
            process.terminate()
        status = process.wait()
        _PLAYING.remove(process)
        if out.exists():
            return {part: Tally(**facts) for part, facts in json.loads(out.read_text()).items()}
    drill = drills((name,))[name]
    tally = Tally(drill.TITLE, "", drill.PROMISE)
    tally.add(Outcome("traceback", f"its process ended with status {status}"), f"--only {name} --share {share}")
    return {"": tally}


def take_own_folder() -> None:
    """Put what this process and its children make among temporary files into one folder, removed last at the end."""
    folder = tempfile.mkdtemp(prefix="campaign-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # first of all: what drills register runs before it
    tempfile.tempdir = os.environ["TMPDIR"] = folder


def end_early(number: int, frame: FrameType | None) -> None:
    """A handler of signals: end this process and those that play, which remove what they made; no drill begins."""
    _ENDING.set()
    for process in _PLAYING:
        process.terminate()
    raise SystemExit(128 + number)


def together(tallies: Iterable[dict[str, Tally]]) -> list[Tally]:
    """Shares of the same drill and part as one, in the order of the drills."""
    whole: dict[tuple[str, str], Tally] = {}
    for each in tallies:
        for part, tally in each.items():
            known = whole.get((tally.title, part))
            whole[tally.title, part] = known.with_more(tally) if known else tally
    titles = list(dict.fromkeys(title for title, _ in whole))
    return sorted(whole.values(), key=lambda tally: (titles.index(tally.title), tally.part))


def table(tallies: Sequence[Tally]) -> str:
    """The counts as Markdown: a row for each part, and one for each drill that has parts."""
    lines = ["| drill | tried | survived | lost | tracebacks | seconds |", "|---|---|---|---|---|---|"]
    for title in dict.fromkeys(tally.title for tally in tallies):
        rows = [tally for tally in tallies if tally.title == title]
        total = reduce(Tally.with_more, rows, Tally(title, "", ""))
        lines.append(_row(f"**{title}**", total))
        lines += [_row(tally.part, tally) for tally in rows if tally.part]
    return "\n".join(lines)


def _row(name: str, tally: Tally) -> str:
    broken = f"{len(tally.lost)} | {len(tally.tracebacks)}"
    return f"| {name} | {tally.tried} | {tally.survived} | {broken} | {tally.seconds:.0f} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for and print the table; 1 if a promise broke."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="no round begins after so many (default 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=DRILLS, default=DRILLS, metavar="DRILL", help=", ".join(DRILLS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the rounds of a long run")
    parser.add_argument("--round", type=int, default=None, help="this round alone")
    parser.add_argument("--workers", type=int, default=1, help="processes at work at a time (default 1)")
    parser.add_argument("--share", default="0/1", help=argparse.SUPPRESS)  # the rounds that a worker does: which/of
    parser.add_argument("--out", type=Path, default=None, help=argparse.SUPPRESS)  # where it puts its counts
    wanted = parser.parse_args(arguments)
    os.environ["CAMPAIGN"] = "long"
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_early)
    if wanted.out is None:
        take_own_folder()
    return played(wanted)


def played(wanted: argparse.Namespace) -> int:
    """Play what is asked for; 1 if a promise broke, but 0 for a share, whose counts are in a file."""
    began, minutes = monotonic(), wanted.minutes

    def left(place: int, of: int) -> float:
        """Minutes that the work at this place of the line has: early ones leave time for late ones."""
        return max(0.0, minutes * (place + 1) / of - (monotonic() - began) / 60)

    if wanted.out is None and wanted.round is None:
        work = [(name, f"{share}/{wanted.workers}") for name in wanted.only for share in range(wanted.workers)]

        def one(place: int) -> dict[str, Tally]:
            return played_apart(*work[place], wanted.seed, wanted.scale, left(place, len(work)))

        with ThreadPoolExecutor(wanted.workers) as pool:
            try:
                tallies = together(pool.map(one, range(len(work))))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    else:
        (name,) = wanted.only
        drill, (share, of) = drills((name,))[name], map(int, wanted.share.split("/"))
        rounds = range(share, max(1, round(drill.ROUNDS * wanted.scale)), of)
        numbers = rounds if wanted.round is None else [wanted.round]
        print(f"{drill.TITLE}: {len(numbers)} rounds", flush=True)
        found = play(name, drill, wanted.seed, numbers, began + 60 * minutes)
        if wanted.out is not None:
            wanted.out.write_text(json.dumps({part: asdict(tally) for part, tally in found.items()}))
            return 0
        tallies = together([found])
    print(table(tallies))
    for tally in tallies:
        for words in (*tally.lost, *tally.tracebacks):
            print(f"- {tally.title}, {tally.part}: {words}" if tally.part else f"- {tally.title}: {words}")
    return 1 if any(tally.broken for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
