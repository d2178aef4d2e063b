"""The number of an evaluation means another one in another workspace: what is kept of it goes with the workspace."""

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget
from small_run import SmallRun, blobs, store_run

from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.hovering.true_links import TrueLinks
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.side.class_table import ClassTableOpener
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_ranking

LABELS = np.repeat(np.arange(4), 15)


@pytest.fixture
def first(session, workspace) -> SmallRun:
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.4, 1)], class_names=("a", "b", "c", "d"))
    session.show_run(run.run_id)
    return run


@pytest.fixture
def change(session, first, tmp_path):
    """Shows the run of another workspace, whose evaluation has the same number."""

    def change() -> SmallRun:
        other = Workspace(tmp_path / "other", create=True)
        run = store_run(other, LABELS, embeddings=[blobs(LABELS, 0.4, 2)], class_names=("e", "f", "g", "h"))
        assert run.evaluations == first.evaluations
        session.open_workspace(other)
        session.show_run(run.run_id)
        return run

    return change


@pytest.mark.qt_log_ignore("propagateSizeHints", "raise")
def test_the_table_of_classes(qtbot, session, change):
    window = qtbot.addWidget(QWidget())
    opener = ClassTableOpener(session, window)
    opener.open()
    qtbot.waitUntil(lambda: opener.table is not None)
    opener.dialog.hide()
    change()
    opener.open()
    qtbot.waitUntil(lambda: opener.table is not None)
    assert {row.name for row in opener.table.rows} == {"e", "f", "g", "h"}


def test_the_lines_to_true_neighbours(qtbot, session, first, change):
    drawn = []
    links = TrueLinks(session, SimpleNamespace(marks=SimpleNamespace(show_links=drawn.append)))
    for run in (lambda: first, change):
        ids = run().ids
        data = SimpleNamespace(evaluation=first.evaluations[-1], ids=ids)
        links.hover(data, 0)
        qtbot.waitUntil(lambda: drawn[-1] is not None)
        wanted = read_ranking(session.workspace, first.evaluations[-1]).neighbours[0]
        assert drawn[-1].tolist() == wanted[: len(drawn[-1])].tolist()


def test_the_colours_that_were_being_read(session, first, monkeypatch):
    asked = []
    monkeypatch.setattr(session, "run_in_thread", lambda title, *work, quiet: asked.append(title))
    data = MapData(
        np.zeros((60, 2), np.float32), None, np.empty(0, np.int64), first.ids, LABELS, np.ones(60), np.ones(60, bool),
        ("a", "b", "c", "d"), "",
    )  # fmt: skip
    colours = PointColours(session)
    colours.choose("radius")
    for times in (1, 2):
        colours.groups(data)
        colours.groups(data)
        assert asked == ["Colours of the map"] * times
        session.workspace_changed.emit()  # which cancels what is being read
