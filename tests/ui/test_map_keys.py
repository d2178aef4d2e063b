"""What the mouse and single keys do on the map besides selecting: the wheel, pictures, named selections."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from small_run import store_run

from tests.ui.test_map import LABELS, choose, open_page

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")
NOTCH = 120  # of a wheel


@pytest.fixture
def page(qtbot, session, analysis, workspace):
    session.show_run(store_run(workspace, LABELS).run_id)
    made = open_page(qtbot, session)
    choose(made.settings.method, "pca")
    qtbot.waitUntil(lambda: made.model.map is not None)
    return made


def wheel(canvas, at, notches):
    port, none = canvas.viewport(), Qt.MouseButton.NoButton
    turned = QPoint(0, notches * NOTCH)
    place = QPointF(port.mapToGlobal(at.toPoint()))
    plain, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, place, QPoint(), turned, none, plain, phase, False)
    QApplication.sendEvent(port, event)


def test_the_wheel_zooms_about_the_pointer_and_back(page):
    canvas = page.canvas
    before, at = canvas.box.viewRect(), canvas.place_of(7)
    wheel(canvas, at, 3)
    assert canvas.box.viewRect().width() < 0.9 * before.width()
    near = canvas.place_of(7)
    assert np.hypot(near.x() - at.x(), near.y() - at.y()) < 2, "what the pointer is on stays under it"
    wheel(canvas, at, -3)
    assert canvas.box.viewRect().width() == pytest.approx(before.width(), rel=1e-6)


def test_t_switches_the_pictures(qtbot, page):
    assert page.canvas.thumbnails.wanted
    qtbot.keyClick(page.canvas, Qt.Key.Key_T)
    assert not page.canvas.thumbnails.wanted
    assert not page.commands.pictures.isChecked()
    qtbot.keyClick(page.canvas, Qt.Key.Key_T)
    assert page.canvas.thumbnails.wanted


def test_n_shows_the_named_selections(qtbot, page):
    qtbot.keyClick(page.canvas, Qt.Key.Key_N)
    assert page.named.isVisible()
    page.named.close()
    qtbot.mouseClick(page.selections, Qt.MouseButton.LeftButton)
    assert page.named.isVisible()
    page.named.close()
