"""What runs find together, in the Similarity tab of the Compare page."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from tests.ui.ticking import compare_page, similarity_panel
from tests.unit.comparing.searched_runs import blobs_of, store_searched
from workbench.comparing.queries.replacing import replacing
from workbench.comparing.queries.together import together
from workbench.comparing.replacing_text import MEANING as OF_REPLACING
from workbench.comparing.replacing_text import replacing_notes, replacing_rows
from workbench.comparing.together_text import HEAD, MEANING, together_notes, together_rows
from workbench.problem import Problem
from workbench.ui.pages.compare.similarity import searched_runs
from workbench.ui.pages.compare.similarity.panel import REPLACE, TOGETHER
from workbench.ui.pages.compare.similarity.searched_runs import CANCELLED, LEFT_OUT

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")


@pytest.fixture
def page(qtbot, session, workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    return compare_page(qtbot, session)


@pytest.fixture
def panel(qtbot, page):
    return similarity_panel(qtbot, page, 1, 2, 3)


def choose(qtbot, panel, value=TOGETHER):
    qtbot.mouseClick(panel.value.buttons[value], Qt.MouseButton.LeftButton)


def shown(panel, value=TOGETHER):
    model = panel.searched[value].model
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def test_it_is_searched_when_it_is_chosen_and_shown_as_a_table_with_notes(qtbot, workspace, page, panel):
    assert panel.searched[TOGETHER].answer is None, "nothing is searched before it is asked for"
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    wanted = together(workspace, page.model.overview)
    assert shown(panel) == together_rows(wanted)
    assert panel.searched[TOGETHER].notes.text() == "\n".join((MEANING, *together_notes(wanted)))
    assert panel.words.text() == "R@1 and MAP@R of each run alone, of pairs and of all together"
    assert (panel.searched[TOGETHER].view.isVisible(), panel.plot.isVisible()) == (True, False)
    choose(qtbot, panel, "CKA")
    assert (panel.searched[TOGETHER].isVisible(), panel.plot.isVisible()) == (False, True)


def test_one_run_in_place_of_another_is_searched_when_it_is_chosen(qtbot, workspace, page, panel):
    choose(qtbot, panel, REPLACE)
    view = panel.searched[REPLACE]
    qtbot.waitUntil(lambda: view.answer is not None)
    wanted = replacing(workspace, page.model.overview)
    assert shown(panel, REPLACE) == replacing_rows(wanted)
    assert view.notes.text() == "\n".join((OF_REPLACING, *replacing_notes(wanted)))
    assert panel.words.text() == "R@1 of one run in place of another"
    assert panel.searched[TOGETHER].answer is None, "it was not asked for"
    assert (view.isVisible(), panel.searched[TOGETHER].isVisible(), panel.plot.isVisible()) == (True, False, False)


def test_it_is_copied_and_saved_with_all_digits(qtbot, session, panel, tmp_path, monkeypatch):
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    panel.searched[TOGETHER].copy.click()
    lines = QApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == list(HEAD)
    assert [line.split("\t") for line in lines[1:]] == shown(panel)
    path = tmp_path / "saved.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_asked: (str(path), ""))
    said = []
    session.noticed.connect(said.append)
    panel.searched[TOGETHER].save.click()
    qtbot.waitUntil(lambda: f"The table was written to {path}." in said)
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pair = panel.searched[TOGETHER].answer.ensembles[3]
    assert (rows[3]["runs"], float(rows[3]["MAP@R"])) == ("1 2", pair.values["MAP@R"])


def test_a_large_test_half_waits_for_the_button(qtbot, panel, page, monkeypatch):
    monkeypatch.setattr(searched_runs, "AT_ONCE", 10)
    panel.show_overview(replace(page.model.overview))  # another one
    qtbot.waitUntil(lambda: panel.similarity is not None)
    choose(qtbot, panel)
    assert (
        panel.searched[TOGETHER]
        .words.text()
        .startswith("These runs have up to 48 queries, so the search takes minutes.")
    )
    assert panel.searched[TOGETHER].answer is None
    qtbot.mouseClick(panel.searched[TOGETHER].start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    assert not panel.searched[TOGETHER].start.isVisible()


def test_after_a_cancel_a_button_searches_again(qtbot, session, panel, monkeypatch):
    asked, run_in_thread = [], session.run_in_thread

    def kept(title, work, *others, **more):
        if title == "Search with runs together":
            asked.append(more["cancelled"])
        return run_in_thread(title, work, *others, **more)

    monkeypatch.setattr(session, "run_in_thread", kept)
    choose(qtbot, panel)
    asked[0]()
    assert panel.searched[TOGETHER].words.text() == CANCELLED
    choose(qtbot, panel, "CKA")
    choose(qtbot, panel)
    assert panel.searched[TOGETHER].words.text() == CANCELLED, "it was not wanted"
    qtbot.mouseClick(panel.searched[TOGETHER].start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)


def test_other_runs_are_searched_again(qtbot, page, panel):
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    page.session.ticks.choose([1, 3])
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None and len(shown(panel)) == 3)
    assert shown(panel)[2][0] == "1 + 3"


def test_another_theme_baseline_or_order_keeps_what_took_minutes(qtbot, session, page, panel):
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].answer is not None)
    answer, similar = panel.searched[TOGETHER].answer, panel.similarity
    session.theme.choose("light" if session.theme.tokens.dark else "dark")
    page.order_action.trigger()
    page.head.baseline_box.setCurrentIndex(1)
    page.head.baseline_box.activated.emit(1)
    assert page.model.baseline.runs[0].id == 2
    assert (panel.searched[TOGETHER].answer, panel.similarity) == (answer, similar)
    assert panel.searched[TOGETHER].view.isVisible()


@pytest.mark.parametrize("question", [TOGETHER, REPLACE])
def test_a_run_with_a_damaged_file_is_left_out_until_it_is_put_back(qtbot, workspace, panel, question):
    path = workspace.file(2, "embeddings-1.npy")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    choose(qtbot, panel, question)
    view = panel.searched[question]
    qtbot.waitUntil(lambda: view.answer is not None)
    assert f"Run 2 is left out. The file {path} is damaged" in view.notes.text()
    assert view.answer.sets == ((1, 3),)
    assert view.words.isVisible()
    assert view.words.text() == LEFT_OUT
    path.write_bytes(whole)
    qtbot.mouseClick(view.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.answer is not None and view.answer.sets == ((1, 2, 3),))
    assert not view.start.isVisible()
    assert not view.words.isVisible()


def test_the_page_may_be_closed_while_it_searches(qtbot, page, panel, monkeypatch):
    """The session's end, after the test, ends the search: no thread outlives a test."""
    begun = []

    def endless(_workspace, _overview, progress):
        begun.append(True)
        while True:
            progress("Searching", 0, 1)

    monkeypatch.setattr(
        panel.searched[TOGETHER], "question", replace(panel.searched[TOGETHER].question, measure=endless)
    )
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: bool(begun))
    page.close()
    assert panel.searched[TOGETHER].answer is None


def test_what_refuses_the_search_is_said(qtbot, panel, monkeypatch):
    def refuse(*_asked):
        raise Problem("There is no room.", todo="Make some.")

    monkeypatch.setattr(
        panel.searched[TOGETHER], "question", replace(panel.searched[TOGETHER].question, measure=refuse)
    )
    choose(qtbot, panel)
    qtbot.waitUntil(lambda: panel.searched[TOGETHER].words.text() == "There is no room. Make some.")
    view = panel.searched[TOGETHER]
    assert [part.isVisible() for part in (view.view, view.copy, view.notes, view.start)] == [False] * 3 + [True]
