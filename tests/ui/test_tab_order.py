"""Tab meets every control once, in reading order; groups of like buttons are one stop, with arrow keys inside."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from tests.ui.test_retrieval import page, run  # noqa: F401
from workbench.ui.pages.map.side.inspector import InspectorPanel
from workbench.ui.style.tab_order import order_regions
from workbench.ui.widgets.fields.editors import PathEditor
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.images.neighbour_card import NeighbourCard
from workbench.ui.widgets.one_stop import OneStop

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def shown(qtbot, *parts):
    """Widgets under each other in a window that has the focus."""
    window = QWidget()
    column = QVBoxLayout(window)
    for each in parts:
        column.addWidget(each)
    qtbot.shown(window, 400, 400)
    window.activateWindow()
    return window


def met_by_tab(qtbot, first, most=30):
    """What has the focus after each Tab, until `first` has it again."""
    first.setFocus()
    found = [first]
    for _ in range(most):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        if QApplication.focusWidget() is first:
            return found
        found.append(QApplication.focusWidget())
    raise AssertionError("Tab never came back to where it began")


def test_pages_of_tabs_are_met_behind_their_bar_and_before_what_stands_below(qtbot):
    above, inside, below, last = (QLineEdit() for _ in range(4))
    tabs, split = QTabWidget(), QSplitter(Qt.Orientation.Vertical)
    held, corner = QWidget(), QPushButton("Axis")
    QVBoxLayout(held).addWidget(inside)
    tabs.addTab(held, "One")
    tabs.setCornerWidget(corner)
    tabs.addTab(QWidget(), "Two")
    split.addWidget(tabs)
    split.addWidget(below)
    tabs.raise_()  # as a splitter or a stack of pages does: the order of children is that of what covers what
    window = shown(qtbot, above, split, last)
    order_regions([above, split, last])
    assert met_by_tab(qtbot, above) == [above, tabs.tabBar(), corner, inside, below, last]
    assert window.isVisible()


def test_a_group_is_one_stop_and_arrows_go_on_from_there(qtbot):
    before, group, after = QLineEdit(), QWidget(), QLineEdit()
    flow, stop = FlowLayout(group, spacing=4), OneStop(group)
    buttons = [QPushButton(str(number)) for number in range(6)]
    for each in buttons:
        each.setFixedSize(100, 30)
        flow.addWidget(each)
    window = shown(qtbot, before, group, after)
    window.resize(360, 300)
    order_regions([before, group, after])
    stop.show(buttons)
    qtbot.waitUntil(lambda: sum(each.y() == buttons[0].y() for each in buttons) == 3)
    assert met_by_tab(qtbot, before) == [before, buttons[0], after]
    buttons[0].setFocus()
    for key, place in ((Qt.Key.Key_Right, 1), (Qt.Key.Key_Down, 4), (Qt.Key.Key_Left, 3), (Qt.Key.Key_Left, 2)):
        with qtbot.waitSignal(stop.reached):
            qtbot.keyClick(QApplication.focusWidget(), key)
        assert QApplication.focusWidget() is buttons[place]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    assert QApplication.focusWidget() is buttons[2], "nothing stands above"
    assert met_by_tab(qtbot, before) == [before, buttons[2], after], "Tab comes back to the one used last"
    stop.show(buttons[:2])
    assert met_by_tab(qtbot, before)[1] is buttons[0]


def test_neighbours_are_one_stop_and_missed_ones_have_arrows_too(qtbot, page):  # noqa: F811
    page.activateWindow()
    order_regions([page])
    met = met_by_tab(qtbot, page.queries.table)
    assert page.result.cards[0] in met
    assert len([each for each in met if isinstance(each, NeighbourCard)]) <= 2, "one for each group"
    row = page.result.missed
    qtbot.waitUntil(lambda: len(row.cards) > 1)
    row.cards[0].setFocus()
    qtbot.keyClick(row.cards[0], Qt.Key.Key_Right)
    assert QApplication.focusWidget() is row.cards[1]


def test_neighbours_in_the_inspector_are_met_within_it(qtbot, session, page, run):  # noqa: F811
    panel, after = InspectorPanel(session), QLineEdit()
    window = shown(qtbot, panel, after)
    order_regions([panel, after])
    assert session.query is not None
    qtbot.waitUntil(lambda: bool(panel.spots) and panel.in_map.isVisible())
    window.activateWindow()
    met = met_by_tab(qtbot, panel.findChild(QScrollArea))
    assert met[1:] == [panel.spots[0], panel.in_map, panel.in_retrieval, after]


def test_a_path_field_that_is_made_later_is_one_stop_in_its_place(qtbot):
    above, below = QLineEdit(), QLineEdit()
    window = shown(qtbot, above, below)
    path = PathEditor("folder", [])
    window.layout().insertWidget(1, path)
    qtbot.waitUntil(path.isVisible)
    order_regions([above, path, below])
    assert met_by_tab(qtbot, above) == [above, path.findChild(QComboBox), path.browse, below]


def test_a_path_field_that_is_given_the_focus_can_be_typed_into(qtbot):
    path = PathEditor("folder", [])
    window = shown(qtbot, QLineEdit(), path)
    qtbot.waitUntil(window.isActiveWindow)
    path.setFocus()
    field = path.findChild(QComboBox)
    assert window.focusWidget() is field
    qtbot.keyClicks(field, "/data")
    assert path.value() == "/data"
