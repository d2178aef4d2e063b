"""The table of classes: measured off the window's thread, sorted by what cells mean, and a way into the map."""

import csv
import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from small_run import store_run

from workbench.results.class_geometry import TITLES, ClassRow, ClassTable, class_shapes, measure_classes
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.map.side.class_panel import SHOWN, ClassPanel
from workbench.ui.pages.map.side.class_table import ClassRows, ClassTableDialog
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.tables.row_table import head_width

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "raise")
LABELS = np.repeat(np.arange(4), 15)
NAMES = ("=ant", "<b>bee</b>", "cat", "dog")


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, class_names=NAMES)


@pytest.fixture
def page(qtbot, session, run):
    session.analysis.close()
    session.analysis = SimpleNamespace(request=lambda *args, **kwargs: None, close=lambda: None)
    session.show_run(run.run_id)
    made = qtbot.shown(MapPage(session), 900, 640)
    qtbot.waitUntil(lambda: made.model.map is not None)
    return made


@pytest.fixture
def dialog(qtbot, page):
    page.class_table.button.click()
    qtbot.waitUntil(lambda: page.class_table.dialog.table is not None)
    return page.class_table.dialog


def test_every_head_beside_the_map_is_whole_where_the_text_is_large(qtbot, large, page):
    page.side.tabs.setCurrentWidget(page.class_table.panel)
    view = page.class_table.panel.view
    qtbot.waitUntil(lambda: page.class_table.table is not None)
    header = view.horizontalHeader()
    shown = [column for column in range(header.count()) if not view.isColumnHidden(column)]
    assert all(header.sectionSize(column) >= head_width(header, column) for column in shown)
    assert sum(header.sectionSize(column) for column in shown) <= view.viewport().width()


def test_no_number_beside_the_map_is_cut(qtbot, session, page):
    session.theme.apply()
    page.side.tabs.setCurrentWidget(page.class_table.panel)
    view = page.class_table.panel.view
    qtbot.waitUntil(lambda: page.class_table.table is not None)
    page.class_table.rows.show([dataclasses.replace(page.class_table.table.rows[0], margin=-0.051)])
    column = TITLES.index("Margin")
    assert view.columnWidth(column) >= view.sizeHintForColumn(column)


def test_the_table_is_told_to_the_window(qtbot, page, session):
    made = []
    session.part_made.connect(made.append)
    for _ in range(2):
        page.class_table.open()
    assert made == [page.class_table.dialog]
    assert page.class_table.dialog.view.objectName() == "map-class-table"


def test_the_table_says_what_is_measured(workspace, run, dialog):
    wanted = class_shapes(
        workspace.vectors(run.evaluations[-1]), LABELS, workspace.proxies(run.evaluations[-1]), "cosine"
    )
    rows = {row.label: row for row in dialog.table.rows}
    assert dialog.table.by_proxies
    assert "class vectors" in dialog.words.text()
    for place, label in enumerate(wanted.labels.tolist()):
        assert rows[label].margin == pytest.approx(wanted.margin[place])
        assert rows[label].confused == NAMES[wanted.confused[place]]
    margins = [row.margin for row in dialog.model.rows]
    assert margins == sorted(margins), "the least margin stands first"


def test_without_proxies_the_means_are_named(qtbot, session, workspace):
    run = store_run(workspace, LABELS, with_proxies=False, name="Means")
    table = measure_classes(workspace, run.evaluations[-1], lambda *what: None)
    assert not table.by_proxies
    dialog = qtbot.addWidget(ClassTableDialog())
    dialog.show_table(table)
    assert "class means" in dialog.words.text()


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_a_click_or_enter_selects_the_class_and_brings_it_into_view(qtbot, page, session, dialog, way):
    index = dialog.model.index(1, 0)
    if way == "click":
        place = dialog.view.visualRect(index).center()
        qtbot.mouseClick(dialog.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    else:
        dialog.view.setCurrentIndex(index)
        assert not len(session.selection), "going through the rows selects nothing"
        qtbot.keyClick(dialog.view, Qt.Key.Key_Return)
    label = dialog.model.row(1).label
    assert session.selection.tolist() == page.model.map.ids[label == LABELS].tolist()
    view = page.canvas.box.viewRect()
    assert all(view.contains(float(x), float(y)) for x, y in page.model.map.points[label == LABELS])


def test_the_tab_of_classes_lists_them_once_it_is_looked_at_and_a_click_selects_one(qtbot, page, session):
    panel, rows = page.class_table.panel, page.class_table.rows
    assert rows.rowCount() == 0, "nothing is measured before somebody looks"
    page.side.tabs.setCurrentWidget(panel)
    qtbot.waitUntil(lambda: rows.rowCount() == 4)
    shown = [column for column in range(rows.columnCount()) if not panel.view.isColumnHidden(column)]
    titles = [rows.headerData(column, Qt.Orientation.Horizontal) for column in shown]
    assert titles == ["Class", "Margin", "Nearest class"]
    panel.resize(260, 400)
    qtbot.deliver()
    header = panel.view.horizontalHeader()
    assert all(header.sectionSize(column) >= head_width(header, column) for column in shown), "no heading is cut"
    place = panel.view.visualRect(rows.index(2, 0)).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    label = rows.row(2).label
    assert session.selection.tolist() == page.model.map.ids[label == LABELS].tolist()
    assert page.side.tabs.tabText(2) == "Selection 15"


def test_the_table_follows_the_evaluation_while_it_is_open(qtbot, session, run, dialog):
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: dialog.table is not None and dialog.table.evaluation == run.evaluations[0])
    dialog.close()
    session.show_evaluation(None)
    assert dialog.table.evaluation == run.evaluations[0], "nothing is measured for a closed table"


def test_copy_and_csv_hold_every_class(qtbot, page, dialog, tmp_path):
    dialog.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 5
    assert lines[0].split("\t")[:2] == ["Class", "Images"]
    assert {line.split("\t")[0] for line in lines[1:]} == {"'=ant", "<b>bee</b>", "cat", "dog"}, "no cell is a formula"
    least = next(row for row in dialog.table.rows if row.margin == min(each.margin for each in dialog.table.rows))
    assert lines[1].split("\t")[3] == f"{least.margin:.3f}", "a negative number stays one"
    page.class_table.dialog.table_actions.save_to(tmp_path / "classes.csv")
    qtbot.waitUntil((tmp_path / "classes.csv").exists)
    rows = list(csv.DictReader((tmp_path / "classes.csv").read_text("utf-8").splitlines()))
    assert {row["Class"] for row in rows} == {"'=ant", "<b>bee</b>", "cat", "dog"}, "no cell is a formula"
    assert float(rows[0]["Margin"]) == dialog.table.rows[0].margin


def test_ten_thousand_classes_sort_by_number_and_empty_ones_are_least(qtbot):
    rng = np.random.default_rng(0)
    rows = [ClassRow(n, f"c{n}", 1, 0.0, float(each), 0.5, float("nan"), 0.1, "", 0.2) for n, each in
            enumerate(rng.normal(size=10_000))]  # fmt: skip
    dialog = qtbot.addWidget(ClassTableDialog())
    dialog.show_table(ClassTable(1, "l2", False, tuple(rows)))
    assert dialog.model.row(0).margin == min(row.margin for row in rows)
    dialog.model.sort(5)
    assert dialog.model.data(dialog.model.index(0, 5)) == "–"
    assert "negative is bad" in dialog.model.headerData(3, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "as they are" in dialog.words.text()


def test_what_cannot_be_measured_is_said(qtbot, page, workspace, run):
    (workspace.folder(run.run_id) / "ranking-2.npz").unlink()
    page.class_table.button.click()
    qtbot.waitUntil(lambda: "is missing" in page.class_table.dialog.words.text())
    assert not page.class_table.dialog.copy_button.isEnabled()


def test_names_of_classes_share_the_room_of_the_classes_tab(qtbot):
    """The longer heading of the nearest class takes none from the class itself."""
    panel = qtbot.shown(ClassPanel(ClassRows(), button("Full table")), 280, 400)
    widths = {title: panel.view.columnWidth(TITLES.index(title)) for title in SHOWN}
    assert sum(widths.values()) == panel.view.viewport().width()
    heading = head_width(panel.view.horizontalHeader(), TITLES.index("Nearest class"))
    assert widths["Nearest class"] == max(heading, (sum(widths.values()) - widths["Margin"] + 1) // 2)
