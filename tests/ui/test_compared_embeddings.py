"""The Similarity tab of the Compare page."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.ui.small_run import blobs, store_run
from tests.ui.ticking import compare_page, similarity_panel, tick
from workbench.comparing.comparison_text import SEEDS_BESIDE
from workbench.comparing.queries.similarity import linear_cka
from workbench.config import Choice, RunConfig
from workbench.problem import Problem
from workbench.ui.pages.compare.similarity.matrix import CKA
from workbench.ui.pages.compare.similarity.panel import CANCELLED, TOGETHER

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")
LABELS = np.repeat(np.arange(4), 8)
TABLES = [blobs(LABELS, 0.5, seed) for seed in range(3)]


@pytest.fixture
def page(qtbot, session, workspace):
    for loss, seed, table in (("ce", 0, TABLES[0]), ("ce", 1, TABLES[1]), ("triplet", 0, TABLES[2])):
        config = RunConfig(name=f"<b>{loss}</b>", seed=seed, loss=Choice(name=loss))
        store_run(workspace, LABELS, embeddings=[table], with_proxies=False, name="Digits", config=config)
    return compare_page(qtbot, session)


@pytest.fixture
def panel(qtbot, page):
    return similarity_panel(qtbot, page, 1, 2, 3)


def test_every_pair_of_groups_has_a_cell_by_cka_or_by_neighbours(qtbot, panel):
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in TABLES]
    head, *cells = panel.plot.rows()
    assert head == ["group", "other group", "CKA", "pairs"]
    assert [cell[3] for cell in cells] == [1, 2, 2, 0]
    assert cells[0][2] == pytest.approx(linear_cka(unit[0], unit[1]), abs=1e-5)
    assert "the 32 test images" in panel.words.text()
    assert panel.notes.text() == SEEDS_BESIDE
    assert "(n 2)" in panel.plot.describe()
    assert panel.plot.limits([0.61, 0.67]) == (0, 1), "a small difference is drawn as one"
    qtbot.mouseClick(panel.value.buttons["same neighbours %"], Qt.MouseButton.LeftButton)
    shares = [cell[2] for cell in panel.plot.rows()[1:]]
    assert all(0 < share <= 100 for share in shares[:3])
    assert panel.words.text().startswith("Share of the 10 nearest neighbours")
    assert "32.3%" in panel.words.text(), "10 of the other 31"


def test_one_run_has_nothing_to_be_compared_with(qtbot, page):
    tick(qtbot, page, 3)
    page.tabs.open("Similarity")
    qtbot.waitUntil(lambda: page.tabs.similarity.words.text().startswith("There are no two runs here"))
    assert not page.tabs.similarity.plot.isVisible()


def test_after_a_cancel_the_tab_reads_again_when_it_is_shown(qtbot, session, panel, page, monkeypatch):
    asked, run_in_thread = [], session.run_in_thread

    def kept(title, work, *others, **more):
        if title == "Compare embeddings":
            asked.append(more["cancelled"])
        return run_in_thread(title, work, *others, **more)

    monkeypatch.setattr(session, "run_in_thread", kept)
    panel.show_overview(replace(page.model.overview))  # another one
    asked[0]()
    assert panel.words.text() == CANCELLED
    page.tabs.setCurrentIndex(0)
    page.tabs.open("Similarity")
    qtbot.waitUntil(lambda: panel.similarity is not None)


def test_what_cannot_be_read_is_said(qtbot, panel, page, monkeypatch):
    def fail(*_asked):
        raise Problem("The file is damaged.")

    monkeypatch.setattr("workbench.ui.pages.compare.similarity.panel.similarity", fail)
    panel.show_overview(replace(page.model.overview))  # another one
    qtbot.waitUntil(lambda: panel.words.text() == "The file is damaged.")
    assert [part.isVisible() for part in (panel.plot, panel.notes, panel.value)] == [False, False, True]
    qtbot.mouseClick(panel.value.buttons[TOGETHER], Qt.MouseButton.LeftButton)  # does not need what failed
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    assert panel.searched[TOGETHER].view.isVisible()
    qtbot.mouseClick(panel.value.buttons[CKA], Qt.MouseButton.LeftButton)
    assert panel.words.text() == "The file is damaged."
    assert not panel.searched[TOGETHER].isVisible()


def test_a_run_whose_file_is_damaged_is_left_out_and_read_again_when_the_tab_is_shown(qtbot, workspace, page):
    path = workspace.file(2, "embeddings-1.npy")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    panel = similarity_panel(qtbot, page, 1, 2, 3)
    assert f"Run 2 is left out. The file {path} is damaged" in panel.notes.text()
    assert [cell[3] for cell in panel.plot.rows()[1:]] == [0, 1, 1, 0]
    path.write_bytes(whole)
    page.tabs.setCurrentIndex(0)
    page.tabs.open("Similarity")
    qtbot.waitUntil(lambda: panel.notes.text() == SEEDS_BESIDE)
