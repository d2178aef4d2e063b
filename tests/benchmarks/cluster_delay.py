"""Digits at an sshd, a Slurm or a Ray here: seconds to the first point, delay of points, bytes that were fetched.

    tests/clusters/setup slurm start
    python -m tests.benchmarks.cluster_delay slurm [--seconds 30]

The place is looked at once a second, as the window does with the run that it shows. A point's delay is from the moment
in which its line stands in the journal at the place to that in which the workspace has it.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter, sleep

from tests.clusters.there import there
from tests.clusters.training import digits, python, steps
from workbench.jobs import start_daemon
from workbench.places import records, sending, working
from workbench.places.contract import Ending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.workspace import Workspace

LOOK = 1.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["ssh", "slurm", "ray"])
    parser.add_argument("--seconds", type=float, default=30.0)
    args = parser.parse_args()
    values = there(args.kind)
    if args.kind == "slurm":
        os.environ["SLURM_CONF"] = values["SLURM_CONF"]
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        os.environ["WORKBENCH_PLACES"] = str(base / "places")
        own = {"kind": args.kind, "name": "there", "folder": str(base / "runs"), "python": python(base)}
        if args.kind == "ray":
            own["url"] = values["URL"]
        elif args.kind == "ssh":
            own |= {"host": values["HOST"], "ssh_config": values["CONFIG"]}
        records.store(records.made(own))
        with Workspace(base / "space", create=True) as workspace:
            measure(workspace, base / "runs", args.seconds)


def measure(workspace: Workspace, folder: Path, seconds: float) -> None:
    """Send a run, follow it for so long, end it; prints the figures."""
    place = records.named("there")
    launcher = launcher_of(place)
    following = Following(workspace, place, launcher)
    began = perf_counter()
    (run_id,) = sending.prepare(workspace, digits(), place)
    sending.submit(workspace, [run_id], place, launcher)
    sent = perf_counter() - began
    uid = workspace.run(run_id).placement.uid  # type: ignore[union-attr]
    written: dict[int, float] = {}
    start_daemon("watch", lambda: watch(folder / uid / "journal.jsonl", written))
    received, first, delays = 0, 0.0, []
    last = -1
    while not first or perf_counter() - began - first < seconds:
        looked = perf_counter()
        received += following.look().received
        now, newest = perf_counter(), steps(workspace, run_id)
        if newest >= 0 and not first:
            first = now - began
        delays += [now - written[step] for step in range(last + 1, newest + 1) if step in written]
        last = newest
        sleep(max(0.0, LOOK - (perf_counter() - looked)))
    working.end(workspace, run_id, Ending.AT_ONCE)
    delays.sort()
    print(
        f"sent in {sent:.1f} s, the first point {first:.1f} s after the order; {last + 1:,} steps, {received:,} bytes"
    )
    print(f"delay of a point: median {delays[len(delays) // 2]:.2f} s, longest {delays[-1]:.2f} s")
    print("load", os.getloadavg())
    while workspace.run(run_id).placement.open:  # type: ignore[union-attr]
        following.look()
        sleep(LOOK)


def watch(path: Path, written: dict[int, float]) -> None:
    """Record when each step is in the journal."""
    offset = 0
    while True:
        sleep(0.02)
        if not path.exists():
            continue
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        offset += len(whole)
        now = perf_counter()
        for line in whole.splitlines():
            for name, step, _ in json.loads(line).get("scalars", ()):
                if name == "batch/loss":
                    written.setdefault(step, now)


if __name__ == "__main__":
    main()
