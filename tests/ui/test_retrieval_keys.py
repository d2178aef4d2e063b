"""Keys of the Retrieval page, and a picture that is dropped or pasted, as a person does it."""

import pytest
from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QImage

from tests.ui.test_retrieval import click_row, drop, embedder, page, rest, run  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")
ALT, CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


def picture():
    made = QImage(6, 4, QImage.Format.Format_RGB32)
    made.fill(QColor(10, 20, 30))
    return made


def test_alt_and_arrows_go_back_and_forward(qtbot, page, session, rest):  # noqa: F811
    first = session.query
    click_row(qtbot, page, 4)
    second = session.query
    qtbot.keyClick(page.queries.table, Qt.Key.Key_Left, ALT)
    assert session.query == first
    rest()
    qtbot.keyClick(page.queries.table, Qt.Key.Key_Right, ALT)
    assert session.query == second


def test_m_shows_the_query_in_the_map(qtbot, page, session):  # noqa: F811
    with qtbot.waitSignal(session.page_asked) as asked:
        qtbot.keyClick(page.queries.table, Qt.Key.Key_M)
    assert asked.args == ["map"]
    assert session.selection.tolist() == [session.query]


def test_a_key_opens_the_tags_of_the_query_and_a_tag_moves_nothing(qtbot, page, rest):  # noqa: F811
    rest()
    result, menu = page.result, page.tagging.menu
    QTimer.singleShot(0, lambda: qtbot.keyClick(menu, Qt.Key.Key_Down))
    QTimer.singleShot(0, lambda: qtbot.keyClick(menu, Qt.Key.Key_Return))
    qtbot.keyClick(page.queries.table, Qt.Key.Key_G, CTRL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: result.tags.isVisible())
    assert result.tags.text() == "Tagged: label wrong"
    qtbot.waitUntil(lambda: result.tags.x() > result.path.geometry().right())
    assert result.tags.geometry().center().y() == result.path.geometry().center().y(), "in the line of the path"


def test_brackets_go_through_the_evaluations(qtbot, page, session, run):  # noqa: F811
    qtbot.keyClick(page.queries.table, Qt.Key.Key_BracketLeft)
    assert session.evaluation_id == run.evaluations[0]
    qtbot.keyClick(page.queries.table, Qt.Key.Key_BracketRight)
    assert session.evaluation_id == run.evaluations[1]


def test_ctrl_v_searches_with_the_pasted_picture(qtbot, page, embedder):  # noqa: F811
    QGuiApplication.clipboard().setImage(picture())
    qtbot.keyClick(page.queries.table, Qt.Key.Key_V, CTRL)
    qtbot.waitUntil(page.result.own.isVisible)
    assert embedder[0][0, 0].tolist() == [10, 20, 30]


def test_a_dropped_picture_is_searched_with(qtbot, page, embedder):  # noqa: F811
    data = QMimeData()
    data.setImageData(picture())
    assert drop(page, data)
    qtbot.waitUntil(page.result.own.isVisible)
    assert embedder[0].shape == (4, 6, 3)
    assert page.result.title.text() == "Dropped image"
