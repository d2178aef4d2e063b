"""A workspace with many live runs: what did not change is neither read apart nor drawn again."""

import pytest

from workbench.ui.docks.activity import ActivityDock, JobLine
from workbench.ui.models.run_list import RunList
from workbench.ui.window.runs.run_activity import RunActivity
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements

MANY = 30


@pytest.fixture
def live(session, config):
    """The numbers of runs that all work."""
    workspace = session.workspace
    numbers = [workspace.create_run(config) for _ in range(MANY)]
    with workspace.writing() as db:
        db.execute("update runs set status = 'running', phase = 'Training', total = 100")
    session.follower.look()
    return numbers


def advance(session, run_id, done):
    """A run goes on, and the window hears of it."""
    with session.workspace.writing() as db:
        db.execute("update runs set done = ? where id = ?", (done, run_id))
    session.follower.look()


def test_a_run_that_did_not_change_is_the_same_object_after_the_next_look(session, live):
    before = {run.id: run for run in session.runs()}
    advance(session, live[3], 7)
    changed = [run.id for run in session.runs() if run is not before[run.id]]
    assert changed == [live[3]]
    assert session.run(live[3]).done == 7


def test_tags_and_scores_make_a_run_new(session, live, stored_evaluation):
    before = {run.id: run for run in session.runs()}
    session.workspace.set_tags(live[0], ["kept"])
    stored_evaluation(live[1], 1)
    session.follower.look()
    changed = {run.id for run in session.runs() if run is not before[run.id]}
    assert changed == {live[0], live[1]}
    assert session.run(live[0]).tags == ("kept",)
    assert session.run(live[1]).best["MAP@R"] == 0.8


def test_only_the_line_of_a_run_that_changed_is_touched(qtbot, session, live):
    shown = RunActivity(session)
    qtbot.waitUntil(lambda: all(item.now.total == 100 for item in session.activity.items))
    heard = []
    for item in session.activity.items:
        item.changed.connect(heard.append)
    advance(session, live[5], 12)
    qtbot.waitUntil(lambda: bool(heard))
    shown.refresh()
    qtbot.waitUntil(lambda: any(item.now.done == 12 for item in session.activity.items))
    assert [item.now.done for item in heard] == [12]


@pytest.mark.parametrize(
    ("problem", "said"), [("", "Paused, 4 / 100"), ("The disk is full.", "Paused: The disk is full, 4 / 100")]
)
def test_the_line_of_a_paused_run_counts_no_time(qtbot, session, live, problem, said):
    dock, shown = ActivityDock(session.activity), RunActivity(session)
    qtbot.addWidget(dock)
    with session.workspace.writing() as db:
        db.execute(
            "update runs set status = 'waiting', problem = ?, done = 4, seconds_left = 135 where id = ?",
            (problem, live[-1]),
        )
    session.follower.look()
    shown.refresh()
    qtbot.waitUntil(lambda: any(item.now.done == 4 for item in session.activity.items))
    item = next(item for item in session.activity.items if item.now.done == 4)
    dock.line.show_item(item)
    assert dock.line.text.text().endswith(f": {said}")
    assert dock.line.left.text() == ""


@pytest.mark.parametrize("rests", [True, False])
def test_the_bar_of_a_paused_run_stands_still_though_its_length_is_unknown(qtbot, session, rests):
    line = qtbot.addWidget(JobLine())
    item = session.activity.add("digits")
    item.progress(text="Paused" if rests else "Reading the data", rests=rests)
    qtbot.waitUntil(lambda: item.now.text != "")
    line.show_item(item)
    assert (line.bar.maximum() == 0) is not rests, "Qt draws a bar of no length as one that moves"


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_of_a_run_that_rests_or_cannot_be_read_no_time_is_estimated_from_its_pace(
    qtbot, session, live, monkeypatch, status
):
    clock = [100.0]
    monkeypatch.setattr("workbench.ui.state.background.activity.monotonic", lambda: clock[0])
    shown = RunActivity(session)
    clock[0] = 110.0
    with session.workspace.writing() as db:
        db.execute("update runs set status = ?, done = 50, seconds_left = 9 where id = ?", (status, live[-1]))
    session.follower.look()
    session.follower.away = status == "running"
    shown.refresh()
    qtbot.waitUntil(lambda: any(item.now.done == 50 for item in session.activity.items))
    (item,) = (item for item in session.activity.items if item.now.done == 50)
    assert item.seconds_left is None
    with session.workspace.writing() as db:
        db.execute("update runs set status = 'running' where id = ?", (live[-1],))
    session.follower.look()
    shown.refresh()
    qtbot.waitUntil(lambda: item.seconds_left == 9)


def test_many_jobs_that_change_in_one_turn_are_shown_once(qtbot, session, monkeypatch):
    dock = qtbot.addWidget(ActivityDock(session.activity))
    items = [session.activity.add(f"Job {number}") for number in range(MANY)]
    qtbot.waitUntil(lambda: dock.line.text.text() == f"Job {MANY - 1}")
    drawn = []
    show_item = JobLine.show_item
    monkeypatch.setattr(
        JobLine, "show_item", lambda line, item, mentioned="": (drawn.append(item), show_item(line, item, mentioned))[1]
    )
    for item in items:
        item.progress(1, 2, "Half")
    qtbot.waitUntil(lambda: "Half" in dock.line.text.text())
    assert drawn == [items[-1]]


def test_the_list_announces_only_the_row_that_changed(session, live):
    model, rows = RunList(), []
    model.show(session.runs(), session.experiments())
    model.dataChanged.connect(lambda first, last: rows.extend(range(first.row(), last.row() + 1)))
    advance(session, live[4], 9)
    model.show(session.runs(), session.experiments())
    assert rows == [model.row_of(live[4])]


def test_reading_one_run_reads_nothing_of_the_others(session, live, monkeypatch):
    with session.workspace.writing() as db:
        for run_id in live:
            placements.store(db, Placement(run_id, f"uid-{run_id}", "cluster"))
    made = []
    every = placements.every
    monkeypatch.setattr(placements, "every", lambda *asked: (made.append(every(*asked)), made[-1])[1])
    assert session.workspace.run(live[2]).placement.uid == f"uid-{live[2]}"
    assert [[placement.run_id for placement in answer] for answer in made] == [[live[2]]]
