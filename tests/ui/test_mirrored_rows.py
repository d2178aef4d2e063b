"""Painted rows in a window whose layout runs from right to left: their parts are at the other side, none overlap."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from workbench.ui.docks.run_row import RunRow, box_of
from workbench.ui.docks.runs import RunsDock
from workbench.ui.models.run_list import FOLD_ROLE, RunList
from workbench.ui.pages.map.side.legend_row import COLOUR_ROLE, COUNT_ROLE, NAME_ROLE, SCORE_ROLE, LegendRow
from workbench.ui.style import theme
from workbench.ui.style.mirrored import mirrored

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
SIZE = 300, 44


def painted(row, index, direction):
    """A row as pixels [h, w, 3], drawn as a view of this direction draws it."""
    view = QWidget()
    view.setLayoutDirection(direction)
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    option = QStyleOptionViewItem()
    option.direction, option.rect, option.font = direction, QRect(0, 0, *SIZE), view.font()
    painter = QPainter(image)
    painter.setLayoutDirection(direction)
    row.paint(painter, option, index)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(SIZE[1], SIZE[0], 4)[:, :, 2::-1].copy()


def columns_of(pixels, colour):
    """The columns in which this colour is painted, rising."""
    wanted = QColor(colour)
    is_it = (pixels == (wanted.red(), wanted.green(), wanted.blue())).all(2)
    return np.flatnonzero(is_it.any(0))


def ink(pixels):
    """The number of columns that are not white."""
    return int((pixels != 255).any((0, 2)).sum())


def test_a_part_of_a_row_is_mirrored_within_the_row():
    option = QStyleOptionViewItem()
    option.rect = QRect(10, 0, 100, 20)
    option.direction = LEFT
    assert mirrored(option, QRectF(15, 2, 30, 5)) == QRectF(15, 2, 30, 5)
    option.direction = RIGHT
    assert mirrored(option, QRectF(15, 2, 30, 5)) == QRectF(75, 2, 30, 5)


def test_a_row_of_the_run_list_has_its_parts_at_the_other_side_and_apart(qtbot, session, config):
    session.workspace.create_run(config)
    session.follower.look()
    model = RunList()
    model.show(session.runs(), session.experiments())
    row, index = RunRow(), model.index(0)
    dot = theme.run_colour(session.runs()[0].colour)
    first, last = (columns_of(painted(row, index, way), dot) for way in (LEFT, RIGHT))
    assert len(first) == len(last) > 4
    assert abs((SIZE[0] - 1 - last[-1]) - first[0]) <= 1
    assert abs(ink(painted(row, index, LEFT)) - ink(painted(row, index, RIGHT))) <= 6, "no word is over another"


def test_a_row_of_the_legend_is_mirrored_with_its_bar():
    model, item = QStandardItemModel(), QStandardItem()
    for role, value in ((NAME_ROLE, "flamingo"), (COUNT_ROLE, 120), (SCORE_ROLE, 0.4), (COLOUR_ROLE, 0xFF0072B2)):
        item.setData(value, role)
    model.appendRow(item)
    row = LegendRow()
    row.beside = 80
    left, right = (painted(row, model.index(0, 0), way) for way in (LEFT, RIGHT))
    assert (SIZE[0] - 1 - columns_of(right, "#0072B2"))[::-1] == pytest.approx(columns_of(left, "#0072B2"), abs=1)
    assert abs(ink(left) - ink(right)) <= 6


def test_a_click_on_the_mirrored_box_ticks_the_run(qtbot, session, config, actions):
    run_id = session.workspace.create_run(config)
    session.follower.look()
    dock = qtbot.addWidget(RunsDock(session, actions))
    dock.setLayoutDirection(RIGHT)
    dock.resize(320, 400)
    dock.show()
    qtbot.waitUntil(lambda: dock.list.model().rowCount() == 1)
    index = dock.list.model().index(0, 0)
    row = dock.list.visualRect(index)
    box = box_of(row, index.data(FOLD_ROLE), RIGHT)
    assert box.left() > row.center().x()
    QTest.mouseClick(dock.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.center()))
    assert session.ticks.runs == {run_id}
