"""Digits at a machine behind a real sshd: ended, resumed, followed to the end. Windows: test_window_at_places.py."""

import json
import os
from pathlib import Path
from statistics import median
from time import monotonic, sleep

import pytest

from tests.clusters.there import there
from tests.clusters.training import python
from tests.waits import HANG
from workbench.cli import main
from workbench.commands.training.place import POLL
from workbench.config import RunConfig
from workbench.places import records, sending, working
from workbench.places.contract import Ending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.places.place import SshPlace
from workbench.workspace import Workspace

FIGURES = os.environ.get("WORKBENCH_FIGURES")  # a file for what was measured
EPOCHS, EVERY = 60, 20  # enough that the run still works when it is asked to end


def tiny(epochs: int) -> RunConfig:
    """Digits with the smallest network."""
    return RunConfig.model_validate(
        {
            "name": "Over SSH", "device": "cpu", "backbone": {"name": "conv4", "width": 8}, "embedding": {"dim": 8},
            "training": {"epochs": epochs, "batch_size": 128}, "evaluation": {"every": EVERY},
        }
    )  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    """This machine behind the sshd of tests/clusters/setup, with a Python that takes one core, as tests do."""
    env = there("ssh")
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    made = SshPlace(
        name="box", host=env["HOST"], ssh_config=env["CONFIG"], python=python(tmp_path), folder=f"{tmp_path}/there"
    )
    records.store(made)
    return made


def until(wanted, look, limit: float = 2 * HANG):
    end = monotonic() + limit
    while not (answer := wanted()):
        assert monotonic() < end, "it did not come"
        look()
    return answer


def note(name: str, **figures: float) -> None:
    if FIGURES:
        with Path(FIGURES).open("a") as file:
            file.write(json.dumps({"what": name, **figures}) + "\n")


def test_a_run_over_ssh_is_ended_resumed_and_brought_home(tmp_path, place, capsys):
    assert main(["place", "check", "box"]) == 0
    began = monotonic()
    with Workspace(tmp_path / "space", create=True) as workspace:
        (run_id,) = sending.prepare(workspace, tiny(EPOCHS), place)
        sending.submit(workspace, [run_id], place, launcher_of(place))
        submitted = monotonic() - began
        following, received, delays, before = Following(workspace, place, launcher_of(place)), 0, [], monotonic()

        def look():
            """What a look brings was written after the one before had begun: so old is it at most."""
            nonlocal received, before
            sleep(POLL)
            asked = monotonic()
            if came := following.look().received:
                received += came
                delays.append(monotonic() - before)
            before = asked

        until(lambda: "batch/loss" in workspace.scalar_names(run_id), look)
        first = monotonic() - began
        working.end(workspace, run_id, Ending.SAVED)
        until(lambda: not workspace.run(run_id).placement.open, look)
        assert workspace.run(run_id).status in ("stopped", "interrupted")
        steps = len(workspace.scalars(run_id, "batch/loss")[0])
        working.resume(workspace, run_id)
        following = Following(workspace, place, launcher_of(place))  # another program goes on
        until(lambda: not workspace.run(run_id).placement.open, look)
        run = workspace.run(run_id)
        assert (run.status, run.problem) == ("done", "")
        assert len(workspace.scalars(run_id, "batch/loss")[0]) > steps
        assert [evaluation.epoch for evaluation in workspace.evaluations(run_id)] == list(range(0, EPOCHS + 1, EVERY))
        here = (workspace.folder(run_id) / "journal.jsonl").read_bytes()
        assert here == (Path(place.folder) / run.placement.uid / "journal.jsonl").read_bytes()
        figures = {"delay": median(delays), "longest_delay": max(delays), "looks": len(delays)}
        note("CLI", submitted=submitted, first_point=first, whole=monotonic() - began, bytes=received, **figures)
        assert workspace.artefacts(run_id, "checkpoint") == []
    assert main(["place", "fetch", str(run_id), "-w", str(tmp_path / "space")]) == 0
    assert "last.pt" in capsys.readouterr().out
