"""The dialog of a test on other images lists the tests that a run's networks have had, and says which are the same."""

from pathlib import Path

import numpy as np
import pytest
from shiboken6 import isValid

from tests.unit.comparing.compared_runs import store, store_test
from workbench.results.network_scores import OWN_HALF
from workbench.ui.actions.exchange.other_images_dialog import OtherImagesDialog
from workbench.ui.widgets.evaluation.network_table import HEAD

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
NUMBERS = np.array([0.8, 0.6, 0.4, 0.2, 0.9, 0.7])


@pytest.fixture
def runs(workspace):
    """Two runs of one epoch."""
    return [store(workspace, {1: NUMBERS}, seed=seed) for seed in range(2)]


@pytest.fixture
def photos(tmp_path):
    (tmp_path / "photos").mkdir()
    return tmp_path / "photos"


@pytest.fixture
def opened(qtbot, session, workspace):
    """Opens the dialog of some runs, once it has read their tests."""
    dialogs = []

    def open_dialog(*numbers):
        dialog = OtherImagesDialog(session, [workspace.run(number) for number in numbers], lambda *_: None)
        dialogs.append(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        qtbot.waitUntil(lambda: dialog.so_far.isVisible())
        return dialog

    yield open_dialog
    for dialog in filter(isValid, dialogs):
        dialog.close()  # which deletes it


def cells(dialog):
    table = dialog.so_far.table
    return [[table.item(row, column).text() for column in range(len(HEAD))] for row in range(table.rowCount())]


def test_earlier_tests_stand_below_the_own_test_half_the_newest_first(opened, workspace, runs):
    first, second = (store_test(workspace, runs[0], NUMBERS / part, called=f"night{part}") for part in (1, 2))
    dialog = opened(runs[0])
    assert cells(dialog) == [
        [str(runs[0]), OWN_HALF, "1", "6", "60.0%", "66.7%"],
        [str(second), "night2", "1", "6", "30.0%", "0.0%"],
        [str(first), "night1", "1", "6", "60.0%", "66.7%"],
    ]
    assert dialog.height() >= dialog.sizeHint().height()
    assert not dialog.so_far.rest.isVisible()


def test_of_many_tests_the_newest_are_listed_and_the_rest_is_counted(opened, workspace, runs, monkeypatch):
    for module in ("ui.actions.exchange.other_images_dialog", "ui.widgets.evaluation.network_table"):
        monkeypatch.setattr(f"workbench.{module}.MOST_READ", 2)
    tests = [store_test(workspace, runs[0], NUMBERS, called=f"night{part}") for part in range(4)]
    dialog = opened(runs[0])
    assert [row[0] for row in cells(dialog)] == [str(runs[0]), str(tests[3]), str(tests[2])]
    assert dialog.so_far.rest.text() == "2 older tests not listed; the Runs list has all"


def test_a_test_of_the_same_network_on_the_same_images_is_said_and_shown(
    qtbot, opened, session, workspace, runs, photos
):
    before = store_test(workspace, runs[0], NUMBERS, images=str(photos))
    store_test(workspace, runs[0], NUMBERS, epoch=2, images=str(photos))
    store_test(workspace, runs[1], NUMBERS, images=str(photos))
    dialog = opened(runs[0])
    dialog.images.take(str(photos.parent))
    assert (dialog.before.isVisible(), dialog.start.text()) == (False, "Test")
    dialog.images.take(str(photos))
    assert dialog.before.text() == (
        f"Run {before} is a test of this network on these images, with MAP@R 60.0%. If the images have not changed "
        "since, a new test gives the same scores."
    )
    assert (dialog.start.text(), dialog.start.isEnabled(), dialog.look.text()) == (
        "Test again", True, f"Show run {before}",
    )  # fmt: skip
    dialog.look.click()
    assert (session.run_id, session.page) == (before, "train")
    qtbot.waitUntil(lambda: not isValid(dialog))


def test_of_several_networks_those_that_were_tested_are_counted_and_compared(
    qtbot, opened, session, workspace, runs, photos
):
    tests = [store_test(workspace, number, NUMBERS, images=str(photos)) for number in runs]
    third = store(workspace, {1: NUMBERS}, seed=2)
    dialog = opened(*tests, third)
    assert [dialog.network.itemText(row) for row in range(dialog.network.count())] == [
        "Best epoch; for a test, the tested one"
    ]
    dialog.images.take(str(photos))
    assert dialog.before.text().startswith(
        f"2 of the 3 networks were tested on these images before: runs {tests[0]}, {tests[1]}. "
    )
    dialog.look.click()
    assert session.ticks.runs == frozenset(tests)
    assert session.page == "compare"


def test_a_row_of_the_table_shows_that_run(qtbot, opened, session, workspace, runs):
    before = store_test(workspace, runs[0], NUMBERS, images=str(Path("elsewhere")))
    dialog = opened(runs[0])
    dialog.so_far.table.activated.emit(dialog.so_far.table.model().index(1, 0))
    assert (session.run_id, session.page) == (before, "train")


@pytest.mark.parametrize("text", ["~nobody-has-this-name/photos", "/" + "long" * 100, "nul\0"])
def test_a_path_that_no_system_has_is_said(opened, workspace, runs, text):
    store_test(workspace, runs[0], NUMBERS)
    dialog = opened(runs[0])
    dialog.images.set_value(text)
    dialog.images.edited.emit()
    assert dialog.said.text().startswith("There is no folder or file ")
    assert not dialog.start.isEnabled()
