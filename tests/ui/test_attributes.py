"""The view Attributes of Retrieval: the matrix, scores without the own value, and the queries that a click lists."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from tests.ui.browsed import at_rest, listed, open_page
from tests.ui.small_run import store_run
from workbench.control import Cancelled
from workbench.results.by_attribute import as_csv, by_attribute
from workbench.ui.pages.retrieval.attributes.panel import ASK, MEASURING, NONE, TABLES, AttributesPanel
from workbench.workspace.choices.sample_tags import change_tags, tag_sample

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

LABELS = np.repeat(np.arange(8), 6)
CAMERAS = np.tile([0, 0, 0, 1, 1, 2], 8)
NAMES = np.array(["front", "rear", "<b>side & top</b>"])


def embeddings():
    """Of class and camera together, with a little of the class alone."""
    random = np.random.default_rng(3)
    of_class, of_both = random.normal(size=(8, 12)), random.normal(size=(8, 3, 12))
    both = 0.3 * of_class[LABELS] + 0.7 * of_both[LABELS, CAMERAS]
    return (both + 0.2 * random.normal(size=(48, 12))).astype(np.float32)


def tagged(workspace, run, name="camera", values=NAMES[CAMERAS]):
    dataset_id = workspace.run(run.run_id).dataset_id
    change_tags(workspace, dataset_id, [(a, f"{name}={b}") for a, b in zip(run.ids.tolist(), values, strict=True)])


@pytest.fixture
def run(workspace):
    made = store_run(workspace, LABELS, embeddings=[embeddings(), 2 * embeddings() + 1])
    tagged(workspace, made)
    return made


@pytest.fixture
def page(qtbot, session, run):
    session.show_run(run.run_id)
    return open_page(qtbot, session, (1200, 800))


def opened(page):
    at = next(at for at in range(page.views.count()) if page.views.tabText(at) == "Attributes")
    page.views.setCurrentIndex(at)
    return page.findChild(AttributesPanel)


@pytest.fixture
def panel(qtbot, page):
    made = opened(page)
    qtbot.waitUntil(lambda: made.measured is not None)
    return made


def click(table, row, column):
    index = table.model().index(row, column)
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())


def texts(table):
    model = table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def test_the_matrix_and_the_table_show_what_is_measured(panel, workspace, run, session):
    wanted = by_attribute(workspace, session.evaluation_id, "camera")
    score = wanted.cells[1][0].scores["MAP@R"].value
    assert panel.currentIndex() == TABLES
    assert panel.attribute.currentText() == "camera"
    assert texts(panel.cells)[1][0] == f"{100 * score:.1f}"
    assert [row[0] for row in texts(panel.own_table)] == ["<b>side & top</b>", "front", "rear", "All"]
    every = wanted.own[-1]
    assert texts(panel.own_table)[-1][1:4] == ["48", "0", f"{100 * every.usual['MAP@R'].value:.1f}"]
    assert panel.verdict.text() == wanted.verdict
    assert "Zheng et al., 2015" in panel.beside.text()
    assert panel.cells.verticalScrollBar().maximum() == panel.own_table.verticalScrollBar().maximum() == 0


@pytest.mark.parametrize("width", [1006, 1178], ids=["of a window of 1280 px, beside a bar", "of 1440 px"])
def test_the_head_is_one_line_and_frames_end_with_their_columns(qtbot, page, width):
    page.resize(width, 800)
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    qtbot.waitUntil(lambda: panel.own_table.width() == panel.own_table.sizeHint().width())
    line = panel.metrics.geometry()
    for part in (panel.attribute, panel.what, panel.copy, panel.save):
        assert part.geometry().top() <= line.center().y() <= part.geometry().bottom()
    for table in (panel.cells, panel.own_table):
        last = table.horizontalHeader().length()
        assert table.viewport().width() == last, "the line below the titles ends at the frame"
        assert table.horizontalScrollBar().maximum() == 0


def test_tables_that_are_wider_than_the_view_scroll(qtbot, page, panel):
    page.resize(600, 800)
    qtbot.waitUntil(lambda: panel.own_table.horizontalScrollBar().maximum() > 0)
    assert panel.own_table.verticalScrollBar().maximum() == 0


def test_another_metric_and_the_distance_from_chance(panel):
    cell = panel.measured.cells[1][2]
    QTest.mouseClick(panel.metrics.buttons["recall@1"], Qt.MouseButton.LeftButton)
    assert texts(panel.cells)[1][2] == f"{100 * cell.scores['recall@1'].value:.1f}"
    QTest.mouseClick(panel.what.buttons["above"], Qt.MouseButton.LeftButton)
    assert texts(panel.cells)[1][2].lstrip("+−") == (
        f"{abs(100 * (cell.scores['recall@1'].value - cell.chance['recall@1'])):.1f}"
    )


def test_a_tip_has_all_of_a_cell_and_no_markup_of_a_name(panel):
    index = panel.matrix.index(0, 1)
    tip, cell = index.data(Qt.ItemDataRole.ToolTipRole), panel.measured.cells[0][1]
    assert "&lt;b&gt;side &amp; top&lt;/b&gt;" in tip
    assert f"{cell.queries} queries, 0 left out without a match; {cell.images} images" in tip
    assert "<b>side & top</b>" in index.data(Qt.ItemDataRole.AccessibleTextRole)
    head = panel.matrix.headerData(0, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;" in head


def test_the_tip_of_rare_values_names_some_of_them(qtbot, session, workspace, run, page):
    tagged(workspace, run, "shot", [f"shot {number:02}" for number in range(48)])
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.attribute.setFocus()
    QTest.keyClick(panel.attribute, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured.attribute == "shot")
    tips = [
        panel.matrix.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) for column in (11, 12)
    ]
    assert tips[0] == "shot 11"
    assert "shot 12, shot 13, " in tips[1]
    assert "shot 31 and 16 more" in tips[1]


def test_a_click_on_a_cell_lists_its_queries_until_they_are_dropped(qtbot, page, panel, run):
    click(panel.cells, 1, 2)
    at_rest(qtbot, page)
    assert sorted(listed(page)) == run.ids[CAMERAS == 0].tolist()
    assert page.queries.cell.text() == "camera: front among rear"
    QTest.mouseClick(panel.open, Qt.MouseButton.LeftButton)
    assert page.views.currentIndex() == 0
    QTest.mouseClick(page.queries.cell, Qt.MouseButton.LeftButton)
    assert len(listed(page)) == len(LABELS)
    assert not page.queries.cell.isVisible()
    assert not panel.cells.selectionModel().hasSelection()
    assert not panel.open.isEnabled()


def test_a_saved_view_has_no_cell_and_lists_without_one(qtbot, session, page, panel):
    click(panel.cells, 1, 2)
    said = []
    session.noticed.connect(lambda what, *_: said.append(str(what)))
    page.saved.save_as("All")
    qtbot.waitUntil(lambda: [view.name for view in page.saved.views] == ["All"])
    assert any("“camera: front among rear”, which is of this evaluation, is not in it" in words for words in said)
    page.saved.choose("All")
    at_rest(qtbot, page)
    assert len(listed(page)) == len(LABELS)
    assert page.browsing.filters.cell is None


def test_failures_of_a_row_are_those_of_the_search_in_other_values(qtbot, page, panel):
    click(panel.own_table, 3, 0)
    at_rest(qtbot, page)
    assert len(listed(page)) == len(LABELS)
    QTest.mouseClick(panel.failed, Qt.MouseButton.LeftButton)
    at_rest(qtbot, page)
    share = panel.measured.own[-1].others["recall@1"].value
    assert 0 < len(listed(page)) == round((1 - share) * len(LABELS))
    assert page.views.currentIndex() == 0
    assert page.queries.cell.toolTip().startswith("camera: All among other values, failures")


def test_only_one_of_the_two_tables_has_a_choice(panel):
    click(panel.cells, 0, 0)
    click(panel.own_table, 1, 0)
    assert not panel.cells.selectionModel().hasSelection()
    click(panel.cells, 0, 0)
    assert not panel.own_table.selectionModel().hasSelection()
    QTest.mouseClick(panel.metrics.buttons["recall@1"], Qt.MouseButton.LeftButton)
    assert (panel.cells.currentIndex().row(), panel.cells.currentIndex().column()) == (0, 0)
    assert panel.open.isEnabled()


def test_arrows_and_enter_choose_and_open_a_cell(qtbot, page, panel, run):
    click(panel.cells, 1, 0)
    QTest.keyClick(panel.cells, Qt.Key.Key_Right)
    QTest.keyClick(panel.cells, Qt.Key.Key_Down)
    QTest.keyClick(panel.cells, Qt.Key.Key_Return)
    at_rest(qtbot, page)
    assert page.views.currentIndex() == 0
    assert sorted(listed(page)) == run.ids[CAMERAS == 1].tolist()
    assert page.queries.cell.text() == "camera: rear among front"


def test_another_evaluation_is_measured_and_drops_the_cell(qtbot, session, page, panel, run):
    click(panel.cells, 1, 0)
    before = panel.measured
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured is not before)
    at_rest(qtbot, page)
    assert panel.measured.epoch == 1
    assert page.browsing.filters.cell is None
    assert len(listed(page)) == len(LABELS)


def test_another_attribute_is_measured_once(qtbot, session, workspace, run, page):
    tagged(workspace, run, "light", np.where(CAMERAS, "day", "night"))
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    first = panel.measured
    assert [panel.attribute.itemText(at) for at in range(panel.attribute.count())] == ["camera", "light"]
    panel.attribute.setFocus()
    QTest.keyClick(panel.attribute, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured.attribute == "light")
    QTest.keyClick(panel.attribute, Qt.Key.Key_Up)
    assert panel.measured is first


def test_without_attributes_a_table_can_be_imported(qtbot, session, workspace, tmp_path):
    run = store_run(workspace, LABELS)
    session.show_run(run.run_id)
    page = open_page(qtbot, session, (1200, 800))
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.currentIndex() == NONE)
    assert "a table with a column path" in panel.none.sentence.text()
    paths = workspace.samples(workspace.run(run.run_id).dataset_id).paths
    rows = [f"{path},{'front' if at % 2 else 'rear'}" for at, path in enumerate(paths)]
    (tmp_path / "tags.csv").write_text("\n".join(["path,camera", *rows]), encoding="utf-8")
    page.tagging.import_from(tmp_path / "tags.csv")
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.measured.titles == ("front", "rear")


def test_the_last_attribute_that_goes_leaves_the_hint(qtbot, session, workspace, panel, run):
    tags = [(number, f"camera={name}") for number, name in zip(run.ids.tolist(), NAMES[CAMERAS], strict=True)]
    change_tags(workspace, workspace.run(run.run_id).dataset_id, (), tags)
    session.choices_changed.emit({"sample_tags"})
    qtbot.waitUntil(lambda: panel.currentIndex() == NONE)
    assert panel.measured is None


def test_the_button_of_the_hint_asks_for_a_table(qtbot, session, workspace, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "workbench.ui.pages.retrieval.tagging.QFileDialog.getOpenFileName", lambda *_: (asked.append(1), ("", ""))[1]
    )
    session.show_run(store_run(workspace, LABELS).run_id)
    panel = opened(open_page(qtbot, session, (1200, 800)))
    qtbot.waitUntil(lambda: panel.currentIndex() == NONE)
    QTest.mouseClick(panel.none.go, Qt.MouseButton.LeftButton)
    assert asked == [1]


def test_one_value_is_a_sentence_alone(qtbot, session, workspace):
    run = store_run(workspace, LABELS)
    tagged(workspace, run, values=["front"] * len(LABELS))
    session.show_run(run.run_id)
    panel = opened(open_page(qtbot, session, (1200, 800)))
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.verdict.text() == "All images have the value front of camera: there is nothing to search across."
    assert not panel.cells.isVisible()
    assert not panel.save.isVisible()


def test_many_images_are_measured_when_asked(qtbot, session, page, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.retrieval.attributes.panel.AT_ONCE", 10)
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.attribute.count() == 1)
    assert panel.currentIndex() == ASK
    QTest.mouseClick(panel.ask.go, Qt.MouseButton.LeftButton)
    assert panel.currentIndex() == MEASURING
    QTest.mouseClick(panel.measuring.go, Qt.MouseButton.LeftButton)
    assert panel.currentIndex() == ASK
    QTest.mouseClick(panel.ask.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.measured is not None)


def test_a_measurement_ends_where_another_run_is_shown_while_the_view_is_hidden(
    qtbot, session, workspace, run, page, monkeypatch
):
    seen = []

    def until_cancelled(workspace, evaluation_id, attribute, progress):
        try:
            while True:
                progress("Searching", 3, 9)
        except Cancelled:
            seen.append(evaluation_id)
            raise

    with monkeypatch.context() as patch:
        patch.setattr("workbench.ui.pages.retrieval.attributes.panel.by_attribute", until_cancelled)
        panel = opened(page)
        qtbot.waitUntil(lambda: panel.measuring.bar.maximum() == 9)
        page.views.setCurrentIndex(0)
        assert not seen, "it goes on while its run is shown"
        session.show_run(store_run(workspace, LABELS, name="Other").run_id)
        qtbot.waitUntil(lambda: bool(seen))
    assert seen == [run.evaluations[-1]]
    session.show_run(run.run_id)
    opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.measured.run_id == run.run_id


def test_of_many_images_another_attribute_can_be_chosen_first(qtbot, session, workspace, run, page, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.retrieval.attributes.panel.AT_ONCE", 10)
    tagged(workspace, run, "light", np.where(CAMERAS, "day", "night"))
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.asked.count() == 2)
    assert panel.asked.isVisible()
    panel.asked.setFocus()
    QTest.keyClick(panel.asked, Qt.Key.Key_Down)
    QTest.mouseClick(panel.ask.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert (panel.measured.attribute, panel.attribute.currentText()) == ("light", "light")


def test_tags_that_change_are_measured_anew(qtbot, session, workspace, panel, run):
    before = panel.measured
    tag_sample(workspace, workspace.run(run.run_id).dataset_id, int(run.ids[0]), "camera=rear")
    session.choices_changed.emit({"sample_tags"})
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured is not before)
    assert panel.measured.cells[2][2].images == before.cells[2][2].images + 1


def test_the_attribute_stays_in_another_evaluation(qtbot, session, workspace, run, page):
    tagged(workspace, run, "light", np.where(CAMERAS, "day", "night"))
    panel = opened(page)
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.attribute.setFocus()
    QTest.keyClick(panel.attribute, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured.attribute == "light")
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: panel.measured is not None and panel.measured.epoch == 1)
    assert panel.measured.attribute == panel.attribute.currentText() == "light"


def test_tags_of_another_kind_change_nothing(qtbot, session, workspace, panel, run):
    before, dataset_id = panel.measured, workspace.run(run.run_id).dataset_id
    change_tags(workspace, dataset_id, [(int(run.ids[0]), "label wrong"), (int(run.ids[1]), "light=day")])
    session.choices_changed.emit({"sample_tags"})
    qtbot.waitUntil(lambda: panel.attribute.count() == 2)
    assert panel.measured is before
    assert (panel.currentIndex(), panel.attribute.currentText()) == (TABLES, "camera")


def test_what_cannot_be_read_is_said_and_can_be_asked_for_again(qtbot, session, page, run, workspace):
    for path in workspace.folder(run.run_id).glob("embeddings-*.npy"):
        path.unlink()
    panel = opened(page)
    qtbot.waitUntil(lambda: "embeddings" in panel.ask.sentence.text())
    assert panel.currentIndex() == ASK
    QTest.mouseClick(panel.ask.go, Qt.MouseButton.LeftButton)
    assert panel.currentIndex() == MEASURING
    qtbot.waitUntil(lambda: panel.currentIndex() == ASK)


def test_the_tables_are_copied_and_saved(qtbot, panel, tmp_path):
    QTest.mouseClick(panel.what.buttons["above"], Qt.MouseButton.LeftButton)
    panel.copy.click()
    assert QGuiApplication.clipboard().text().startswith("MAP@R points above chance\t")
    QTest.mouseClick(panel.what.buttons["score"], Qt.MouseButton.LeftButton)
    panel.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["MAP@R %", "<b>side & top</b>", "front", "rear"]
    assert lines[5].split("\t")[:3] == ["camera", "Queries", "Left out"]
    panel.table_actions[0].save_to(tmp_path / "scores.csv")
    qtbot.waitUntil((tmp_path / "scores.csv").exists)
    assert (tmp_path / "scores.csv").read_text("utf-8") == as_csv(panel.measured)
