"""Faults of a real Slurm: jobs cancelled behind our back, nodes and the controller down, answers lost, words of anyone.

    tests/clusters/setup slurm start
    python -m tests.campaign.clusters [--rounds 10] [--seed 0] [--only FAULT ...]

A run is a small shell program that notes when it begins, is asked to save, and goes on. After each fault the launcher
must say what happened, no run may have worked twice at a time, and none that was asked to save may have been killed.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.clusters.there import there
from workbench.places.contract import Ending, JobState, Order, Standing, Unreachable
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.slurm import Slurm
from workbench.places.kinds.slurm_states import from_sacct, from_scontrol
from workbench.places.place import SlurmPlace

PATIENCE = 150.0  # seconds
RUN = """#!/bin/sh
for word; do [ "$last" = --folder ] && folder=$word; last=$word; done
trap 'echo saved >>"$folder/trace"; exit 130' TERM
[ -e "$folder/works" ] && kill -0 "$(cat "$folder/works")" 2>/dev/null && echo twice >>"$folder/trace"
echo $$ >"$folder/works"; echo begun >>"$folder/trace"
while :; do [ -e "$folder/after-epoch" ] && { echo epoch >>"$folder/trace"; exit 0; }; sleep 0.1; done
"""
WORDS = [
    "JobState=RUNNING", "JobState=NO", "ArrayJobId=7", "ArrayTaskId=0-9", "ArrayTaskId=5-0%", "ExitCode=1:0", "|", "\n",
    "\0", "\u202e", "999999999", "7_[0-9]|FAILED|1:0|00:00:01", "[]", ":",
]  # fmt: skip


class Drill:
    """One place, and the runs that were sent there."""

    def __init__(self, base: Path, number: int) -> None:
        self.base = base
        program = base / "python"
        program.write_text(RUN)
        program.chmod(0o755)
        self.slurm = Slurm(LocalHost(), SlurmPlace(name="cl", folder=str(base / "runs"), python=str(program)))
        self.name = f"run{number}"
        self.order = Order(self.name, {"run.json": b"x"})
        (self.job,) = self.slurm.submit([self.order])
        self.task = self.job.partition(":")[0]

    def trace(self) -> list[str]:
        path = self.base / "runs" / self.name / "trace"
        return path.read_text().split() if path.exists() else []

    def state(self) -> Standing:
        return self.slurm.states([self.job])[0]

    def wait(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < end, (self.state(), self.trace())
            time.sleep(0.2)

    def works(self, times: int = 1) -> None:
        self.wait(lambda: self.trace().count("begun") == times and self.state().state is JobState.RUNNING)


def system(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def cancelled_outside(drill: Drill) -> None:
    drill.works()
    system("scancel", drill.task)
    drill.wait(lambda: drill.state().state is JobState.INTERRUPTED)
    assert "saved" in drill.trace()
    assert drill.state().words == "cancelled in Slurm"


def requeued_before_the_limit(drill: Drill) -> None:
    drill.works()
    system("scancel", "--batch", "--signal=USR1", drill.task)
    drill.works(2)
    assert drill.trace() == ["begun", "saved", "begun"]


def node_goes_down(drill: Drill) -> None:
    drill.works()
    node = re.search(r"BatchHost=(\S+)", system("scontrol", "show", "job", drill.task))[1]  # type: ignore[index]
    system("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=drill")
    try:
        drill.works(2)
    finally:
        words = ["scontrol", "update", f"NodeName={node}", "State=RESUME"]
        subprocess.run(words, check=False, capture_output=True)  # it may have come back by itself


def controller_restarts(drill: Drill) -> None:
    drill.works()
    folder = Path(os.environ["SLURM_CONF"]).parent
    os.kill(int((folder / "slurmctld.pid").read_text()), 15)
    silent = 0
    for _ in range(5):
        try:
            drill.state()
        except Unreachable:
            silent += 1
    time.sleep(1.0)
    system("slurmctld", "-f", os.environ["SLURM_CONF"])
    drill.wait(lambda: not silent or _answers(drill))
    drill.works()


def _answers(drill: Drill) -> bool:
    try:
        return drill.state().state is JobState.RUNNING
    except Unreachable:
        return False


def answer_lost(drill: Drill) -> None:
    assert drill.slurm.submit([drill.order]) == [drill.job]
    drill.works()
    assert drill.slurm.submit([drill.order]) == [drill.job]


def cancelled_in_line(drill: Drill) -> None:
    system("scontrol", "hold", drill.task)
    if drill.state().state is JobState.QUEUED and not drill.trace():
        drill.slurm.stop(drill.job, Ending.AT_ONCE)
        drill.wait(lambda: drill.state().state is JobState.CANCELLED)
    else:
        cancelled_outside(drill)


def ended_after_an_epoch(drill: Drill) -> None:
    drill.works()
    drill.slurm.stop(drill.job, Ending.AFTER_EPOCH)
    drill.wait(lambda: drill.state().state is JobState.FINISHED)
    assert drill.trace() == ["begun", "epoch"]


def saved_and_sent_again(drill: Drill) -> None:
    drill.works()
    drill.slurm.stop(drill.job, Ending.SAVED)
    drill.wait(lambda: drill.state().state is JobState.INTERRUPTED)
    (drill.job,) = drill.slurm.submit([drill.order])
    drill.task = drill.job.partition(":")[0]
    drill.works(2)
    assert drill.trace() == ["begun", "saved", "begun"]


DRILLS = (
    cancelled_outside, requeued_before_the_limit, node_goes_down, controller_restarts, answer_lost, cancelled_in_line,
    ended_after_an_epoch, saved_and_sent_again,
)  # fmt: skip


def hostile_words(seed: int, rounds: int) -> int:
    """Draw texts as scontrol and sacct would print them; how many gave a state of none of ours, or a traceback."""
    draw = random.Random(seed)
    wrong = 0
    for _ in range(rounds):
        text = " ".join(draw.choice(WORDS) for _ in range(draw.randrange(60)))
        try:
            standings = [*from_scontrol(text).values(), *from_sacct(text.replace(" ", "|")).values()]
            wrong += not all(isinstance(standing.state, JobState) for standing in standings)
        except Exception:  # noqa: BLE001 - whatever it is, it is counted
            wrong += 1
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    names = [fault.__name__ for fault in DRILLS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="FAULT", help=", ".join(names))
    args = parser.parse_args()
    os.environ["SLURM_CONF"] = there("slurm")["SLURM_CONF"]
    tried, lost, number = Counter[str](), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for fault in (fault for fault in DRILLS if fault.__name__ in args.only):
                number += 1
                drill = Drill(Path(folder), number)
                tried[fault.__name__] += 1
                try:
                    fault(drill)
                    assert "twice" not in drill.trace()
                    print(fault.__name__, "survived", file=sys.stderr, flush=True)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
                    lost[fault.__name__] += 1
                    print(fault.__name__, repr(error)[:300], drill.trace(), file=sys.stderr, flush=True)
                subprocess.run(["scancel", "--signal=KILL", "--full", drill.task], check=False, capture_output=True)
                subprocess.run(["scancel", drill.task], check=False, capture_output=True)
        time.sleep(2.0)
    for name, count in tried.items():
        print(f"| {name.replace('_', ' ')} | {count} | {count - lost[name]} | {lost[name]} |")
    print(f"| hostile words | 20000 | {20_000 - (wrong := hostile_words(args.seed, 20_000))} | {wrong} |")
    return bool(lost or wrong)


if __name__ == "__main__":
    sys.exit(main())
