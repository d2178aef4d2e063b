"""The Inspector shows what was chosen last: one sample with its neighbours, or what many have in common."""

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from small_run import store_run

from workbench.ui.pages.map.side.inspected import SHEET
from workbench.ui.pages.map.side.inspector import InspectorPanel, Spot
from workbench.ui.pages.map.side.side_column import SideColumn
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.concatenate([np.repeat(np.arange(3), 20), [3]])


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


@pytest.fixture
def panel(qtbot, session, run):
    session.show_run(run.run_id)
    return qtbot.shown(InspectorPanel(session), 280, 700)


def after(qtbot, panel, change, *values):
    """Make a change and wait until the panel has taken it."""
    with qtbot.waitSignal(panel.shown):
        change(*values)


def test_the_column_of_the_map_says_how_clusters_get_names(qtbot, session):
    column = qtbot.addWidget(SideColumn(session, SimpleNamespace(panel=QWidget())))
    said = column.inspector.hint.sentence.text()
    assert "lasso (S)" in said
    assert "most frequent class" in said


def test_nothing_is_selected_at_first(qtbot, panel):
    assert panel.currentWidget() is panel.hint


def test_one_sample_with_its_five_nearest(qtbot, panel, session, run):
    after(qtbot, panel, session.select, run.ids[25:26])
    assert panel.title.text() == "class 01"
    assert f"AP {100 * run.ap[25]:.1f}%" in panel.facts.text()
    assert f"First hit at rank {run.first_hit[25]}" in panel.facts.text()
    assert "R = 19" in panel.facts.text()
    assert "class 01/00025.png" in panel.facts.text()
    near = session.workspace.neighbours(run.run_id, int(run.ids[25]))[:5]
    assert [spot.sample for spot in panel.spots] == [each.sample_id for each in near]
    assert [spot.sign for spot in panel.spots] == ["✓" if each.right else "✗" for each in near]
    right = sum(each.right for each in near)
    assert panel.sheet_title.text() == f"{right} of the 5 nearest are of its class"
    qtbot.waitUntil(lambda: all(spot.picture is not None for spot in panel.spots))
    qtbot.waitUntil(lambda: not panel.picture.pixmap().isNull())


def test_many_are_counted_by_class_with_a_contact_sheet(qtbot, panel, session, run):
    chosen = run.ids[5:45]  # 15 of class 0, 20 of class 1, 5 of class 2
    after(qtbot, panel, session.select, chosen)
    assert panel.title.text() == "40 selected"
    assert panel.facts.text().splitlines()[2:] == ["class 01: 20", "class 00: 15", "class 02: 5"]
    assert f"Mean AP {100 * np.mean(run.ap[5:45]):.1f}%" in panel.facts.text()
    assert f"{(run.first_hit[5:45] != 1).sum()} failures" in panel.facts.text()
    assert [spot.sample for spot in panel.spots] == chosen[:SHEET].tolist()
    assert not panel.picture.isVisible()


def test_what_was_chosen_last_is_shown(qtbot, panel, session, run):
    after(qtbot, panel, session.select, run.ids[:10])
    after(qtbot, panel, session.show_query, int(run.ids[30]))
    assert panel.sample == run.ids[30]
    after(qtbot, panel, session.select, run.ids[:3])
    assert panel.title.text() == "3 selected"
    after(qtbot, panel, session.select, np.empty(0, np.int64))
    assert panel.sample == run.ids[30], "nothing selected: the query again"
    after(qtbot, panel, session.show_query, None)
    assert panel.currentWidget() is panel.hint


def test_no_spot_of_a_larger_selection_is_left_over(qtbot, panel, session, run):
    after(qtbot, panel, session.select, run.ids[5:25])
    after(qtbot, panel, session.select, run.ids[30:33])
    shown = [spot for spot in panel.findChildren(Spot) if spot.isVisible()]
    assert [spot.sample for spot in shown] == run.ids[30:33].tolist()
    assert [spot.accessibleName() for spot in shown] == [spot.words for spot in shown]
    after(qtbot, panel, session.show_query, int(run.ids[12]))
    assert [spot for spot in panel.findChildren(Spot) if spot.isVisible()] == panel.spots
    assert all(spot.sign for spot in panel.spots), "neighbours have their ticks and crosses"


def test_several_changes_at_once_are_answered_once(qtbot, panel, session, run):
    seen = []
    panel.shown.connect(lambda: seen.append(panel.title.text()))
    session.select(run.ids[:7])
    session.select(run.ids[:4])
    session.select(run.ids[:9])
    qtbot.waitUntil(lambda: seen == ["9 selected"])
    after(qtbot, panel, session.select, run.ids[:3])
    assert seen == ["9 selected", "3 selected"], "answers come in order: there is none between"


def test_a_sample_alone_in_its_class(qtbot, panel, session, run):
    after(qtbot, panel, session.show_query, int(run.ids[60]))
    assert "No other image of its class" in panel.facts.text()


def test_a_click_on_a_neighbour_shows_it(qtbot, panel, session, run):
    after(qtbot, panel, session.show_query, int(run.ids[0]))
    near = panel.spots[1].sample
    with qtbot.waitSignal(panel.shown):
        qtbot.mouseClick(panel.spots[1], Qt.MouseButton.LeftButton)
    assert panel.sample == near
    assert session.query == near


def test_its_buttons_lead_to_map_and_retrieval(qtbot, panel, session, run):
    asked = []
    session.page_asked.connect(asked.append)
    after(qtbot, panel, session.show_query, int(run.ids[12]))
    qtbot.mouseClick(panel.in_map, Qt.MouseButton.LeftButton)
    assert session.selection.tolist() == [run.ids[12]]
    qtbot.mouseClick(panel.in_retrieval, Qt.MouseButton.LeftButton)
    assert asked == ["map", "retrieval"]


def test_missing_pictures_are_said(qtbot, session, run):
    run.pixels.unlink()
    session.show_run(run.run_id)
    panel = qtbot.addWidget(InspectorPanel(session))
    panel.show()
    after(qtbot, panel, session.show_query, int(run.ids[3]))
    qtbot.waitUntil(lambda: "gone" in panel.picture.text())
    qtbot.waitUntil(lambda: all("gone" in spot.toolTip() for spot in panel.spots))
    panel.grab()


def test_a_hidden_panel_asks_nothing_until_it_is_shown(qtbot, panel, session, run):
    panel.hide()
    session.select(run.ids[:2])
    qtbot.deliver()
    assert panel.currentWidget() is panel.hint
    with qtbot.waitSignal(panel.shown):
        panel.show()
    assert panel.title.text() == "2 selected"


def test_a_selection_that_is_not_in_this_evaluation(qtbot, panel, session):
    after(qtbot, panel, session.select, np.array([5], np.int64))
    assert panel.currentWidget() is panel.hint
    after(qtbot, panel, session.select, np.array([5, 6], np.int64))
    assert panel.currentWidget() is panel.hint


def test_another_workspace_empties_it(qtbot, panel, session, run, tmp_path):
    after(qtbot, panel, session.show_query, int(run.ids[0]))
    after(qtbot, panel, session.open_workspace, Workspace(tmp_path / "other", create=True))
    assert panel.currentWidget() is panel.hint
