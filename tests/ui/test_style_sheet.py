"""The style sheet: nothing changes its size when it takes the focus."""

import pytest
from PySide6.QtWidgets import QLabel, QTabWidget

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def test_the_tab_with_the_focus_is_as_large_as_without_it(session, qtbot):
    session.theme.apply()
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
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
