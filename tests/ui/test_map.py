"""The Map page with simulated mouse and keys, on a run in a real workspace."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from small_run import blobs, store_run

from tests.ui.pointing import choose as pick
from tests.ui.seen import drawn
from workbench import files
from workbench.problem import Problem
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.side import legend_row
from workbench.ui.pages.map.side.legend import Legend
from workbench.ui.state.session import Session
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(4), 15)
MOVES = 12  # ms between two moves: pyqtgraph takes a hundred a second


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


def open_page(qtbot, session, size=(880, 640)):
    return qtbot.shown(MapPage(session), *size)


@pytest.fixture
def page(qtbot, session, analysis, run):
    session.show_run(run.run_id)
    made = open_page(qtbot, session)
    qtbot.waitUntil(lambda: made.model.map is not None)
    return made


def choose(box, key):
    pick(box, box.findData(key))


def drag(canvas, corners, keys=Qt.KeyboardModifier.NoModifier):
    """Press at the first corner, move through the others, release at the last."""
    port = canvas.viewport()
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton

    def send(kind, at, button, buttons):
        place = QPointF(*at)
        event = QMouseEvent(kind, place, QPointF(port.mapToGlobal(place.toPoint())), button, buttons, keys)
        QApplication.sendEvent(port, event)

    send(QEvent.Type.MouseButtonPress, corners[0], left, left)
    for corner in corners[1:]:
        QTest.qWait(MOVES)
        send(QEvent.Type.MouseMove, corner, none, left)
    send(QEvent.Type.MouseButtonRelease, corners[-1], left, none)


def around(places, margin=9.0):
    """A rectangle's corners around some places."""
    low, high = places.min(0) - margin, places.max(0) + margin
    return [tuple(low), (high[0], low[1]), tuple(high), (low[0], high[1])]


def places_of(page, rows):
    return np.array([(page.canvas.place_of(row).x(), page.canvas.place_of(row).y()) for row in rows])


def separated(page, session, analysis):
    """Put the four classes into four corners, as a map that was asked for."""
    corners = np.array([[0, 0], [10, 0], [0, 10], [10, 10]], np.float32)
    points = corners[LABELS] + np.random.default_rng(0).normal(scale=0.3, size=(60, 2)).astype(np.float32)
    analysis.answer(session.workspace, points, corners)


@pytest.fixture
def corners(qtbot, page, session, analysis):
    """The page with its four classes in four corners."""
    qtbot.waitUntil(lambda: bool(analysis.requests))
    separated(page, session, analysis)
    qtbot.waitUntil(lambda: page.model.map.method == "umap")
    return page


# Which map is shown


def test_a_workspace_without_runs_offers_the_way_to_set_up(qtbot, session, analysis):
    page = open_page(qtbot, session)
    assert page.currentWidget() is page.hint
    asked = []
    session.page_asked.connect(asked.append)
    page.hint.pressed.emit()
    assert asked == ["setup"]
    assert not analysis.requests


def test_pca_comes_at_once_and_umap_replaces_it(qtbot, page, session, analysis, run):
    assert page.model.map.method == "pca"
    assert "60 of 60 test images" in page.caption.text()
    assert "PCA (cosine)" in page.caption.text()
    qtbot.waitUntil(lambda: bool(analysis.requests))
    op, fields, on_progress, _, _ = analysis.requests[0]
    assert (op, fields["evaluation"], fields["method"]) == ("project", run.evaluations[-1], "umap")
    assert fields["params"] == {"metric": "cosine", "n_neighbors": 15, "min_dist": 0.1}
    on_progress({"text": "Optimising", "done": 3, "total": 10})
    assert page.strip.isVisible()
    assert "Optimising" in page.strip.words.text()
    assert (page.strip.bar.value(), page.strip.bar.maximum()) == (3, 10)
    separated(page, session, analysis)
    qtbot.waitUntil(lambda: page.model.map.method == "umap")
    assert not page.strip.isVisible()
    for said in ("(cosine, 15 neighbours, minimum distance 0.1)", "seed 0", "trustworthiness 0.9321", "60 of 60"):
        assert said in page.caption.text()
    assert session.activity.items[-1].title == "UMAP of the test embeddings"
    qtbot.waitUntil(lambda: session.activity.items[-1].state == "done")


def test_a_stored_map_is_used_again_without_asking(qtbot, corners, session, analysis):
    again = open_page(qtbot, session)
    qtbot.waitUntil(lambda: again.model.map is not None and again.model.map.method == "umap")
    qtbot.settle(again)
    assert len(analysis.requests) == 1
    np.testing.assert_array_equal(again.model.map.points, corners.model.map.points)


def test_cancel_keeps_the_pca_and_does_not_ask_again(qtbot, page, analysis):
    qtbot.waitUntil(lambda: bool(analysis.requests))
    qtbot.mouseClick(page.strip.cancel, Qt.MouseButton.LeftButton)
    assert analysis.cancelled == [0]
    assert not page.strip.isVisible()
    assert page.model.map.method == "pca"
    page.hide()
    page.show()
    qtbot.settle(page)
    assert len(analysis.requests) == 1


def test_an_error_is_told_and_the_pca_stays(qtbot, page, session, analysis):
    told = []
    session.noticed.connect(told.append)
    qtbot.waitUntil(lambda: bool(analysis.requests))
    analysis.requests[0][4](Problem("The analysis process ended unexpectedly."))
    qtbot.waitUntil(lambda: bool(told))  # it is first looked up whether the evaluation is still there
    assert "ended unexpectedly" in str(told[0])
    assert page.model.map.method == "pca"
    assert not page.strip.isVisible()


def test_another_evaluation_meanwhile_is_asked_for_after_the_first(qtbot, page, session, analysis, run):
    qtbot.waitUntil(lambda: bool(analysis.requests))
    session.show_evaluation(run.evaluations[0])
    qtbot.settle(page)
    assert len(analysis.requests) == 1, "one map at a time"
    separated(page, session, analysis)
    qtbot.waitUntil(lambda: len(analysis.requests) == 2)
    assert analysis.requests[1][1]["evaluation"] == run.evaluations[0]
    assert page.model.map.method == "pca", "the late answer was for the other evaluation"


def test_method_distance_and_parameters_are_what_is_asked_for(qtbot, session, analysis, run):
    page = open_page(qtbot, session)
    choose(page.settings.method, "pca")  # before there is a run, of which UMAP would be requested once it is shown
    session.show_run(run.run_id)
    qtbot.waitUntil(lambda: page.model.map is not None)
    qtbot.settle(page)
    assert not analysis.requests
    assert not page.settings.more.isVisible()
    choose(page.settings.distance, "l2")
    qtbot.waitUntil(lambda: "PCA (l2)" in page.caption.text())
    choose(page.settings.method, "umap")
    page.settings.neighbours.setValue(5)
    page.settings.seed.setValue(3)
    qtbot.waitUntil(lambda: bool(analysis.requests))
    fields = analysis.requests[0][1]
    assert (fields["params"], fields["seed"]) == ({"metric": "l2", "n_neighbors": 5, "min_dist": 0.1}, 3)


def test_brackets_go_through_the_evaluations_and_the_best_is_followed_again(
    qtbot, page, session, run, stored_evaluation
):
    page.canvas.setFocus()
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketLeft)
    assert session.evaluation_id == run.evaluations[0]
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketLeft)
    assert session.evaluation_id == run.evaluations[0]
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketRight)
    assert session.evaluation_id == run.evaluations[1]
    better = stored_evaluation(run.run_id, 3, score=1.0)
    qtbot.waitUntil(lambda: session.evaluation_id == better)


@pytest.mark.parametrize("labels", [[0], [0, 1], [0] * 7 + [1] * 7])
def test_one_two_and_fourteen_points(qtbot, session, analysis, workspace, labels):
    stored = store_run(workspace, np.array(labels), k=5)
    session.show_run(stored.run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: page.model.map is not None)
    assert f"{len(labels)} of {len(labels)} test images" in page.caption.text()
    for colouring in ("class", "verdict", "ap"):
        choose(page.colouring, colouring)
        page.canvas.grab()
    assert all(page.canvas.rect().contains(page.canvas.place_of(row).toPoint()) for row in range(len(labels)))


def test_duplicates_and_constant_embeddings(qtbot, session, analysis, workspace):
    stored = store_run(workspace, np.array([0, 0, 1, 1]), embeddings=[np.ones((4, 3), np.float32)])
    session.show_run(stored.run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: page.model.map is not None)
    assert np.ptp(page.model.map.points, 0).max() < 1e-6
    qtbot.mouseClick(page.canvas.viewport(), Qt.MouseButton.LeftButton, pos=page.canvas.place_of(0).toPoint())
    qtbot.waitUntil(lambda: len(session.selection) == 1)


def test_embeddings_that_are_gone_are_told_in_place_of_the_map(qtbot, page, session, workspace, run, analysis):
    for file in workspace.folder(run.run_id).glob("embeddings-1.npy"):
        file.unlink()
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: page.problem.isVisible())
    assert "missing" in page.problem.text()
    assert page.model.map is None
    qtbot.settle(page)
    wanted = [fields["evaluation"] for _, fields, *_ in analysis.requests]
    assert run.evaluations[0] not in wanted, "nothing to make a map of"
    session.show_evaluation(run.evaluations[1])
    qtbot.waitUntil(lambda: page.model.map is not None)
    assert not page.problem.isVisible()


def test_embeddings_with_nan_are_told(qtbot, session, analysis, workspace):
    table = blobs(LABELS, 1.0, 0)
    stored = store_run(workspace, LABELS, embeddings=[table])
    table[3, 1] = np.nan
    np.save(workspace.folder(stored.run_id) / "embeddings-1.npy", table)
    with workspace.writing() as db:
        digest = files.digest(workspace.folder(stored.run_id) / "embeddings-1.npy")
        db.execute("update artefacts set blake2b = ? where path = 'embeddings-1.npy'", (digest,))
    session.show_run(stored.run_id)
    page = open_page(qtbot, session)
    qtbot.waitUntil(lambda: page.problem.isVisible())
    assert "NaN" in page.problem.text()


def test_another_workspace_empties_the_page(qtbot, corners, session, tmp_path):
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert corners.currentWidget() is corners.hint
    assert corners.model.map is None


# Selecting


def test_the_lasso_selects_the_points_inside(qtbot, corners, session, run):
    rows = np.flatnonzero(LABELS == 2)
    qtbot.keyClick(corners.canvas, Qt.Key.Key_S)
    assert corners.canvas.box.tool == "lasso"
    drag(corners.canvas, around(places_of(corners, rows)))
    assert sorted(session.selection) == sorted(run.ids[rows])


def test_shift_adds_and_ctrl_removes(qtbot, corners, session, run):
    qtbot.keyClick(corners.canvas, Qt.Key.Key_R)
    first, second = (places_of(corners, np.flatnonzero(np.equal(LABELS, each))) for each in (0, 3))
    box = [around(places)[corner] for places in (first, second) for corner in (0, 2)]
    drag(corners.canvas, box[:2])
    assert set(session.selection) == set(run.ids[LABELS == 0])
    drag(corners.canvas, box[2:], Qt.KeyboardModifier.ShiftModifier)
    assert set(session.selection) == set(run.ids[np.isin(LABELS, (0, 3))])
    drag(corners.canvas, box[:2], Qt.KeyboardModifier.ControlModifier)
    assert set(session.selection) == set(run.ids[LABELS == 3])
    drag(corners.canvas, box[:2])
    assert set(session.selection) == set(run.ids[LABELS == 0]), "without a key it replaces"


def test_hidden_points_cannot_be_selected(qtbot, corners, session):
    corners.model.hide(frozenset({"class 02"}))
    corners.tools["rectangle"].click()
    places = places_of(corners, np.flatnonzero(LABELS == 2))
    drag(corners.canvas, [around(places)[0], around(places)[2]])
    assert not len(session.selection)


def test_a_click_selects_one_and_makes_it_the_query(qtbot, corners, session, run):
    at = corners.canvas.place_of(20).toPoint()
    row = corners.canvas.row_at(QPointF(at))
    qtbot.mouseClick(corners.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert session.selection.tolist() == [run.ids[row]]
    assert session.query == run.ids[row]
    assert corners.canvas.marks.query == row
    qtbot.keyClick(corners.canvas, Qt.Key.Key_Escape)
    assert not len(session.selection)
    assert corners.canvas.cloud.selected is None


def test_a_double_click_opens_the_query(qtbot, corners, session, run):
    asked = []
    session.page_asked.connect(asked.append)
    at = corners.canvas.place_of(31).toPoint()
    row = corners.canvas.row_at(QPointF(at))
    port = corners.canvas.viewport()
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseDClick(port, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=at)
    assert asked == ["retrieval"]
    assert session.query == run.ids[row]


def test_a_selection_from_elsewhere_is_shown_and_brought_into_view(corners, session, run):
    corners.canvas.box.setRange(xRange=(9, 11), yRange=(9, 11), padding=0)
    assert not corners.canvas.rect().contains(corners.canvas.place_of(0).toPoint())
    session.select(run.ids[:1])
    assert corners.canvas.cloud.selected.tolist() == [True, *[False] * 59]
    assert corners.canvas.rect().contains(corners.canvas.place_of(0).toPoint())


def test_g_pans_and_f_fits(qtbot, corners):
    canvas = corners.canvas
    before = canvas.box.viewRect()
    qtbot.keyClick(canvas, Qt.Key.Key_G)
    assert canvas.box.tool == "pan"
    drag(canvas, [(300, 300), (340, 320), (400, 360)])
    moved = canvas.box.viewRect()
    assert abs(moved.x() - before.x()) > 0.01
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    assert canvas.box.viewRect().x() == pytest.approx(before.x(), abs=0.05)


# Hover


def test_hover_rings_at_once_and_the_card_follows(qtbot, corners, run):
    canvas = corners.canvas
    at = canvas.place_of(7)
    row = canvas.row_at(at)
    port = canvas.viewport()
    none, on_screen = Qt.MouseButton.NoButton, QPointF(port.mapToGlobal(at.toPoint()))
    moved = QMouseEvent(QEvent.Type.MouseMove, at, on_screen, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(port, moved)
    assert canvas.marks.hovered == row
    assert not corners.hover_card.isVisible()
    qtbot.waitUntil(corners.hover_card.isVisible)
    assert corners.hover_card.sample == run.ids[row]
    assert not corners.hover_card.geometry().contains(at.toPoint())
    assert f"class {LABELS[row]:02}" in corners.hover_card.words.text()
    qtbot.waitUntil(lambda: not corners.hover_card.picture.pixmap().isNull())
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert not corners.hover_card.isVisible()
    assert canvas.marks.hovered is None


# Legend


def click_row(qtbot, legend, row, double=False):
    place = legend.list.visualRect(legend.list.model().index(row, 0)).center()
    port = legend.list.viewport()
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
    if double:
        qtbot.mouseDClick(port, Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=place)


def test_a_click_hides_a_class_and_another_shows_it(qtbot, corners):
    click_row(qtbot, corners.legend, 1)
    assert drawn(corners.canvas).tolist() == (LABELS != 1).tolist()
    assert corners.legend.count.text() == "3 of 4 classes shown"
    click_row(qtbot, corners.legend, 1)
    assert drawn(corners.canvas).all()


def test_a_double_click_shows_a_class_alone_and_again_shows_all(qtbot, corners):
    click_row(qtbot, corners.legend, 2, double=True)
    assert drawn(corners.canvas).tolist() == (LABELS == 2).tolist()
    click_row(qtbot, corners.legend, 2, double=True)
    assert drawn(corners.canvas).all()


def test_the_legend_works_from_the_keyboard_and_through_its_search(qtbot, corners):
    legend = corners.legend
    legend.search.setText("15")
    assert legend.list.model().rowCount() == 0, "names are searched, not their counts"
    legend.search.setText("CLASS 03")
    assert legend.list.model().rowCount() == 1
    legend.list.setCurrentIndex(legend.list.model().index(0, 0))
    qtbot.keyClick(legend.list, Qt.Key.Key_Space)
    assert drawn(corners.canvas).tolist() == (LABELS != 3).tolist()
    qtbot.keyClick(legend.list, Qt.Key.Key_Return)
    assert drawn(corners.canvas).tolist() == (LABELS == 3).tolist()


def test_hidden_classes_stay_hidden_in_the_next_epoch_but_not_in_another_colouring(qtbot, corners, session, run):
    click_row(qtbot, corners.legend, 0)
    before = corners.model.map
    session.show_evaluation(run.evaluations[0])
    qtbot.waitUntil(lambda: corners.model.map is not before)
    assert drawn(corners.canvas).tolist() == (LABELS != 0).tolist()
    choose(corners.colouring, "verdict")
    assert drawn(corners.canvas).all()


def test_proxies_can_be_hidden(qtbot, corners):
    assert len(corners.canvas.marks.stars) == 4
    assert "4" in corners.legend.look.proxies.text()
    qtbot.mouseClick(
        corners.legend.look.proxies, Qt.MouseButton.LeftButton, pos=corners.legend.look.proxies.rect().center()
    )
    corners.legend.look.proxies.setChecked(False)
    assert not len(corners.canvas.marks.stars)


def test_ten_thousand_classes_do_not_hold_up_the_legend(qtbot):
    legend = qtbot.addWidget(Legend())
    legend.resize(200, 500)
    legend.show()
    groups = Groups(
        np.arange(10_000), [f"class {each}" for each in range(10_000)], np.full(10_000, 0xFF112233, np.uint32)
    )
    looked = []
    whole = legend.model.data
    legend.model.data = lambda *values: looked.append(1) or whole(*values)
    legend.show_groups(groups, frozenset())
    legend.grab()
    assert len(looked) < 2_000, "only rows on screen are looked at"
    assert legend.count.text() == "10,000 groups"


def test_a_bar_of_the_legend_gives_way_to_the_names(qtbot, monkeypatch):
    legend, widths = Legend(), {}
    qtbot.addWidget(legend)
    legend.resize(270, 500)
    whole = legend_row.shortened
    monkeypatch.setattr(
        legend_row,
        "shortened",
        lambda words, near, metrics, width: (
            widths.update({words: width - metrics.horizontalAdvance(words)}) or whole(words, near, metrics, width)
        ),
    )
    legend.show()
    for names in (["elephant", "sunflower"], ["a class with a long", "name of its own"], ["one", "two\nlines"]):
        groups = Groups(np.array([0, 1]), names, np.full(2, 0xFF112233, np.uint32))
        legend.show_groups(groups, frozenset(), np.array([0.7, 1.0]))
        legend.grab()
        assert all(widths[" ".join(name.split())] >= 0 for name in names), widths


def test_the_legend_keeps_qts_rules(qtmodeltester):
    legend = Legend()
    legend.show_groups(Groups(np.array([0, 1, 1]), ["a", "b"], np.full(2, 0xFF112233, np.uint32)), frozenset())
    qtmodeltester.check(legend.model)


# Export


def test_the_map_is_written_as_picture_drawing_and_table(qtbot, corners, session, run, tmp_path):
    corners.session.theme.choose("dark")
    for ending in ("png", "svg", "csv"):
        corners.export_to(tmp_path / f"map.{ending}")
        qtbot.waitUntil((tmp_path / f"map.{ending}").exists)
    picture = QImage(str(tmp_path / "map.png"))
    assert picture.width() == 2 * corners.canvas.width()
    assert picture.pixelColor(2, 2).lightness() > 250, "exports are on white"
    inks = {picture.pixel(x, y) for x in range(0, picture.width(), 3) for y in range(0, picture.height(), 3)}
    assert len(inks) >= 5, "four classes on white"
    assert (tmp_path / "map.svg").read_text("utf-8").startswith("<?xml")
    with (tmp_path / "map.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["image"] * 60 + ["class vector"] * 4
    assert int(rows[5]["sample_id"]) == run.ids[5]
    assert float(rows[5]["x"]) == pytest.approx(corners.model.map.points[5, 0], rel=1e-6)
    corners.session.theme.choose("light")


def test_an_unknown_ending_and_a_place_that_cannot_be_written_are_told(qtbot, corners, session, tmp_path):
    told = []
    session.noticed.connect(told.append)
    corners.export_to(tmp_path / "map.gif")
    assert ".gif" in str(told[0])
    (tmp_path / "file").write_text("")
    corners.export_to(tmp_path / "file" / "map.csv")
    qtbot.waitUntil(lambda: len(told) == 2)
    assert isinstance(told[1], Problem)


def test_every_command_of_the_map_has_a_name_and_its_keys_are_its_own(page):
    keys = [action.shortcut().toString() for action in page.actions()]
    assert all(action.text() for action in page.actions())
    assert len(keys) == len(set(keys))
    assert {"S", "G", "R", "F", "Esc", "[", "]"} <= set(keys)


def test_a_session_without_pages_is_not_needed_for_the_page_to_close(qtbot, workspace, run):
    session = Session(workspace)
    session.show_run(run.run_id)
    page = open_page(qtbot, session)
    page.close()
    session.close()
