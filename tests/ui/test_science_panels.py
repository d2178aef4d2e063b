"""Deployment, Label triage and Geometry as a person meets them: measured, answered by keys, undone, shown by epoch."""

import json
import re
import sys
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPixmap, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QToolTip

from tests.ui.small_run import blobs, store_run
from workbench.deploying.request import deployment
from workbench.evaluation.health import Alarm, look
from workbench.events import ProbeEmbeddings
from workbench.jobs import processes
from workbench.results.geometry_watch import Watched
from workbench.results.search_methods import WAYS
from workbench.results.triage import LABEL
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval import RetrievalPage
from workbench.ui.pages.retrieval.deployment import new_classes, open_set
from workbench.ui.pages.retrieval.deployment.panel import NO_SEARCHES_THEN, ONE_AT_A_TIME, DeployPanel
from workbench.ui.pages.retrieval.deployment.plots import Point, TradePlot, colour_of, dot
from workbench.ui.pages.retrieval.deployment.rows import Row, StoreRows, rows_of
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.pages.train.geometry.axes import POSITIVE
from workbench.ui.pages.train.geometry.beside import UNCAPTIONED
from workbench.ui.pages.train.geometry.classes_plot import ClassesPlot
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot, beside_first
from workbench.ui.pages.train.geometry.panel import GeometryPanel
from workbench.ui.pages.train.page import TrainPage
from workbench.ui.plots.export import small
from workbench.ui.plots.value_scale import in_decimals, ticks
from workbench.ui.state.commands import Commands
from workbench.ui.state.undo import Reversible, UndoCommands
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE
from workbench.ui.widgets.labels import plain_tip
from workbench.workspace import Workspace
from workbench.workspace.choices.label_decisions import all_decisions
from workbench.workspace.measured.deployments import DAMAGED, NEWER_DAMAGED, store_deployment

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(4), 12)


@pytest.fixture
def run(session, workspace):
    tables = [blobs(LABELS, spread, 1, width=16) for spread in (1.5, 0.4)]
    tables[-1][5] = tables[-1][20] + 0.05  # of class 0, among images of class 1
    tables[-1][30] = tables[-1][2] + 0.05  # of class 2, among images of class 0
    stored = store_run(workspace, LABELS, embeddings=tables)
    session.show_run(stored.run_id)
    return stored


class Written(QPainter):
    """Keeps the words that it draws."""

    def __init__(self, words):
        self.words, self.sheet = words, QPixmap(300, 160)
        super().__init__(self.sheet)

    def drawText(self, *given):  # noqa: N802  Qt's way of naming
        self.words.append(given[-1])
        super().drawText(*given)


def shown(qtbot, widget):
    return qtbot.shown(widget, 1000, 720)


@pytest.mark.parametrize("older", [False, True])
def test_a_measurement_that_is_damaged_is_not_simply_one_that_is_missing(qtbot, session, workspace, run, older):
    if older:
        deployment(workspace, session.evaluation_id, ["int8"], 0.01)
    store_deployment(workspace, session.evaluation_id, "int8 0.02", {"gallery": -1})
    panel = shown(qtbot, DeployPanel(session))
    if older:
        qtbot.waitUntil(lambda: panel.measured is not None)
        assert panel.sentence.text().startswith(NEWER_DAMAGED)
    else:
        qtbot.waitUntil(lambda: panel.ask.sentence.text().startswith(DAMAGED))


def test_the_side_of_the_deployment_grows_with_a_wide_page(qtbot, session, workspace, run):
    deployment(workspace, session.evaluation_id, ["int8"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    before = panel.beside.width()
    panel.resize(2300, 1200)
    qtbot.waitUntil(lambda: panel.beside.width() > before)


def test_what_was_measured_is_shown_and_scaled_to_the_gallery(qtbot, session, workspace, run):
    measured = deployment(workspace, session.evaluation_id, ["int8", "hnsw", "pq5"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert [row.name for row in panel.stores.rows] == ["float32", "int8", "hnsw"]
    assert "PQ 5: 16 dimensions cannot be cut" in panel.sentence.text()
    threshold = panel.threshold.facts["Threshold"].findChildren(QLabel)[-1]
    assert threshold.text() == f"{measured['limit']['similarity']:.3f}"
    by_l2 = measured["limit"] | {"similarity": -3.25, "similarity_range": [-3.5, -3.0]}
    panel.threshold.show_threshold(by_l2, str)
    assert threshold.text() == "−3.250"
    assert panel.threshold.facts["Threshold"].toolTip() == "95% interval −3.5000 to −3.0000"
    assert "at a threshold of −3.250," in panel.threshold.pairs.describe()
    panel.threshold.show_threshold(measured["limit"], str)
    assert panel.stores.lines()[0].split("\t")[5] == "Δ points"
    for row, line in zip(panel.stores.rows, panel.stores.lines()[1:], strict=True):
        difference = line.split("\t")[5]
        if row.name == "float32":
            assert difference == "–", "it is what the others are compared with"
            continue
        assert re.fullmatch(r"(\? )?[+−]\d+\.\d\d", difference), line
        assert difference.startswith("? ") is not row.sure
    panel.gallery.setValue(2_000_000)
    assert panel.stores.rows[0].megabytes == pytest.approx(128, rel=0.01)
    assert rows_of(measured, 96)[0].ms == pytest.approx(2 * measured["stores"][0]["ms"])
    panel.threshold.rate.setValue(5)
    assert panel.threshold.again.isEnabled()


def test_new_classes_are_shown_beside_the_stores(qtbot, session, workspace, run):
    measured = deployment(workspace, session.evaluation_id, ["int8"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    new = panel.new_classes
    assert panel.threshold.isVisible()
    assert not new.isVisible()
    panel.sides.buttons["new"].click()
    assert new.plot.isVisible()
    assert not panel.threshold.isVisible()
    assert not new.measure.isVisible()
    assert [row[0] for row in new.plot.rows()[1:]] == [1, 2, 5, 10]
    assert new.plot.rows()[1][1:4] == pytest.approx(
        [100 * share for share in measured["new_classes"]["points"][0]["by_mean"]]
    )
    assert [fact.isVisible() for fact in new.facts] == [False] * 4, "there are four classes"
    painted = new.plot.image()
    assert {painted.pixel(x, y) for x in range(0, painted.width(), 3) for y in range(0, painted.height(), 3)} > {
        0xFFFFFFFF
    }
    episodes = [{"ways": 5, "shots": 1, "accuracy": 0.95123, "half_width": 0.00456}]
    new.show_new_classes(measured["new_classes"] | {"episodes": episodes})
    assert [fact.isVisible() for fact in new.facts] == [True, False, False, False]
    assert new.facts[0].value.text() == "95.12 ± 0.46%"
    new.show_new_classes(measured["new_classes"] | {"points": []})
    assert not new.plot.isVisible()
    assert new.sentence.text() == "New classes were not measured: no two classes have two images."


def test_the_open_set_is_shown_beside_the_stores(qtbot, session, workspace, run):
    measured = deployment(workspace, session.evaluation_id, ["int8"], 0.01)["open_set"]
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    side = panel.open_set
    panel.sides.buttons["open"].click()
    assert panel.beside.width() >= panel.sides.sizeHint().width(), "no title is cut"
    assert side.plot.isVisible()
    assert not side.measure.isVisible()
    assert [side.images.itemText(at) for at in range(3)] == ["1 image stored", "5 images stored", "all images stored"]
    assert side.images.currentIndex() == 2
    side.images.setCurrentIndex(1)
    five = measured["points"][1]
    assert side.said.text().startswith("With 5 images stored of each known class, ")
    rows = [line.split("\t") for line in side.rows.lines()]
    assert rows[0] == ["Measure", "Nearest", "Mean"]
    assert [row[0].strip() for row in rows[1:]] == [
        "DIR at 10% FPIR", "threshold", "OSCR area", "AUROC", "All accepted"
    ]  # fmt: skip
    assert rows[1][1] == f"{100 * five['by_nearest']['rates'][0]['dir'][0]:.1f}%"
    assert rows[2][2] == f"{five['by_mean']['rates'][0]['threshold'][0]:.3f}"
    low, high = (f"{100 * share:.1f}%" for share in five["by_mean"]["oscr"][1:])
    assert f"Class mean: {low} to {high}" in side.rows.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert side.plot.rows()[1:] == [
        pytest.approx([100 * share for share in of_rate])
        for of_rate in zip(measured["curve"], *(five[rule]["curve"] for rule in ("by_nearest", "by_mean")), strict=True)
    ]
    area = side.plot.picture.rect()
    assert side.plot.words_at(QPointF(area.width() - 15, area.height() / 2)).startswith("FPIR 100%: DIR ")
    assert side.plot.words_at(QPointF(1, 1)) == ""
    painted = side.plot.image()
    colours = {painted.pixel(x, y) for x in range(0, painted.width(), 3) for y in range(0, painted.height(), 3)}
    assert len(colours) > 3
    side.show_open_set(measured | {"points": []})
    assert not side.plot.isVisible()
    assert side.sentence.text() == "Open-set identification was not measured: no two classes have two images."


@pytest.mark.parametrize(
    ("lacking", "side"), [("new_classes", "new"), pytest.param("open_set", "open", marks=pytest.mark.slow)]
)
def test_an_older_measurement_offers_to_measure_what_it_lacks(qtbot, session, workspace, run, lacking, side):
    whole = deployment(workspace, session.evaluation_id, [], 0.001)
    older = {name: value for name, value in whole.items() if name != lacking}
    store_deployment(workspace, session.evaluation_id, " 0.001", older)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.sides.buttons[side].click()
    of_lacking = getattr(panel, lacking)
    assert of_lacking.sentence.text() in (new_classes.NOT_THEN, open_set.NOT_THEN)
    of_lacking.measure.click()
    qtbot.waitUntil(lambda: of_lacking.plot.isVisible())
    assert {name: panel.measured[name] for name in whole} == whole, "only what it lacked was measured"


def test_search_methods_come_last_and_an_older_measurement_offers_them(qtbot, session, workspace, run):
    whole = deployment(workspace, session.evaluation_id, [], 0.001)
    older = {**whole, "rules": 1, "stores": whole["stores"][:-3]}
    store_deployment(workspace, session.evaluation_id, " 0.001", older)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.measured == older
    assert panel.sentence.text().endswith(NO_SEARCHES_THEN)
    assert panel.threshold.again.isEnabled()
    panel.threshold.again.click()
    qtbot.waitUntil(lambda: len(panel.stores.rows) == len([row for row in whole["stores"] if not row["refused"]]))
    assert [row.title for row in panel.stores.rows][-3:] == ["αQE 10", "DBA 10", "k-reciprocal"]
    assert NO_SEARCHES_THEN not in panel.sentence.text()
    assert not panel.threshold.again.isEnabled()
    table = panel.table.model()
    tip = table.index(table.rowCount() - 1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "float32 and 20 neighbours of each image, looked up once; the nearest 300 re-ranked"
    assert table.index(0, 2).data(Qt.ItemDataRole.AccessibleDescriptionRole) == "as trained"
    panel.choose("float32+dba10")
    assert panel.chosen == "float32+dba10"


def test_the_time_of_re_ranking_does_not_grow_with_the_gallery(workspace, session, run):
    measured = deployment(workspace, session.evaluation_id, ["float32+reciprocal"], 0.01)
    store = measured["stores"][-1]
    scan = store["ms"] - store["constant_ms"]
    assert rows_of(measured, 48_000)[-1].ms == pytest.approx(store["constant_ms"] + 1000 * scan)
    store["ms"], store["constant_ms"] = 5.25, 4.0
    words = "Measured: 5.25 ms a query among 48 images"
    assert rows_of(measured, 48)[-1].timed == f"{words}."
    expected = f"{words}; scaled to 480 images by their number, but for 4 ms of re-ranking."
    assert rows_of(measured, 480)[-1].timed == expected
    table = StoreRows()
    table.show(rows_of(measured, 480))
    assert table.index(1, 3).data(Qt.ItemDataRole.ToolTipRole) == expected
    assert table.index(1, 2).data(Qt.ItemDataRole.ToolTipRole) == store["detail"]
    del store["constant_ms"]  # as in an older measurement
    assert rows_of(measured, 48_000)[-1].ms == pytest.approx(1000 * store["ms"])


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_no_two_ways_to_store_or_to_search_look_alike(qapp, tokens):
    names = ("float32", "float16", "int8", "pca8", "first4", "pq4", "binary", "hnsw", "ivfpq4")
    searches = tuple(way.usual for way in WAYS)
    drawn = {bytes(dot(name, name == "float32", tokens).toImage().constBits()) for name in names + searches}
    assert len(drawn) == len(names + searches), "colour or mark differ"
    colours = {name: colour_of(name, tokens).name() for name in names + searches}
    for name in searches:
        assert list(colours.values()).count(colours[name]) == 1, "a search method shares its colour with none"
        assert theme.contrast(colours[name], tokens.plot_background) >= 3, "WCAG 2.2, 1.4.11"
    assert colour_of("binary+int8", tokens) == colour_of("binary", tokens)


def test_names_that_are_whole_numbers_sort_as_numbers(qtbot):
    table = SortedRows(("Class",), tuple, lambda column, value: str(value))
    table.show([("10",), ("b",), ("2",), ("a",)])
    table.sort(0, Qt.SortOrder.AscendingOrder)
    assert [table.index(row, 0).data() for row in range(4)] == ["2", "10", "a", "b"]


def test_stores_are_sorted_by_their_difference_as_a_number(qtbot):
    measured = ((-9.5, True), (-10.25, True), (0, False))
    rows = [Row(str(less), "", 0, 0, 0, 0, less, sure, 0, 0) for less, sure in measured]
    table = StoreRows()
    table.show(rows)
    table.sort(5)
    assert [table.index(row, 5).data() for row in range(3)] == ["−10.25", "−9.50", "? 0.00"]


def test_a_store_has_the_colour_of_its_points_and_says_what_is_stored(qtbot, session, workspace, run):
    deployment(workspace, session.evaluation_id, ["int8", "pca4"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    model, last = panel.stores, len(panel.stores.titles) - 1
    assert [model.index(row, last).data() for row in range(3)] == [
        "as trained", "scalar, per dimension", "4 principal components, float32",
    ]  # fmt: skip
    assert model.index(2, last).data(Qt.ItemDataRole.ToolTipRole) == "4 principal components, float32"
    pictures = [model.index(row, 0).data(Qt.ItemDataRole.DecorationRole) for row in range(3)]
    colours = [picture.toImage().pixelColor(5, 5).name() for picture in pictures]
    names = ("int8", "pca4")
    assert colours[1:] == [colour_of(name, session.theme.tokens).name() for name in names]
    assert len(set(colours)) == 3


def test_a_click_in_a_plot_chooses_a_store(qtbot, session, workspace, run):
    deployment(workspace, session.evaluation_id, ["int8", "binary"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    plot = panel.by_size
    at = plot.place_of("binary", QRectF(plot.picture.rect()))
    assert isinstance(at, QPointF)
    QTest.mouseClick(plot.picture, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))
    assert panel.chosen == "binary"
    assert plot.rows()[0][0] == "store"
    assert "Binary" in plot.describe()


@pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")
def test_stores_over_each_other_are_all_named_under_the_pointer(qtbot):
    """Of float16 and int8, of one quality at one time, a picture has room for one title."""
    plot = shown(qtbot, TradePlot("Quality by time", "ms per query"))
    names = ("float32", "float16", "int8")
    costs = (256.0, 12.0, 12.1)
    plot.show_points(
        [Point(name, name.upper(), cost, 90.0, 89.5, 90.25) for name, cost in zip(names, costs, strict=True)]
    )
    at = plot.place_of("float16", QRectF(plot.picture.rect()))
    words = [f"{name}: 90.0% (89.5 to 90.2), {cost} ms per query" for name, cost in (("FLOAT16", 12), ("INT8", 12.1))]
    assert plot.words_at(at).split("\n") == words
    QApplication.sendEvent(plot.picture, QHelpEvent(QEvent.Type.ToolTip, at.toPoint(), QPoint(5, 5)))
    assert QToolTip.text() == plain_tip("\n".join(words))
    assert plot.words_at(QPointF(5, 5)) == ""


def test_the_titles_of_stores_meet_neither_each_other_nor_a_dot(qtbot):
    plot = qtbot.addWidget(TradePlot("Quality against size", "MB"))
    costs = (64, 62, 60, 33, 32, 31, 8, 7.9, 7.8)
    names = ("float32", "float16", "int8", "pca", "first", "pq", "binary", "hnsw", "ivfpq")
    points = [
        Point(name, f"{name} of 128 numbers", cost, 90 - row / 9, 89.5, 90.5)
        for row, (name, cost) in enumerate(zip(names, costs, strict=True))
    ]
    plot.show_points(points)
    area = QRectF(0, 0, 520, 260)
    titles = plot.titles(plot.fontMetrics(), area)
    dots = {name: QRectF(at.x() - 4, at.y() - 4, 8, 8) for name in names if (at := plot.place_of(name, area))}
    assert "float32" in titles
    assert not any(title.intersects(dot) for title in titles.values() for dot in dots.values())
    assert not any(one.intersects(other) for one, other in combinations(titles.values(), 2))


def test_all_numbers_of_a_store_stand_beside_its_name_in_a_wide_window(qtbot, session, workspace, run):
    """The last number stood alone at the right edge, a thousand px from the others."""
    deployment(workspace, session.evaluation_id, ["int8"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.resize(2200, 900)
    qtbot.deliver()
    header = panel.table.horizontalHeader()
    last = header.count() - 1
    assert header.sectionViewportPosition(last) < panel.table.viewport().width() / 2
    assert panel.stores.titles[last] == "In words", "words fill what the numbers leave"
    assert header.length() == panel.table.viewport().width()
    numbers = header.sectionViewportPosition(last)
    panel.resize(panel.width() - panel.table.viewport().width() + numbers + 70, 900)
    qtbot.waitUntil(lambda: header.length() == panel.table.viewport().width() < numbers + 150)


def test_the_names_of_the_stores_are_whole_where_it_is_narrow(qtbot, session, workspace, run):
    deployment(workspace, session.evaluation_id, ["int8", "binary"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.resize(760, 560)
    qtbot.deliver()
    assert panel.table.columnWidth(0) > panel.table.fontMetrics().horizontalAdvance("float32")
    table = panel.threshold.class_table
    limit = panel.measured["limit"]
    accepted = [one | {"accepts": 1.0} for one in limit["classes"]]
    panel.threshold.show_threshold(limit | {"classes": accepted}, str)
    assert all(table.columnWidth(column) >= table.sizeHintForColumn(column) for column in (1, 2, 3)), "100.00 is whole"
    rows_in_sight = table.viewport().height() // table.rowHeight(0)
    assert rows_in_sight >= 3


def test_without_a_measurement_the_panel_offers_one(qtbot, session, run):
    panel = shown(qtbot, DeployPanel(session))
    assert panel.currentWidget() is panel.ask


def refusing(log):
    """The source of a server that refuses every request; it notes each start in a file."""
    return f"""
import json, sys
open({str(log)!r}, "a").write("started\\n")
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({{"id": asked["id"], "event": "error", "what": "No memory."}}), flush=True)
"""


def test_after_a_failed_measurement_another_can_be_begun(qtbot, session, run, tmp_path, monkeypatch):
    (tmp_path / "refusing.py").write_text(refusing(tmp_path / "log"))
    command = [sys.executable, str(tmp_path / "refusing.py")]
    monkeypatch.setattr(processes, "python", lambda module: command)
    panel = shown(qtbot, DeployPanel(session))
    for times in (1, 2):
        panel.measure()
        qtbot.waitUntil(lambda: panel.work.newest.over)
        assert panel.currentWidget() is panel.ask
        assert (tmp_path / "log").read_text().split() == ["started"] * times


def patient(result, released):
    """The source of a server that answers every request with what a file holds, once a second file is there."""
    return f"""
import json, pathlib, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    while not pathlib.Path({str(released)!r}).exists():
        time.sleep(0.02)
    answer = json.loads(pathlib.Path({str(result)!r}).read_text())
    print(json.dumps({{"id": asked["id"], "event": "result", **answer}}), flush=True)
"""


def test_a_measurement_goes_on_while_another_evaluation_is_shown(qtbot, session, workspace, run, tmp_path, monkeypatch):
    other, shown_first = run.evaluations
    session.show_evaluation(other)
    (tmp_path / "result").write_text(json.dumps(deployment(workspace, other, ["int8"], 0.01)))
    session.show_evaluation(shown_first)
    (tmp_path / "patient.py").write_text(patient(tmp_path / "result", tmp_path / "released"))
    command = [sys.executable, str(tmp_path / "patient.py")]
    monkeypatch.setattr(processes, "python", lambda module: command)
    panel, said = shown(qtbot, DeployPanel(session)), []
    session.said.connect(lambda what, concern: said.append(str(what)))
    panel.measure()
    session.show_evaluation(other)
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.measure()
    assert said == [f"{ONE_AT_A_TIME} Wait for it, or cancel it in Activity."]
    session.show_evaluation(shown_first)
    assert panel.currentWidget() is panel.measuring
    assert not panel.work.newest.over
    (tmp_path / "released").touch()
    qtbot.waitUntil(lambda: panel.measured is not None)
    assert panel.work.newest.over


def other_workspace(session, folder, labels):
    """Show the run of another workspace whose evaluation has the number of the shown one."""
    before = session.evaluation_id
    other = Workspace(folder, create=True)
    stored = store_run(other, labels, embeddings=[blobs(labels, spread, 1, width=16) for spread in (1.5, 0.4)])
    session.open_workspace(other)
    session.show_run(stored.run_id)
    assert session.evaluation_id == before


def test_a_measurement_of_another_workspace_is_not_shown(qtbot, session, workspace, run, tmp_path):
    deployment(workspace, session.evaluation_id, ["int8"], 0.01)
    panel = shown(qtbot, DeployPanel(session))
    qtbot.waitUntil(lambda: panel.measured is not None)
    panel.hide()
    other_workspace(session, tmp_path / "other", LABELS)
    panel.show()
    assert panel.currentWidget() is panel.ask


def test_suspects_of_another_workspace_are_not_shown(qtbot, session, run, tmp_path):
    panel = shown(qtbot, TriagePanel(session))
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    panel.hide()
    other_workspace(session, tmp_path / "other", LABELS)
    panel.show()
    assert panel.model.triage is None


def test_keys_answer_and_undo(qtbot, session, workspace, run):
    panel = shown(qtbot, TriagePanel(session))
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    suspects = [one for one in panel.model.listed if one.kind == LABEL]
    assert {one.sample_id for one in suspects[:2]} == {int(run.ids[5]), int(run.ids[30])}
    first, dataset = panel.model.current, panel.model.triage.dataset_id
    qtbot.keyClick(panel.table, Qt.Key.Key_R)
    stored = all_decisions(workspace, dataset)
    assert (stored[first.sample_id].decision, stored[first.sample_id].label) == ("relabel", first.suggested)
    assert panel.model.current.sample_id == suspects[1].sample_id
    assert panel.rows.data(panel.rows.index(0, 1)).endswith("\nrelabelled")
    qtbot.keyClick(panel.table, Qt.Key.Key_D)
    assert all_decisions(workspace, dataset)[suspects[1].sample_id].decision == "drop"
    assert panel.summary.precision.text() == "100%"
    qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert set(all_decisions(workspace, dataset)) == {first.sample_id}
    assert panel.model.current.sample_id == suspects[1].sample_id
    panel.filter.setCurrentIndex(1)
    panel.filter.activated.emit(1)
    assert first.sample_id not in {one.sample_id for one in panel.model.listed}


def test_both_class_names_of_a_suspect_can_be_read_in_the_list(qtbot, session, workspace):
    names = ("barrel", "bonsai", "wheelchair", "inline_skate")
    tables = [blobs(LABELS, spread, 1, width=16) for spread in (1.5, 0.4)]
    tables[-1][30] = tables[-1][2] + 0.05  # of class 2, among images of class 0
    session.show_run(store_run(workspace, LABELS, embeddings=tables, class_names=names).run_id)
    panel = shown(qtbot, TriagePanel(session))
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    panel.answer("relabel")
    qtbot.deliver()
    words = [panel.rows.index(row, 0).data() for row in range(panel.rows.rowCount())]
    longest = next(text for text in words if "wheelchair" in text)
    room = panel.table.columnWidth(0) - panel.table.iconSize().width() - 12  # px, less the margins
    assert all(panel.table.fontMetrics().horizontalAdvance(line) <= room for line in longest.splitlines())
    height = panel.table.fontMetrics().size(0, longest).height()
    assert height <= panel.table.rowHeight(words.index(longest))


def test_undo_takes_back_an_answer_before_what_was_done_to_runs(qtbot, session, workspace, run):
    window, runs, undone = QMainWindow(), QUndoStack(), []
    page = RetrievalPage(session)
    window.setCentralWidget(page)
    runs.push(Reversible("tick of 2 runs", again=list, back=undone.append, tell=list))
    UndoCommands(Commands(session.preferences, window), window, runs).follow(page)
    shown(qtbot, window)
    page.views.setCurrentIndex(1)
    panel = page.views.make(1)
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    dataset = panel.model.triage.dataset_id
    qtbot.keyClick(panel.table, Qt.Key.Key_K)
    assert len(all_decisions(workspace, dataset)) == 1
    qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not all_decisions(workspace, dataset)
    assert not undone
    qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert undone


def test_the_keys_answer_on_the_page_too_where_k_and_j_walk_through_the_queries(qtbot, session, workspace, run):
    page = shown(qtbot, RetrievalPage(session))
    page.views.setCurrentIndex(1)
    panel = page.views.make(1)
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    asked, dataset = panel.model.current, panel.model.triage.dataset_id
    qtbot.keyClick(panel.table, Qt.Key.Key_K)
    assert all_decisions(workspace, dataset)[asked.sample_id].decision == "keep"
    page.views.setCurrentIndex(0)
    qtbot.waitUntil(lambda: page.browsing.query is not None)
    first = page.browsing.query
    qtbot.keyClick(page.queries.table, Qt.Key.Key_J)
    assert page.browsing.query != first


def test_decisions_are_exported_and_read_back(qtbot, session, workspace, run, tmp_path):
    panel = shown(qtbot, TriagePanel(session))
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    panel.answer("unsure")
    panel.export_to(tmp_path / "decisions.csv")
    assert "unsure" in (tmp_path / "decisions.csv").read_text()
    panel.take_back()
    panel.import_from(tmp_path / "decisions.csv")
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    assert len(panel.model.triage.decisions) == 1


def test_the_views_are_tabs_that_are_made_when_shown(qtbot, session, run):
    page = shown(qtbot, RetrievalPage(session))
    assert [page.views.tabText(at) for at in range(3)] == ["Queries", "Label triage", "Deployment"]
    page.views.setCurrentIndex(1)
    triage = page.views.make(1)
    assert isinstance(triage, TriagePanel)
    qtbot.waitUntil(lambda: triage.model.triage is not None)
    page.views.setCurrentIndex(2)
    assert isinstance(page.views.make(2), DeployPanel)


def test_the_geometry_of_all_epochs_is_shown(qtbot, session, workspace, run):
    panel = shown(qtbot, GeometryPanel(session))
    qtbot.waitUntil(lambda: panel.watched is not None)
    assert panel.cards[0].title.text().endswith("No collapse")
    assert len(panel.ridge.rows()) == 1 + 2 * 60
    assert [row[0] for row in panel.classes.rows()[1:]] == [
        f"class {at:02}" for at in np.argsort(panel.watched.of_classes[-1], kind="stable")
    ]
    for plot in panel.plots:
        assert not plot.image().isNull()
        assert plot.title in plot.describe()
    last = panel.watched.looks[-1].numbers
    assert panel.tiles.norm.number.text() == f"{last['mean_norm']:.3g}"
    assert panel.tiles.margin.number.text() == f"{last['foreign_margin']:.3g}".replace("-", "−")
    assert panel.tiles.hub.number.text() == f"{last['largest_hub']:.3g}"
    session.show_run(None)
    assert panel.watched is None


@pytest.mark.parametrize(("count", "rows"), [(4, [4]), (5, [3, 2]), (6, [3, 3]), (7, [4, 3])])
def test_no_alarm_stands_alone_in_a_row_and_warnings_are_bold(qtbot, session, run, monkeypatch, count, rows):
    alarms = [Alarm("note", f"Note {number}", "Some words.") for number in range(count)]
    monkeypatch.setattr(Watched, "alarms", lambda watched, at: list(alarms))
    session.theme.apply()
    panel = shown(qtbot, GeometryPanel(session))
    qtbot.waitUntil(lambda: panel.watched is not None)
    qtbot.deliver()
    tops = Counter(card.y() for card in panel.cards if card.isVisible())
    assert [tops[y] for y in sorted(tops)] == rows
    assert panel.cards[0].title.font().bold() or panel.cards[0].title.fontInfo().weight() >= 600


def test_the_words_beside_a_first_point_do_not_lie_on_their_line():
    box, size = QRectF(0, 0, 300, 100), QSizeF(60, 14)
    for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        start = QPointF(150, 50)
        end = start + QPointF(40 * np.cos(turn), 40 * np.sin(turn))
        place = beside_first([start, end], size, box)
        assert box.contains(place)
        assert not place.contains(start)
        assert not any(place.contains(start + part * (end - start)) for part in np.linspace(0, 1, 50)), turn
    shallow = [QPointF(292, 92), QPointF(0, 0)]  # in the corner of the axes, nearly along the words
    corner = beside_first(shallow, size, box)
    assert box.contains(corner)
    way = shallow[1] - shallow[0]
    assert not any(corner.contains(shallow[0] + part * way) for part in np.linspace(0, 1, 200))


def test_the_words_beside_a_first_point_are_placed_at_once_for_a_thousand_epochs():
    points = [QPointF(*point) for point in (np.random.default_rng(0).random((1_000, 2)) * [300, 100]).tolist()]
    calls = Counter()
    sys.setprofile(lambda _frame, event, _what: calls.update([event.endswith("call")]))
    try:
        beside_first(points, QSizeF(60, 14), QRectF(0, 0, 300, 100))
    finally:
        sys.setprofile(None)
    assert calls[True] < 10 * len(points), "painting waits for it"


def test_an_axis_of_epochs_has_whole_numbers_and_every_axis_equally_many_decimals():
    assert in_decimals(ticks(0, 2, whole=True)) == ["0", "1", "2"]
    assert in_decimals(ticks(-2.6, -0.4)) == ["−2.5", "−2.0", "−1.5", "−1.0", "−0.5"]
    plot, drawn = LinesPlot("Effective rank", "epoch"), []
    plot.show_lines([Line("this run", np.array([0.0, 1.0, 2.0]), np.array([50.0, 40.0, 35.0]), POSITIVE)])
    painter = Written(drawn)
    plot.paint(painter, QRectF(0, 0, 300, 160), theme.LIGHT)
    painter.end()
    assert {"0", "1", "2"} <= set(drawn)
    assert "0.5" not in drawn


def test_the_rows_of_the_classes_have_room_for_names_and_tell_the_whole_name(qtbot):
    names = [f"a class with a long name, number {number:02}" for number in range(30)]
    plot = shown(qtbot, ClassesPlot())
    plot.resize(400, 100)
    table = np.array([[0.01 * number for number in range(30)], [0.5] * 30])
    plot.show_classes([0, 1], names, table, set())
    picture = plot.picture
    assert picture.minimumHeight() / 20 >= picture.fontMetrics().height() * 11 / 13 - 1, "the worst 20 are shown"
    row = plot.rows()[1][0]
    assert plot.words_at(QPointF(10, 10)) == f"{row}: MAP@R {plot.rows()[1][1]:.1f}% at epoch 0, 50.0% at epoch 1"
    assert plot.words_at(QPointF(10, picture.height() - 2)) == "", "below the rows are the epochs"


@pytest.mark.parametrize(("width", "whole"), [(300, False), (900, True)])
def test_a_wide_plot_of_the_classes_has_room_for_whole_names(qtbot, width, whole):
    plot, drawn, name = ClassesPlot(), [], "brontosaurus in a museum"
    qtbot.addWidget(plot)
    plot.show_classes([0], ["ant", name], np.array([[0.2, 0.3]]), set())
    painter = Written(drawn)
    painter.setFont(small(plot.font()))
    plot.paint(painter, QRectF(0, 0, width, 160), theme.LIGHT)
    painter.end()
    assert "ant" in drawn
    assert (name in drawn) == whole


def test_a_class_without_a_score_at_first_has_no_gain(qtbot):
    plot, drawn = ClassesPlot(), []
    qtbot.addWidget(plot)
    plot.show_classes([0, 1], ["kept", "new"], np.array([[0.2, np.nan], [0.5, 0.6]]), set())
    painter = Written(drawn)
    plot.paint(painter, QRectF(0, 0, 300, 160), theme.LIGHT)
    painter.end()
    assert "+30" in drawn
    assert NO_VALUE in drawn


def test_the_geometry_of_another_run_is_drawn_beside_dashed(qtbot, session, workspace, run):
    page = shown(qtbot, TrainPage(session))
    panel, beside = page.geometry_panel, page.geometry_panel.beside
    page.views.setCurrentWidget(panel)
    qtbot.waitUntil(lambda: panel.watched is not None)
    assert [beside.box.itemText(at) for at in range(2)] == [UNCAPTIONED, "its probe"]
    other = store_run(workspace, run.labels, embeddings=[blobs(run.labels, 2.0, 5)])
    qtbot.waitUntil(lambda: beside.box.count() == 3)
    assert beside.box.itemText(2) == f"#{other.run_id} Small"
    beside.box.setCurrentIndex(2)
    beside.box.activated.emit(2)
    qtbot.waitUntil(lambda: beside.watched is not None)
    title, looks = f"#{other.run_id}", beside.watched.looks
    ranks = [row for row in panel.rank.rows() if row[0] == title]
    assert ranks == [[title, 1.0, looks[0].numbers["spectral_rank"]]]
    assert [title, looks[0].numbers["pairs_uniformity"], looks[0].numbers["pairs_alignment"]] in panel.spread.rows()
    large = store_run(workspace, run.labels, pictures=np.zeros((len(run.labels), 16, 16, 1), np.uint8))
    qtbot.waitUntil(lambda: beside.box.findData(large.run_id) >= 0)
    session.show_run(other.run_id)
    qtbot.waitUntil(lambda: beside.box.currentData() is None)
    assert beside.watched is None
    assert title not in [row[0] for row in panel.rank.rows()]


def test_the_choice_of_another_geometry_says_what_it_is_also_without_its_caption(qtbot, session, workspace, run):
    page = shown(qtbot, TrainPage(session))
    page.views.setCurrentWidget(page.geometry_panel)
    box = page.geometry_panel.beside.box
    qtbot.waitUntil(lambda: page.geometry_panel.watched is not None)
    page.resize(1400, 700)
    qtbot.waitUntil(lambda: box.currentText() == "nothing")
    page.resize(800, 700)
    qtbot.waitUntil(lambda: box.currentText() == "Beside…")
    store_run(workspace, run.labels, embeddings=[blobs(run.labels, 2.0, 5)])
    qtbot.waitUntil(lambda: box.count() == 3)
    assert box.currentText() == "Beside…"


def test_the_geometry_of_the_probe_is_shown_and_that_of_another_run(qtbot, session, workspace):
    labels = np.repeat(np.arange(3), 8)
    tables, trained = [blobs(labels, spread, 5) for spread in (2.0, 1.0)], blobs(labels, 0.1, 5)
    probe = ProbeEmbeddings(np.arange(24), labels, trained)
    runs = [store_run(workspace, labels, embeddings=tables, probes=[None, probe]) for _ in range(2)]
    session.show_run(runs[0].run_id)
    page = shown(qtbot, TrainPage(session))
    panel = page.geometry_panel
    assert not panel.images.isVisible()
    page.views.setCurrentWidget(panel)
    qtbot.waitUntil(lambda: panel.watched is not None)
    assert panel.images.value() == "test"
    assert panel.watched.epochs == [1, 2]
    panel.beside.box.setCurrentIndex(2)
    panel.beside.box.activated.emit(2)
    qtbot.waitUntil(lambda: panel.beside.watched is not None)
    panel.images.buttons["probe"].click()
    qtbot.waitUntil(lambda: panel.watched.epochs == [2])
    qtbot.waitUntil(lambda: panel.beside.watched is not None and panel.beside.watched.epochs == [2])
    assert panel.currentIndex() == 1
    rank = look(trained, labels).numbers["spectral_rank"]
    assert [row[2] for row in panel.rank.rows()[1:]] == pytest.approx([rank, rank])
    assert panel.tiles.score.number.text() == "100.0"
    panel.images.buttons["test"].click()
    qtbot.waitUntil(lambda: panel.watched.epochs == [1, 2])


def test_the_probe_is_drawn_beside_the_test_half_of_its_run(qtbot, session, workspace):
    labels = np.repeat(np.arange(3), 8)
    test, trained = blobs(labels, 1.0, 5), blobs(labels, 0.1, 5)
    run = store_run(workspace, labels, embeddings=[test], probes=[ProbeEmbeddings(np.arange(24), labels, trained)])
    old = store_run(workspace, labels, embeddings=[test])
    session.show_run(run.run_id)
    page = shown(qtbot, TrainPage(session))
    panel, beside = page.geometry_panel, page.geometry_panel.beside
    page.views.setCurrentWidget(panel)
    qtbot.waitUntil(lambda: panel.watched is not None)
    beside.box.setCurrentIndex(1)
    beside.box.activated.emit(1)
    ranks = [[title, 1.0, look(seen, labels).numbers["spectral_rank"]] for title, seen in
             (("probe", trained), ("this run", test), ("test", test), ("this run", trained))]  # fmt: skip
    qtbot.waitUntil(lambda: panel.rank.rows()[1:] == ranks[:2])
    panel.images.buttons["probe"].click()
    qtbot.waitUntil(lambda: panel.rank.rows()[1:] == ranks[2:])
    assert beside.box.currentText() == "its test set"
    panel.images.buttons["test"].click()
    qtbot.waitUntil(lambda: panel.rank.rows()[1:] == ranks[:2])
    heard = []
    session.noticed.connect(heard.append)
    session.show_run(old.run_id)
    qtbot.waitUntil(lambda: beside.box.currentIndex() == 0)
    assert "stored no embeddings of its probe" in str(heard[-1])


def test_a_run_that_stored_no_probe_says_so_and_the_test_half_is_a_click_away(qtbot, session, run):
    page = shown(qtbot, TrainPage(session))
    panel = page.geometry_panel
    page.views.setCurrentWidget(panel)
    qtbot.waitUntil(lambda: panel.watched is not None)
    panel.images.buttons["probe"].click()
    qtbot.waitUntil(lambda: "stored no embeddings of its probe" in panel.hint.sentence.text())
    assert panel.currentIndex() == 0
    assert panel.images.isVisible()
    assert page.tiles.isVisible()
    assert not panel.tiles.isVisible()
    panel.images.buttons["test"].click()
    qtbot.waitUntil(lambda: panel.currentIndex() == 1)
    assert panel.tiles.isVisible()


def test_what_has_no_room_scrolls_and_is_not_cut(qtbot, session, run):
    panel = shown(qtbot, GeometryPanel(session))
    qtbot.waitUntil(lambda: panel.watched is not None)
    panel.resize(740, 360)
    qtbot.deliver()
    for plot in panel.plots:
        assert plot.rect().contains(plot.picture.geometry()), plot.title


def test_the_geometry_tab_has_tiles_of_its_own(qtbot, session, run):
    page = shown(qtbot, TrainPage(session))
    page.views.setCurrentWidget(page.geometry_panel)
    qtbot.waitUntil(lambda: page.geometry_panel.watched is not None)
    assert page.geometry_panel.tiles.isVisible()
    assert not page.tiles.isVisible()
    page.views.setCurrentWidget(page.curves)
    assert page.tiles.isVisible()
    assert not page.geometry_panel.tiles.isVisible()
