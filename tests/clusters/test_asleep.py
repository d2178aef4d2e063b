"""A laptop asleep while its run goes on: its processes stop, its connections end, its clock jumps; then it wakes."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.campaign.place_parts import WRONG_CLOCK, Laptop, Machine, machine, recorded
from tests.campaign.placed_run import at_home
from tests.clusters.there import there
from tests.clusters.training import until
from workbench.places import records, sending
from workbench.places.launching import launcher_of
from workbench.places.place import SshPlace
from workbench.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
ASLEEP = float(os.environ.get("WORKBENCH_ASLEEP", "60"))  # seconds; the run ends meanwhile
NIGHT = 3600 * float(os.environ.get("WORKBENCH_HOURS", "9"))  # seconds by which the clock jumps

pytestmark = pytest.mark.slow


def processes_of(follower: int, port: int) -> list[psutil.Process]:
    """Who follows, and the shared connections that it has left behind: all that stands still in a laptop asleep."""
    ends = {end.pid for end in psutil.net_connections("tcp") if end.raddr and end.raddr.port == port}
    connections = [psutil.Process(pid) for pid in ends if pid and psutil.Process(pid).name() == "ssh"]
    assert connections, "a shared connection is open"
    return [psutil.Process(follower), *connections]


def sleep_a_night(stopped: Iterable[psutil.Process], place: Machine, folder: Path, *, dead: bool) -> None:
    """All of it stands still until the run has ended, and wakes up hours later by its clock.

    Args:
        stopped: who follows, first, and its connections.
        place: where the run is held.
        folder: that of the test.
        dead: whether the processes of the connections do not wake; their socket stays behind.
    """
    for process in stopped:
        process.suspend()
    place.wire.gone = True
    place.wire.cut()
    place.let_go()
    (card,) = (folder / "there").glob("*/run.json")
    until(lambda: place.trace(card.parent.name)[-1:] == ["ended"], "the run goes on without the laptop")
    time.sleep(ASLEEP)
    (folder / "clock").write_text(str(NIGHT))
    place.wire.gone = False
    for at, process in enumerate(stopped):
        with contextlib.suppress(psutil.NoSuchProcess):
            if dead and at:
                process.kill()
            process.resume()


@pytest.fixture
def surroundings(tmp_path):
    """A clock that jumps: environment variables, and the folder of a module that comes before all others."""
    there("ssh")
    (tmp_path / "clock").write_text("0")
    (tmp_path / "seam").mkdir()
    (tmp_path / "seam" / "sitecustomize.py").write_text(WRONG_CLOCK)
    return {"CLOCK_OFF": str(tmp_path / "clock")}


@pytest.fixture
def laptop(tmp_path, surroundings):
    """Makes the laptop; none outlives its test."""
    made = []

    def start(place: SshPlace) -> Laptop:
        seam = tmp_path / "seam"
        made.append(Laptop(tmp_path, tmp_path / "space", place, surroundings=surroundings, first_on_path=seam))
        return made[0]

    yield start
    for one in made:
        one.kill()


@pytest.mark.parametrize("dead", [False, True], ids=["connections closed", "and their processes dead"])
def test_a_run_is_whole_after_a_night_in_which_the_laptop_slept(tmp_path, laptop, dead):
    with machine(tmp_path) as place:
        place.hold()
        person = laptop(place.place)
        config = tmp_path / "sent.toml"
        config.write_text(recorded().config.to_toml())
        assert "problem" not in person.ask("send", config=str(config))
        points = []
        until(lambda: points.append(person.ask("look")["runs"][0]["points"]) or points[-1], "no point came")
        person.tell("follow")  # the lid is closed in the middle of this
        sleep_a_night(processes_of(person.pid, place.wire.port), place, tmp_path, dead=dead)
        answer = person.hear()
        assert (answer["left"], answer["said"]) == (0, [])
        assert [run["status"] for run in answer["runs"]] == ["done"]
        assert answer["runs"][0]["points"] > points[-1]
        person.close()
        assert not person.traceback, person.said
        with Workspace(tmp_path / "space") as space:
            assert at_home(space, place) == []


@pytest.fixture
def window(tmp_path, surroundings, monkeypatch):
    """Opens the real window in a process of its own; what it shows is a line of its file."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    own = {
        "QT_QPA_PLATFORM": "offscreen", "WORKBENCH_SETTINGS": str(tmp_path / "window.ini"),
        "XDG_STATE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{tmp_path / 'seam'}:{ROOT}",
    }  # fmt: skip
    told, made = tmp_path / "told", []

    def start() -> tuple[int, Callable[[], dict[str, Any]]]:
        words = [sys.executable, "-m", "tests.clusters.window_that_tells", str(tmp_path / "space")]
        with told.open("wb") as out, (tmp_path / "errors").open("wb") as errors:
            env = {**os.environ, **own, **surroundings}
            made.append(subprocess.Popen(words, env=env, cwd=ROOT, stdout=out, stderr=errors))
        return made[0].pid, lambda: json.loads(("{}\n" + told.read_text()).splitlines()[-1])

    yield start
    for process in made:
        process.kill()
        process.wait()


def test_the_window_shows_a_run_whole_after_a_night_in_which_it_slept(tmp_path, window):
    with machine(tmp_path) as place:
        place.hold()
        records.store(place.place)
        with Workspace(tmp_path / "space", create=True) as space:
            (run_id,) = sending.prepare(space, recorded().config, place.place)
            sending.submit(space, [run_id], place.place, launcher_of(place.place))
        pid, shown = window()
        until(lambda: shown().get("points"), "no point came to the window")
        before = shown()
        assert before["open"]
        sleep_a_night(processes_of(pid, place.wire.port), place, tmp_path, dead=False)
        until(lambda: not shown()["open"], "the window follows no more")
        after = shown()
        assert (after["status"], after["silent"]) == ("done", "")
        assert after["points"] > before["points"]
        with Workspace(tmp_path / "space") as space:
            assert at_home(space, place) == []
            until(lambda: shown()["points"] == len(space.scalars(run_id, "batch/loss")[0]), "points are missing")
