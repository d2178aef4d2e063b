"""Two machines on one workspace over a real network disk: sshfs on loopback, each with a mount of its own."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from time import sleep

import pytest

from tests.clusters.there import there
from workbench.workspace import Workspace

MACHINE = """
import sys
from pathlib import Path
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.owners import lease, lease_holder
lease_holder.machine = lambda: (sys.argv[1] * 32)[:32]
lease.BEAT, lease.WATCHED, lease.LOOK = 0.2, 2.0, 0.1
folder = Path(sys.argv[2])
for line in sys.stdin:
    try:
        match line.strip():
            case "open":
                workspace = Workspace(folder, create=True)
                said = workspace.shared_disk
            case "write":
                said = workspace.create_run(RunConfig())
            case "take over":
                said = lease.take_over(folder)
            case "check":
                with workspace.reading() as db:
                    said = db.execute("pragma integrity_check").fetchone()[0]
            case "close":
                said = workspace.close()
    except Problem as problem:
        said = problem
    print(said, flush=True)
"""


class Machine:
    """A process that takes itself for a machine of its own."""

    def __init__(self, name, mount):
        words = [sys.executable, "-c", MACHINE, name, str(mount / "space")]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, word):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.communicate()


@contextmanager
def mounted(config, remote, place):
    place.mkdir()
    done = subprocess.run(
        ["sshfs", "-F", config, f"here:{remote}", str(place)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"sshfs cannot mount here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["fusermount", "-u", "-z", str(place)], check=False)


@pytest.fixture
def mounts(tmp_path):
    """Two mounts of one folder."""
    config = there("ssh")["CONFIG"]
    if shutil.which("sshfs") is None or not os.path.exists("/dev/fuse"):
        pytest.skip("no sshfs here: it takes the package sshfs and /dev/fuse")
    remote = tmp_path / "remote"
    remote.mkdir()
    with mounted(config, remote, tmp_path / "one") as one, mounted(config, remote, tmp_path / "two") as two:
        yield one, two


def test_two_machines_never_write_one_workspace_at_a_time(mounts):
    first, second = Machine("a", mounts[0]), Machine("b", mounts[1])
    try:
        assert first.say("open") == "fuse.sshfs"
        assert first.say("write") == "1"
        assert "gave a sign of life" in second.say("open")
        assert "gave a sign of life just now" in second.say("take over")
        first.process.send_signal(signal.SIGSTOP)  # a laptop is closed
        sleep(0.5)  # what it had begun to write is there
        assert second.say("take over") == "None"
        assert second.say("open") == "fuse.sshfs"
        assert second.say("write") == "2"
        first.process.send_signal(signal.SIGCONT)
        assert "was taken over by" in first.say("write")
        assert first.say("close") == "None"
        assert second.say("write") == "3"
        second.end()  # killed: its lease stays
        third = Machine("c", mounts[0])
        try:
            assert "is open on" in third.say("open")
            assert third.say("take over") == "None"
            assert third.say("open") == "fuse.sshfs"
            assert third.say("write") == "4"
            assert third.say("check") == "ok"
        finally:
            third.end()
    finally:
        first.end()
        second.end()


IN_TURN = """
import sys
from time import monotonic
from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.owners import lease, lease_holder
lease_holder.machine = lambda: (sys.argv[1] * 32)[:32]
until, made = monotonic() + float(sys.argv[3]), 0
while monotonic() < until:
    try:
        with Workspace(sys.argv[2], create=True) as workspace:
            for _ in range(3):
                workspace.create_run(RunConfig(name=f"{sys.argv[1]} {made}"))
                made += 1
    except lease_holder.Leased:
        pass
print(made)
"""


@pytest.mark.slow
def test_two_machines_that_open_it_in_turn_lose_nothing_and_see_no_damage(mounts):
    words = [[sys.executable, "-c", IN_TURN, name, str(mount), "20"] for name, mount in zip("ab", mounts, strict=True)]
    machines = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in words]
    made = [int(machine.communicate()[0]) for machine in machines]
    assert min(made) > 0
    with Workspace(mounts[0]) as workspace:
        assert len({run.name for run in workspace.runs()}) == sum(made)
        with workspace.reading() as db:
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)
