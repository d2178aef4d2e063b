"""The log of the Activity dock: one line for each job that ended, without a word twice."""

import pytest

from workbench.ui.activity import Activity


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
