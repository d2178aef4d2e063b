"""The networks of all ticked runs on the same other images: one dialog, one activity, one comparison."""

import shutil

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.class_folders import class_folders
from tests.trained_sample import sample_values, trained
from tests.ui.small_run import store_run
from tests.unit.comparing.compared_runs import store, store_test
from workbench.comparing.grouping.groups import grouped
from workbench.ui.actions.exchange.other_images_dialog import OtherImagesDialog
from workbench.workspace import Workspace

pytestmark = [
    pytest.mark.usefixtures("blank_set_up"),
    pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True),
]


@pytest.fixture(scope="module")
def trained_space(tmp_path_factory):
    """A workspace of two runs of the sample, trained for an epoch with two seeds."""
    place = tmp_path_factory.mktemp("trained") / "space"
    with Workspace(place, create=True) as made:
        for seed in range(2):
            trained(made, sample_values(1) | {"seed": seed, "name": f"Sample, seed {seed}"})
    return place


@pytest.fixture
def workspace(request, tmp_path, _empty_workspace):
    """A copy of the trained workspace for a test of its runs, else an empty one."""
    whole = "seeds" in request.fixturenames
    of = request.getfixturevalue("trained_space") if whole else _empty_workspace
    return Workspace(shutil.copytree(of, tmp_path / "workspace"))


@pytest.fixture
def seeds(workspace):
    """The two trained runs."""
    return sorted(run.id for run in workspace.runs())


@pytest.fixture
def folder(tmp_path):
    return class_folders(tmp_path / "pages", "abc", 5, (8, 8))


@pytest.fixture
def notices(session):
    heard = []
    session.noticed.connect(heard.append)
    return heard


def ticked(qtbot, session, numbers):
    qtbot.waitUntil(lambda: set(numbers) <= {run.id for run in session.runs()})
    session.ticks.choose(numbers)


def opened(qtbot, window):
    window.run_actions.exchange.test_ticked.trigger()
    qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(OtherImagesDialog)))
    return window.findChildren(OtherImagesDialog)[-1]


@pytest.mark.usefixtures("in_a_thread")
def test_two_ticked_networks_are_tested_and_compared_as_one_group(qtbot, session, window, seeds, folder, notices):
    ticked(qtbot, session, seeds)
    action = window.run_actions.exchange.test_ticked
    assert (action.text(), action.isVisible(), action.isEnabled()) == (
        "Test 2 ticked runs on other images…", True, True,
    )  # fmt: skip
    dialog = opened(qtbot, window)
    assert "2 runs: Sample, seed 0, Sample, seed 1" in dialog.heading.text()
    dialog.images.take(str(folder))
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.page == "compare")
    tests = [run for run in session.runs() if run.id in session.ticks.runs]
    assert sorted(run.tested for run in tests) == sorted(seeds)
    assert sorted(run.seed for run in tests) == [0, 1]
    assert str(notices[-1]).startswith("2 runs tested on pages: runs ")
    (group,) = grouped(tests, session.catalog)
    assert group.title == "Sample on pages"


@pytest.fixture
def begun(monkeypatch):
    """What each test that the window begins is asked with, without its process."""
    asked = []
    monkeypatch.setattr(
        "workbench.ui.actions.exchange.exchange_actions.ProcessWork", lambda *given, **_: asked.append(given)
    )
    return asked


def test_all_numbers_go_to_one_process(qtbot, session, window, seeds, folder, begun):
    ticked(qtbot, session, seeds)
    dialog = opened(qtbot, window)
    dialog.images.take(str(folder))
    dialog.network.set_value("last")
    dialog.name.setText("Night")
    dialog.start.click()
    (asked,) = begun
    assert asked[2:5] == (
        "Test 2 runs on pages", "evaluate_all",
        {"runs": seeds, "images": str(folder), "name": "Night", "epoch": "last", "device": "auto"},
    )  # fmt: skip


def test_runs_without_a_network_are_named_before_images_are_asked_for(
    qtbot, session, window, seeds, workspace, notices
):
    bare = store_run(workspace, np.repeat(np.arange(3), 5)).run_id
    ticked(qtbot, session, [*seeds, bare])
    window.run_actions.exchange.test_ticked.trigger()
    qtbot.waitUntil(lambda: bool(notices))
    assert str(notices[-1]) == (
        f"1 ticked run cannot be tested without a checkpoint: {bare}. Nothing was tested. "
        "Untick what has none, then test the others."
    )
    assert not window.findChildren(OtherImagesDialog)


def test_tests_that_are_done_leave_the_page_and_the_ticks_of_a_person_who_went_on(
    qtbot, session, window, seeds, folder, begun, notices
):
    ticked(qtbot, session, seeds)
    window.run_actions.exchange.test_all_on([run for run in session.runs() if run.id in seeds], folder)
    session.show_page("map")
    begun[0][5]({"tests": [{"run_id": number, "remarks": ["Some were left out."]} for number in (7, 8)]})
    assert (session.page, session.ticks.runs) == ("map", frozenset(seeds))
    assert str(notices[-1]) == "2 runs tested on pages: runs 7, 8 in the Runs list. Some were left out."


def test_tests_of_another_workspace_are_not_ticked_in_this_one(
    qtbot, session, window, seeds, folder, begun, notices, tmp_path
):
    ticked(qtbot, session, seeds)
    window.run_actions.exchange.test_all_on([run for run in session.runs() if run.id in seeds], folder)
    before = session.workspace.path
    begun[0][5]({"tests": [{"run_id": 90, "remarks": []}]})  # not listed yet
    session.open_workspace(Workspace(tmp_path / "another", create=True))
    qtbot.waitUntil(lambda: session.workspace.path != before)
    assert session.ticks.runs == frozenset()


def test_the_action_is_off_where_no_ticked_run_may_keep_a_network(qtbot, session, window, workspace):
    action = window.run_actions.exchange.test_ticked
    assert not action.isVisible()
    bare = store_run(workspace, np.repeat(np.arange(3), 5)).run_id
    ticked(qtbot, session, [bare])
    assert (action.isVisible(), action.isEnabled()) == (True, True)
    elsewhere = store(workspace, {1: np.ones(6)}, facts={"imported": {"embeddings": "e.npy"}})
    ticked(qtbot, session, [elsewhere])
    assert (action.isVisible(), action.isEnabled()) == (True, False)


def test_ticked_tests_stand_for_the_networks_that_they_are_of(qtbot, session, window, workspace):
    bare = [store_run(workspace, np.repeat(np.arange(3), 5)).run_id for _ in range(2)]
    tests = [store_test(workspace, number, np.ones(6), called=called) for number in bare for called in ("snow", "fog")]
    ticked(qtbot, session, tests)
    action = window.run_actions.exchange.test_ticked
    assert (action.text(), action.isEnabled()) == ("Test 2 ticked runs on other images…", True)
