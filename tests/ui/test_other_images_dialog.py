"""The dialog of a test on other images lists the tests that a run's networks have had."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench.results.network_scores import OWN_HALF, NetworkScore
from workbench.ui.actions.other_images_dialog import HEAD, OtherImagesDialog

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)


@pytest.fixture
def dialog(qtbot, session, workspace, monkeypatch):
    """The dialog of a run with two evaluations; the second one is taken for that of a test on "night"."""
    stored = store_run(workspace, np.repeat(np.arange(3), 5))
    own, other = workspace.evaluations(stored.run_id)
    scores = [NetworkScore(stored.run_id, 1, OWN_HALF, own), NetworkScore(12, 1, "night", other)]
    monkeypatch.setattr("workbench.ui.actions.other_images_dialog.network_scores", lambda *_: scores)
    dialog = OtherImagesDialog(session, [workspace.run(stored.run_id)], lambda *_: None)
    with qtbot.waitExposed(dialog):
        dialog.show()
    yield dialog
    dialog.close()  # which deletes it


def test_earlier_tests_stand_beside_the_own_test_half(qtbot, dialog):
    table = dialog.scores
    qtbot.waitUntil(table.isVisible)
    cells = [[table.item(row, column).text() for column in range(len(HEAD))] for row in range(table.rowCount())]
    assert [row[1:5] for row in cells] == [[OWN_HALF, "1", "0", "11.0%"], ["night", "1", "0", "12.0%"]]
    assert cells[1][0] == "12"
    assert dialog.height() >= dialog.sizeHint().height()
