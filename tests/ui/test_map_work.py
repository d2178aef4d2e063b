"""Working with the map: undo and redo, isolate, named selections; with simulated mouse and keys."""

import csv
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QUndoStack
from PySide6.QtWidgets import QWidget
from small_run import blobs, store_run

from tests.ui.seen import drawn
from tests.ui.test_map import LABELS, around, choose, click_row, drag, open_page, places_of
from tests.waits import HANG
from workbench.datasets.decisions import read_decisions
from workbench.ui.pages.map.colours.columns import Column
from workbench.ui.pages.map.colours.point_colours import value_words
from workbench.ui.pages.map.drawing.level_note import LevelNote
from workbench.ui.pages.map.map_files import FINE, GAP
from workbench.ui.pages.map.selecting.breadcrumb import Breadcrumb
from workbench.ui.pages.map.selecting.tagging import NOTHING
from workbench.ui.state.commands import Commands
from workbench.ui.state.undo import UndoCommands
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import all_tags, change_tags, tag_sample
from workbench.workspace.choices.selections import all_selections
from workbench.workspace.measured.stored_maps import Measured, store_map

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise")
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(qtbot, session, analysis, workspace):
    """A map by PCA of two well separated epochs; the analysis process is played."""
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.2, 1), blobs(LABELS, 0.2, 0)])
    session.show_run(run.run_id)
    made = open_page(qtbot, session)
    made.run = run
    choose(made.settings.method, "pca")
    qtbot.waitUntil(lambda: made.model.map is not None)
    qtbot.waitUntil(lambda: made.store.dataset_id is not None)
    return made


@pytest.fixture
def edit(page, session):
    """The Undo and Redo of the frame, as they follow the page."""
    made = UndoCommands(Commands(session.preferences, page), page, QUndoStack(page))
    made.follow(page)
    return made


def lasso(page, label, keys=Qt.KeyboardModifier.NoModifier):
    page.tools["rectangle"].click()
    box = around(places_of(page, np.flatnonzero(label == LABELS)))
    drag(page.canvas, [box[0], box[2]], keys)


def test_everything_fits_a_narrow_window(qtbot, page):
    page.resize(640, 480)
    choose(page.settings.method, "umap")
    assert page.minimumSizeHint().width() <= 640
    for widget in (page.export, page.settings.more, page.legend, page.side):
        assert page.rect().contains(widget.rect().translated(widget.mapTo(page, widget.rect().topLeft())))


# Undo and redo


def test_ctrl_z_takes_back_a_selection_and_ctrl_shift_z_brings_it_again(qtbot, page, edit, session):
    session.select(page.run.ids[:2])
    lasso(page, 2)
    chosen = session.selection
    assert len(chosen) >= 15
    qtbot.keyClick(page.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.selection.tolist() == page.run.ids[:2].tolist()
    assert page.canvas.cloud.selected.sum() == 2
    qtbot.keyClick(page.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not len(session.selection)
    for _ in range(2):
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        qtbot.keyClick(page.canvas, Qt.Key.Key_Z, both)
    np.testing.assert_array_equal(session.selection, chosen)


def test_undo_says_what_it_takes_back(page, session):
    session.select(page.run.ids[:1])
    assert page.undo_stack.undoText() == "selecting 1 image"
    session.select(np.empty(0, np.int64))
    assert page.undo_stack.undoText() == "clearing the selection"


def test_the_first_selection_of_a_run_is_undone_where_nothing_was_selected_before_it(page, session, workspace):
    session.show_run(store_run(workspace, LABELS).run_id)
    session.select(page.run.ids[:3])
    assert page.undo_stack.undoText() == "selecting 3 images"
    page.undo_stack.undo()
    assert len(session.selection) == 0


def test_hiding_is_undone_in_the_colouring_that_it_was_done_in(qtbot, page):
    click_row(qtbot, page.legend, 1)
    choose(page.colouring, "verdict")
    assert drawn(page.canvas).all()
    page.undo_stack.undo()
    assert page.model.colouring == "class"
    assert drawn(page.canvas).all()
    page.undo_stack.redo()
    assert drawn(page.canvas).tolist() == (LABELS != 1).tolist()


def test_a_double_click_in_the_legend_is_one_step(qtbot, page):
    click_row(qtbot, page.legend, 2, double=True)
    assert drawn(page.canvas).tolist() == (LABELS == 2).tolist()
    assert page.undo_stack.count() == 1
    assert page.undo_stack.undoText() == "showing class 02 alone"
    page.undo_stack.undo()
    assert drawn(page.canvas).all()


def test_another_data_set_forgets_the_steps_and_another_run_of_the_same_does_not(page, session, workspace):
    session.select(page.run.ids[:3])
    again = store_run(workspace, LABELS)
    session.show_run(again.run_id)
    assert page.undo_stack.count() == 1, "clearing by the change of the run is no step"
    session.show_run(store_run(workspace, LABELS[:30], name="Other").run_id)
    assert page.undo_stack.count() == 0


def test_a_page_without_steps_leaves_undo_grey(qtbot, page, edit, session):
    from PySide6.QtWidgets import QWidget

    session.select(page.run.ids[:3])
    assert edit.undo.isEnabled()
    other = qtbot.addWidget(QWidget())
    edit.follow(other)
    assert not edit.undo.isEnabled()
    edit.follow(page)
    assert edit.undo.isEnabled()


# Isolate


def test_isolate_maps_the_selected_alone_and_the_breadcrumb_leads_back(qtbot, page, session):
    told = []
    session.noticed.connect(told.append)
    qtbot.keyClick(page.canvas, Qt.Key.Key_I)
    assert "Select some points" in told[0]
    assert not page.breadcrumb.isVisible()
    session.select(page.run.ids[LABELS < 2])
    qtbot.keyClick(page.canvas, Qt.Key.Key_I)
    qtbot.waitUntil(lambda: "30 of 60 test images" in page.caption.text())
    assert drawn(page.canvas).tolist() == (LABELS < 2).tolist()
    assert page.legend.model.groups.names == ["class 00", "class 01"]
    assert page.legend.model.groups.counts.tolist() == [15, 15]
    assert len(page.canvas.marks.stars) == 2
    session.select(page.run.ids[LABELS == 1])
    qtbot.keyClick(page.canvas, Qt.Key.Key_I)
    assert page.model.path == ["All", "30 selected", "15 selected"]
    qtbot.waitUntil(lambda: "15 of 60" in page.caption.text())
    page.model.back_to(1)
    qtbot.waitUntil(lambda: "30 of 60" in page.caption.text())
    back = page.breadcrumb.steps[0]
    qtbot.mouseClick(back, LEFT)
    qtbot.waitUntil(lambda: "60 of 60" in page.caption.text())
    assert not page.breadcrumb.isVisible()


def test_the_count_of_points_and_the_breadcrumb_do_not_cover_each_other_on_a_narrow_map(qtbot, page):
    assert page.canvas.note.kept_clear is page.breadcrumb
    narrow = qtbot.addWidget(QWidget())
    narrow.resize(300, 200)
    note, crumb = LevelNote(narrow, lambda rect: 0), Breadcrumb(narrow)
    note.kept_clear = crumb
    narrow.show()
    crumb.show_path(["All", "120 selected", "35 selected"])
    note.say("35 of 899 points in view")
    assert not note.geometry().intersects(crumb.geometry())
    crumb.show_path(["All"])
    note.place()
    assert note.y() == crumb.y(), "the upper right corner"
    crumb.show_path(["All", "120 selected", "35 selected"])
    narrow.resize(300, crumb.height() + 20)
    note.place()
    assert narrow.rect().intersects(note.geometry()), "on a map as low as the two they share a corner"


def test_isolated_points_are_asked_for_and_stored_apart_from_the_map_of_all(qtbot, page, session):
    from workbench.projection.subset import mark

    session.select(page.run.ids[:9])
    page.commands.isolate.trigger()
    choose(page.settings.method, "umap")
    qtbot.waitUntil(lambda: bool(session.analysis.requests))
    asked = session.analysis.requests[0][1]
    assert asked["only"] == page.run.ids[:9].tolist()
    points = np.full((60, 2), np.nan, np.float32)
    points[:9] = np.random.default_rng(0).normal(size=(9, 2))
    params = {**asked["params"], "only": mark(asked["only"])}
    number = store_map(session.workspace, asked["evaluation"], "umap", params, 0, points, None, {}, Measured(0.9))
    session.analysis.requests[0][3]({"projection": number})
    qtbot.waitUntil(lambda: page.model.map.method == "umap")
    assert "9 of 60 test images" in page.caption.text()
    assert "only" not in page.caption.text()
    page.model.back_to(0)
    qtbot.waitUntil(lambda: len(session.analysis.requests) == 2)
    assert "only" not in session.analysis.requests[1][1], "the stored map of nine is not the map of all"


# Colourings that are read


def test_colouring_by_a_number_has_a_scale_of_its_own(qtbot, page):
    choose(page.colouring, "radius")
    qtbot.waitUntil(lambda: page.legend.bar.isVisible())
    assert not page.legend.list.isVisible()
    assert page.legend.scale_title.text() == "Distance to the own class vector (unit vectors)"
    low, *_, high = [float(word) for _, word in page.legend.bar.ticks()]
    assert 0 <= low < high
    assert not page.legend.grab().isNull()
    choose(page.colouring, "class")
    assert page.legend.list.isVisible()


def test_tags_put_on_meanwhile_are_there_when_the_colouring_is_chosen_again(qtbot, page, session, workspace):
    choose(page.colouring, "tag")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["No tag"])
    dataset = workspace.run(page.run.run_id).dataset_id
    tag_sample(workspace, dataset, int(page.run.ids[4]), "blurred")
    choose(page.colouring, "tag")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["blurred", "No tag"])
    assert page.legend.model.groups.counts.tolist() == [1, 59]


@pytest.mark.qt_log_ignore("plugin does not support")  # Qt's offscreen platform, also at the list of a box
def test_the_attributes_of_the_data_set_are_colourings(qtbot, page, session, workspace):
    dataset = workspace.run(page.run.run_id).dataset_id
    assert page.colouring.findData("tag:view") < 0
    for row, tag in ((4, "view=front"), (5, "view=10"), (6, "view=9"), (6, "blurred")):
        tag_sample(workspace, dataset, int(page.run.ids[row]), tag)
    page.colouring.showPopup()
    qtbot.waitUntil(lambda: page.colouring.findData("tag:view") > 0)
    page.colouring.hidePopup()
    assert page.colouring.itemText(page.colouring.findData("tag:view")) == "Tag: view"
    choose(page.colouring, "tag:view")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["9", "10", "front", "No view"])
    assert page.legend.model.groups.counts.tolist() == [1, 1, 1, 57]
    ap = page.run.ap
    rows = np.arange(len(ap))
    expected = [ap[6], ap[5], ap[4], np.nanmean(ap[(rows < 4) | (rows > 6)])]
    np.testing.assert_allclose(page.legend.model.scores, expected, rtol=1e-6)
    assert page.legend.head.text() == "Images, MAP@R %"
    tag_sample(workspace, dataset, int(page.run.ids[4]), "view=9")
    choose(page.colouring, "tag:view")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["9", "10", "No view"])
    choose(page.colouring, "tag")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["blurred", "No tag"])
    for row, tag in ((4, "view=9"), (5, "view=10"), (6, "view=9")):
        tag_sample(workspace, dataset, int(page.run.ids[row]), tag, on=False)
    page.colouring.refresh()
    qtbot.waitUntil(lambda: page.colouring.findData("tag:view") < 0)


def test_letters_of_a_tag_that_turn_its_direction_are_shown_in_the_legend(qtbot, page, workspace):
    dataset = workspace.run(page.run.run_id).dataset_id
    for row, tag in ((4, "vi\u202eew=fr\u202eont"), (5, "a\u202eb")):
        tag_sample(workspace, dataset, int(page.run.ids[row]), tag)
    page.colouring.refresh()
    qtbot.waitUntil(lambda: page.colouring.findData("tag:vi\u202eew") > 0)
    choose(page.colouring, "tag:vi\u202eew")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["fr\\u202eont", "No vi\\u202eew"])
    choose(page.colouring, "tag")
    qtbot.waitUntil(lambda: page.legend.model.groups.names == ["a\\u202eb", "No tag"])


def test_the_selection_is_tagged_and_that_is_undone(qtbot, page, session, workspace):
    said, dataset = [], workspace.run(page.run.run_id).dataset_id
    session.noticed.connect(said.append)
    assert page.side.tag.isHidden()
    page.tagging.ask()
    assert said == [NOTHING]
    ids = [int(number) for number in page.run.ids[:3]]
    tag_sample(workspace, dataset, ids[0], "view=side")
    tag_sample(workspace, dataset, ids[1], "view=front")
    session.select(np.array(ids, np.int64))
    assert not page.side.tag.isHidden()
    page.tagging.put(" view=front ")
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[1] == "3 images tagged “view=front”."
    assert all_tags(workspace, dataset) == {"view=front": sorted(ids)}
    page.undo_stack.undo()
    before = {"view=front": [ids[1]], "view=side": [ids[0]]}
    qtbot.waitUntil(lambda: all_tags(workspace, dataset) == before)
    page.undo_stack.redo()
    qtbot.waitUntil(lambda: all_tags(workspace, dataset) == {"view=front": sorted(ids)})
    steps = page.undo_stack.count()
    page.tagging.put("view=front")
    qtbot.waitUntil(lambda: len(said) == 3)
    assert page.undo_stack.count() == steps, "nothing was changed"
    page.tagging.put("x" * 81)
    qtbot.waitUntil(lambda: len(said) == 4)
    assert "1 to 80 characters" in str(said[3])


def test_a_colouring_that_is_not_there_is_told_and_classes_come_back(qtbot, page, session):
    told = []
    session.noticed.connect(told.append)
    choose(page.colouring, "split")
    qtbot.waitUntil(lambda: bool(told))
    assert "no published split" in str(told[0])
    assert page.model.colouring == "class"


# The plane


def test_two_dimensional_embeddings_are_shown_as_they_are(qtbot, page, session, workspace):
    assert not page.settings.method.model().item(page.settings.method.findData("plane")).isEnabled()
    table = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    flat = store_run(workspace, LABELS, embeddings=[table])
    session.show_run(flat.run_id)
    qtbot.waitUntil(lambda: page.model.map is not None and page.model.map.width == 2)
    choose(page.settings.distance, "l2")
    choose(page.settings.method, "plane")
    qtbot.waitUntil(lambda: page.model.map.method == "plane")
    np.testing.assert_array_equal(page.model.map.points, table)
    assert page.canvas.origin.lines[0].isVisible()
    choose(page.settings.distance, "cosine")
    qtbot.waitUntil(lambda: "unit vectors" in page.caption.text())
    np.testing.assert_allclose(np.linalg.norm(page.model.map.points, axis=1), 1, rtol=1e-6)


# Named selections


def names(page):
    return [each.name for each in page.store.selections]


def test_a_selection_is_saved_renamed_noted_and_chosen_in_another_epoch_and_run(qtbot, page, session, workspace):
    lasso(page, 1)
    kept = np.sort(session.selection).tolist()
    qtbot.keyClick(page.canvas, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = page.named
    qtbot.waitUntil(lambda: names(page) == ["Selection 1"])
    assert dialog.isVisible()
    dialog.name.selectAll()
    qtbot.keyClicks(dialog.name, "  The <b>odd</b> ones ")
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: names(page) == ["The <b>odd</b> ones"])
    qtbot.keyClicks(dialog.note, "=1+1; Why?")
    qtbot.keyClick(dialog.note, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.store.selections[0].note == "=1+1; Why?")
    again = store_run(workspace, LABELS)
    session.show_run(again.run_id)
    qtbot.waitUntil(lambda: not len(session.selection))
    qtbot.waitUntil(dialog.choose.isEnabled)
    qtbot.mouseClick(dialog.choose, LEFT)
    qtbot.waitUntil(lambda: session.selection.tolist() == kept)
    dataset = workspace.run(page.run.run_id).dataset_id
    assert all_selections(workspace, dataset)[0].samples == tuple(kept)


def test_deleting_a_selection_is_undone(qtbot, page, session):
    session.select(page.run.ids[:5])
    page.named.show()
    qtbot.mouseClick(page.named.save, LEFT)
    qtbot.waitUntil(lambda: names(page) == ["Selection 1"])
    before = page.store.selections[0]
    qtbot.mouseClick(page.named.delete, LEFT)
    qtbot.waitUntil(lambda: names(page) == [])
    assert page.named.hint.isVisible()
    assert not page.named.details.isEnabled()
    page.undo_stack.undo()
    qtbot.waitUntil(lambda: names(page) == ["Selection 1"])
    assert page.store.selections[0] == before
    page.undo_stack.undo()
    qtbot.waitUntil(lambda: names(page) == [])
    page.undo_stack.redo()
    page.undo_stack.redo()
    page.undo_stack.undo()
    qtbot.waitUntil(lambda: names(page) == ["Selection 1"] and page.store.idle)


def test_a_name_that_is_taken_is_refused_and_nothing_can_be_undone_wrongly(qtbot, page, session):
    told = []
    session.noticed.connect(told.append)
    page.named.show()
    for count in (3, 4):
        session.select(page.run.ids[:count])
        qtbot.mouseClick(page.named.save, LEFT)
        qtbot.waitUntil(lambda count=count: len(page.store.selections) == count - 2)
    steps = page.undo_stack.count()
    page.named.show_named("Selection 2")
    page.named.name.setText("Selection 1")
    qtbot.keyClick(page.named.name, Qt.Key.Key_Return)
    assert "already" in str(told[-1])
    assert page.named.name.text() == "Selection 2"
    assert page.undo_stack.count() == steps


def test_nothing_selected_cannot_be_saved(page, session):
    told = []
    session.noticed.connect(told.append)
    page.named.show()
    assert not page.named.save.isEnabled()
    page.named.save_selection()
    assert "Select some points" in str(told[0])


def test_a_selection_is_exported_as_table_and_as_folder(qtbot, page, session, tmp_path: Path):
    told = []
    session.noticed.connect(told.append)
    session.select(page.run.ids[:2])
    page.named.show()
    qtbot.mouseClick(page.named.save, LEFT)
    qtbot.waitUntil(lambda: bool(page.store.selections))
    page.named.export_table(tmp_path / "two.csv")
    page.named.export_folder(tmp_path / "two")
    page.named.export_left_out(tmp_path / "dropped.csv")
    qtbot.waitUntil(lambda: len(told) == 3)
    assert [decision.decision for decision in read_decisions(tmp_path / "dropped.csv")] == ["drop", "drop"]
    rows = list(csv.DictReader((tmp_path / "two.csv").read_text("utf-8").splitlines()))
    assert [int(row["sample_id"]) for row in rows] == page.run.ids[:2].tolist()
    assert float(rows[0]["ap"]) == pytest.approx(page.run.ap[0])
    assert len(list((tmp_path / "two").rglob("*.png"))) == 2
    assert any("2 PNGs" in str(each) for each in told)


# Export


def test_the_map_is_written_as_pdf_and_the_embeddings_for_the_projector(qtbot, page, tmp_path):
    page.export_to(tmp_path / "map.pdf")
    page.exports.write_projector(tmp_path)
    qtbot.waitUntil((tmp_path / "metadata.tsv").exists)
    qtbot.waitUntil((tmp_path / "map.pdf").exists)
    content = (tmp_path / "map.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    vectors = np.loadtxt(tmp_path / "vectors.tsv", delimiter="\t")
    assert vectors.shape == (60, 6)
    np.testing.assert_allclose(vectors, blobs(LABELS, 0.2, 0), rtol=1e-6)
    assert len((tmp_path / "metadata.tsv").read_text("utf-8").splitlines()) == 61


# Side by side


@pytest.fixture
def beside(qtbot, page):
    """The two maps: epoch 2 and epoch 1 of one run."""
    page.resize(1200, 640)
    page.tools["pan"].setFocus()
    qtbot.keyClick(page.canvas, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: page.second.data is not None)
    return page.second


def test_the_second_map_is_of_another_epoch_and_b_closes_it(qtbot, page, beside):
    assert beside.isVisible()
    assert (page.model.map.evaluation, beside.data.evaluation) == tuple(reversed(page.run.evaluations))
    assert beside.epochs.currentText() == "epoch 1"
    assert "60 of 60" in beside.caption.text()
    choose(beside.epochs, page.run.evaluations[1])
    qtbot.waitUntil(lambda: beside.data.evaluation == page.run.evaluations[1])
    qtbot.keyClick(page.canvas, Qt.Key.Key_B)
    assert not beside.isVisible()
    assert beside.data is None


def test_what_is_selected_on_one_map_is_selected_on_the_other(qtbot, page, beside, session):
    qtbot.keyClick(page.canvas, Qt.Key.Key_R)
    rows = np.flatnonzero(LABELS == 3)
    places = np.array([(beside.canvas.place_of(row).x(), beside.canvas.place_of(row).y()) for row in rows])
    drag(beside.canvas, [around(places)[0], around(places)[2]])
    assert set(page.run.ids[rows]) <= set(session.selection)
    np.testing.assert_array_equal(page.canvas.cloud.selected, np.isin(page.run.ids, session.selection))
    np.testing.assert_array_equal(beside.canvas.cloud.selected, page.canvas.cloud.selected)
    lasso(page, 0, Qt.KeyboardModifier.ShiftModifier)
    assert set(page.run.ids[np.isin(LABELS, (0, 3))]) <= set(session.selection)
    assert beside.canvas.cloud.selected.sum() == len(session.selection)


def test_a_point_hovered_on_one_map_is_ringed_on_the_other(page, beside):
    page.canvas.hovered.emit(7, page.canvas.place_of(7))
    assert beside.canvas.marks.hovered == 7
    beside.canvas.hovered.emit(9, beside.canvas.place_of(9))
    assert page.canvas.marks.hovered == 9
    assert beside.card.sample == page.run.ids[9]
    beside.canvas.hovered.emit(None, None)
    assert page.canvas.marks.hovered is None


def test_hidden_classes_and_the_scale_of_colours_are_the_first_maps(qtbot, page, beside):
    click_row(qtbot, page.legend, 1)
    assert drawn(beside.canvas).tolist() == (LABELS != 1).tolist()
    choose(page.colouring, "radius")
    qtbot.waitUntil(
        lambda: all(map_.groups is not None and map_.groups.scale is not None for map_ in (page.canvas, beside.canvas)),
    )
    both = {page.model.map.evaluation, beside.data.evaluation}
    assert len(both) == 2
    qtbot.waitUntil(lambda: all(page.colours.known(evaluation) for evaluation in both))
    one, two = page.canvas.groups.scale, beside.canvas.groups.scale
    assert (one.low, one.high) == (two.low, two.high)


def test_another_run_of_the_data_set_can_stand_beside_and_one_of_another_cannot(
    qtbot, page, beside, session, workspace
):
    again = store_run(workspace, LABELS)
    large = store_run(workspace, LABELS, pictures=np.zeros((60, 16, 16, 1), np.uint8))
    other = store_run(workspace, LABELS[:30], name="Other")
    qtbot.waitUntil(lambda: len(session.runs()) == 4)
    beside.offer()
    offered = [beside.runs.itemData(place) for place in range(beside.runs.count())]
    assert sorted(offered) == [page.run.run_id, again.run_id, large.run_id], "at any size"
    assert other.run_id not in offered
    choose(beside.runs, again.run_id)
    qtbot.waitUntil(lambda: beside.data is not None and beside.data.evaluation == again.evaluations[-1])


def test_an_epoch_that_is_chosen_while_the_second_map_lists_new_ones_stays(qtbot, page, beside, session, monkeypatch):
    begun, goes_on, read = threading.Event(), threading.Event(), Workspace.evaluations

    def held(workspace, run_id):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert goes_on.wait(HANG)
        return read(workspace, run_id)

    monkeypatch.setattr(Workspace, "evaluations", held)
    chosen = page.run.evaluations[1]
    assert beside.epochs.currentData() != chosen
    session.evaluations_changed.emit()
    qtbot.waitUntil(begun.is_set)
    choose(beside.epochs, chosen)
    goes_on.set()
    qtbot.waitUntil(lambda: not session.reading)
    assert (beside.epochs.count(), beside.epochs.currentData()) == (2, chosen)
    qtbot.waitUntil(lambda: beside.data.evaluation == chosen)


def test_the_second_map_takes_method_and_isolated_points(qtbot, page, beside, session):
    session.select(page.run.ids[LABELS < 2])
    page.commands.isolate.trigger()
    qtbot.waitUntil(lambda: "30 of 60" in beside.caption.text())
    choose(page.settings.distance, "l2")
    qtbot.waitUntil(lambda: "PCA (l2)" in beside.caption.text())


def test_both_maps_are_written_where_two_stand_side_by_side(qtbot, page, beside, tmp_path):
    for ending in ("png", "svg", "csv"):
        page.export_to(tmp_path / f"maps.{ending}")
        qtbot.waitUntil((tmp_path / f"maps.{ending}").exists)
    picture, wide = QImage(str(tmp_path / "maps.png")), page.canvas.width() + beside.canvas.width() + GAP
    assert picture.width() == FINE * wide
    right = range(FINE * (page.canvas.width() + GAP), FINE * wide, 3)
    seen = {picture.pixelColor(x, y).rgb() for x in right for y in range(0, FINE * page.canvas.height(), 3)}
    assert len(seen) > 3, "the second map has points, too"
    drawing = (tmp_path / "maps.svg").read_text("utf-8")
    assert "Run 1: Small, epoch 2" in drawing
    assert "Run 1: Small, epoch 1" in drawing
    rows = list(csv.DictReader((tmp_path / "maps.csv").read_text("utf-8").splitlines()))
    names = [row["map"] for row in rows if row["kind"] == "image"]
    assert names == ["Run 1: Small, epoch 2"] * 60 + ["Run 1: Small, epoch 1"] * 60
    np.testing.assert_allclose(
        [float(row["x"]) for row in rows if row["map"].endswith("1")][:60], beside.data.points[:, 0]
    )


def test_the_card_says_by_what_a_point_is_coloured(qtbot, page, session):
    row = 7
    for colouring, said in (("first_hit", "First-hit rank: "), ("prediction", "Class of the first neighbour: class ")):
        choose(page.colouring, colouring)
        qtbot.waitUntil(lambda: page.colours.value(page.model.map, row).startswith(said))  # noqa: B023
        page.canvas.hovered.emit(row, page.canvas.place_of(row))
        assert said in page.hover_card.words.text()
    truth = session.workspace.query(page.run.evaluations[1], int(page.run.ids[row])).first_hit
    choose(page.colouring, "first_hit")
    assert page.colours.value(page.model.map, row) == f"First-hit rank: {truth}"
    choose(page.colouring, "class")
    page.canvas.hovered.emit(row, page.canvas.place_of(row))
    assert "neighbour: " not in page.hover_card.words.text(), "the class is said already"


def test_a_value_is_told_by_its_word_its_class_or_four_figures(page):
    data, ids = page.model.map, page.model.map.ids[:2]
    words = Column("Tag", ids, np.array([1.0, np.nan]), ("odd", "=cut"))
    assert [value_words(words, "tag", data, row) for row in (0, 1, 2)] == ["Tag: =cut", "Tag: none", "Tag: none"]
    assert value_words(Column("Distance", ids, np.array([0.123456, 2])), "radius", data, 0) == "Distance: 0.1235"


def test_a_thousand_attributes_are_offered_without_a_search_for_each(qtbot, page, session, workspace, monkeypatch):
    names = [f"attribute {number:04}" for number in range(1000)]
    dataset_id = workspace.run(page.run.run_id).dataset_id
    change_tags(workspace, dataset_id, [(int(page.run.ids[0]), f"{name}=1") for name in names])
    searched, find = [], page.colouring.findData
    monkeypatch.setattr(page.colouring, "findData", lambda key: searched.append(key) or find(key))
    page.colouring.refresh()
    before = page.colouring.count()
    qtbot.waitUntil(lambda: page.colouring.count() == before + len(names))
    assert [page.colouring.itemText(before + row) for row in (0, 999)] == [
        "Tag: attribute 0000", "Tag: attribute 0999",
    ]  # fmt: skip
    assert len(searched) < len(names)
