"""The first map is fitted to the room that a second one leaves it, with all its points in view."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from small_run import blobs, store_run

from workbench.ui.pages.map import MapPage
from workbench.ui.pages.map.model.method import MapMethod

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(5), 12)


@pytest.fixture
def page(qtbot, session, workspace):
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.2, 1), blobs(LABELS, 0.2, 0)])
    session.show_run(run.run_id)
    made = MapPage(session)
    made.model.choose_method(MapMethod("pca"))
    qtbot.shown(made, 1200, 640)
    qtbot.waitUntil(lambda: made.model.map is not None)
    return made


def covered(page):
    """How many points lie beyond the edge of the first map."""
    free = page.canvas.rect()
    places = [page.canvas.place_of(row).toPoint() for row in range(len(page.model.map.points))]
    return sum(not free.contains(each) for each in places)


def test_the_first_map_is_fitted_as_the_second_opens_and_closes(qtbot, page):
    assert covered(page) == 0
    wide = page.canvas.width()
    page.canvas.box.translateBy(x=page.canvas.box.viewRange()[0][1])
    assert covered(page) > 0
    qtbot.keyClick(page.canvas, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: page.second.data is not None)
    assert page.canvas.width() < wide
    assert covered(page) == 0
    qtbot.keyClick(page.canvas, Qt.Key.Key_B)
    assert page.canvas.width() == wide
    assert covered(page) == 0
