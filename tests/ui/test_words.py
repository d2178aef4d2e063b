"""Numbers and states in the words of the window, and the heads of tables over their cells."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QDialogButtonBox, QHeaderView, QLineEdit, QTableView, QToolButton, QWidget

from workbench.events import RunState
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.model.listing import Listing
from workbench.ui.pages.retrieval.page import RetrievalPage
from workbench.ui.pages.retrieval.queries.query_table import QueryTable
from workbench.ui.pages.train.curves.epoch_table import EpochTable
from workbench.ui.style import theme, words
from workbench.ui.style.words import STATES, THIN, counted, epoch_at_work, from_home, short_time, state_word
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import IconLabel
from workbench.workspace.run_search import meets

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
ACROSS, ALIGNED = Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole


def side(model, column):
    return Qt.AlignmentFlag(model.headerData(column, ACROSS, ALIGNED)) & Qt.AlignmentFlag.AlignHorizontal_Mask


def middle_colour(shown):
    return shown.pixmap().toImage().scaled(1, 1, mode=Qt.TransformationMode.SmoothTransformation).pixelColor(0, 0)


def test_one_is_not_many():
    assert [counted(number, "file") for number in (0, 1, 1234)] == ["0 files", "1 file", "1,234 files"]
    assert counted(2, "class", "classes") == "2 classes"


@pytest.mark.parametrize(("status", "shown"), [("running", 3), ("waiting", 3), ("done", 2), ("queued", 2)])
def test_the_epoch_of_a_run_is_the_one_it_works_on(status, shown):
    assert epoch_at_work(SimpleNamespace(status=status, epoch=2, epochs=8)) == shown


def test_a_run_at_its_end_works_on_its_last_epoch():
    assert epoch_at_work(SimpleNamespace(status="running", epoch=8, epochs=8)) == 8


def test_heads_stand_over_their_cells(session):
    rows = SortedRows(("Class", "Images"), lambda row: row, lambda column, value: str(value))
    rows.show([("ant", 3)])
    queries = QueryTable(Listing(), PictureLoader(session))
    left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
    assert [side(rows, column) for column in range(2)] == [left, right]
    assert [side(queries, column) for column in range(4)] == [left, left, right, right]
    assert side(EpochTable({}.get), 0) == right


def test_a_sorted_head_keeps_all_its_letters(qtbot, session):
    session.theme.apply()
    model = QStandardItemModel(1, 1)
    model.setHorizontalHeaderItem(0, QStandardItem("MMMM"))
    model.setHeaderData(0, ACROSS, Qt.AlignmentFlag.AlignRight, ALIGNED)
    view = qtbot.addWidget(QTableView())
    view.setModel(model)
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    header.resizeSection(0, 200)
    view.resize(260, 120)
    view.show()
    low = header.height() // 2  # the arrow stands above

    def letters():
        seen = header.grab().toImage()
        return [seen.pixelColor(x, y).rgb() for y in range(low, seen.height() - 2) for x in range(200)]

    plain = letters()
    view.setSortingEnabled(True)
    view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert letters() == plain


def test_icons_take_the_colours_of_a_theme_chosen_later(qtbot, session):
    session.theme.choose("light")
    shown = qtbot.addWidget(IconLabel("rocket-launch", "accent", 24))
    light = middle_colour(shown)
    with qtbot.waitSignal(session.theme.dressed):
        session.theme.choose("dark")
    assert middle_colour(shown) != light
    assert theme.current().dark


def test_buttons_of_dialogs_have_words_alone_and_a_disabled_one_is_grey(qtbot, session):
    session.theme.choose("dark")
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Close)
    delete = button("Delete", "", "danger")
    for each in (box, delete):
        qtbot.addWidget(each)
        each.show()
    assert all(each.icon().isNull() for each in box.buttons())
    delete.setEnabled(False)
    assert delete.palette().buttonText().color().name().upper() == theme.DARK.disabled


def test_columns_beside_the_main_thing_grow_with_the_text_up_to_a_limit(session, qtbot):
    page = qtbot.addWidget(RetrievalPage(session))
    assert page.queries.minimumWidth() == 300
    session.theme.set_text_size(110)
    assert page.queries.minimumWidth() == 330
    session.theme.set_text_size(150)
    assert page.queries.minimumWidth() == 345
    table = page.queries.table
    assert table.columnWidth(2) >= table.fontMetrics().horizontalAdvance("100.0") + 16, "numbers have room"
    session.theme.set_text_size(100)
    assert page.queries.minimumWidth() == 300


def test_a_field_beside_a_small_button_is_as_high_as_large_text_needs(session, qtbot):
    row, field = QWidget(), QLineEdit("tag")
    qtbot.addWidget(row)
    in_row(field, QToolButton(), on=row)
    session.theme.set_text_size(150)
    row.show()
    qtbot.waitUntil(lambda: field.height() >= field.sizeHint().height())
    assert field.height() >= field.fontMetrics().height() + 8, "its frame and space are 4 px above and below"
    session.theme.set_text_size(100)


def test_a_place_below_the_home_folder_is_told_short(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert from_home(tmp_path / "Workbench" / "runs") == str(Path("~/Workbench/runs"))
    assert from_home(tmp_path) == "~"
    elsewhere = tmp_path.parent / f"{tmp_path.name}-other"
    assert from_home(elsewhere) == str(elsewhere), "a name that only begins alike"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0123, "12.3 ms"),
        (0.9996, "1 s"),
        (14.31, "14.3 s"),
        (59.99, "60 s"),
        (130, "2 min 10 s"),
        (1e-5, "0.01 ms"),
        (9.03e-6, "under 0.01 ms"),
        (3.87e-4, "0.39 ms"),
        (9.5e-5, "0.1 ms"),
        (0, "0 ms"),
    ],
)
def test_a_short_time_has_no_exponent_and_no_digits_that_nobody_needs(seconds, said):
    assert short_time(seconds).replace(THIN, " ") == said


@pytest.mark.parametrize(
    ("macos", "undo", "removes"),
    [(False, "Undo (Ctrl+Shift+Z)", "Shift adds, Ctrl removes"), (True, "Undo (⌘⇧Z)", "Shift adds, ⌘ removes")],
)
def test_keys_have_the_names_that_they_have_on_the_system(monkeypatch, macos, undo, removes):
    monkeypatch.setattr(words, "MACOS", macos)
    assert words.own_keys("Undo (Ctrl+Shift+Z)") == undo
    assert words.own_keys("Shift adds, Ctrl removes") == removes


@pytest.mark.parametrize("status", list(RunState))
def test_a_state_is_searched_by_the_word_that_the_window_shows(config, workspace, status):
    run = replace(workspace.run(workspace.create_run(config)), status=status)
    assert meets(run, f"state={state_word(status).casefold()}")
    assert status in STATES
