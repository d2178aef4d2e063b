"""The map: what is drawn, selected, hidden and exported; with simulated mouse and keys."""

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from tests.ui.trained import CLASSES, trained_run
from workbench.ui.pages.map import map_data
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.spatial import inside
from workbench.ui.pages.map.inspector import InspectorPanel
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.pages.map.page import MapPage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(shown_map):
    return shown_map("pca")


def data(points, labels=None):
    n = len(points)
    labels = np.zeros(n, np.int64) if labels is None else labels
    return MapData(
        np.asarray(points, np.float32).reshape(n, 2), None, np.empty(0, np.int64), np.arange(n), labels,
        np.ones(n, np.float32), np.ones(n, bool), ("a", "b"), "test",
    )  # fmt: skip


def test_pca_and_proxies_are_there_with_their_caption(page):
    assert page.canvas.data.method == "pca"
    assert page.canvas.data.proxies.shape == (4, 2)
    assert "PCA" in page.caption.text()
    assert "40 of 40 test images" in page.caption.text()
    assert page.legend.model.rowCount() == len(CLASSES)


def drag(page, outline):
    """Drag through view coordinates with the left button."""
    places = [page.canvas.mapFromScene(page.canvas.box.mapViewToScene(*[pg_point(x, y)])) for x, y in outline]
    viewport = page.canvas.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        move(viewport, place)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=places[-1])


def pg_point(x, y):
    from PySide6.QtCore import QPointF

    return QPointF(x, y)


def move(viewport, place):
    from PySide6.QtCore import QPointF
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    at = QPointF(place)
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove, at, viewport.mapToGlobal(at), Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(viewport, event)
    QTest.qWait(15)  # pyqtgraph hears of the mouse a hundred times a second at most


def test_a_lasso_selects_exactly_the_points_in_it_and_fills_the_inspector(page, session, qtbot):
    inspector = InspectorPanel(session)
    qtbot.addWidget(inspector)
    inspector.show()
    chosen = page.canvas.data.labels == 1
    points = page.canvas.data.points
    centre, radius = (
        points[chosen].mean(0),
        1.02 * np.linalg.norm(points[chosen] - points[chosen].mean(0), axis=1).max(),
    )
    angles = np.linspace(0, 2 * np.pi, 40)
    outline = centre + radius * np.stack([np.cos(angles), np.sin(angles)], 1)
    page.tools["lasso"].click()
    drag(page, outline.tolist())
    expected = page.canvas.data.ids[inside(points, outline)]
    assert len(session.selection) >= chosen.sum() * 0.9
    assert len(set(session.selection.tolist()) ^ set(expected.tolist())) <= 1  # a point on the line, to a pixel
    qtbot.waitUntil(lambda: inspector.title.text() == f"{len(session.selection)} selected")
    assert CLASSES[1] in inspector.facts.text()
    inspector.close()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.canvas.setFocus()
    qtbot.keyClick(page.canvas, Qt.Key.Key_Escape)
    assert len(session.selection) == 0


def test_a_click_selects_the_point_and_makes_it_the_query(page, session):
    place = page.canvas.place_of(7).toPoint()
    QTest.mouseClick(page.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.selection.tolist() == [page.canvas.data.ids[page.canvas.row_at(page.canvas.place_of(7))]]
    assert session.query == session.selection[0]


def test_shift_adds_and_ctrl_removes(page, session):
    page.canvas.selected.emit(np.array([1, 2]), "replace")
    page.canvas.selected.emit(np.array([3]), "add")
    assert set(session.selection) == set(page.canvas.data.ids[[1, 2, 3]])
    page.canvas.selected.emit(np.array([2, 9]), "remove")
    assert set(session.selection) == set(page.canvas.data.ids[[1, 3]])


def test_the_legend_hides_and_solos(page):
    page.model.toggle(0)
    assert page.canvas.cloud.visible_rows().sum() == 30
    page.model.show_alone(2)
    assert page.canvas.cloud.visible_rows().sum() == 10
    page.model.show_alone(2)
    assert page.canvas.cloud.visible_rows().all()
    page.legend.search.setText("DOG")
    assert page.legend.list.model().rowCount() == 1
    assert page.legend.list.model().index(0, 0).data() == "dog (10)"
    page.legend.search.setText("10")
    assert page.legend.list.model().rowCount() == 0, "names are searched, not their counts"


def test_colourings(page):
    page.model.colour_by("verdict")
    assert page.colouring.currentData() == "verdict"
    assert page.legend.model.rowCount() == 2
    groups = grouped(page.canvas.data, "verdict")
    assert groups.counts[0] == page.canvas.data.right.sum()
    assert grouped(page.canvas.data, "ap").counts.sum() == 40


def test_bracket_keys_step_through_the_evaluations(page, session, qtbot):
    newest = session.evaluation_id
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketLeft)
    assert session.evaluation_id < newest
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketRight)
    assert session.evaluation_id == newest


def test_a_hovered_point_shows_its_card_beside_it(page, qtbot):
    at = page.canvas.place_of(5)
    page.canvas.hovered.emit(5, at)
    qtbot.waitUntil(page.hover_card.isVisible)
    assert not page.hover_card.geometry().contains(QPoint(round(at.x()), round(at.y())))
    assert "AP" in page.hover_card.words.text()
    page.canvas.hovered.emit(None, None)
    assert not page.hover_card.isVisible()


@pytest.mark.qt_log_ignore("does not support", extend=True)  # of Qt's offscreen platform, at a menu
def test_each_line_of_the_export_menu_asks_where_to_and_writes(page, tmp_path, qtbot, monkeypatch):
    def proposed(_parent, _title, name, _kinds):
        return str(tmp_path / name), ""

    monkeypatch.setattr("workbench.ui.pages.map.export_menu.QFileDialog.getSaveFileName", proposed)
    monkeypatch.setattr(
        "workbench.ui.pages.map.export_menu.QFileDialog.getExistingDirectory", lambda *args: str(tmp_path)
    )
    menu = next(each for each in page.findChildren(QMenu) if any("Projector" in line.text() for line in each.actions()))
    for line in [each for each in menu.actions() if not each.isSeparator()]:
        menu.popup(page.mapToGlobal(page.rect().center()))
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(line).center())
    wanted = [*(f"map.{ending}" for ending in ("png", "svg", "pdf", "csv")), "vectors.tsv", "metadata.tsv"]
    qtbot.waitUntil(lambda: all((tmp_path / name).exists() for name in wanted))


def test_exports(page, tmp_path, qtbot):
    for ending in ("png", "svg", "csv"):
        page.export_to(tmp_path / f"map.{ending}")
        qtbot.waitUntil((tmp_path / f"map.{ending}").exists)
    assert not QImage(str(tmp_path / "map.png")).isNull()
    assert ET.parse(tmp_path / "map.svg").getroot().tag.endswith("svg")
    rows = list(csv.DictReader((tmp_path / "map.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 44
    assert {row["class"] for row in rows} == {"ant", "'=bee", "<b>cat</b>", "dog"}, "no cell is a formula"


@pytest.mark.parametrize("count", [0, 1, 2, 14])
def test_few_points_are_drawn(qtbot, count):
    canvas = MapCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(300, 300)
    canvas.show()
    few = data(np.zeros((count, 2)))
    canvas.show_data(few, grouped(few, "class"))
    canvas.fit()
    assert not canvas.grab().isNull()


def test_points_without_a_place_are_left_out_and_counted(qtbot):
    canvas = MapCanvas()
    qtbot.addWidget(canvas)
    some = data([[0, 0], [np.nan, 1], [1, 1]])
    canvas.show_data(some, grouped(some, "class"))
    canvas.fit()
    assert canvas.cloud.visible_rows().tolist() == [True, False, True]


def test_inside_is_the_even_odd_rule():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], float)
    points = np.array([[1, 1], [3, 1], [-1, 1], [1.9, 0.1], [1, 3]], float)
    assert inside(points, square).tolist() == [True, False, False, True, False]
    assert not inside(points, square[:2]).any()


def test_ten_thousand_classes_do_not_freeze_the_legend(qtbot, page):
    many = data(np.random.default_rng(0).normal(size=(20_000, 2)), np.arange(20_000) % 10_000)
    many = MapData(many.points, None, many.proxy_labels, many.ids, many.labels, many.ap, many.right,
                   tuple(str(label) for label in range(10_000)), "many")  # fmt: skip
    page.model.show_map(many)
    assert page.legend.model.rowCount() == 10_000
    page.model.toggle(0)
    assert (~page.canvas.cloud.visible_rows()).sum() == 2


def test_pca_compares_angles_where_the_evaluation_does(workspace, tmp_path):
    trained_run(workspace, tmp_path / "cache")
    made = map_data.by_pca(workspace, 2)
    assert np.abs(made.points).max() <= 2, "unit vectors lie within 2 of their mean"
    workspace.close()


def test_contours_are_drawn_when_they_are_switched_on_and_the_next_page_remembers(page, qtbot, session):
    assert not page.canvas.contours.shown
    page.legend.look.contours.click()
    qtbot.waitUntil(lambda: len(page.canvas.contours.shown) > 0)
    again = MapPage(session)
    qtbot.addWidget(again)
    assert again.legend.look.contours.isChecked()
    page.legend.look.contours.click()
    assert not page.canvas.contours.shown


def test_custom_axes_lay_the_points_out_between_two_classes(page, qtbot):
    settings, labels = page.settings, page.model.map.labels
    settings.method.setCurrentIndex(settings.method.findData("axes"))
    settings.method.activated.emit(0)
    settings.x.kind.setCurrentIndex(settings.x.kind.findData("means"))
    settings.x.kind.activated.emit(0)
    first, second = settings.x.direction.first, settings.x.direction.second
    assert first != second
    qtbot.waitUntil(lambda: "class means" in page.caption.text())
    across = page.model.map.points[:, 0]
    assert across[labels == first].mean() == pytest.approx(-across[labels == second].mean(), rel=1e-3)
    assert page.model.request["params"]["x"] == ["means", first, second]
    settings.x.second.setCurrentIndex(settings.x.first.currentIndex())
    settings.x.second.activated.emit(0)
    qtbot.waitUntil(lambda: "two different classes" in page.problem.text())
