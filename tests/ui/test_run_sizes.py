"""The list of runs by size: sorted, shown and searched, read on a thread and only while that is wanted."""

import threading
from dataclasses import replace
from time import sleep

import pytest
from PySide6.QtCore import Qt

from workbench.config import RunConfig
from workbench.ui.docks.run_sizes import TITLE
from workbench.ui.docks.runs import RunsDock
from workbench.ui.models.run_list import COLUMNS, RUN_ROLE, SIZE_ROLE, Arrangement, RunList
from workbench.workspace import Workspace
from workbench.workspace.folders import run_folders
from workbench.workspace.folders.run_folders import sizes_of_runs
from workbench.workspace.rows import Experiment

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
MB = 1_000_000


@pytest.fixture
def runs(session, workspace, config):
    """Three ended runs with checkpoints of 1, 3 and 2 MB; the newest is shown."""
    made = [workspace.create_run(config) for _ in range(3)]
    for run_id, megabytes in zip(made, (1, 3, 2), strict=True):
        workspace.set_status(run_id, "done")
        workspace.file(run_id, "last.pt").write_bytes(bytes(megabytes * MB))
    session.follower.look()
    session.show_run(made[-1])
    return made


@pytest.fixture
def dock(qtbot, session, actions, runs):
    """The list of these runs, in the order of their making."""
    return qtbot.addWidget(RunsDock(session, actions))


def shown(model):
    return [model.index(row).data(RUN_ROLE).id for row in range(model.rowCount())]


def sizes(model):
    return [model.index(row).data(SIZE_ROLE) for row in range(model.rowCount())]


def words(model, row=0):
    index = model.index(row)
    return COLUMNS["size"][1](index.data(RUN_ROLE), index.data(SIZE_ROLE))


def choose(dock, *titles):
    for action in dock.arrange.menu().actions():
        if action.text() in titles:
            action.trigger()


def test_the_largest_run_is_first_and_the_shown_one_stays_marked(qtbot, dock, runs):
    assert sizes(dock.model) == [None] * 3
    choose(dock, "Largest", "Size")
    qtbot.waitUntil(lambda: None not in sizes(dock.model))
    first, second, third = runs
    assert shown(dock.model) == [second, third, first]
    assert dock.list.currentIndex().data(RUN_ROLE).id == third
    assert words(dock.model).startswith("3")
    assert "on the disk" in dock.model.index(0).data(Qt.ItemDataRole.ToolTipRole)


def test_the_sizes_are_read_on_a_thread_and_only_once_they_are_wanted(qtbot, session, dock, monkeypatch):
    readers, read = [], run_folders.sizes_of_runs
    monkeypatch.setattr(
        "workbench.ui.docks.run_sizes.sizes_of_runs",
        lambda *asked: readers.append(threading.current_thread()) or read(*asked),
    )
    session.runs_changed.emit()
    assert readers == []
    choose(dock, "Size")
    qtbot.waitUntil(lambda: None not in sizes(dock.model))
    assert readers
    assert threading.main_thread() not in readers


def test_what_the_user_cancels_is_not_read_again_until_the_list_is_arranged_anew(qtbot, session, dock, monkeypatch):
    asked, read = [], run_folders.sizes_of_runs

    def endless(path, runs, known, progress):
        asked.append(1)
        while True:
            progress("Sizes of runs", 0, 3)
            sleep(0.001)

    monkeypatch.setattr("workbench.ui.docks.run_sizes.sizes_of_runs", endless)
    choose(dock, "Size")
    qtbot.waitUntil(lambda: bool(asked) and any(item.title == TITLE for item in session.activity.items))
    next(item for item in session.activity.items if item.title == TITLE).cancel()
    qtbot.waitUntil(lambda: not any(item.title == TITLE and item.state == "working" for item in session.activity.items))
    session.runs_changed.emit()
    qtbot.settle(dock)
    assert [item.title for item in session.activity.items].count(TITLE) == 1
    monkeypatch.setattr("workbench.ui.docks.run_sizes.sizes_of_runs", read)
    choose(dock, "Largest")
    qtbot.waitUntil(lambda: None not in sizes(dock.model))


def test_a_search_by_size_reads_the_sizes(qtbot, dock, runs):
    dock.search.setText("size>1.5MB")
    qtbot.waitUntil(lambda: shown(dock.model) == [runs[2], runs[1]])
    dock.search.setText("size>2.5MB")
    assert shown(dock.model) == [runs[1]]
    dock.search.setText("")
    assert shown(dock.model) == runs[::-1]


def test_while_nothing_changes_the_next_letter_of_the_search_reads_nothing(qtbot, session, dock, runs, monkeypatch):
    dock.search.setText("size>1.5MB")
    qtbot.waitUntil(lambda: shown(dock.model) == [runs[2], runs[1]])
    qtbot.settle(dock)
    again = []
    monkeypatch.setattr("workbench.ui.docks.run_sizes.sizes_of_runs", lambda *asked: again.append(asked) or {})
    dock.search.setText("size>2.5MB")
    assert shown(dock.model) == [runs[1]]
    qtbot.waitUntil(lambda: not session.reading)  # the program may look for dead runs meanwhile
    assert again == []


def test_what_was_deleted_since_is_no_longer_counted(qtbot, session, workspace, dock, runs):
    choose(dock, "Largest", "Size")
    qtbot.waitUntil(lambda: shown(dock.model) == [runs[1], runs[2], runs[0]])
    workspace.file(runs[1], "last.pt").unlink()
    workspace.set_note(runs[0], "the window hears of a change")
    session.follower.look()
    qtbot.waitUntil(lambda: shown(dock.model) == [runs[2], runs[0], runs[1]])
    assert words(dock.model, 2) == "0 MB".replace(" ", "\u202f")


def test_another_workspace_has_no_sizes_of_this_one(qtbot, session, tmp_path, dock):
    choose(dock, "Size")
    qtbot.waitUntil(lambda: None not in sizes(dock.model))
    other = Workspace(tmp_path / "other", create=True)
    other.set_status(other.create_run(RunConfig(name="Other")), "done")
    session.open_workspace(other)
    qtbot.waitUntil(lambda: [size is not None and size < MB for size in sizes(dock.model)] == [True])


def test_a_group_has_the_size_of_all_its_runs(session, runs):
    model = RunList()
    members = [replace(run, experiment_id=1) for run in session.runs()]
    model.show(members, [Experiment(1, "Grouped", "", "", {})])
    model.arrange(Arrangement(order="size", columns=("size",)))
    assert sizes(model) == [None]
    model.take_sizes({runs[0]: 5, runs[1]: 7})
    assert sizes(model) == [12]


@pytest.mark.parametrize(
    ("size", "short"), [(0, "0 MB"), (41_000, "0 MB"), (120_000, "0.1 MB"), (9_940_000, "9.9 MB"), (2e9, "2.0 GB")]
)
def test_a_size_is_as_short_as_its_column(size, short):
    assert COLUMNS["size"][1](None, size).replace("\u202f", " ") == short


def test_a_folder_that_did_not_change_is_not_read_again(session, workspace, runs, monkeypatch):
    (workspace.folder(runs[0]) / "export").mkdir()
    before = sizes_of_runs(workspace.path, runs)
    scanned, scandir = [], run_folders.os.scandir
    monkeypatch.setattr(run_folders.os, "scandir", lambda path: scanned.append(path) or scandir(path))
    assert sizes_of_runs(workspace.path, runs, before) == before
    assert scanned == []
    (workspace.folder(runs[0]) / "export" / "model.onnx").write_bytes(bytes(MB))
    (workspace.folder(runs[2]) / "last.pt").unlink()
    after = sizes_of_runs(workspace.path, runs, before)
    assert [after[run].bytes - before[run].bytes for run in runs] == [MB, 0, -2 * MB]


def test_a_folder_that_cannot_be_read_is_left_out(workspace, runs, tmp_path):
    folder = workspace.folder(runs[1])
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert set(sizes_of_runs(workspace.path, runs)) == {runs[0], runs[2]}
