"""`workbench place stop` asks a run to end that has not ended, and says what is true of any other."""

import pytest

from tests.unit.places.played_place import PlayedPlace
from workbench.cli import main
from workbench.config import RunConfig
from workbench.places import records, sending, working
from workbench.places.contract import Ending, JobState, Standing
from workbench.places.place import SshPlace
from workbench.workspace import Workspace
from workbench.workspace.tables import placements

PLACE = SshPlace(name="box", host="box")


@pytest.fixture
def played(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    records.store(PLACE)
    made = PlayedPlace(tmp_path / "there")
    monkeypatch.setattr(working, "launcher_of", lambda *_: made)
    return made


@pytest.fixture
def space(tmp_path, played):
    """A workspace with a run that works at box, and one that was never started there."""
    with Workspace(tmp_path / "space", create=True) as workspace:
        (first,) = sending.prepare(workspace, RunConfig(name="away"), PLACE)
        sending.submit(workspace, [first], PLACE, played)
        sending.prepare(workspace, RunConfig(name="never"), PLACE)
    return tmp_path / "space"


@pytest.mark.parametrize(
    ("standing", "status", "asked", "said"),
    [
        (JobState.RUNNING, "running", True, "Run 1 was asked to end. `workbench place follow box --workspace {}`"),
        (JobState.QUEUED, "queued", True, "Run 1 was asked to end."),
        (JobState.RUNNING, "interrupted", True, "Run 1 was asked to end."),  # another workspace has resumed it
        (JobState.FINISHED, "done", False, "Run 1 has already ended at box. It is done."),
        (JobState.FAILED, "running", False, "Run 1 has already ended at box. `workbench place follow box --workspace"),
        (JobState.CANCELLED, "cancelled", False, "Run 1 has already ended at box. It is cancelled."),
        (JobState.LOST, "running", True, "box does not know whether run 1 has ended."),
    ],
)
def test_only_a_run_that_works_is_asked_to_end(space, played, capsys, standing, status, asked, said):
    played.standing = Standing(standing)
    with Workspace(space) as workspace:
        workspace.set_status(1, status)
        with workspace.reading() as db:
            uid = placements.required(db, 1).uid
    assert main(["place", "stop", "1", "-w", str(space)]) == 0
    assert played.asked == ([(uid, Ending.SAVED)] if asked else [])
    assert capsys.readouterr().out.startswith(said.format(space))


def test_a_run_that_was_never_started_has_no_end(space, played, capsys):
    assert main(["place", "stop", "2", "-w", str(space)]) == 0
    assert played.asked == []
    assert capsys.readouterr().out == "Run 2 was never started at box: there is nothing to end.\n"
