"""A window and the runs of others: it sees that one died, resumes none that works, and leaves one that was taken."""

import os
import threading

import psutil
import pytest

from tests.ui.started import started
from workbench.ui.state import session as sessions
from workbench.ui.state.session import Session


@pytest.fixture
def owned_by_another():
    """Writes the parent of this process as a run's owner, which began then or later."""
    parent = psutil.Process(os.getppid())

    def own(workspace, run_id, *, gone):
        values = ("running", parent.pid, parent.create_time() - (3600 if gone else 0), "other", run_id)
        with workspace.writing() as db:
            db.execute("update runs set status = ?, pid = ?, born = ?, owner = ? where id = ?", values)
        return parent.pid

    return own


def test_an_open_window_sees_that_a_run_died(qtbot, workspace, config, owned_by_another, monkeypatch):
    monkeypatch.setattr(sessions, "DEAD_EVERY", 50)
    session = Session(workspace)
    run_id = workspace.create_run(config)
    owned_by_another(workspace, run_id, gone=True)
    qtbot.waitUntil(lambda: [run.status for run in session.runs()] == ["interrupted"])
    session.close()


def test_a_run_at_work_elsewhere_is_not_resumed_here(session, config, owned_by_another):
    run_id = session.workspace.create_run(config)
    pid = owned_by_another(session.workspace, run_id, gone=False)
    said = []
    session.noticed.connect(lambda problem: said.append(str(problem)))
    session.resume_run(run_id)
    assert [f"still working: process {pid}" in text for text in said] == [True]
    assert not session.busy
    assert session.workspace.run(run_id).status == "running"


def test_a_waiting_run_that_was_taken_is_left_to_its_new_owner(qtbot, counting_session, config, owned_by_another):
    session = counting_session
    first, second = started(session, config), started(session, config)
    owned_by_another(session.workspace, second, gone=False)
    ended = []
    session.run_ended.connect(lambda run_id, status: ended.append((run_id, status)))
    with qtbot.waitSignal(session.queue.idle):
        session.queue.end(first, keep=False)
    assert ended == [(first, "cancelled"), (second, "failed")]
    assert session.workspace.run(second).status == "running"
    qtbot.waitUntil(lambda: "open" not in {thread.name for thread in threading.enumerate()})
