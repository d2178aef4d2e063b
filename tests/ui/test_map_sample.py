"""The Map page on a sample of the images: what it states, and that all goes by sample id."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from small_run import blobs, store_run

from workbench.projection.subset import sample_by_class
from workbench.ui.pages.map import MapPage
from workbench.workspace.measured.stored_maps import Measured, store_map

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(3), (60, 30, 2))
UMAP = {"metric": "cosine", "n_neighbors": 15, "min_dist": 0.1, "target_weight": 0.0}
SAID = "30 of 92 test images, stratified by class"


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, spread, 0) for spread in (0.8, 0.4)])


@pytest.fixture
def rows(run):
    return sample_by_class(run.ids, LABELS, 30, 0)


@pytest.fixture
def page(qtbot, session, analysis, run, rows, workspace):
    """The page on the last of two epochs, with a sample of 30 of 92 images mapped in both."""
    start, params = None, UMAP | {"points_at_most": 30}
    for evaluation in run.evaluations:
        points = np.full((92, 2), np.nan, np.float32)
        points[rows] = blobs(LABELS[rows], 0.1, evaluation, 2)
        kept = np.where(np.isfinite(points[:, 0]), 0.5, np.nan).astype(np.float32)
        start = store_map(
            workspace, evaluation, "umap", params, 0, points, np.eye(3, 2, dtype=np.float32), {},
            Measured(0.9, 0.8, 30, kept), start,
        )  # fmt: skip
    session.show_run(run.run_id)
    made = MapPage(session)
    made.settings.max_points.setValue(30)
    qtbot.shown(made, 1000, 640)
    qtbot.waitUntil(lambda: made.model.map is not None and made.time.slider.isEnabled())
    return made


def test_the_points_at_most_are_asked_for_by_umap_and_tsne_and_pca_shows_all(qtbot, page, analysis):
    assert page.model.request["most"] == 30
    page.settings.more.menu().aboutToShow.emit()
    page.settings.max_points.setFocus()
    page.settings.max_points.selectAll()
    qtbot.keyClicks(page.settings.max_points, "40")
    qtbot.keyClick(page.settings.max_points, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(analysis.requests))
    assert analysis.requests[-1][1]["most"] == 40
    assert page.model.map.method == "pca"
    assert page.caption.text().startswith("92 of 92 test images   ·")
    for method, limited in (("pca", False), ("plane", False), ("tsne", True)):
        page.model.choose_method(replace(page.model.method, method=method))
        assert ("most" in page.model.request) == limited


def test_a_sample_is_stated_in_caption_note_and_between_epochs_and_comes_back(qtbot, page, analysis):
    assert page.caption.text().startswith(f"{SAID}   ·   UMAP (")
    assert "points_at_most" not in page.caption.text()
    qtbot.waitUntil(lambda: page.canvas.note.words.text().endswith("of 30 points in view"))
    assert sum(page.canvas.groups.counts) == 30, "the legend counts what is on the map"
    page.time.slider.setSliderDown(True)
    page.time.slider.setValue(50)
    assert page.caption.text().startswith(f"{SAID}   ·   Between two epochs")
    assert not analysis.requests, "the stored sample is shown, and no other is made"


def test_an_image_that_is_not_in_the_sample_is_told_when_it_is_selected(qtbot, page, session, run, rows):
    outside = np.setdiff1d(np.arange(92), rows)[:1]
    session.select(run.ids[outside])
    said = "1 of the selected images not on this map"
    qtbot.waitUntil(lambda: said in page.canvas.note.words.text())
    session.select(run.ids[rows[:1]])
    qtbot.waitUntil(lambda: "not on this map" not in page.canvas.note.words.text())


def test_a_click_a_lasso_and_isolate_choose_by_sample_id(qtbot, page, session, analysis, run, rows):
    page.commands.tools["rectangle"].trigger()
    page.canvas.selected.emit(
        page.canvas.cloud.rows_inside(np.array([[-99, -99], [99, -99], [99, 99], [-99, 99]])), "replace"
    )
    assert sorted(session.selection) == sorted(run.ids[rows])
    qtbot.keyClick(page.canvas, Qt.Key.Key_I)
    qtbot.waitUntil(lambda: bool(analysis.requests))
    assert sorted(analysis.requests[-1][1]["only"]) == sorted(run.ids[rows])
    page.model.back_to(0)
    qtbot.waitUntil(lambda: page.model.map.method == "umap")
    at = page.canvas.place_of(int(rows[4])).toPoint()
    page.commands.tools["pan"].trigger()
    qtbot.mouseClick(page.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: len(session.selection) == 1)
    assert int(session.selection[0]) in run.ids[rows].tolist()


def test_the_table_has_the_points_on_the_map_by_id(qtbot, page, run, rows, tmp_path):
    page.export_to(tmp_path / "map.csv")
    qtbot.waitUntil((tmp_path / "map.csv").exists)
    with (tmp_path / "map.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    images = [each for each in found if each["kind"] == "image"]
    assert [int(each["sample_id"]) for each in images] == run.ids[rows].tolist()
    assert [float(each["x"]) for each in images] == pytest.approx(page.model.map.points[rows, 0].tolist(), rel=1e-6)
    assert len(found) == 33
    page.export_to(tmp_path / "map.svg")
    qtbot.waitUntil((tmp_path / "map.svg").exists)
    assert SAID in (tmp_path / "map.svg").read_text("utf-8")
