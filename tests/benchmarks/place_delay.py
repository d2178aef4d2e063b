"""The age of a point when it reaches the workspace: a process at a place writes the time as the value of each point.

    python tests/benchmarks/place_delay.py --host HOST --config SSH_CONFIG --folder FOLDER --seconds 60

HOST is this machine behind an sshd (tests/clusters/setup ssh start): both clocks are one. The place is followed as the
window does it, once a second. Prints seconds, and the processor time on this side.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, sleep, time

from workbench.config import RunConfig
from workbench.places import sending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.places.place import SshPlace
from workbench.ui.state.runs.place_follower import IN_VIEW
from workbench.workspace import Workspace
from workbench.workspace.tables import placements

WRITER = """
import sys, time, json
with open(sys.argv[1] + "/journal.jsonl", "ab", buffering=0) as file:
    file.write(b'{"run": {"status": "running"}}\\n')
    for step in range(1, 10 * int(sys.argv[2])):
        file.write(json.dumps({"scalars": [["batch/loss", step, time.time()]]}).encode() + b"\\n")
        time.sleep(0.1)
"""


def main() -> None:
    """Follow the writer and print."""
    options = argparse.ArgumentParser()
    options.add_argument("--host", required=True)
    options.add_argument("--config", default="")
    options.add_argument("--folder", required=True)
    options.add_argument("--seconds", type=int, default=60)
    chosen = options.parse_args()
    place = SshPlace(name="box", host=chosen.host, ssh_config=chosen.config, folder=chosen.folder)
    launcher = launcher_of(place)
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder) / "space", create=True) as workspace:
        (run_id,) = sending.prepare(workspace, RunConfig(name="Delay"), place)
        uid = workspace.run(run_id).placement.uid
        there = Path(chosen.folder) / uid
        there.mkdir(parents=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(there), str(chosen.seconds)])
        (there / "pid").write_text(str(writer.pid))
        with workspace.writing() as db:
            placements.store(db, placements.Placement(run_id, uid, "box", uid))
        follow(Following(workspace, place, launcher), workspace, run_id, writer)
        writer.wait()


def follow(following: Following, workspace: Workspace, run_id: int, writer: "subprocess.Popen[bytes]") -> None:
    """Follow until the writer has ended."""
    delays: list[float] = []
    looks, before, began = 0, os.times(), monotonic()
    while writer.poll() is None:
        following.look(run_id)
        looks += 1
        if "batch/loss" in workspace.scalar_names(run_id):
            values = workspace.scalars(run_id, "batch/loss")[1]
            delays += [time() - value for value in values[len(delays) :]]
        sleep(IN_VIEW / 1000)
    cost = sum(os.times()[:4]) - sum(before[:4])
    rest = f"{looks} looks in {monotonic() - began:.0f} s, {cost / looks * 1000:.0f} ms of processor time a look"
    print(f"{len(delays)} points: median {median(delays):.2f} s, p95 {quantiles(delays, n=20)[-1]:.2f} s, longest")
    print(f"{max(delays):.2f} s; {rest}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
