"""Who owns whom: a form whose rows come and go takes nothing of the window with it."""

import gc

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent

from workbench import registry
from workbench.ui.window.main_window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def test_rows_that_go_take_no_menu_and_no_layout_with_them(qtbot, session):
    registry.discover_all()
    session.set_catalog(registry.catalog())
    session.theme.apply()
    window = qtbot.shown(MainWindow(session))
    window.make_ready()
    session.show_page("train")
    session.show_page("setup")
    page = window.pages.page("setup")
    for key in ("cub-ce", "sample-digits", "photographs-unseen"):
        page.chooser.setCurrentIndex(page.chooser.findData(key))
        page.chooser.activated.emit(page.chooser.currentIndex())
        page.runner.drop()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert shiboken6.isValid(window.menus.page)
        assert shiboken6.isValid(window.menus.file)
    session.show_page("train")
    window.grab()
