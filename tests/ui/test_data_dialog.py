"""The data dialog, opened from the Set up page on real images."""

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QTableWidget

from workbench import registry
from workbench.config import Choice, RunConfig
from workbench.datasets.inspection import Inspection
from workbench.datasets.near_duplicates import Member, NearDuplicate, NearDuplicates
from workbench.problem import Problem
from workbench.running import preflight
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.data.dialog import DataDialog
from workbench.ui.pages.setup.data.near_duplicates import NearDuplicatesTab
from workbench.ui.pages.setup.data.tables import MOST_ROWS
from workbench.ui.plots.chart_view import ChartView

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for label in ("birds <b>", "cars", "dogs", "fish"):
        (tmp_path / "data" / label).mkdir(parents=True)
        for number in range(4):
            picture = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8))
            picture.save(tmp_path / "data" / label / f"{number}.png")
    picture.save(tmp_path / "data" / "cars" / "copy.png")
    (tmp_path / "data" / "cars" / "broken.png").write_bytes(b"")
    return tmp_path / "data"


def titles(dialog):
    """Of the tabs that are there."""
    tabs = dialog.tabs
    return [tabs.tabText(place) for place in range(tabs.count()) if tabs.isTabVisible(place)]


def choose(dialog, title):
    tabs = dialog.tabs
    tabs.setCurrentIndex(next(place for place in range(tabs.count()) if tabs.tabText(place) == title))


def test_it_shows_what_is_in_the_data(qtbot, session, folder, monkeypatch):
    registry.discover_all()
    session.set_catalog(registry.catalog())
    page = qtbot.addWidget(SetupPage(session))
    page.take_config(
        RunConfig(
            dataset=Choice(name="folder", params={"folder": str(folder), "image_size": 16}),
            split=Choice(name="classes"),
        )
    )
    made = []
    session.part_made.connect(made.append)
    page.look_at_data()
    qtbot.waitUntil(lambda: page.data_look.dialog is not None)
    dialog = page.data_look.dialog
    assert made == [dialog], "its tab is then remembered"
    assert titles(dialog) == ["Images", "Classes (4)", "Files", "Left out (1)", "Copies (1)", "Near-duplicates"]
    assert dialog.windowTitle() == "Data set: data"
    assert not dialog.copy_table.isEnabled()
    assert not dialog.save_table.isEnabled()
    dialog.tabs.setCurrentIndex(1)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Class\tTrain\tTest", "cars\t5\t0", "birds <b>\t4\t0", "dogs\t0\t4", "fish\t0\t4",
    ]  # fmt: skip
    file = folder.parent / "classes of mine"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(file), ""))
    with qtbot.waitSignal(session.noticed) as said:
        dialog.save_table.click()
    assert said.args[0].startswith("The table was written to ")
    assert file.with_suffix(".csv").read_text("utf-8").splitlines() == [
        "Class,Train,Test", "cars,5,0", "birds <b>,4,0", "dogs,0,4", "fish,0,4",
    ]  # fmt: skip
    dialog.tabs.setCurrentIndex(2)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "\tSmallest\tMedian\tLargest", "Width, px\t16\t16\t16", "Height, px\t12\t12\t12",
    ]  # fmt: skip
    choose(dialog, "Copies (1)")
    (said,) = dialog.tabs.currentWidget().findChildren(QLabel)
    assert said.text() == (
        "2 images are in 1 group with the same pixels; 1 test image has a copy in the training set; "
        "the images of 1 group have different labels."
    )
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Group\tImage\tClass\tSplit", "1\tcars/copy.png\tcars\ttrain", "1\tfish/3.png\tfish\ttest",
    ]  # fmt: skip
    dialog.close()


def opened(session, qtbot, folder):
    """The data dialog of a folder, opened by the page, at the tab of near-duplicates."""
    registry.discover_all()
    session.set_catalog(registry.catalog())
    page = qtbot.addWidget(SetupPage(session))
    dataset = Choice(name="folder", params={"folder": str(folder), "image_size": 16})
    page.take_config(RunConfig(dataset=dataset, split=Choice(name="classes")))
    page.look_at_data()
    qtbot.waitUntil(lambda: page.data_look.dialog is not None)
    dialog = page.data_look.dialog
    choose(dialog, "Near-duplicates")
    return dialog


def test_near_duplicates_are_looked_for_when_they_are_asked_for(qtbot, session, folder):
    Image.open(folder / "cars" / "0.png").save(folder / "fish" / "again.jpg", quality=95, subsampling=0)
    dialog = opened(session, qtbot, folder)
    tab = dialog.near_duplicates
    assert "This reads all 18 images." in tab.said.text()
    assert not dialog.copy_table.isEnabled()
    with qtbot.waitSignal(tab.shown):
        tab.look.click()
    assert titles(dialog)[-1] == "Near-duplicates (1)"
    assert tab.said.text() == (
        "1 pair of images looks nearly the same. 1 test image has a near-duplicate in the training set. "
        "1 pair is of two classes."
    )
    assert tab.look.isHidden()
    assert tab.cancel.isHidden()
    table = tab.findChild(QTableWidget)
    assert [table.item(0, column).text() for column in (1, 2)] == [
        "cars/0.png\ncars · train",
        "fish/again.jpg\nfish · test",
    ]
    assert not table.item(0, 1).icon().isNull()
    assert not table.item(0, 2).icon().isNull()
    dialog.copy()
    assert (
        QGuiApplication.clipboard()
        .text()
        .splitlines()[1]
        .endswith("\tcars/0.png\tcars\ttrain\tfish/again.jpg\tfish\ttest")
    )
    dialog.close()


def test_the_pairs_fill_the_width_and_take_the_focus_which_tab_moves_on(qtbot, session, folder):
    long = f"{'an image that was saved again ' * 4}.jpg"
    Image.open(folder / "cars" / "0.png").save(folder / "fish" / long, quality=95, subsampling=0)
    dialog = opened(session, qtbot, folder)
    tab = dialog.near_duplicates
    tab.look.setFocus()
    with qtbot.waitSignal(tab.shown):
        qtbot.keyClick(tab.look, Qt.Key.Key_Space)
    table = tab.findChild(QTableWidget)
    qtbot.waitUntil(lambda: table.viewport().width() > 400)
    assert sum(table.columnWidth(column) for column in range(3)) == table.viewport().width()
    assert dialog.focusWidget() is table, "Enter does not close the dialog"
    qtbot.keyClick(table, Qt.Key.Key_Tab)
    assert dialog.focusWidget() is dialog.copy_table
    dialog.close()


def test_the_search_for_near_duplicates_can_be_cancelled_and_asked_again(qtbot, session, folder, monkeypatch):
    def until_cancelled(config, progress):
        while True:
            progress("Comparing images", 1000, 3000)

    dialog = opened(session, qtbot, folder)
    tab, real = dialog.near_duplicates, preflight.near_duplicates
    monkeypatch.setattr(preflight, "near_duplicates", until_cancelled)
    tab.look.click()
    assert not tab.cancel.isHidden()
    assert tab.look.isHidden()
    qtbot.waitUntil(lambda: tab.doing.text().startswith("Comparing images, 1,000 / 3,000"))
    assert (tab.bar.value(), tab.bar.maximum(), tab.bar.isHidden()) == (1000, 3000, False)
    tab.cancel.click()
    qtbot.waitUntil(lambda: tab.said.text().startswith("Cancelled"))
    assert all(part.isHidden() for part in (tab.cancel, tab.bar, tab.doing))
    monkeypatch.setattr(preflight, "near_duplicates", real)
    with qtbot.waitSignal(tab.shown):
        tab.look.click()
    assert tab.said.text() == "No two images look nearly the same."
    assert titles(dialog)[-1] == "Near-duplicates (0)"
    dialog.close()


def test_a_closed_dialog_ends_its_search_for_near_duplicates(qtbot, session, folder, monkeypatch):
    ended = []

    def until_cancelled(config, progress):
        try:
            while True:
                progress("Comparing images", 0, 1)
        finally:
            ended.append(True)

    dialog = opened(session, qtbot, folder)
    monkeypatch.setattr(preflight, "near_duplicates", until_cancelled)
    dialog.near_duplicates.look.click()
    dialog.close()
    qtbot.waitUntil(lambda: bool(ended))


def test_why_near_duplicates_cannot_be_looked_for_is_said_in_the_tab(qtbot, session, folder, monkeypatch):
    def refuse(config, progress):
        raise Problem("Near-duplicates are searched among at most 150,000 images; this data set has 200,000.")

    dialog = opened(session, qtbot, folder)
    tab = dialog.near_duplicates
    monkeypatch.setattr(preflight, "near_duplicates", refuse)
    tab.look.setFocus()
    qtbot.keyClick(tab.look, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "150,000" in tab.said.text())
    assert dialog.focusWidget() is tab.look
    assert tab.cancel.isHidden()
    dialog.close()


def test_that_more_pairs_were_found_than_are_listed_is_said(qtbot):
    small = np.zeros((4, 6, 3), np.uint8)
    pair = NearDuplicate(0.99, Member("a", "0", "train", small), Member("b", "0", "", small))
    tab = qtbot.addWidget(NearDuplicatesTab(9))
    tab.show_pairs(NearDuplicates([pair, pair], 1234, 0, 0))
    assert tab.said.text() == "1,234 pairs of images look nearly the same; the 2 most similar are listed."


def test_a_folder_that_is_gone_is_a_sentence(qtbot, session, tmp_path):
    registry.discover_all()
    session.set_catalog(registry.catalog())
    page = qtbot.addWidget(SetupPage(session))
    told = []
    session.noticed.connect(told.append)
    page.take_config(RunConfig(dataset=Choice(name="folder", params={"folder": str(tmp_path / "gone")})))
    page.look_at_data()
    qtbot.waitUntil(lambda: bool(told))
    assert "There is no " in str(told[0])


def test_a_line_that_stands_for_many_rows_is_counted_as_many(qtbot):
    small = np.zeros((4, 4, 3), np.uint8)
    found = Inspection(
        50, 4, ("train", "test"), np.full((1, 2), 25), ["0"], [("0/0", "0", small)], np.empty((0, 2)),
        problems=[("split train", "has 1,234 rows without a label"), ("train/7", "is empty (0 bytes)")],
        unlike_published=[], copies=[], left_out=1235, unit="row",
    )  # fmt: skip
    dialog = qtbot.addWidget(DataDialog("mine", found))
    assert dialog.tabs.tabText(3) == "Left out (1,235)"
    choose(dialog, "Left out (1,235)")
    said = [shown.text() for shown in dialog.tabs.widget(3).findChildren(QLabel)]
    assert "1,235 rows left out. A line of the table can stand for several." in said


def test_equally_large_classes_are_listed_by_name_numbers_as_numbers(qtbot):
    counts = np.array([[2], [2], [3], [2]])
    names = ["1", "10", "b", "2"]
    dialog = DataDialog("mine", Inspection(9, 4, ("train",), counts, names, [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    dialog.tabs.setCurrentIndex(1)
    table = dialog.tabs.widget(1).findChild(QTableWidget)
    assert [table.item(row, 0).text() for row in range(4)] == ["b", "1", "2", "10"]
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert table.columnWidth(0) > table.columnWidth(1), "counts stand side by side, not at the far end of the table"


@pytest.mark.parametrize(
    ("given", "tab", "heading", "said"),
    [
        ("notes", "Notes (1)", "Note", ("12 classes", "have images in the training set only (a, b, c, ...)")),
        ("unlike_published", "Differs from the published counts (1)", "Differs", ("mnist", "69,950 are missing")),
    ],
)
def test_what_is_not_left_out_has_a_tab_of_its_own(qtbot, given, tab, heading, said):
    small = np.zeros((4, 4, 3), np.uint8)
    remarks = {"problems": [], "unlike_published": [], "copies": [], given: [said]}
    found = Inspection(
        50, 4, ("train", "test"), np.full((1, 2), 25), ["0"], [("0/0", "0", small)], np.empty((0, 2)), **remarks
    )
    dialog = qtbot.addWidget(DataDialog("mine", found))
    assert titles(dialog)[3:] == ["Left out (0)", tab, "Copies (0)", "Near-duplicates"]
    choose(dialog, tab)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [f"What\t{heading}", "\t".join(said)]


def test_a_table_of_more_lines_than_are_shown_says_so_and_is_copied_whole(qtbot, session):
    count = MOST_ROWS + 234
    names = [f"class {number}" for number in range(count)]
    counts = np.ones((count, 1), int)
    dialog = DataDialog("mine", Inspection(count, 4, ("train",), counts, names, [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    dialog.wished.connect(session.fulfil)
    dialog.tabs.setCurrentIndex(1)
    said = [shown.text() for shown in dialog.tabs.widget(1).findChildren(QLabel)]
    assert "The first 5,000 of 5,234 lines are shown. Copy table and Save CSV… take all of them." in said
    dialog.copy()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    assert QGuiApplication.clipboard().text().splitlines()[-1] == "class 5233\t1"


def test_a_long_name_is_shortened_in_its_middle_and_whole_in_its_tooltip(qtbot):
    names = [f"{'a class with a long name ' * 20}{number}" for number in range(2)]
    found = Inspection(
        4, 4, ("train",), np.full((2, 1), 2), names, [], np.empty((0, 2)), [(names[0], "is empty")], [], []
    )
    dialog = qtbot.shown(DataDialog("mine", found))
    for place in (1, 3):
        dialog.tabs.setCurrentIndex(place)
        table = dialog.tabs.widget(place).findChild(QTableWidget)
        assert table.textElideMode() is Qt.TextElideMode.ElideMiddle
        assert names[0] in table.item(0, 0).toolTip()
        assert table.horizontalScrollBar().maximum() == 0, "the columns beside the name are in sight"


def test_a_tab_is_filled_when_it_is_first_opened_and_stays(qtbot):
    counts = np.array([[2], [3]])
    dialog = DataDialog("mine", Inspection(5, 4, ("train",), counts, ["a", "b"], [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    assert dialog.findChildren(QTableWidget) == []
    dialog.tabs.setCurrentIndex(1)
    table = dialog.tabs.widget(1).findChild(QTableWidget)
    assert dialog.copy_table.isEnabled()
    dialog.tabs.setCurrentIndex(0)
    dialog.tabs.setCurrentIndex(1)
    assert dialog.tabs.widget(1).findChildren(QTableWidget) == [table]


def test_ranks_of_classes_are_whole_numbers(qtbot):
    counts = np.array([[2], [3]])
    dialog = DataDialog("mine", Inspection(5, 4, ("train",), counts, ["a", "b"], [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    dialog.tabs.setCurrentIndex(1)
    axis = dialog.tabs.widget(1).findChild(ChartView).plot.getAxis("bottom")
    assert axis.tickSpacing(0.5, 2.5, 400)[-1][0] >= 1
