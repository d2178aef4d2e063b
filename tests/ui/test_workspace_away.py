"""A workspace that goes away while the window shows it: no run is called alive until it can be read again."""

import os

import pytest

from tests.ui.started import shown_window
from workbench.control import Control
from workbench.ui.docks.run_row import about
from workbench.ui.window.main_window import MainWindow

pytestmark = [
    pytest.mark.qt_log_ignore("propagateSizeHints"),
    pytest.mark.skipif(os.name == "nt", reason="open files cannot be taken away there"),
]


def row_of(window, run_id):
    """The second line of a run in the list."""
    rows = window.runs.rows
    return about(window.session.run(run_id), rows.known, away=rows.away)


def test_a_run_is_not_called_alive_while_the_workspace_is_away(qtbot, session, workspace, config):
    runs, done, waits = (workspace.create_run(config) for _ in range(3))
    with workspace.writing() as db:
        db.execute("update runs set status = 'running', epoch = 2, epochs = 9, seconds_left = 60 where id = ?", (runs,))
        db.execute("update runs set status = 'done' where id = ?", (done,))
    session.show_run(runs)
    window = qtbot.shown(MainWindow(session))
    session.follower.look()
    window.show_page("train")
    state = window.pages.page("train").header.state
    assert row_of(window, runs).startswith("Epoch 3 / 9")

    space, elsewhere = workspace.path, workspace.path.with_name("elsewhere")
    space.rename(elsewhere)
    qtbot.waitUntil(lambda: row_of(window, runs).startswith("Last seen in epoch 3 / 9"))
    assert row_of(window, waits).startswith("Last seen queued")
    assert state.text() == "Last seen running"
    assert row_of(window, done).startswith("Done"), "it had ended"
    assert window.rail.run.text() == "Counting: last seen running, epoch 3 / 9"

    asked = Control()
    asked.stop()
    assert about(session.run(runs), {}, asked, away=True).startswith("Stopping after this epoch"), "of this window"

    elsewhere.rename(space)
    qtbot.waitUntil(lambda: row_of(window, runs).startswith("Epoch 3 / 9"))
    assert row_of(window, waits).startswith("Queued")
    assert state.text() == "Running"
    assert window.rail.run.text() == "Counting: running, epoch 3 / 9"


@pytest.mark.parametrize("reason", ["The disk is full. Free some space and continue.", ""])
def test_a_run_whose_wait_cannot_be_stored_is_said_to_wait_all_the_same(qtbot, counting_session, config, reason):
    """On a disk without a free byte its row says that it is running: nothing can be written there."""
    session = counting_session
    session.start(config)
    qtbot.waitUntil(lambda: any(run.status == "running" for run in session.runs()))
    (run_id,) = session.queue.running
    window = shown_window(qtbot, session)
    session.show_run(run_id)
    window.show_page("train")
    page, control = window.pages.page("train"), session.control(run_id)
    control.reason = reason
    control.pause()
    if not reason:  # who paused it knows
        assert session.run(run_id).status == "running"
        return
    qtbot.waitUntil(page.banner.isVisible)
    assert page.banner.sentence.text() == reason
    assert page.header.state.text() == "Waiting for you"
    assert [run.status for run in session.runs()] == ["waiting"]
    assert session.workspace.run(run_id).status == "running"
    page.banner.buttons["Go on"][1].click()
    qtbot.waitUntil(lambda: not page.banner.isVisible())
    assert session.run(run_id).status == "running"


@pytest.mark.parametrize("by_user", [False, True])
def test_a_run_that_waits_for_the_workspace_is_named_when_that_comes_back(qtbot, counting_session, config, by_user):
    session, said = counting_session, []
    session.noticed.connect(lambda what: said.append(str(what)))
    session.start(config)
    qtbot.waitUntil(lambda: any(run.status == "running" for run in session.runs()))
    (run_id,) = session.queue.running
    control = session.control(run_id)
    control.reason = "" if by_user else "The workspace is not there any more."
    control.pause()
    space, elsewhere = session.workspace.path, session.workspace.path.with_name("elsewhere")
    space.rename(elsewhere)
    qtbot.waitUntil(lambda: session.follower.away)
    elsewhere.rename(space)
    qtbot.waitUntil(lambda: not session.follower.away)
    back = f"The workspace is available again. Run {run_id} is still waiting: “Go on” on the Train page continues."
    assert (back in said) != by_user, "who paused it knows"
