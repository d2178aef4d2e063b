"""Runs that were ticked are ticked again when the window is opened again on their workspace."""

import json

import pytest

from workbench.config import RunConfig
from workbench.ui.window.runs.remembered_run import TICKED, RememberedRun


@pytest.fixture
def left(session, workspace):
    """Three runs, the first two of which were ticked when the workspace was left; now none is."""
    runs = [workspace.create_run(RunConfig()) for _ in range(3)]
    session.follower.look()
    remembered = RememberedRun(session, session)
    session.ticks.choose(runs[:2])
    session.leaving.emit()
    session.ticks.put(())
    return remembered, runs


def test_ticks_come_back(left, session):
    remembered, runs = left
    remembered.show()
    assert session.ticks.runs == set(runs[:2])


def test_a_run_in_the_trash_is_not_ticked(left, session, workspace):
    remembered, runs = left
    workspace.set_status(runs[0], "done")
    workspace.trash(runs[0])
    session.follower.look()
    remembered.show()
    assert session.ticks.runs == {runs[1]}


def test_ticks_of_another_workspace_stay_there(left, session):
    remembered, runs = left
    session.preferences.set_text(TICKED, json.dumps(["elsewhere", runs]))
    remembered.show()
    assert session.ticks.runs == set()


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '["a", 3]', '["a", [[]]]', "[" * 99999])
def test_what_cannot_be_read_ticks_nothing(left, session, text):
    remembered, _ = left
    place = json.loads(session.preferences.text(TICKED))[0]
    session.preferences.set_text(TICKED, text.replace('"a"', json.dumps(place)))
    remembered.show()
    assert session.ticks.runs == set()


def test_runs_that_are_ticked_already_stay(left, session):
    remembered, runs = left
    session.ticks.choose([runs[2]])
    remembered.show()
    assert session.ticks.runs == {runs[2]}
