"""The log of the Activity dock: one line for each job that ended, without a word twice."""

import pytest

from workbench.ui.state.background.activity import Activity


@pytest.mark.parametrize(
    ("end", "text", "line"),
    [
        ("finish", "Done", "Map: done"),
        ("finish", "", "Map: done"),
        ("finish", "60 points.", "Map: done. 60 points."),
        ("cancelled", "Cancelled", "Map: cancelled"),
        ("fail", "The disk is full.", "Map: failed. The disk is full."),
    ],
)
def test_the_log_says_how_a_job_ended_once(qtbot, end, text, line):
    activity, said = Activity(), []
    activity.logged.connect(said.append)
    getattr(activity.add("Map"), end)(text)
    qtbot.waitUntil(lambda: bool(said))
    assert said == [line]


def test_the_time_left_of_a_count_leaves_out_what_took_place_before_it(qtbot, monkeypatch):
    now = 100.0
    monkeypatch.setattr("workbench.ui.state.background.activity.monotonic", lambda: now)
    activity = Activity()
    job = activity.add("Map")
    job.progress(text="Loading UMAP")
    qtbot.waitUntil(lambda: job.now.text == "Loading UMAP")
    now = 115.0
    job.progress(1, 500, "Optimising layout")
    qtbot.waitUntil(lambda: job.now.done == 1)
    assert job.seconds_left is None
    now = 117.0
    job.progress(201, 500, "Optimising layout")
    qtbot.waitUntil(lambda: job.now.done == 201)
    assert job.seconds_left == pytest.approx(2.99)


def test_a_second_count_of_the_same_length_has_a_pace_of_its_own(qtbot, monkeypatch):
    now = 100.0
    monkeypatch.setattr("workbench.ui.state.background.activity.monotonic", lambda: now)
    activity = Activity()
    job = activity.add("Search")
    for at, done, text in ((160.0, 500, "Embedding"), (161.0, 1, "Searching"), (165.0, 401, "Searching")):
        now = at
        job.progress(done, 500, text)
        qtbot.waitUntil(lambda done=done: job.now.done == done)
    assert job.seconds_left == pytest.approx(0.99)


def test_the_time_left_counts_down_and_is_unknown_while_a_part_takes_longer_than_all_that_was_left(qtbot, monkeypatch):
    now = 100.0
    monkeypatch.setattr("workbench.ui.state.background.activity.monotonic", lambda: now)
    activity = Activity()
    job = activity.add("Deployment")
    now = 112.0
    job.progress(10, 12, "HNSW")
    qtbot.waitUntil(lambda: job.now.done == 10)
    assert job.seconds_left == pytest.approx(2.4)
    now = 113.0
    job.progress(10, 12, "HNSW, still")
    qtbot.waitUntil(lambda: job.now.text == "HNSW, still")
    assert job.seconds_left == pytest.approx(1.4)
    now = 140.0
    assert job.seconds_left is None
