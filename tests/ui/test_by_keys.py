"""Without a mouse: the search of runs leads to its list, arrows pass every tab, Enter does what a double click does."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QTableWidget

from tests.ui.browsed import at_rest, open_page
from tests.ui.test_run_list import runs, window  # noqa: F401 - fixtures
from tests.ui.trained import trained_run
from workbench.datasets.inspection import Inspection
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.pages.setup.data.dialog import DataDialog
from workbench.ui.pages.train.curves.evaluation_table import EvaluationTable

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)


@pytest.fixture
def dock(window, qtbot):  # noqa: F811
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.runs.ask_search()
    assert window.focusWidget() is window.runs.search
    return window.runs


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Down])
def test_the_search_of_runs_leads_to_what_it_found(dock, session, runs, key):  # noqa: F811
    session.show_run(runs[0])
    QTest.keyClicks(dock.search, "alpha")
    QTest.keyClick(dock.search, key)
    assert dock.window().focusWidget() is dock.list
    assert session.run_id == runs[1]


def test_the_search_of_runs_keeps_the_shown_run_where_it_matches(dock, session, runs):  # noqa: F811
    session.show_run(runs[0])
    QTest.keyClicks(dock.search, "ce")
    QTest.keyClick(dock.search, Qt.Key.Key_Return)
    assert dock.window().focusWidget() is dock.list
    assert session.run_id == runs[0]


def test_escape_clears_the_search_of_runs_and_then_leaves_it(dock, session, runs):  # noqa: F811
    session.show_run(runs[0])
    QTest.keyClicks(dock.search, "alpha")
    QTest.keyClick(dock.search, Qt.Key.Key_Escape)
    assert dock.search.text() == ""
    assert dock.window().focusWidget() is dock.search
    QTest.keyClick(dock.search, Qt.Key.Key_Escape)
    assert dock.window().focusWidget() is dock.list
    assert session.run_id == runs[0]


def test_a_search_that_finds_no_run_keeps_the_focus(dock):
    QTest.keyClicks(dock.search, "no such run")
    QTest.keyClick(dock.search, Qt.Key.Key_Return)
    assert dock.window().focusWidget() is dock.search


def test_the_line_for_the_name_of_a_run_has_a_name(dock, session, runs, qtbot):  # noqa: F811
    session.show_run(runs[0])
    dock.list.setFocus()
    QTest.keyClick(dock.list, Qt.Key.Key_F2)
    qtbot.waitUntil(lambda: dock.list.findChild(QLineEdit) is not None)
    assert dock.list.findChild(QLineEdit).accessibleName() == "Name of the run"


def test_arrows_pass_every_tab_of_retrieval(qtbot, session, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    page = open_page(qtbot, session)
    session.show_run(run_id)
    at_rest(qtbot, page)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    bar = page.views.tabBar()
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: page.findChild(TriagePanel) is not None)
    panel = page.findChild(TriagePanel)
    qtbot.waitUntil(panel.isVisible)
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    assert page.focusWidget() is bar
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert not panel.isVisible()


def test_enter_in_the_table_of_evaluations_shows_that_epoch(qtbot, session, workspace, tmp_path):
    evaluations = workspace.evaluations(trained_run(workspace, tmp_path / "cache"))
    part = EvaluationTable(session.preferences, {}.get)
    qtbot.addWidget(part)
    part.show_evaluations(evaluations, 3)
    part.unfold.setChecked(True)
    with qtbot.waitExposed(part):
        part.show()
    part.table.setFocus()
    part.table.selectRow(1)
    with qtbot.waitSignal(part.chosen) as chosen:
        QTest.keyClick(part.table, Qt.Key.Key_Return)
    assert chosen.args == [part.model.evaluation(1).id]


def test_tab_meets_what_the_data_dialog_shows_before_its_buttons(qtbot):
    counts = np.ones((2, 1), int)
    dialog = DataDialog("mine", Inspection(2, 4, ("train",), counts, ["a", "b"], [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    bar = dialog.tabs.tabBar()
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    table = dialog.tabs.currentWidget().findChild(QTableWidget)
    qtbot.waitUntil(table.isVisible)
    QTest.keyClick(bar, Qt.Key.Key_Tab)
    met = [dialog.focusWidget()]
    while dialog.focusWidget() is not bar:
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        met.append(dialog.focusWidget())
    assert met.index(table) < met.index(dialog.copy_table)


def test_the_keys_of_a_command_are_changed_and_given_back_by_keys(qtbot, window):  # noqa: F811
    dialog = window.show_shortcuts()
    qtbot.waitUntil(dialog.isVisible)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    place = next(place for place, row in enumerate(dialog.rows) if row.key == "view.full-screen")
    row, changed = dialog.rows[place], QKeySequence("Ctrl+F11")
    dialog.table.setFocus()
    dialog.table.setCurrentCell(place, 1)
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert row.edit.isAncestorOf(dialog.focusWidget()) or dialog.focusWidget() is row.edit
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_F11, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.commands.shortcut(row.key) == changed)
    dialog.table.setFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Delete)
    assert window.commands.shortcut(row.key) == QKeySequence("F11")
    dialog.search.setFocus()
    QTest.keyClick(dialog.search, Qt.Key.Key_Tab)
    assert dialog.focusWidget() is dialog.table
    QTest.keyClick(dialog.table, Qt.Key.Key_Tab)
    assert not dialog.table.isAncestorOf(dialog.focusWidget())
    assert dialog.focusWidget() is not dialog.table
