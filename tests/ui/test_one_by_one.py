"""Plots that come to light together are painted in turns of the event loop of their own."""

from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QGraphicsScene, QGraphicsView, QScrollArea, QVBoxLayout, QWidget

from tests.ui.seen import Counted
from workbench.ui.plots.one_by_one import OneByOne

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # Qt's offscreen platform, at every show
COUNT = 4


class Painted(QGraphicsView):
    """Notes in which of the window's paintings it was painted whole."""

    turns: Counted  # events that the window is asked to paint in

    def __init__(self) -> None:
        super().__init__(QGraphicsScene())
        self.painted_in: list[int] = []

    def paintEvent(self, event: Any) -> None:  # noqa: N802
        super().paintEvent(event)
        self.painted_in.append(self.turns.count)


class View(OneByOne, Painted):
    pass


@pytest.fixture
def window(qtbot):
    """A window with some views on it, not shown yet."""
    made = qtbot.addWidget(QWidget())
    column = QVBoxLayout(made)
    turns = Counted(made, QEvent.Type.UpdateRequest)
    made.views = [View() for _ in range(COUNT)]
    for view in made.views:
        view.turns = turns
        column.addWidget(view)
    made.resize(300, 900)
    return made


def painted(window) -> list[int]:
    return [view.painted_in[0] for view in window.views if view.painted_in]


def test_no_painting_of_the_window_holds_two_of_them(window, qtbot):
    window.show()
    qtbot.waitUntil(lambda: len(painted(window)) == COUNT)
    assert len(set(painted(window))) == COUNT


def test_nor_does_one_after_a_while_without_updates(window, qtbot):
    window.setUpdatesEnabled(False)  # as a page that is turned
    with qtbot.waitSignal(window.views[0].came_to_light):
        window.show()
    window.setUpdatesEnabled(True)
    qtbot.waitUntil(lambda: len(painted(window)) == COUNT)
    assert len(set(painted(window))) == COUNT


def test_nor_does_one_when_all_have_new_numbers_at_once(window, qtbot):
    window.show()
    qtbot.waitUntil(lambda: len(painted(window)) == COUNT)
    for view in window.views:
        view.painted_in.clear()
        view.take_turn()
        view.take_turn()  # more of them meanwhile
    qtbot.waitUntil(lambda: len(painted(window)) == COUNT)
    assert len(set(painted(window))) == COUNT


def test_one_that_is_out_of_sight_or_gone_holds_up_no_other(window, qtbot):
    area = QScrollArea()
    area.setWidget(window)
    area.resize(300, 200)
    area.verticalScrollBar().setValue(0)
    gone, lit = window.views.pop(1), []
    for view in window.views:
        view.came_to_light.connect(partial(lit.append, view))
    area.show()
    gone.deleteLater()
    QApplication.sendPostedEvents(gone, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: len(lit) == len(window.views))
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    qtbot.waitUntil(lambda: bool(window.views[-1].painted_in))
    area.takeWidget()  # the window belongs to its fixture
