"""Fetches a thousand ended runs from behind a real sshd: seconds, requests, bytes and processor time.

    tests/clusters/setup ssh start
    python -m tests.benchmarks.thousand_home [--runs 1000] [--most 600]

The runs are copies of one tiny run of 120 small images, which is trained first. The place is followed as
`workbench place follow` does it, without its pause between two requests. Every journal is compared with that
of the place.
"""

import argparse
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
from PIL import Image

from tests.campaign.place_parts import sshd
from tests.campaign.program import Home
from workbench.config import RunConfig
from workbench.places import sending
from workbench.places.contract import Answer, Host
from workbench.places.following import Following
from workbench.places.host.hosts import OpenSshHost
from workbench.places.kinds.processes import Processes
from workbench.places.place import SshPlace
from workbench.workspace import Workspace
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements

FIRST = ("config.toml", "run.json")
CONFIG = """
name = "tiny"
device = "cpu"
[dataset]
name = "folder"
folder = "FOLDER"
image_size = 16
[backbone]
name = "conv4"
width = 4
[embedding]
dim = 8
[training]
epochs = 1
batch_size = 30
[evaluation]
probe_size = 16
probe_every = 100
"""


class CountingHost:
    """A host that counts requests and bytes of the connection."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.calls = Counter[str]()
        self.received = self.sent = 0

    def call(self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20) -> Answer:
        answer = self._host.call(words, stdin, seconds=seconds, most=most)
        self.calls["states" if "alive" in "".join(words) else "files"] += 1
        self.received += len(answer.out)
        self.sent += len(stdin) + sum(map(len, words))
        return answer


def main() -> None:
    """Send the runs, fetch them, compare, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=1000)
    options.add_argument("--most", type=float, default=600.0, help="seconds after which it is given up")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="thousand-") as base:
        folder = Path(base)
        place = SshPlace(name="box", host="here", ssh_config=sshd()["CONFIG"], folder=f"{base}/there")
        host = CountingHost(OpenSshHost(place.host, Path(place.ssh_config)))
        with Workspace(folder / "space", create=True) as workspace:
            there = _ended_there(workspace, place, chosen.runs, _trained(folder))
            _bring_home(workspace, place, host, chosen.most, there)


def _trained(base: Path) -> Path:
    """The folder of one tiny run that is done."""
    rng = np.random.default_rng(0)
    for at in range(120):
        path = base / "images" / str(at % 10) / f"{at}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (16, 16), np.uint8)).save(path)
    config = base / "tiny.toml"
    config.write_text(CONFIG.replace("FOLDER", str(base / "images")))
    ended = Home(base / "home").run("run", config, "--folder", base / "ran", "--quiet")
    assert ended.status == 0, ended.said
    return base / "ran"


def _ended_there(workspace: Workspace, place: SshPlace, runs: int, ran: Path) -> list[Placement]:
    """Folders of runs that have ended, and the rows of who has sent them."""
    began, config = perf_counter(), RunConfig.recorded((ran / "config.toml").read_text())
    place = place.model_copy(update={"data": {"/": "/"}})
    travelled = [path for path in ran.iterdir() if path.name not in FIRST]
    placed: list[Placement] = []
    for _ in range(runs):
        (run_id,) = sending.prepare(workspace, config, place)
        placement = workspace.run(run_id).placement
        assert placement is not None
        there = Path(place.folder) / placement.uid
        there.mkdir(parents=True)
        for path in travelled:
            shutil.copyfile(path, there / path.name)
        (there / "exit").write_text("0\n")
        placed.append(Placement(run_id, placement.uid, place.name, placement.uid))
        with workspace.writing() as db:
            placements.store(db, placed[-1])
            placements.wait(db, run_id)
    size = sum(path.stat().st_size for path in travelled if path.suffix != ".pt")
    print(
        f"{runs} runs of {len(travelled)} files, {size:,} bytes without checkpoints, in {perf_counter() - began:.0f} s"
    )
    return placed


def _bring_home(
    workspace: Workspace, place: SshPlace, host: CountingHost, most: float, placed: list[Placement]
) -> None:
    """Follow until nothing more is to be fetched."""
    following = Following(workspace, place, Processes(host, place))
    server = [process for process in psutil.process_iter(["name"]) if process.info["name"] == "sshd"]
    began, worked, served, looks, first = perf_counter(), _processor(), _of_server(server), 0, 0.0
    while (looked := following.look()).left and perf_counter() - began < most:
        looks += 1
        first = first or perf_counter() - began
        if looks % 10 == 1:
            print(f"  {looked.left} left after {perf_counter() - began:.1f} s {looked.silent} {looked.problems}")
    seconds, worked = perf_counter() - began, _processor() - worked
    whole = sum(
        (workspace.folder(placement.run_id) / "journal.jsonl").exists()
        and (workspace.folder(placement.run_id) / "journal.jsonl").read_bytes()
        == (Path(place.folder) / placement.uid / "journal.jsonl").read_bytes()
        and workspace.run(placement.run_id).status == "done"
        and len(workspace.evaluations(placement.run_id)) > 0
        for placement in placed
    )
    calls = host.calls.total()
    print(
        f"{whole} of {len(placed)} whole at home in {seconds:.1f} s (first look {first:.1f} s), {looks + 1} looks, "
        f"{calls} requests ({calls / len(placed):.2f} a run: {dict(host.calls)}), "
        f"{host.received / len(placed):,.0f} bytes received and {host.sent / len(placed):,.0f} sent a run, "
        f"{worked:.1f} s of processor time here ({1000 * worked / len(placed):.1f} ms a run), "
        f"{_of_server(psutil.process_iter(['name'])) - served:.1f} s there; load {os.getloadavg()[0]:.1f}"
    )


def _processor() -> float:
    """Seconds of processor time of this process and those that it waited for."""
    return sum(os.times()[:4])


def _of_server(processes: Sequence[psutil.Process]) -> float:
    """Seconds of processor time of the sshd of this machine, and of what they have started and waited for."""
    seconds = 0.0
    for process in processes:
        try:
            if process.name() == "sshd":
                seconds += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue
    return seconds


if __name__ == "__main__":
    main()
