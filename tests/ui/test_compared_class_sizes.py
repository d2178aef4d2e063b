"""Compare, Class size: the difference of two groups for rare and frequent classes."""

from threading import Event

import numpy as np
import pytest

from tests.ui.small_run import Images, blobs, evaluated
from tests.ui.ticking import tick
from tests.waits import HANG
from workbench.config import RunConfig, TrainingParams
from workbench.events import Ended, Status
from workbench.files import atomic_write
from workbench.ui.pages.compare.page import ComparePage
from workbench.ui.pages.compare.queries import by_size
from workbench.ui.pages.compare.queries.by_size import NO_QUERIES
from workbench.workspace.recorder import Recorder

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
SIZES = (2, 4, 6, 9, 12, 20)
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)
NAMES = tuple(f"class {number}" for number in range(len(SIZES)))
IDS = np.arange(len(LABELS), dtype=np.int64) * 7 + 2**40


def run(workspace, name, spread, lr):
    images = Images([f"{row:03}.png" for row in range(len(LABELS))], LABELS, NAMES, IDS, "compared")
    pixels = workspace.path / "pixels.npy"
    with atomic_write(pixels) as file:
        np.save(file, np.zeros((len(LABELS), 8, 8, 1), np.uint8))
    run_id = workspace.create_run(RunConfig(name=name, training=TrainingParams(lr=lr)))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, pixels))
    recorder(evaluated(images, 1, blobs(LABELS, spread, 3, width=8), 20, None))
    recorder(Ended("done"))


@pytest.fixture
def page(qtbot, session, workspace):
    run(workspace, "A", 0.2, 0.1)
    run(workspace, "B", 3.0, 0.2)
    session.theme.apply()
    compare = ComparePage(session)
    qtbot.addWidget(compare)
    compare.resize(1100, 700)
    with qtbot.waitExposed(compare):
        compare.show()
    tick(qtbot, compare, 1, 2)
    qtbot.waitUntil(lambda: compare.model.comparison is not None)
    return compare


def test_each_group_of_classes_has_its_difference(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    rows = [[panel.model.index(row, column).data() for column in range(7)] for row in range(panel.model.rowCount())]
    assert [row[:3] for row in rows] == [
        ["Large", "12 to 20", "2"],
        ["Middle", "6 to 9", "2"],
        ["Small", "2 to 4", "2"],
    ]
    assert all(row[5].startswith("\N{MINUS SIGN}") for row in rows), "B is far worse"
    assert "minus" in panel.words.text()
    assert "paired over classes" in panel.beside.text()
    assert panel.table.isVisible()


def test_all_groups_are_in_sight_where_the_tab_is_low(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    panel.beside.setText("a remark\n" * 40)
    qtbot.waitUntil(lambda: panel.beside.height() > panel.height())
    assert panel.table.viewport().rect().contains(panel.table.visualRect(panel.model.index(2, 0)))


def test_what_was_cancelled_is_compared_when_the_tab_is_shown_again(qtbot, session, page, monkeypatch):
    begun = Event()

    def until_cancelled(*_asked):
        begun.set()
        while True:
            _asked[-1]("Scores of the classes", 0, 0)

    with monkeypatch.context() as patch:
        patch.setattr(by_size, "compared_by_size", until_cancelled)
        page.tabs.open("Class size")
        assert begun.wait(HANG)
        session.activity.newest_working.cancel()
        qtbot.waitUntil(lambda: page.tabs.by_size.words.text() == by_size.CANCELLED)
    page.tabs.open("Curves")
    page.tabs.open("Class size")
    qtbot.waitUntil(lambda: page.tabs.by_size.compared is not None)


def test_a_sentence_stands_where_there_are_no_queries_to_compare(qtbot, page):
    page.tabs.open("Class size")
    panel = page.tabs.by_size
    qtbot.waitUntil(lambda: panel.compared is not None)
    panel.show_pair(page.model.comparison, [])
    assert panel.words.text() == NO_QUERIES
    assert panel.table.isHidden()
