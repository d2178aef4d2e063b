"""The window's frame: docks, layout, palette, shortcuts, theme, messages, closing, what it remembers."""

import gc
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QGuiApplication, QKeySequence, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from tests.ui.started import started
from workbench.problem import Problem
from workbench.ui.actions.trash_actions import LIVE
from workbench.ui.docks.inspector import NARROW
from workbench.ui.docks.runs import NARROWEST, NO_MATCH
from workbench.ui.models.run_list import FILTERS
from workbench.ui.preferences import Preferences
from workbench.ui.state.commands import score
from workbench.ui.state.concern import EVERYWHERE, of_page
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.window.frame.window_layout import SMALLEST
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process.defects import Defects
from workbench.workspace import Workspace

# Qt's offscreen platform says this of every dialog with a smallest size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture(autouse=True)
def _blank_pages(monkeypatch):
    """The frame alone: the pages have tests of their own."""

    def blank(self, info):
        page = QWidget()
        page.setAccessibleName(info.name)
        return page

    monkeypatch.setattr("workbench.ui.window.page_stack.PageStack.make", blank)


@pytest.fixture
def open_window(qtbot):
    """A function that opens a window on a session."""

    def open_on(session, size=(1440, 900)):
        session.theme.apply()
        return qtbot.shown(MainWindow(session), *size)

    return open_on


@pytest.fixture
def window(session, open_window):
    return open_window(session)


# Opening


def test_an_empty_workspace_opens_with_cards_docks_and_an_empty_list(window, session):
    assert window.welcome.isVisible()
    assert window.runs.isVisible()
    assert not window.inspector.isVisible(), "nothing is selected"
    assert window.activity.head.isVisible()
    assert not window.activity.isVisible(), "folded"
    assert "No runs yet" in [each.text() for each in window.runs.findChildren(QLabel)]
    assert window.status.folder.text() == str(session.workspace.path)
    assert window.pages.currentWidget().accessibleName() == "setup"


def test_the_window_is_never_larger_than_a_small_screen(window):
    room = window.screen().availableGeometry()
    assert room.width() < SMALLEST[0], "the screen of the tests is small"
    assert window.minimumWidth() < room.width()
    assert window.minimumHeight() == SMALLEST[1] < room.height()


def test_the_first_card_has_set_up_start_the_sample(window, session, qtbot):
    with qtbot.waitSignal(session.start_offered) as caught:
        qtbot.mouseClick(window.welcome.sample.button, Qt.MouseButton.LeftButton)
    assert caught.args[0].name == "Sample: Digits"
    assert session.runs() == []


def test_the_start_cards_go_once_images_were_chosen_and_come_back_when_asked_for(qtbot, window, session, tmp_path):
    session.data_chosen.emit()
    assert not window.welcome.isVisible()
    window.show_page("train")
    window.show_page("setup")
    assert not window.welcome.isVisible()
    window.commands["view.welcome"].trigger()
    assert window.welcome.isVisible()
    (tmp_path / "images" / "class").mkdir(parents=True)
    (tmp_path / "images" / "class" / "one.png").write_bytes(b"")
    window.opening.offer(tmp_path / "images")
    qtbot.waitUntil(lambda: not window.welcome.isVisible())


def test_the_first_paint_is_said_once(qtbot, session):
    window = qtbot.addWidget(MainWindow(session))
    with qtbot.waitSignal(window.painted):
        window.show()
    with qtbot.assertNotEmitted(window.painted, wait=50):
        window.repaint()


def test_every_page_has_its_key_and_its_place_in_the_rail(qtbot, window):
    for place, info in enumerate(PAGES, start=1):
        action = window.commands[f"view.{info.name}"]
        assert action.shortcut() == QKeySequence(f"Ctrl+{place}")
        action.trigger()
        assert window.pages.currentWidget().accessibleName() == info.name
        assert action.isChecked()
        assert window.session.page == info.name


def test_icon_buttons_have_names_and_take_the_focus(window):
    for each in window.findChildren(QAbstractButton):
        if each.isVisible():
            assert each.text() or each.accessibleName(), each
            assert each.focusPolicy() & Qt.FocusPolicy.TabFocus, each.accessibleName() or each.text()


def test_tab_goes_through_the_regions_in_reading_order(qtbot, with_inspector):
    window = with_inspector
    regions = (window.rail, window.runs, window.inspector, window.status)
    window.activateWindow()
    next(button for button in window.rail.findChildren(QAbstractButton) if button.isVisible()).setFocus()
    met = []
    for _ in range(60):
        focused = QApplication.focusWidget()
        at = next((place for place, region in enumerate(regions) if region.isAncestorOf(focused)), None)
        if at is not None and (not met or met[-1] != at):
            met.append(at)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert met[: len(regions)] == list(range(len(regions)))


def test_f6_goes_through_the_parts_and_comes_back_to_what_had_the_focus(qtbot, with_inspector):
    window = with_inspector
    parts = (window.runs, window.pages, window.inspector)
    window.activateWindow()
    window.runs.search.setFocus()

    def press(key, modifier=Qt.KeyboardModifier.NoModifier):
        qtbot.keyClick(QApplication.focusWidget(), key, modifier)
        focused = QApplication.focusWidget()
        return next((place for place, part in enumerate(parts) if part.isAncestorOf(focused)), None)

    assert [press(Qt.Key.Key_F6) for _ in range(3)] == [1, 2, 0]
    assert QApplication.focusWidget() is window.runs.search
    assert [press(Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier) for _ in range(3)] == [2, 1, 0]
    window.inspector.hide()
    assert [press(Qt.Key.Key_F6) for _ in range(2)] == [1, 0]


def page_with_a_scroll_area():
    page, inside = QWidget(), QLineEdit()
    column, area, holder = QVBoxLayout(), QScrollArea(), QWidget()
    QVBoxLayout(holder).addWidget(inside)
    area.setWidget(holder)
    column.addWidget(area)
    page.setLayout(column)
    return page, inside


def test_every_widget_of_a_page_survives_a_collection(window):
    """What PySide is asked about a widget may change who owns it: once an answer deleted a page's scroll area."""
    page, inside = page_with_a_scroll_area()
    window.pages.addWidget(page)
    window.pages.made.emit("train", page)
    gc.collect()
    assert shiboken6.isValid(inside)


def test_labels_never_interpret_what_they_show(window, session, config, qtbot):
    name = "<img src=x>&<b>bold</b>"
    session.show_run(session.workspace.create_run(config.model_copy(update={"name": name})))
    session.notify(Problem(name))
    qtbot.waitUntil(lambda: name in window.rail.run.text())
    for each in window.findChildren(QLabel):
        if "<" in each.text():
            assert each.textFormat() == Qt.TextFormat.PlainText


# Docks and layout


@pytest.mark.parametrize("name", ["runs", "inspector", "activity"])
def test_a_hidden_dock_comes_back(window, name):
    dock, toggle = getattr(window, name), window.commands[f"view.dock-{name}"]
    dock.close()
    assert not dock.isVisible()
    assert not toggle.isChecked()
    toggle.trigger()
    assert dock.isVisible()


def test_reset_layout_brings_everything_to_its_first_place(window):
    window.runs.close()
    window.activity.set_unfolded(True)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, window.inspector)
    window.inspector.fold()
    window.commands["view.reset-layout"].trigger()
    assert window.runs.isVisible()
    assert not window.activity.fold.isChecked()
    assert window.dockWidgetArea(window.inspector) == Qt.DockWidgetArea.RightDockWidgetArea
    assert not window.inspector.folded


def test_the_inspector_stands_where_something_is_selected(window, session):
    seen = {}
    for page in ("setup", "train", "map", "retrieval", "compare", "report"):
        window.show_page(page)
        session.select(np.array([3]))
        seen[page] = window.inspector.isVisible()
        session.select(np.empty(0, np.int64))
        assert not window.inspector.isVisible()
    assert [page for page, shown in seen.items() if shown] == ["map", "retrieval"]
    session.select(np.array([3]))
    window.show_page("map")
    window.inspector.close()
    session.select(np.array([4]))
    assert not window.inspector.isVisible(), "the person closed it"


def test_the_inspector_leaves_retrieval_its_room_for_the_query_alone(window, session):
    window.show_page("retrieval")
    session.show_query(3)
    assert not window.inspector.isVisible(), "the page shows the query"
    session.select(np.array([3]))
    assert not window.inspector.isVisible()
    session.select(np.array([3, 4]))
    assert window.inspector.isVisible()
    session.select(np.empty(0, np.int64))
    assert not window.inspector.isVisible()
    window.inspector.toggleViewAction().trigger()
    session.show_query(4)
    assert window.inspector.isVisible(), "the person opened it"
    window.show_page("train")
    assert not window.inspector.isVisible()


@pytest.fixture
def with_inspector(window, session):
    """The window on a page where something is selected."""
    window.show_page("map")
    session.select(np.array([3]))
    return window


def test_the_inspector_folds_where_the_window_is_narrow(qtbot, with_inspector):
    window = with_inspector
    window.resize(1280, 720)
    qtbot.waitUntil(lambda: window.inspector.width() < 60)
    window.inspector.unfold()
    window.resize(1300, 720)
    assert not window.inspector.folded, "the person's choice holds while the window stays narrow"
    window.resize(NARROW + 50, 800)
    window.resize(1280, 720)
    assert window.inspector.folded


def test_large_text_folds_the_inspector_in_a_window_that_was_wide_enough(qtbot, with_inspector, session):
    window = with_inspector
    window.show_page("retrieval")  # it stands aside for the map
    window.resize(NARROW + 50, 800)
    assert not window.inspector.folded
    session.theme.set_text_size(150)
    qtbot.waitUntil(lambda: window.inspector.folded)
    session.theme.set_text_size(100)
    qtbot.waitUntil(lambda: not window.inspector.folded)


def test_the_inspector_stands_aside_for_the_map_and_comes_back(qtbot, window):
    assert not window.inspector.folded
    window.show_page("map")
    assert window.inspector.folded
    window.show_page("retrieval")
    assert not window.inspector.folded
    window.inspector.fold()
    window.show_page("map")
    window.show_page("train")
    assert window.inspector.folded, "the person folded it"


def test_nothing_is_wider_than_a_small_window(qtbot, session, open_window):
    window = open_window(session, (1280, 720))
    session.theme.set_text_size(150)
    qtbot.deliver()
    assert window.minimumSizeHint().width() <= 1280
    assert window.width() == 1280


def test_a_page_with_a_long_caption_does_not_push_the_docks(qtbot, session, open_window, monkeypatch):
    long = "one caption that is far too long " * 20
    monkeypatch.setattr("workbench.ui.window.page_stack.PageStack.make", lambda self, info: QLabel(long))
    window = open_window(session)
    before = window.runs.width(), window.inspector.width()
    window.show_page("map")
    qtbot.waitUntil(window.pages.updatesEnabled)
    assert (window.runs.width(), window.inspector.width()) == before
    assert window.width() == 1440


def drag_edge_of_runs(qtbot, window, by):
    """Drag the right edge of the Runs dock, which belongs to the window; Qt moves it between two events."""
    edge = window.runs.geometry()
    start = QPoint(edge.right() + 2, edge.center().y())
    assert window.isSeparator(start)
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    wide = window.runs.width()
    QTest.mousePress(window, left, pos=start)
    place = QPointF(start + QPoint(by, 0))
    keys = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(
        window, QMouseEvent(QMouseEvent.Type.MouseMove, place, window.mapToGlobal(place), none, left, keys)
    )
    qtbot.waitUntil(lambda: window.runs.width() == wide + by)
    QTest.mouseRelease(window, left, pos=place.toPoint())


def test_the_run_list_grows_with_a_wide_window_until_its_edge_is_dragged(qtbot, session, open_window, tmp_path):
    """At 2,560 px it was as narrow as at 1,280 px, and cut the names of runs."""
    window = open_window(session, (1440, 900))
    narrow = window.runs.width()
    window.resize(2560, 900)
    qtbot.waitUntil(lambda: window.runs.width() >= narrow + 90)
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: window.runs.width() == narrow)
    drag_edge_of_runs(qtbot, window, 57)
    window.resize(2560, 900)
    qtbot.deliver()
    assert window.runs.width() == narrow + 57
    window.close()
    again = Session(Workspace(tmp_path / "second", create=True))
    second = open_window(again, (2560, 900))
    qtbot.deliver()
    assert second.runs.width() == narrow + 57
    second.commands["view.reset-layout"].trigger()
    qtbot.waitUntil(lambda: second.runs.width() >= narrow + 90)
    again.close()


@pytest.mark.parametrize("by", [0, 140, -20])
def test_the_run_list_is_as_wide_as_before_after_larger_text(qtbot, session, open_window, by):
    window = open_window(session, (1280, 720))
    if by:
        drag_edge_of_runs(qtbot, window, by)
    before = window.runs.width()
    session.theme.set_text_size(150)
    qtbot.waitUntil(lambda: window.runs.width() == max(before, session.theme.px(NARROWEST)))
    session.theme.set_text_size(100)
    qtbot.waitUntil(lambda: window.runs.width() == before)


def test_the_run_list_of_a_window_that_opens_wide_is_wide(session, open_window):
    assert open_window(session, (2560, 900)).runs.width() >= 350


def test_the_layout_is_remembered(qtbot, session, open_window, tmp_path):
    window = open_window(session)
    window.runs.close()
    window.activity.set_unfolded(True)
    window.resize(1500, 850)
    window.close()
    again = Session(Workspace(tmp_path / "second", create=True))
    second = open_window(again)
    assert not second.runs.isVisible()
    assert second.activity.fold.isChecked()
    assert again.preferences.recent("workspaces")[-1] == session.workspace.path
    again.close()


# Commands


def test_the_palette_finds_and_runs_a_command(qtbot, window):
    palette = window.show_palette()
    qtbot.keyClicks(palette.line, "gomap")
    assert palette.model.rowCount() < len(list(window.commands))
    palette.line.clear()
    qtbot.keyClicks(palette.line, "view map")
    assert palette.model.rows[0].words == "View: Map"
    assert palette.model.index(0, 1).data() == "Ctrl+3"
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert window.session.page == "map"


def test_the_palettes_arrows_choose(qtbot, window):
    palette = window.show_palette()
    qtbot.keyClick(palette.line, Qt.Key.Key_Down)
    assert palette.list.currentIndex().row() == 1
    qtbot.keyClick(palette.line, Qt.Key.Key_Up)
    qtbot.keyClick(palette.line, Qt.Key.Key_Up)
    assert palette.list.currentIndex().row() == palette.model.rowCount() - 1


def test_fuzzy_score_wants_the_letters_in_order_and_prefers_starts():
    assert score("rl", "View: Reset layout") is not None
    assert score("lr", "Reset") is None
    assert score("map", "View: Map") > score("map", "Run: Move to the trash, please")
    assert score("", "anything") is not None
    assert score("rep", "View: Report") > score("rep", "Retrieval: Paste an image to search with")
    assert score("export rep", "Report: Export report") > score("export rep", "Run: Export or repair")


def test_a_palette_without_a_match_says_so(qtbot, window):
    palette = window.show_palette()
    assert palette.nothing.isHidden()
    qtbot.keyClicks(palette.line, "zzqx")
    assert palette.model.rowCount() == 0
    assert palette.nothing.isVisible()
    palette.close()


def test_a_changed_shortcut_is_remembered_and_reset(qtbot, session, open_window, tmp_path):
    window = open_window(session)
    window.commands.set_shortcut("view.map", QKeySequence("Ctrl+M"))
    again = Session(Workspace(tmp_path / "second", create=True), Preferences(session.preferences.file))
    second = open_window(again)
    assert second.commands["view.map"].shortcut() == QKeySequence("Ctrl+M")
    second.commands.reset_shortcuts()
    assert second.commands["view.map"].shortcut() == QKeySequence("Ctrl+3")
    again.close()


def test_all_shortcuts_are_reset_in_one_change(qtbot, window):
    commands, dialog = window.commands, window.show_shortcuts()
    for key, keys in (("view.map", "Ctrl+M"), ("view.train", "Ctrl+K")):
        commands.set_shortcut(key, QKeySequence(keys))
    changes = []
    commands.changed.connect(lambda: changes.append(True))
    next(shown for shown in dialog.findChildren(QAbstractButton) if shown.text() == "Reset all").click()
    shown = {row.key: row.edit.keySequence().toString() for row in dialog.rows}
    assert (shown["view.map"], shown["view.train"]) == ("Ctrl+3", "Ctrl+2")
    assert len(changes) == 1


def test_a_reset_of_all_shortcuts_can_be_undone(qtbot, window):
    commands, dialog = window.commands, window.show_shortcuts()
    assert not dialog.reset_all.isEnabled(), "nothing is changed yet"
    own = {"view.map": QKeySequence("Ctrl+M"), "view.train": QKeySequence("Ctrl+K"), "view.setup": QKeySequence()}
    commands.set_shortcuts(own)
    dialog.reset_all.click()
    commands.set_shortcut("view.train", QKeySequence("Ctrl+J"))
    assert dialog.undo.isVisible()
    dialog.undo.click()
    assert commands.shortcut("view.map") == QKeySequence("Ctrl+M")
    assert commands.shortcut("view.setup").isEmpty()
    assert commands.shortcut("view.train") == QKeySequence("Ctrl+J"), "chosen after the reset"
    assert not dialog.undo.isVisible()
    shown = {row.key: row.edit.keySequence() for row in dialog.rows}
    assert shown["view.map"] == QKeySequence("Ctrl+M")


def test_the_shortcut_table_names_a_command_as_it_is_whatever_it_would_do_now(qtbot, window):
    assert window.commands.title("edit.undo") == "Undo"
    window.commands["edit.undo"].setText("Undo tick of 7 runs")
    assert window.commands.title("edit.undo") == "Undo tick of 7 runs"
    table = window.show_shortcuts().table
    named = [table.item(row, 1).text() for row in range(table.rowCount())]
    assert "Undo" in named
    assert "Undo tick of 7 runs" not in named


def test_shared_keys_are_named_in_the_shortcut_table(qtbot, window):
    dialog = window.show_shortcuts()
    row = next(row for row in dialog.rows if row.key == "view.map")
    row.edit.setKeySequence(QKeySequence("Ctrl+N"))
    assert window.commands.conflicts("view.map") == ["file.new"]
    place = dialog.rows.index(row)
    assert dialog.table.item(place, 4).text() == "New run"
    row.reset.click()
    assert dialog.table.item(place, 4).text() == ""
    assert window.commands.shortcut("view.map") == QKeySequence("Ctrl+3")


def test_no_two_commands_share_a_key_at_first(window):
    assert {key: window.commands.conflicts(key) for key in window.commands if window.commands.conflicts(key)} == {}


# Theme


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_the_theme_can_be_chosen(qtbot, window, session, choice):
    expected = theme.DARK if choice == "dark" else theme.LIGHT
    with qtbot.waitSignal(session.theme.dressed):
        window.commands[f"view.theme-{choice}"].trigger()
    assert theme.current() == expected
    assert window.palette().window().color().name().upper() == expected.window
    assert Preferences(session.preferences.file).text("theme") == choice


def test_another_theme_dresses_what_is_seen_first_and_a_hidden_page_when_it_is_shown(qtbot, window, session):
    session.theme.choose("light")
    qtbot.waitUntil(lambda: not session.theme.dressing)
    page = window.pages.page("compare")
    hidden = [QLabel("word", page) for _ in range(2_000)]
    for word in hidden:
        word.ensurePolished()
    session.theme.choose("dark")
    assert session.theme.dressing  # not all in one piece
    window.show_page("compare")
    assert {word.palette().text().color().name().upper() for word in hidden} == {theme.DARK.text}
    qtbot.waitUntil(lambda: not session.theme.dressing)
    assert window.updatesEnabled()


def test_the_theme_follows_the_system_until_one_is_chosen(session, monkeypatch):
    changed = QGuiApplication.styleHints().colorSchemeChanged
    monkeypatch.setattr(theme, "system_is_dark", lambda: True)
    changed.emit(Qt.ColorScheme.Dark)
    assert theme.current() == theme.DARK
    monkeypatch.setattr(theme, "system_is_dark", lambda: False)
    changed.emit(Qt.ColorScheme.Light)
    assert theme.current() == theme.LIGHT
    session.theme.choose("dark")
    changed.emit(Qt.ColorScheme.Light)
    assert theme.current() == theme.DARK


def test_text_grows(window, session):
    before = window.fontMetrics().height()
    window.commands["view.text-150"].trigger()
    assert window.fontMetrics().height() > 1.3 * before
    window.commands["view.text-smaller"].trigger()
    assert session.theme.percent == 125


# Messages


def test_a_problem_is_told_in_the_bar_and_the_log(window, session):
    session.notify(Problem("The disk is full.", kept="All is kept.", todo="Free some space."))
    assert window.message.isVisible()
    assert window.message.what.text() == "The disk is full."
    assert window.message.rest.text() == "All is kept. Free some space."
    assert "The disk is full." in window.activity.log.toPlainText()
    window.message.close_button.click()
    assert not window.message.isVisible()


def test_what_is_mentioned_moves_nothing_and_is_in_the_line_for_some_seconds_and_in_the_log(
    qtbot, window, session, monkeypatch
):
    job = session.activity.add("Map")
    job.progress(3, 10, "Optimising layout")
    line = window.activity.line
    qtbot.waitUntil(lambda: line.text.text().startswith("Map"))
    before = window.pages.geometry(), window.status.geometry()
    monkeypatch.setattr(
        "workbench.ui.docks.activity.QAccessible.updateAccessibility", lambda event: spoken.append(event)
    )
    spoken = []
    session.mention("“Digits” is in the queue.")
    assert line.text.accessibleName() == "“Digits” is in the queue."
    assert [event.message() for event in spoken] == ["“Digits” is in the queue."]
    assert line.bar.isVisibleTo(window), "the job's bar stays"
    assert (window.pages.geometry(), window.status.geometry()) == before
    assert not window.message.isVisible()
    assert "“Digits” is in the queue." in window.activity.log.toPlainText()
    window.activity.mention("")  # as after MENTIONED
    assert line.text.text() == "Map: Optimising layout, 3 / 10"


def test_a_message_about_a_page_is_seen_on_that_page_until_it_is_closed(window, session):
    session.show_page("map")
    window.show_page("map")
    session.notify("No map can be made.")
    assert window.message.isVisible()
    window.show_page("compare")
    assert not window.message.isVisible()
    window.show_page("map")
    assert window.message.what.text() == "No map can be made."
    window.message.close_button.click()
    window.show_page("compare")
    window.show_page("map")
    assert not window.message.isVisible()


def test_a_message_of_a_page_about_a_run_is_seen_with_that_run(qtbot, window, session, config):
    first, second = (session.workspace.create_run(config) for _ in range(2))
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    session.show_run(first)
    window.show_page("retrieval")
    session.notify("The neighbours cannot be read.")
    session.show_run(second)
    assert not window.message.isVisible()
    session.show_run(first)
    assert window.message.what.text() == "The neighbours cannot be read."


def test_a_message_about_the_program_is_seen_everywhere_and_comes_back(window, session):
    session.notify("The disk is full.", EVERYWHERE)
    window.show_page("map")
    assert window.message.what.text() == "The disk is full."
    session.notify("No map can be made.")
    assert window.message.what.text() == "No map can be made."
    window.show_page("train")
    assert window.message.what.text() == "The disk is full."
    window.message.close_button.click()
    assert not window.message.isVisible()


def test_a_failure_on_a_page_that_was_left_is_seen_at_once_and_then_there_alone(window, session):
    window.show_page("map")
    session.notify("The report was not written.", of_page("report", None))
    assert window.message.what.text() == "The report was not written."
    window.show_page("train")
    assert not window.message.isVisible()
    window.show_page("report")
    assert window.message.isVisible()


def test_an_answered_message_goes_and_another_workspace_has_none(window, session, tmp_path):
    gone = Problem("The database is gone.")
    session.notify(gone, EVERYWHERE)
    session.settled.emit(gone)
    assert not window.message.isVisible()
    session.notify("Sweep 1 no longer has a worker process.", EVERYWHERE)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert not window.message.isVisible()


def raise_at_one_place(error):
    raise error


@pytest.fixture
def defects(window):
    made = Defects()
    made.noticed.connect(window.show_defect)
    return made


def tell(defects, error):
    try:
        raise_at_one_place(error)
    except type(error):
        defects.caught(*sys.exc_info())


def test_the_same_defect_is_told_once_a_minute(window, defects, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("workbench.ui.window.process.defects.monotonic", lambda: clock[0])
    told = []
    defects.noticed.connect(lambda problem, trace: told.append(problem))
    for seconds in (0.0, 1.0, 59.0, 61.0):
        clock[0] = seconds
        tell(defects, ValueError("broken"))
    assert len(told) == 2
    tell(defects, KeyError("another"))
    assert len(told) == 3


def test_a_defect_shows_its_trace_behind_details_and_can_be_copied(window, defects):
    tell(defects, ValueError("broken"))
    bar = window.message
    assert "defect" in bar.what.text()
    assert not bar.details.isVisible()
    bar.unfold.click()
    assert bar.details.isVisible()
    assert "raise_at_one_place" in bar.details.toPlainText()
    bar.copy.click()
    assert "ValueError: broken" in QGuiApplication.clipboard().text()


def test_a_defect_in_a_thread_is_told_on_the_windows_thread(qtbot, window, defects, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", defects.caught_in_thread)
    thread = threading.Thread(target=raise_at_one_place, args=(RuntimeError("far away"),))
    thread.start()
    thread.join()
    qtbot.waitUntil(window.message.isVisible)
    assert "far away" in window.message.details.toPlainText()


def test_a_problem_nobody_caught_is_told_as_a_problem(window, defects):
    tell(defects, Problem("The folder is gone.", todo="Choose another."))
    assert window.message.what.text() == "The folder is gone."


# Runs


def test_rows_tell_state_and_scores_and_choose_the_run(qtbot, window, session, config, stored_evaluation):
    first = session.workspace.create_run(config)
    second = session.workspace.create_run(config.model_copy(update={"name": "Second"}))
    stored_evaluation(first, 1)
    qtbot.waitUntil(lambda: window.runs.model.rowCount() == 2)
    index = window.runs.model.index(1, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Counting, Queued, R@1 90.0%  MAP@R 80.0%"
    window.runs.list.setCurrentIndex(index)
    assert session.run_id == first
    session.show_run(second)
    assert window.runs.list.currentIndex().row() == 0
    assert not window.welcome.isVisible(), "the start cards leave with the first run"


def test_search_finds_by_every_word(qtbot, window, session, config):
    first = session.workspace.create_run(config)
    session.workspace.create_run(config.model_copy(update={"name": "Other"}))
    session.workspace.set_tags(first, ["paper"])
    qtbot.waitUntil(lambda: window.runs.model.rowCount() == 2)
    qtbot.keyClicks(window.runs.search, "PAPER count")
    assert [window.runs.model.index(row, 0).data() for row in range(window.runs.model.rowCount())] == ["Counting"]


def test_a_run_in_the_trash_comes_back_by_undo(qtbot, window, session, config):
    run_id = session.workspace.create_run(config)
    session.workspace.set_status(run_id, "done")
    session.show_run(run_id)
    qtbot.waitUntil(window.run_actions.trash.move.isEnabled)
    window.run_actions.trash.move.trigger()
    assert session.workspace.run(run_id).trashed
    assert "in the trash" in window.message.what.text()
    assert window.message.undo.isVisible()
    window.message.undo.click()
    assert not session.workspace.run(run_id).trashed
    assert session.run_id == run_id
    session.notify("Another message.")
    assert not window.message.undo.isVisible()


@pytest.fixture
def trash(qtbot, window, session, config):
    """`trash(name)`: a run that is moved to the trash; its number."""

    def move(name):
        run_id = session.workspace.create_run(config.model_copy(update={"name": name}))
        session.workspace.set_status(run_id, "done")
        qtbot.waitUntil(lambda: session.run(run_id) is not None)
        session.trash_run(run_id)
        return run_id

    return move


def in_trash(session):
    return {run.id for run in session.workspace.runs(trashed=True)}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("AB", "“A” and “B” are in the trash."),
        ("ABC", "“A”, “B” and “C” are in the trash."),
        ("ABCD", "4 runs are in the trash, “D” last."),
    ],
)
def test_undo_brings_back_all_runs_that_its_message_names(qtbot, window, session, trash, names, words):
    moved = [trash(name) for name in names]
    assert window.message.what.text() == words
    qtbot.waitUntil(lambda: len(session.trashed_runs()) == len(moved))
    assert window.message.what.text() == words
    window.message.undo.click()
    assert in_trash(session) == set()
    qtbot.waitUntil(lambda: not session.trashed_runs())
    assert not window.message.isVisible()


@pytest.mark.parametrize("closed", ["closed", "replaced"])
def test_undo_leaves_runs_whose_message_is_gone(window, session, trash, closed):
    first = trash("A")
    window.message.close_button.click() if closed == "closed" else session.notify("Another message.", EVERYWHERE)
    trash("B")
    assert window.message.what.text() == "“B” is in the trash."
    window.message.undo.click()
    assert in_trash(session) == {first}


def test_the_message_of_two_runs_names_the_one_that_is_still_in_the_trash(qtbot, window, session, trash):
    first, second = trash("A"), trash("B")
    qtbot.waitUntil(lambda: len(session.trashed_runs()) == 2)
    session.workspace.restore(first)
    qtbot.waitUntil(lambda: window.message.what.text() == "“B” is in the trash.")
    window.message.undo.click()
    assert in_trash(session) == set()
    assert session.run_id == second


@pytest.mark.parametrize("again", ["restore", "delete"])
def test_the_message_of_a_trashed_run_goes_when_the_run_is_there_no_more(qtbot, window, session, config, again):
    run_id = session.workspace.create_run(config)
    session.workspace.set_status(run_id, "done")
    session.show_run(run_id)
    qtbot.waitUntil(window.run_actions.trash.move.isEnabled)
    window.run_actions.trash.move.trigger()
    qtbot.waitUntil(lambda: [run.id for run in session.trashed_runs()] == [run_id])
    qtbot.deliver()
    assert window.message.isVisible()
    getattr(session.workspace, again)(run_id)
    qtbot.waitUntil(lambda: not session.trashed_runs())
    qtbot.waitUntil(lambda: not window.message.isVisible())


def test_where_no_run_fits_the_search_or_the_filter_the_list_says_so(qtbot, window, session, config):
    session.workspace.create_run(config)
    dock = window.runs
    qtbot.waitUntil(lambda: dock.model.rowCount() == 1)

    def hints():
        return [shown.text() for shown in dock.findChildren(QLabel) if shown.isVisible()]

    qtbot.keyClicks(dock.search, "nosuch")
    assert "No run matches" in hints()
    assert NO_MATCH in hints()
    dock.search.setText("lrr>1")
    assert f"{NO_MATCH} No run has a field or a score “lrr”." in hints()
    dock.search.clear()
    assert "No run matches" not in hints()
    failed = next(action for action in dock.arrange.menu().actions() if action.text() == FILTERS["ended"][0])
    failed.trigger()
    assert "No run matches" in hints()
    qtbot.keyClicks(dock.search, "count")
    button = next(shown for shown in dock.findChildren(QAbstractButton) if shown.text() == "Show all runs")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert dock.model.rowCount() == 1
    assert not dock.search.text()


def test_an_empty_trash_says_so_and_leads_back(qtbot, window):
    window.run_actions.trash.show.trigger()
    words = [each.text() for each in window.runs.findChildren(QLabel) if each.isVisible()]
    assert "The trash is empty" in words
    back = next(each for each in window.runs.findChildren(QAbstractButton) if each.text() == "Back to the runs")
    back.click()
    assert not window.run_actions.trash.show.isChecked()


def test_trash_restore_and_delete(qtbot, window, session, config, monkeypatch):
    run_id = session.workspace.create_run(config)
    session.workspace.set_status(run_id, "done")
    session.show_run(run_id)
    actions = window.run_actions
    qtbot.waitUntil(actions.trash.move.isEnabled)
    assert not actions.trash.delete.isEnabled()
    actions.trash.move.trigger()
    qtbot.waitUntil(lambda: window.runs.model.rowCount() == 0)
    actions.trash.show.trigger()
    assert window.runs.model.rowCount() == 1
    session.show_run(run_id)
    actions.trash.restore.trigger()
    qtbot.waitUntil(lambda: len(session.runs()) == 1)
    session.workspace.trash(run_id)
    qtbot.waitUntil(actions.trash.delete.isEnabled)
    answered = []

    def answer(box):
        answered.append(box.text())
        next(choice for choice in box.buttons() if choice.text() == ("Keep", "Delete")[len(answered) - 1]).click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    actions.trash.delete.trigger()
    assert session.workspace.run(run_id).trashed
    actions.trash.delete.trigger()
    assert answered == [f"Delete “{config.name}” permanently?"] * 2
    qtbot.waitUntil(lambda: session.workspace.runs(trashed=True) == [])


@pytest.mark.parametrize("place", ["bottom bar", "menu"])
@pytest.mark.parametrize("answer", ["keep", "stop", "discard"])
def test_a_run_is_ended_by_one_question_wherever_it_is_asked(
    qtbot, counting_session, open_window, config, place, answer
):
    session = counting_session
    window = open_window(session)
    run_id = started(session, config)
    line = window.activity.line.cancel
    qtbot.waitUntil(lambda: session.run().status == "running" and line.isVisible())
    (line.click if place == "bottom bar" else window.run_actions.end.trigger)()
    assert session.run().status == "running", "nothing ends without an answer"
    said = window.ending.ask.words.text()
    assert "stopping now keeps the curves" in said, "no epoch is finished"
    assert "Discarding moves the run to the trash" in said
    window.ending.ask.answers[answer].click()
    if answer == "keep":
        steps = session.workspace.run(run_id).done
        qtbot.waitUntil(lambda: session.workspace.run(run_id).done > steps)
        return
    qtbot.waitUntil(lambda: not session.busy)
    assert session.workspace.run(run_id).status == ("stopped" if answer == "stop" else "cancelled")
    assert bool(session.workspace.run(run_id).trashed) == (answer == "discard")


def test_delete_in_the_list_says_why_a_run_that_works_stays(qtbot, counting_session, open_window, config):
    session = counting_session
    window = open_window(session)
    run_id = started(session, config)
    qtbot.waitUntil(lambda: session.run().status == "running" and window.runs.list.currentIndex().isValid())
    qtbot.keyClick(window.runs.list, Qt.Key.Key_Delete)
    assert window.message.what.text() == LIVE == window.run_actions.trash.move.toolTip()
    assert session.run(run_id).trashed is None
    session.end_run(run_id)
    qtbot.waitUntil(window.run_actions.trash.move.isEnabled)
    assert window.run_actions.trash.move.toolTip() != LIVE


def test_tags_and_note(qtbot, window, session, config, monkeypatch):
    session.show_run(session.workspace.create_run(config))
    answers = "workbench.ui.actions.run_actions"
    asked = []
    monkeypatch.setattr(f"{answers}.ask_line", lambda *words, **__: asked.append(words[2]) or "a, b")
    monkeypatch.setattr(f"{answers}.ask_lines", lambda *words, **__: asked.append(words[2]) or "seen")
    for action in (window.run_actions.tags, window.run_actions.note):
        action.trigger()
    number = session.run_id
    assert asked == [f"Tags of run {number}, separated by commas", f"Note on run {number}"]
    run = session.workspace.run(session.run_id)
    assert (run.tags, run.note) == (("a", "b"), "seen")


def test_a_run_gets_another_colour(window, session, config):
    session.show_run(session.workspace.create_run(config))
    window.run_actions.colour.menu().actions()[3].trigger()
    assert session.workspace.run(session.run_id).colour == 3


def test_activity_shows_a_run_of_another_program_without_cancel(qtbot, window, session, config):
    run_id = session.workspace.create_run(config)
    with session.workspace.writing() as db:
        db.execute("update runs set status='running', phase='Training', done=3, total=9 where id=?", (run_id,))
    qtbot.waitUntil(lambda: "3 / 9" in window.activity.line.text.text())
    assert not window.activity.line.cancel.isVisible()
    session.workspace.set_status(run_id, "done")
    qtbot.waitUntil(lambda: window.activity.line.text.text() == "Idle")


def test_duplicate_offers_the_config_to_set_up(qtbot, window, session, config):
    session.show_run(session.workspace.create_run(config))
    window.run_actions.duplicate.trigger()
    if not session.catalog:
        assert "not ready yet" in window.message.what.text()


# Drops


def drop(window, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(10, 10), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)


CATALOG = {
    f"{kind}/{name}": {"title": name, "help": "", "source": "", "facts": {}, "params": {}}
    for kind, name in {
        "dataset": "digits", "split": "random", "backbone": "conv4", "loss": "ce", "sampler": "random",
        "augmentation": "none",
    }.items()
} | {
    "dataset/folder": {
        "title": "Folder", "help": "", "source": "", "facts": {},
        "params": {"root": {"default": "", "type": "string", "path": "place", "description": ""}},
    }
}  # fmt: skip


def test_a_dropped_folder_becomes_a_config(qtbot, window, session, tmp_path):
    session.set_catalog(CATALOG)
    offered, explained = [], []
    session.config_offered.connect(offered.append)
    session.config_explained.connect(explained.append)
    folder = tmp_path / "my <birds>"
    folder.mkdir()
    drop(window, folder)
    qtbot.waitUntil(lambda: bool(explained))
    assert (offered[0].dataset.name, offered[0].dataset.params) == ("folder", {"root": str(folder)})
    assert offered[0].name == "my <birds>"
    assert explained[0]["augmentation.name"] == "Augmentation by crops and mirrored copies, which show the same class."
    assert session.preferences.recent("data") == [folder]


def test_a_dropped_archive_becomes_a_config_and_is_remembered(qtbot, window, session, tmp_path):
    session.set_catalog(CATALOG)
    offered = []
    session.config_offered.connect(offered.append)
    archive = tmp_path / "my.birds.tar.gz"
    archive.write_bytes(b"")
    drop(window, archive)
    qtbot.waitUntil(lambda: bool(offered))
    assert (offered[0].dataset.name, offered[0].dataset.params) == ("folder", {"root": str(archive)})
    assert offered[0].name == "my.birds"
    assert session.preferences.recent("data") == [archive]
    archive.unlink()
    assert session.preferences.recent("data") == []


def test_an_archive_is_chosen_from_the_menu(qtbot, window, session, tmp_path, monkeypatch):
    session.set_catalog(CATALOG)
    offered, asked = [], []
    session.config_offered.connect(offered.append)
    archive = tmp_path / "birds.zip"
    archive.write_bytes(b"")

    def choose(*words):
        asked.append(words[-1])
        return str(archive), ""

    monkeypatch.setattr("workbench.ui.window.opening.QFileDialog.getOpenFileName", choose)
    window.commands["file.open-archive"].trigger()
    assert "*.zip" in asked[0]
    assert "*.tar.gz" in asked[0]
    qtbot.waitUntil(lambda: bool(offered))
    assert offered[0].dataset.params == {"root": str(archive)}


def test_a_dropped_config_is_offered_or_explained(qtbot, window, session, tmp_path, config):
    session.set_catalog(CATALOG)
    offered = []
    session.config_offered.connect(offered.append)
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    config.to_toml(good)
    bad.write_text('nam = "x"\n')
    drop(window, good)
    qtbot.waitUntil(lambda: offered == [config])
    drop(window, bad)
    qtbot.waitUntil(lambda: "nam: There is no such field." in window.message.what.text())
    assert offered == [config]
    drop(window, good)
    qtbot.waitUntil(lambda: len(offered) == 2)
    assert not window.message.isVisible(), "another file is open now"


def test_the_start_cards_can_be_hidden_for_good(window, session, tmp_path, open_window):
    window.welcome.dismissed.emit()
    assert not window.welcome.isVisible()
    again = Session(Workspace(tmp_path / "second", create=True))
    assert not open_window(again).welcome.isVisible()
    again.close()


# Closing


def test_a_window_with_nothing_to_do_closes(window):
    assert window.close()


@pytest.mark.parametrize("choice", ["stop", "save"])
def test_closing_while_training_asks_and_waits(qtbot, counting_session, open_window, config, choice):
    session = counting_session
    window = open_window(session)
    first, second = started(session, config), started(session, config)
    qtbot.waitUntil(lambda: session.workspace.run(first).status == "running")
    assert not window.close()
    window.closing.ask.answers[choice].click()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert session.workspace.run(first).status == "stopped"
    assert session.workspace.run(second).status == "cancelled"
    assert not session.busy


def test_closing_beside_a_paused_run_says_so_and_saves_it(qtbot, counting_session, open_window, config):
    session = counting_session
    window = open_window(session)
    run_id = started(session, config)
    qtbot.waitUntil(lambda: session.workspace.run(run_id).status == "running")
    session.control(run_id).pause()
    window.close()
    said = " ".join(label.text() for label in window.closing.ask.findChildren(QLabel))
    assert "is paused" in said
    control = session.control(run_id)
    window.closing.ask.answers["save"].click()
    assert control.interrupted
    assert not control.stop_asked, "the epoch is not finished first"
    qtbot.waitUntil(lambda: not window.isVisible())
    assert session.workspace.run(run_id).status == "stopped"


def test_closing_that_takes_long_can_still_stop_at_once(qtbot, counting_session, open_window, config, monkeypatch):
    session = counting_session
    window = open_window(session)
    run_id = started(session, config)
    qtbot.waitUntil(lambda: session.workspace.run(run_id).status == "running")
    monkeypatch.setattr(session.control(run_id), "interrupt", lambda: None)  # as while an evaluation works
    window.close()
    window.closing.ask.answers["save"].click()
    assert window.closing.wait.now.isVisible()
    window.closing.wait.now.click()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert session.workspace.run(run_id).status == "stopped"


def test_closing_can_be_thought_better_of(qtbot, counting_session, open_window, config):
    window = open_window(counting_session)
    run_id = started(counting_session, config)
    qtbot.waitUntil(lambda: counting_session.workspace.run(run_id).status == "running")
    window.close()
    window.closing.ask.answers["keep"].click()
    before = counting_session.workspace.run(run_id).done
    qtbot.waitUntil(lambda: counting_session.workspace.run(run_id).done > before)
    assert window.isVisible()


def test_open_and_close_many_times(qtbot, session, open_window):
    for _ in range(10):
        open_window(session).close()


def test_settings_survive_a_file_that_makes_no_sense(tmp_path: Path, qapp):
    file = tmp_path / "window.ini"
    file.write_bytes(b"\x00\xff[[[text_size=large\n[layout]\nstate=@@@\ntheme=5")
    preferences = Preferences(file)
    assert preferences.number("text_size", 100) == 100
    assert preferences.state("layout/state").isEmpty()
    assert theme.Theme(preferences).choice == "system"


def test_a_clicked_row_can_be_read(qtbot, window, session, config):
    session.show_run(session.workspace.create_run(config))
    qtbot.waitUntil(lambda: window.runs.model.rowCount() == 1)
    rows = window.runs.list
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(rows.model().index(0, 0)).center())
    rows.setFocus()
    box = rows.visualRect(rows.model().index(0, 0))
    shown = rows.viewport().grab(box).toImage()
    dot = QColor(theme.run_colour(session.run().colour))
    row = [shown.pixelColor(x, shown.height() - 4) for x in range(4, shown.width() - 4)]
    assert dot not in row, "the dot's colour fills the row"


def test_the_first_window_fits_its_screen_with_its_frame(session):
    window = MainWindow(session)
    room = window.screen().availableGeometry()
    assert window.width() <= max(room.width() - 8, window.minimumWidth())
    assert window.height() <= room.height() - 32, "a title bar has room"
    window.deleteLater()


def test_the_header_shows_and_chooses_the_evaluation_of_the_whole_window(window, session, config, stored_evaluation):
    run_id = session.workspace.create_run(config)
    for epoch, each in ((0, 0.1), (1, 0.9), (2, 0.5)):
        stored_evaluation(run_id, epoch, each)
    chooser = window.rail.evaluation
    window.show_page("train")
    assert not chooser.isVisible(), "no run is shown"
    session.show_run(run_id)
    assert chooser.isVisible()
    for page in ("setup", "compare"):
        window.show_page(page)
        assert not chooser.isVisible(), "the page shows no evaluation, or each run's own"
    window.show_page("report")
    assert chooser.isVisible()
    assert chooser.currentText() == "★ best, epoch 1"
    chooser.setCurrentIndex(0)
    chooser.activated.emit(0)
    assert session.evaluation().epoch == 0
    session.show_later()
    assert chooser.currentText() == "★ best, epoch 1"
