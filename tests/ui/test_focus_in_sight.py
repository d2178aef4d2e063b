"""What the keyboard focus goes to is scrolled into sight, also from outside of the part that is scrolled."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget

from workbench.ui.style.tab_order import order_regions, stops
from workbench.ui.window.frame.focus_in_sight import FocusInSight
from workbench.ui.window.frame.kept_focus import KeptFocus

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise")
HIGH = 900  # px of a part that is higher than the part that it is scrolled in


class Parts(QWidget):
    """A window with a line above a scrolled column of lines, and a button below it."""

    def __init__(self):
        super().__init__()
        self.above, self.below, self.area = QLineEdit(), QPushButton("Export"), QScrollArea()
        self.lines = [QLineEdit() for _ in range(30)]
        inside = QWidget()
        inner = QVBoxLayout(inside)
        self.high = QWidget()  # not a field, whose height a style sheet sets
        self.high.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.high.setFixedHeight(HIGH)
        for part in (*self.lines[:15], self.high, *self.lines[15:]):
            inner.addWidget(part)
        self.area.setWidget(inside)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        for part in (self.above, self.area, self.below):
            column.addWidget(part)
        order_regions([self])
        self.in_sight = FocusInSight(self)

    def shows(self, control):
        """Whether the whole of a control of the column is in sight."""
        place = QRect(control.mapTo(self.area.viewport(), QPoint(0, 0)), control.size())
        return self.area.viewport().rect().contains(place)


@pytest.fixture
def window(qtbot):
    made = Parts()
    qtbot.addWidget(made)
    made.resize(300, 300)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_tab_from_above_shows_the_first_line_again(window):
    bar = window.area.verticalScrollBar()
    window.above.setFocus()
    bar.setValue(bar.maximum())
    assert not window.shows(window.lines[0])
    QTest.keyClick(window.above, Qt.Key.Key_Tab)
    assert window.focusWidget() is window.lines[0]
    assert window.shows(window.lines[0])


def test_shift_tab_from_below_shows_the_last_line(window):
    window.below.setFocus()
    assert not window.shows(window.lines[-1])
    QTest.keyClick(window.below, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert window.focusWidget() is window.lines[-1]
    assert window.shows(window.lines[-1])


def test_a_part_that_is_higher_than_its_part_is_shown_from_its_top(window):
    window.above.setFocus()
    window.high.setFocus()
    top = window.high.mapTo(window.area.viewport(), QPoint(0, 0)).y()
    assert 0 <= top < window.area.viewport().height() // 2


def test_a_line_that_has_the_focus_back_does_not_scroll(window):
    window.kept = KeptFocus(window, window.above, lambda: list(stops([window])))
    window.above.setFocus()
    window.lines[0].setFocus()
    window.lines[0].setEnabled(False)
    bar = window.area.verticalScrollBar()
    bar.setValue(bar.maximum())
    window.lines[0].setEnabled(True)
    assert window.focusWidget() is window.lines[0]
    assert bar.value() == bar.maximum()
