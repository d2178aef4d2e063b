"""The style sheet: nothing changes its size when it takes the focus, and opened lists show all of their rows."""

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QTabWidget

from workbench.ui.widgets.fields.elided_box import ElidedBox

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard", extend=True)


def test_the_tab_with_the_focus_is_as_large_as_without_it(session, qtbot):
    session.theme.apply()
    tabs = qtbot.addWidget(QTabWidget())
    for words in ("Curves", "Anatomy"):
        tabs.addTab(QLabel(words), words)
    tabs.show()
    tabs.activateWindow()
    bar = tabs.tabBar()

    def sizes():
        bar.setTabText(1, "")
        bar.setTabText(1, "Anatomy")  # has the bar measure its tabs again
        return [bar.tabRect(index).size() for index in range(bar.count())]

    bar.setFocus()
    qtbot.waitUntil(bar.hasFocus)
    bar.clearFocus()
    without = sizes()
    bar.setFocus()
    assert bar.hasFocus()
    assert sizes() == without


@pytest.mark.parametrize("count", [3, 19])
def test_an_opened_list_of_choices_shows_its_last_row(session, qtbot, count):
    session.theme.apply()
    box = qtbot.addWidget(QComboBox())
    box.addItems([f"choice {number}" for number in range(count)])
    with qtbot.waitExposed(box):
        box.show()
    box.showPopup()
    rows = box.view()
    qtbot.waitUntil(rows.isVisible)
    assert rows.verticalScrollBar().maximum() == 0
    assert rows.visualRect(rows.model().index(count - 1, 0)).bottom() < rows.viewport().height()
    box.hidePopup()


def test_the_list_of_a_narrow_box_has_room_for_its_longest_title(session, qtbot):
    session.theme.apply()
    box = qtbot.addWidget(ElidedBox())
    box.addItems(["Class", "Average precision of the query"])
    box.setFixedWidth(90)
    with qtbot.waitExposed(box):
        box.show()
    box.showPopup()
    qtbot.waitUntil(box.view().isVisible)
    assert box.view().viewport().width() >= box.view().sizeHintForColumn(0)
    box.hidePopup()
