"""A laptop asleep while its run goes on: its processes stop, its connections end, its clock jumps; then it wakes."""

import contextlib
import os
import time

import psutil
import pytest

from tests.campaign.place_parts import WRONG_CLOCK, Laptop, machine, recorded
from tests.campaign.placed_run import at_home
from tests.clusters.there import there
from tests.waits import HANG
from workbench.places.place import SshPlace
from workbench.workspace import Workspace

ASLEEP = float(os.environ.get("WORKBENCH_ASLEEP", "60"))  # seconds; the run ends meanwhile
NIGHT = 9 * 3600.0  # seconds by which the clock jumps


def processes_of(laptop: Laptop, port: int) -> list[psutil.Process]:
    """Who follows, and the shared connections that it has left behind: all that stands still in a laptop asleep."""
    ends = {end.pid for end in psutil.net_connections("tcp") if end.raddr and end.raddr.port == port}
    connections = [psutil.Process(pid) for pid in ends if pid and psutil.Process(pid).name() == "ssh"]
    return [psutil.Process(laptop.pid), *connections]


@pytest.fixture
def laptop(tmp_path):
    """Makes the laptop, with a clock that jumps; none outlives its test."""
    clock, seam, made = tmp_path / "clock", tmp_path / "seam", []
    clock.write_text("0")
    seam.mkdir()
    (seam / "sitecustomize.py").write_text(WRONG_CLOCK)

    def start(place: SshPlace) -> Laptop:
        surroundings = {"CLOCK_OFF": str(clock)}
        made.append(Laptop(tmp_path, tmp_path / "space", place, surroundings=surroundings, first_on_path=seam))
        return made[0]

    yield start
    for one in made:
        one.kill()


@pytest.mark.slow
@pytest.mark.parametrize("dead", [False, True], ids=["connections closed", "and their processes dead"])
def test_a_run_is_whole_after_a_night_in_which_the_laptop_slept(tmp_path, laptop, dead):
    there("ssh")
    with machine(tmp_path) as place:
        place.hold()
        person = laptop(place.place)
        config = tmp_path / "sent.toml"
        config.write_text(recorded().config.to_toml())
        assert "problem" not in person.ask("send", config=str(config))
        points, end = 0, time.monotonic() + HANG
        while not points:
            assert time.monotonic() < end
            points = person.ask("look")["runs"][0]["points"]
        person.tell("follow")  # the lid is closed in the middle of this
        stopped = processes_of(person, place.wire.port)
        assert len(stopped) > 1, "a shared connection is open"
        for process in stopped:
            process.suspend()
        place.wire.gone = True
        place.wire.cut()
        place.let_go()
        (card,) = (tmp_path / "there").glob("*/run.json")
        end = time.monotonic() + HANG
        while place.trace(card.parent.name)[-1:] != ["ended"]:
            assert time.monotonic() < end, "the run goes on without the laptop"
            time.sleep(0.2)
        time.sleep(ASLEEP)
        (tmp_path / "clock").write_text(str(NIGHT))
        place.wire.gone = False
        if dead:  # their socket stays behind
            for process in stopped[1:]:
                process.kill()
        for process in stopped:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
        answer = person.hear()
        assert (answer["left"], answer["said"]) == (0, [])
        assert [run["status"] for run in answer["runs"]] == ["done"]
        assert answer["runs"][0]["points"] > points
        person.close()
        assert not person.traceback, person.said
        with Workspace(tmp_path / "space") as space:
            assert at_home(space, place) == []
