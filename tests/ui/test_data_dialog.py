"""The data dialog, opened from the Set up page on real images."""

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QTableWidget

from workbench import registry
from workbench.config import Choice, RunConfig
from workbench.datasets.inspection import Inspection
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.data.dialog import DataDialog

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
    page = SetupPage(session)
    qtbot.addWidget(page)
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
    assert titles(dialog) == ["Images", "Classes (4)", "Files", "Left out (1)", "Copies (1)"]
    assert dialog.windowTitle() == "Data set: data"
    assert not dialog.copy_table.isEnabled()
    dialog.tabs.setCurrentIndex(1)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Class\tTrain\tTest", "cars\t5\t0", "birds <b>\t4\t0", "dogs\t0\t4", "fish\t0\t4",
    ]  # fmt: skip
    dialog.tabs.setCurrentIndex(2)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "\tSmallest\tMedian\tLargest", "Width, px\t16\t16\t16", "Height, px\t12\t12\t12",
    ]  # fmt: skip
    choose(dialog, "Copies (1)")
    (said,) = dialog.tabs.currentWidget().findChildren(QLabel)
    assert said.text() == "2 images are in 1 group with the same pixels; 1 test image has a copy in the training half."
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines()[1:] == ["1\tcars/copy.png\ttrain", "1\tfish/3.png\ttest"]
    dialog.close()


def test_a_folder_that_is_gone_is_a_sentence(qtbot, session, tmp_path):
    registry.discover_all()
    session.set_catalog(registry.catalog())
    page = SetupPage(session)
    qtbot.addWidget(page)
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
    dialog = DataDialog("mine", found)
    qtbot.addWidget(dialog)
    assert dialog.tabs.tabText(3) == "Left out (1,235)"
    said = [shown.text() for shown in dialog.tabs.widget(3).findChildren(QLabel)]
    assert "1,235 rows left out. A line of the table may stand for many." in said


def test_equally_large_classes_are_listed_by_name_numbers_as_numbers(qtbot):
    counts = np.array([[2], [2], [3], [2]])
    names = ["1", "10", "b", "2"]
    dialog = DataDialog("mine", Inspection(9, 4, ("train",), counts, names, [], np.empty((0, 2)), [], [], []))
    qtbot.addWidget(dialog)
    table = dialog.tabs.widget(1).findChild(QTableWidget)
    assert [table.item(row, 0).text() for row in range(4)] == ["b", "1", "2", "10"]
    dialog.tabs.setCurrentIndex(1)
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert table.columnWidth(0) > table.columnWidth(1), "counts stand side by side, not at the far end of the table"


@pytest.mark.parametrize(
    ("given", "tab", "heading", "said"),
    [
        ("notes", "Notes (1)", "Note", ("12 classes", "have images in the training half only (a, b, c, ...)")),
        ("unlike_published", "Differs from the published counts (1)", "Differs", ("mnist", "69,950 are missing")),
    ],
)
def test_what_is_not_left_out_has_a_tab_of_its_own(qtbot, given, tab, heading, said):
    small = np.zeros((4, 4, 3), np.uint8)
    remarks = {"problems": [], "unlike_published": [], "copies": [], given: [said]}
    found = Inspection(
        50, 4, ("train", "test"), np.full((1, 2), 25), ["0"], [("0/0", "0", small)], np.empty((0, 2)), **remarks
    )
    dialog = DataDialog("mine", found)
    qtbot.addWidget(dialog)
    assert titles(dialog)[3:] == ["Left out (0)", tab, "Copies (0)"]
    choose(dialog, tab)
    dialog.copy()
    assert QGuiApplication.clipboard().text().splitlines() == [f"What\t{heading}", "\t".join(said)]
