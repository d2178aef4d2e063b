"""The campaign: damage, kills, full disks, hostile and fuzzed input against the real program, with counts.

    python tests/campaign/run.py [--minutes N] [--seed S] [--only DRILL ...] [--scale X]

Ends with status 1 if a promise broke. Each failure names its drill, seed and round; `--only` and `--round` repeat it.
"""

import argparse
import importlib
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the checkout

from tests.campaign.outcome import Drill, Outcome, Tally

# One module of this folder each; the order of the table.
DRILLS: tuple[str, ...] = (
    "flips",
    "hostile",
)


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


def play(name: str, drill: Drill, seed: int, numbers: Sequence[int], until: float) -> Tally:
    """The rounds of one drill, until the time is over."""
    tally, started = Tally(drill.TITLE, drill.PROMISE), monotonic()
    for number in numbers:
        if monotonic() > until:
            break
        for outcome in attempt(drill, name, seed, number):
            tally.add(outcome, f"--only {name} --seed {seed} --round {number}")
            if outcome.kind != "survived":
                print(f"  {name}, round {number}: {outcome.kind}: {outcome.words}", flush=True)
    tally.seconds = monotonic() - started
    return tally


def table(tallies: Sequence[Tally]) -> str:
    """The counts as Markdown."""
    rows = [
        f"| {tally.title} | {tally.tried} | {tally.survived} | {len(tally.lost)} | {len(tally.tracebacks)} "
        f"| {tally.seconds:.0f} |"
        for tally in tallies
    ]
    head = "| drill | tried | survived | lost | tracebacks | seconds |\n|---|---|---|---|---|---|"
    return "\n".join([head, *rows])


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for and print the table; 1 if a promise broke."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="no round begins after so many (default 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=DRILLS, default=DRILLS, metavar="DRILL", help=", ".join(DRILLS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the rounds of a long run")
    parser.add_argument("--round", type=int, default=None, help="this round alone")
    wanted = parser.parse_args(arguments)
    until, tallies = monotonic() + 60 * wanted.minutes, []
    for name, drill in drills(wanted.only).items():
        rounds = max(1, round(drill.ROUNDS * wanted.scale))
        numbers = range(rounds) if wanted.round is None else [wanted.round]
        print(f"{drill.TITLE}: {len(numbers)} rounds", flush=True)
        tallies.append(play(name, drill, wanted.seed, numbers, until))
    print(table(tallies))
    return 1 if any(tally.broken for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
