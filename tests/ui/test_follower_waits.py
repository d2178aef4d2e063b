"""When a place is looked at again: after a minute at the latest, however long it has been silent."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, QTimer

from workbench.config import RunConfig
from workbench.places import records
from workbench.places.following import Looked
from workbench.problem import Problem
from workbench.ui.state.runs import place_follower
from workbench.ui.state.runs.place_follower import IN_VIEW, LONGEST, PlaceFollower
from workbench.workspace import Workspace
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements


class AnsweredAtOnce:
    """Work whose looks at a place end at once, as the test says."""

    def __init__(self):
        self.looked = Looked(left=1)

    def run_in_thread(self, title, work, done, failed, quiet):
        done(self.looked)


def test_a_silent_place_is_asked_each_minute_and_soon_when_it_answers(qtbot, tmp_path):
    work, parent = AnsweredAtOnce(), QObject()
    with Workspace(tmp_path / "space", create=True) as workspace:
        follower = PlaceFollower(work, workspace, "box", parent)
        follower.in_view = True
        timer = follower.findChild(QTimer)
        follower.look()
        assert timer.interval() == IN_VIEW
        work.looked = Looked(left=1, silent="box is not reached: no route.")
        waits = []
        for _ in range(10_080):  # as many as a week has minutes
            follower.look()
            waits.append(timer.interval())
        assert waits == sorted(waits)
        assert max(waits) == LONGEST == 60_000
        work.looked = Looked(left=1)
        follower.look()
        assert timer.interval() == IN_VIEW
        follower.close()


class Held:
    """Work that is done when the test says so."""

    def __init__(self):
        self.asked = []
        self.notices = []
        self.settled = SimpleNamespace(emit=lambda problem: None)

    def run_in_thread(self, title, work, done, failed, quiet):
        self.asked.append((work, done, failed))
        return self

    def notify(self, what, concern):
        self.notices.append(str(what))

    def answer(self, looked):
        self.asked.pop(0)[1](looked)

    def do(self):
        work, done, failed = self.asked.pop(0)
        try:
            result = work(None)
        except Problem as problem:
            failed(problem)
        else:
            done(result)


def test_a_run_that_was_sent_while_a_look_was_under_way_is_looked_for(qtbot, tmp_path):
    work, parent, over = Held(), QObject(), []
    with Workspace(tmp_path / "space", create=True) as workspace:
        follower = PlaceFollower(work, workspace, "box", parent)
        follower.over.connect(over.append)
        follower.look()
        follower.look()  # a run was sent to the place: the look under way may not have seen it
        work.answer(Looked())
        assert not over
        work.answer(Looked())
        assert over == ["box"]


def test_a_place_whose_record_is_gone_keeps_no_workspace_open(qtbot, tmp_path, monkeypatch):
    work, parent, opened = Held(), QObject(), []

    class Counted(Workspace):
        def __init__(self, path):
            super().__init__(path)
            opened.append(self)

        def close(self):
            super().close()
            opened.remove(self)

    monkeypatch.setattr(place_follower, "Workspace", Counted)
    monkeypatch.setattr(records, "existing", lambda name: None)
    monkeypatch.setattr(placements, "note_removed", lambda db, name: True)
    with Workspace(tmp_path / "space", create=True) as workspace:
        follower = PlaceFollower(work, workspace, "box", parent)
        for _ in range(3):
            follower.look()
            work.do()
        work_again = [str(records.Removed("box")), "Runs at box are followed again."]
        for _ in range(2):
            follower.look()
            work.answer(Looked(left=True))
        follower.close()
        follower.release()
        assert work.notices == work_again, "each is said once"
        assert not opened


@pytest.mark.parametrize("job", ["", "7"])
def test_a_removed_place_is_a_problem_only_while_it_has_runs(qtbot, tmp_path, monkeypatch, job):
    """A run that the place refused was never there: nothing of it can be missed."""
    work, parent, over = Held(), QObject(), []
    monkeypatch.setattr(records, "existing", lambda name: None)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig())
        with workspace.writing() as db:
            placements.store(db, Placement(run_id, "0" * 32, "box", job))
        follower = PlaceFollower(work, workspace, "box", parent)
        follower.over.connect(over.append)
        follower.look()
        work.do()
        assert work.notices == ([str(records.Removed("box"))] if job else [])
        assert over == ([] if job else ["box"])
        follower.close()
        follower.release()
