"""A seeded slice of the campaign with every change: about a minute on a quiet core. The long run is run.py."""

import os
import re
import signal
import subprocess
import sys
from time import monotonic, sleep

import pytest

from tests.campaign import sandbox, short_run
from tests.campaign.outcome import Outcome, Tally
from tests.campaign.program import ROOT
from tests.campaign.run import DRILLS, attempt, drills, table, together
from tests.waits import HANG

LONG = ("bombs", "endurance", "monkey", "moved", "places", "sandbox", "writes")  # drills of six seconds and more
pytestmark = pytest.mark.skipif(os.name != "posix", reason="drills fork, kill and limit processes as POSIX has it")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LONG else ())
        for name, drill in drills().items()
        if drill.SLICE
    ],
)
def test_no_promise_breaks(name):
    drill = drills((name,))[name]
    outcomes = [outcome for number in range(drill.SLICE) for outcome in attempt(drill, name, 0, number)]
    assert outcomes, "the drill tried nothing"
    assert [outcome for outcome in outcomes if outcome.kind != "survived"] == []


def test_the_promises_name_every_drill_and_tests_that_are_there():
    told = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    assert [name for name in DRILLS if f"`{name}`" not in told] == []
    paths = re.findall(r"`(tests/[\w/]+\.py)`", told)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_table_adds_up_what_two_workers_found():
    shares = []
    for kind in ("survived", "lost"):
        tally = Tally("kill -9", "run", "")
        tally.add(Outcome(kind, "epoch 3", "run"), "--round 1", 2.0)
        shares.append({"run": tally})
    (row,) = together(shares)
    assert row.broken
    assert table([row]).splitlines()[2:] == ["| **kill -9** | 2 | 1 | 1 | 0 | 4 |", "| run | 2 | 1 | 1 | 0 | 4 |"]


def test_a_run_is_compared_with_a_copy_of_itself():
    assert short_run.whole() is short_run.whole("ce", epochs=6)


def start_campaign(folder, *words):
    """The long run as a person starts it, with a folder of its own for temporary files."""
    command = [sys.executable, str(ROOT / "tests" / "campaign" / "run.py"), *words]
    return subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_run_that_ends_leaves_no_folder(tmp_path):
    assert start_campaign(tmp_path, "--only", "flips", "--scale", "0.005").wait(HANG) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_run_that_is_ended_early_leaves_no_folder(tmp_path):
    campaign, since = start_campaign(tmp_path, "--only", "flips", "owners"), monotonic()
    while not list(tmp_path.rglob("campaign-flips-*")):
        assert campaign.poll() is None
        assert monotonic() - since < HANG
        sleep(0.01)
    campaign.send_signal(signal.SIGTERM)
    assert campaign.wait(HANG) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('openat(AT_FDCWD</cwd>, "/own/new", O_WRONLY|O_CREAT, 0666) = 3', ""),
        ('openat(AT_FDCWD</cwd>, "/other/read", O_RDONLY) = 3', ""),
        ('openat(AT_FDCWD</cwd>, "/other/new", O_WRONLY|O_CREAT, 0666) = 3', "openat /other/new"),
        ('unlinkat(5</other>, "file", 0) = 0', "unlinkat /other/file"),
        ('unlink("/other/file") = -1 ENOENT (No such file)', ""),
        ('rename("/own/a", "/other/a") = 0', "rename /other/a"),
        ('1234 rename("/own/a", "/own/b") = 0', ""),
        ("socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 4", ""),
        ("socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 3", "socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 3"),
    ],
)
def test_a_call_that_leaves_the_own_folders_is_seen(line, found):
    assert sandbox.breach(line, (sandbox.Path("/own"),)) == found
