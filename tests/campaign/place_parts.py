"""What the drill of places plays with: a recorded run, a machine behind a real sshd, and other people's laptops."""

import atexit
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.campaign import short_run
from tests.campaign.program import ROOT, Home
from tests.travelling_runs import rows
from workbench.config import RunConfig
from workbench.exchange.own_loop import record_run
from workbench.places.following import Following
from workbench.places.place import SshPlace
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest

PATIENCE = 240.0  # seconds
LOOK = 0.1  # seconds between two looks
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"  # of the package libfaketime
# What a place's Python does with `-m workbench run CONFIG --folder DIR --resume`: a recorded run, written in pieces
# and taken up where it was left. It holds the folder's lock as the program does, and notes what would be a fault.
REPLAY = """#!/bin/sh
[ "$1" = -m ] || exec {python} "$@"
for word; do [ "$last" = --folder ] && folder=$word; last=$word; done
full() {{ echo "There is no space left to write $folder." >&2; exit 1; }}
exec 9>"$folder/.lock" || full
flock -n 9 || {{ echo "Another process is working on the run in $folder." >&2; exit 1; }}
echo begun >>"{traces}/${{folder##*/}}"
trap 'exit 143' TERM INT
cd -- "$folder" || exit 1
for f in {recorded}/dataset.json {recorded}/*.npy {recorded}/*.npz {recorded}/*.pt; do
  b=${{f##*/}}
  [ -e "$b" ] || {{ cp "$f" ".$b.part" && mv ".$b.part" "$b"; }} || full
done
n=$(cat journal.jsonl 2>/dev/null | wc -c)
while [ "$n" -lt {total} ]; do
  tail -c +$((n + 1)) {recorded}/journal.jsonl | head -c {step} >>journal.jsonl || full
  n=$(cat journal.jsonl | wc -c)
  sleep {pause}
  while [ "$n" -ge {half} ] && [ -e "{traces}/held" ]; do sleep 0.1; done
done
echo ended >>"{traces}/${{folder##*/}}"
"""


# For PYTHONPATH: the clock of a whole Python is off by the seconds in a file. libfaketime breaks the waits of threads.
WRONG_CLOCK = """
import datetime, os, time
true_time, true_moment = time.time, datetime.datetime
def off():
    with open(os.environ["CLOCK_OFF"]) as file:
        return float(file.read() or 0)
class Kind(type):
    def __instancecheck__(cls, value):
        return isinstance(value, true_moment)
class Moment(true_moment, metaclass=Kind):
    @classmethod
    def now(cls, tz=None):
        return true_moment.now(tz) + datetime.timedelta(seconds=off())
time.time = lambda: true_time() + off()
datetime.datetime = Moment
"""


@dataclass(frozen=True)
class Recorded:
    """A real tiny run of Digits in a folder, and all that a workspace says of it."""

    folder: Path
    config: RunConfig
    rows: dict[str, list[str]]


@cache
def recorded() -> Recorded:
    """The run, once per process."""
    base = Path(tempfile.mkdtemp(prefix="campaign-recorded-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    config = short_run.write_config(base, epochs=2)
    ended = Home(base / "home").run("run", config, "--folder", base / "run", "--quiet")
    assert ended.status == 0, ended.said
    with Workspace(base / "space", create=True) as workspace:
        ingest(workspace, base / "run")
        return Recorded(base / "run", RunConfig.from_toml(config), came_home(workspace))


@cache
def recorded_by_a_loop() -> Path:
    """The run folder of a training loop of the user's own, once per process."""
    base = Path(tempfile.mkdtemp(prefix="campaign-own-loop-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    rng, labels = np.random.default_rng(0), np.arange(24) % 4
    pixels = rng.integers(0, 256, (24, 8, 8), dtype=np.uint8)
    settings = {"loss": {"name": "mine", "own": {"field": [1, "a"]}}, "evaluation": {"distance": "hyperbolic"}}
    with record_run(base / "run", "Mine", labels, epochs=2, images=pixels, settings=settings) as run:
        for epoch in (1, 2):
            run.scalars(10 * epoch, {"batch/loss": 1 / epoch, "own/curve": float(epoch)})
            run.evaluate(epoch, np.eye(4)[labels] / 2 + rng.normal(size=(24, 4)) / 20)
    return base / "run"


def came_home(workspace: Workspace) -> dict[str, list[str]]:
    """The rows of a workspace, without checkpoints, which come only when they are asked for."""
    whole = rows(workspace)
    whole["artefacts"] = [row for row in whole["artefacts"] if "checkpoint" not in row]
    return whole


def unlike(found: dict[str, list[str]], copies: int = 1) -> list[str]:
    """The tables in which a workspace differs from one that has the recorded run so many times."""
    broken = []
    for table, rows_there in recorded().rows.items():
        of_runs = table not in ("datasets", "samples")
        if sorted(found[table]) != sorted(rows_there * (copies if of_runs else 1)):
            broken.append(f"{table} of the run that came home differ: {len(found[table])} for {len(rows_there)} rows")
    return broken


class Wire:
    """The connection to the machine: passes bytes on, ends after so many, or refuses.

    Attributes:
        left: bytes until all connections are cut, once; None for no end.
        gone: whether nobody answers.
    """

    def __init__(self, port: int) -> None:
        self.left: int | None = None
        self.gone = False
        self.cuts = 0
        self._target, self._ends = port, list[socket.socket]()
        self._lock, self._door = threading.Lock(), socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections at once, without a farewell."""
        with self._lock:
            ends, self._ends, self.left = self._ends, [], None
            self.cuts += 1
        for end in ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """Cut, and let nobody in."""
        self.gone = True
        with contextlib.suppress(OSError):  # wakes the thread that waits there
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
                if self.gone:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            with self._lock:
                self._ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := source.recv(1 << 16):
                with self._lock:
                    cut = self.left is not None and len(block) > self.left
                    block = block[: self.left] if cut else block
                    self.left = None if self.left is None or cut else self.left - len(block)
                target.sendall(block)
                if cut:
                    self.cut()
            target.shutdown(socket.SHUT_WR)


@cache
def sshd() -> dict[str, str]:
    """The sshd of tests/clusters/setup: the one that is started, else one of this process's own."""
    base = Path(os.environ.get("WORKBENCH_CLUSTERS") or ROOT / ".clusters")
    if not (base / "ssh.env").exists():
        base = Path(tempfile.mkdtemp(prefix="campaign-sshd-"))
        atexit.register(shutil.rmtree, base, ignore_errors=True)
        setup = [str(ROOT / "tests" / "clusters" / "setup"), "ssh"]
        env = {**os.environ, "WORKBENCH_CLUSTERS": str(base)}
        subprocess.run([*setup, "start"], env=env, check=True, capture_output=True)
        atexit.register(subprocess.run, [*setup, "stop"], env=env, check=False, capture_output=True)
    return dict(line.split("=", 1) for line in (base / "ssh.env").read_text().splitlines())


@dataclass
class Machine:
    """A machine with a place on it."""

    place: SshPlace
    wire: Wire
    traces: Path

    def trace(self, uid: str) -> list[str]:
        """What the runs of that folder noted."""
        path = self.traces / uid
        return path.read_text().split() if path.exists() else []

    def hold(self) -> None:
        """Runs there stop half-way from now on, and go on when they are let go."""
        (self.traces / "held").touch()

    def let_go(self) -> None:
        """They go on."""
        (self.traces / "held").unlink(missing_ok=True)

    def set_python(self, text: str) -> None:
        """Give the place another Python."""
        Path(self.place.python).write_text(text)

    def replay(self, step: int, pause: float) -> None:
        """Its Python plays the recorded run, `step` bytes of the journal every `pause` seconds."""
        folder = recorded().folder
        total = (folder / "journal.jsonl").stat().st_size
        facts: dict[str, object] = {"python": sys.executable, "traces": self.traces, "recorded": folder, "total": total}
        facts["half"] = total // 2
        self.set_python(REPLAY.format(**facts, step=step, pause=pause))


@contextlib.contextmanager
def machine(folder: Path, there: Path | None = None, step: int = 1500, pause: float = 0.05) -> Iterator[Machine]:
    """A machine behind sshd, reached over a wire that can be cut; `there` is the place's folder."""
    config = Path(sshd()["CONFIG"])
    port = next(int(line.split()[1]) for line in config.read_text().splitlines() if line.split()[0] == "Port")
    wire = Wire(port)
    (folder / "traces").mkdir()
    key = (config.parent / "known").read_text().split(" ", 1)[1]
    (folder / "known").write_text(f"[127.0.0.1]:{wire.port} {key}")
    text = config.read_text().replace(f"Port {port}", f"Port {wire.port}")
    (folder / "ssh_config").write_text(text.replace(str(config.parent / "known"), str(folder / "known")))
    program = folder / "python"
    program.touch()
    program.chmod(0o755)
    place = SshPlace(
        name="box", host="here", ssh_config=str(folder / "ssh_config"), python=str(program),
        folder=str(there or folder / "there"),
    )  # fmt: skip
    made = Machine(place, wire, folder / "traces")
    made.replay(step, pause)
    try:
        yield made
    finally:
        wire.close()
        made.let_go()


def until_ended(following: Following, within: float = PATIENCE) -> list[str]:
    """Look until nothing more is to come; what is broken where that does not happen."""
    end, told = time.monotonic() + within, set[str]()
    while (looked := following.look()).left:
        told |= {*looked.problems}
        if time.monotonic() > end:
            return [f"it never ended: {looked}", *told]
        time.sleep(LOOK)
    return sorted(told | {*looked.problems})


class Laptop:
    """Another process that sends and follows runs, with a workspace and a clock of its own; see laptop.py.

    Args:
        folder: for what it prints. space: its workspace. place: its one place.
        clock: a file that says by how much its clock is off, "+7d" or "-3h".
        name: of the machine, where it is one of two on one workspace.
        surroundings: more environment variables. first_on_path: a folder of modules that come before all others.
    """

    def __init__(
        self, folder: Path, space: Path, place: SshPlace, clock: Path | None = None, name: str = "",
        surroundings: Mapping[str, str] = MappingProxyType({}), first_on_path: Path | None = None,
    ) -> None:  # fmt: skip
        self.log = folder / f"laptop-{time.monotonic_ns()}.txt"
        modules = os.pathsep.join(str(path) for path in (first_on_path, ROOT) if path)
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": modules, **faked(clock), **surroundings}
        words = [sys.executable, "-m", "tests.campaign.laptop", str(space), place.model_dump_json(), name]
        with self.log.open("wb") as errors:
            self._process = subprocess.Popen(
                words, env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def tell(self, what: str, **facts: Any) -> None:
        """Ask for something; `hear` has the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"what": what, **facts}) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The answer; {"problem": sentence} where it was refused."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"problem": self.log.read_text()[-300:], "ended": True}
        return answer

    def ask(self, what: str, **facts: Any) -> dict[str, Any]:
        """`tell` and `hear`."""
        self.tell(what, **facts)
        return self.hear()

    @property
    def said(self) -> str:
        """The end of what it printed beside its answers."""
        return " / ".join(self.log.read_text("utf-8", "replace").strip().splitlines()[-8:])[-700:]

    @property
    def traceback(self) -> bool:
        """Whether a person would have seen one."""
        return "Traceback" in self.log.read_text("utf-8", "replace")

    def close(self) -> None:
        """End it as a person does."""
        with contextlib.suppress(OSError, ValueError):
            self._process.communicate(timeout=PATIENCE)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.communicate()


def faked(clock: Path | None) -> dict[str, str]:
    """Variables that put a program's clock off by what a file says, again and again; its monotonic clock is right."""
    if clock is None:
        return {}
    return {
        "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
