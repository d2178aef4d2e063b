"""The map of a trained run: colourings, the export menu, contours, custom axes."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMenu
from small_run import blobs, store_run

from tests.ui.trained import trained_run
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing.class_names import ClassNames
from workbench.ui.pages.map.making import reading
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.page import MapPage
from workbench.ui.state.pages.in_parts import finish

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(shown_map):
    return shown_map("pca")


def test_the_legend_is_wider_beside_a_wide_map(page, qtbot):
    before = page.side.width()
    page.resize(2300, 1200)
    qtbot.waitUntil(lambda: page.side.width() >= before + 60)


def test_points_in_the_ball_are_mapped_as_they_are(shown_map, session, workspace, qtbot):
    page = shown_map("pca")
    assert page.model.method.metric == "cosine"
    with workspace.writing() as db:
        db.execute("update evaluations set distance = 'hyperbolic'")
    first, last = (evaluation.id for evaluation in workspace.evaluations(session.run_id)[-2:])
    session.show_evaluation(first)
    session.show_run(None)
    session.show_run(workspace.evaluation(last).run_id)
    qtbot.waitUntil(lambda: page.model.method.metric == "l2")


def test_colourings(page):
    page.model.colour_by("verdict")
    assert page.colouring.currentData() == "verdict"
    assert page.legend.model.rowCount() == 2
    groups = grouped(page.canvas.data, "verdict")
    assert groups.counts[0] == page.canvas.data.right.sum()
    assert grouped(page.canvas.data, "ap").counts.sum() == 40


def test_the_title_of_a_colouring_is_whole_or_ends_in_an_ellipsis(page):
    page.colouring.setCurrentIndex(page.colouring.findText("Neighbourhood kept"))
    page.colouring.resize(110, page.colouring.height())
    assert page.colouring.written().endswith("…")
    page.colouring.resize(400, page.colouring.height())
    assert page.colouring.written() == "Neighbourhood kept"


@pytest.mark.qt_log_ignore("does not support", extend=True)  # of Qt's offscreen platform, at a menu
def test_each_line_of_the_export_menu_asks_where_to_and_writes(page, tmp_path, qtbot, monkeypatch):
    def proposed(_parent, _title, name, _kinds):
        return str(tmp_path / Path(name).name), ""

    monkeypatch.setattr("workbench.ui.widgets.dialogs.save_file.QFileDialog.getSaveFileName", proposed)
    monkeypatch.setattr(
        "workbench.ui.pages.map.export_menu.QFileDialog.getExistingDirectory", lambda *args: str(tmp_path)
    )
    menu = next(each for each in page.findChildren(QMenu) if any("Projector" in line.text() for line in each.actions()))
    for line in [each for each in menu.actions() if not each.isSeparator()]:
        menu.popup(page.mapToGlobal(page.rect().center()))
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(line).center())
    wanted = [*(f"map.{ending}" for ending in ("png", "svg", "pdf", "csv")), "vectors.tsv", "metadata.tsv"]
    qtbot.waitUntil(lambda: all((tmp_path / name).exists() for name in wanted))
    rows = list(csv.DictReader((tmp_path / "map.csv").read_text("utf-8").splitlines()))
    assert {row["class"] for row in rows} == {"ant", "'=bee", "<b>cat</b>", "dog"}, "no cell is a formula"


def grid(labels, spread, seed):
    """Embeddings of 24 classes side by side, so that there are names in all corners of the map."""
    centres = np.stack(np.meshgrid(np.arange(6), np.arange(4)), -1).reshape(-1, 2) / 10
    points = centres[labels] + spread / 50 * np.random.default_rng(seed).normal(size=(len(labels), 2))
    return np.column_stack([np.full(len(labels), 5.0), points]).astype(np.float32)


@pytest.mark.parametrize("placed", [blobs, grid])
def test_names_stand_in_their_places_from_the_first_paint_on(qtbot, session, workspace, monkeypatch, placed):
    labels = np.repeat(np.arange(24), 15)
    run = store_run(workspace, labels, embeddings=[placed(labels, 0.4, seed) for seed in (1, 2)])
    frames, paint = [], ClassNames.paint

    def painted(names, *args):
        paint(names, *args)
        frames.append({name.text: name.box for name in names.drawn})

    monkeypatch.setattr(ClassNames, "paint", painted)
    session.show_run(run.run_id)
    made = MapPage(session)
    made.model.choose_method(MapMethod("pca"))
    qtbot.addWidget(made)
    made.resize(900, 640)
    made.show()
    qtbot.waitUntil(made.canvas.note.isVisible)
    qtbot.waitUntil(made.time.every.isVisible)
    qtbot.settle(made)
    named = [frame for frame in frames if frame]
    assert len(named[-1]) == 24
    assert all(frame == named[-1] for frame in named), "the map's size or the line of its corner came later"


def test_a_page_that_is_half_made_takes_another_theme(qtbot, session):
    page = qtbot.addWidget(MapPage(session, in_parts=True))
    next(page.making)
    before = page.canvas.backgroundBrush().color()
    try:
        session.theme.choose("dark")
        finish(page.making)
        assert page.canvas.backgroundBrush().color() == QColor(session.theme.tokens.plot_background) != before
    finally:
        session.theme.choose("light")


def test_pca_compares_angles_where_the_evaluation_does(workspace, tmp_path):
    trained_run(workspace, tmp_path / "cache")
    made = reading.by_pca(workspace, 2)
    assert np.abs(made.points).max() <= 2, "unit vectors lie within 2 of their mean"
    workspace.close()


def test_contours_are_drawn_when_they_are_switched_on_and_the_next_page_remembers(page, qtbot, session):
    assert not page.canvas.contours.shown
    page.legend.look.contours.click()
    qtbot.waitUntil(lambda: len(page.canvas.contours.shown) > 0)
    again = qtbot.addWidget(MapPage(session))
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


def test_custom_axes_lay_the_points_out_between_two_selected_images(page, session, qtbot):
    kind, data = page.settings.x.kind, page.model.map
    item = kind.model().item(kind.findData("samples"))
    assert not item.isEnabled(), "nothing is selected"
    session.select(data.ids[[3, 20]])
    qtbot.waitUntil(item.isEnabled)
    page.settings.method.setCurrentIndex(page.settings.method.findData("axes"))
    kind.setCurrentIndex(kind.findData("samples"))
    kind.activated.emit(kind.currentIndex())
    first, second = page.settings.x.direction.first, page.settings.x.direction.second
    assert {first, second} == set(data.ids[[3, 20]].tolist())
    qtbot.waitUntil(lambda: "image 4 − " in page.caption.text())
    across = dict(zip(page.model.map.ids.tolist(), page.model.map.points[:, 0].tolist(), strict=True))
    assert across[first] == pytest.approx(-across[second], rel=1e-3)
    assert across[first] > 0
    session.select(data.ids[:0])
    assert (page.settings.x.direction.first, page.settings.x.direction.second) == (first, second), "they stay chosen"
