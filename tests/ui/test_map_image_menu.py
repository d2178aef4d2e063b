"""The menu of a point's image on the map: by a right click, and by the menu key for the query."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.ui.widgets.images.image_menu import ImageMenu

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")
RIGHT, NO_KEYS = Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def page(shown_map, workspace, tmp_path):
    """The map of a run whose images are files."""
    with workspace.writing() as db:
        db.execute("update datasets set root = ?", (str(tmp_path),))
    return shown_map("pca")


def menu_of_point(page, canvas, row):
    QTest.mouseClick(canvas.viewport(), RIGHT, NO_KEYS, canvas.place_of(row).toPoint())
    return QApplication.activePopupWidget()


def path_of(session, sample):
    samples = session.workspace.samples(session.dataset().id)
    return samples.paths[samples.ids.tolist().index(sample)]


def test_a_right_click_on_a_point_opens_the_menu_of_its_image_and_selects_nothing(page, session, qtbot):
    canvas = page.canvas
    row = int(canvas.data.points[:, 0].argmax())
    menu = menu_of_point(page, canvas, row)
    assert isinstance(menu, ImageMenu)
    assert not len(session.selection)
    qtbot.waitUntil(menu.copy_path.isEnabled)  # once the first pictures are there
    menu.copy_path.trigger()
    assert QGuiApplication.clipboard().text().endswith(path_of(session, int(canvas.data.ids[row])))
    menu.close()
    QTest.mouseClick(canvas.viewport(), RIGHT, NO_KEYS, QPoint(3, 3))
    assert QApplication.activePopupWidget() is None, "there is no point"


def test_the_second_map_has_the_menu_too(page, qtbot):
    page.commands.beside.trigger()
    canvas = page.second.canvas
    qtbot.waitUntil(lambda: canvas.data is not None and canvas.width() > 100)
    qtbot.settle(page)
    menu = menu_of_point(page, canvas, int(canvas.data.points[:, 0].argmax()))
    assert isinstance(menu, ImageMenu)
    menu.close()


def test_the_menu_key_opens_the_menu_of_the_query(page, session, qtbot):
    canvas = page.canvas
    session.show_query(int(canvas.data.ids[3]))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), canvas.mapToGlobal(QPoint(5, 5)))
    QApplication.sendEvent(canvas.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, ImageMenu)
    qtbot.waitUntil(menu.copy_path.isEnabled)  # once the first pictures are there
    menu.copy_path.trigger()
    assert QGuiApplication.clipboard().text().endswith(path_of(session, int(canvas.data.ids[3])))
    menu.close()
