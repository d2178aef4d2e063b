"""The row of a run that works has a bar, and the trash says how large it is."""

import os
from contextlib import contextmanager
from dataclasses import replace

import pytest

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.docks.run_row import share_done
from workbench.ui.docks.trash_size import TrashSize
from workbench.workspace.folders.run_folders import bytes_of_runs


@pytest.fixture
def run_id(session):
    made = session.workspace.create_run(RunConfig(name="One"))
    (session.workspace.folder(made) / "weights").mkdir(parents=True)
    (session.workspace.folder(made) / "weights" / "a.bin").write_bytes(bytes(3 * 2**20))
    session.follower.look()
    return made


def test_a_run_that_works_or_is_paused_has_a_share_and_others_have_none(session, run_id):
    run = replace(session.run(run_id), status="running", done=30, total=120)
    assert share_done(run) == 0.25
    assert share_done(replace(run, status="waiting", done=130)) == 1.0
    assert share_done(replace(run, total=0)) is None
    assert share_done(replace(run, id=-1)) is None, "a group"
    assert all(share_done(replace(run, status=status)) is None for status in ("queued", "done", "failed", "stopped"))


def test_the_size_is_that_of_all_files_and_no_link_is_followed(session, run_id, tmp_path):
    before = bytes_of_runs(session.workspace.path, [run_id])
    assert 3 * 2**20 <= before < 3 * 2**20 + 2**16
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "large").write_bytes(bytes(2**20))
    (session.workspace.folder(run_id) / "link").symlink_to(tmp_path / "other")
    assert bytes_of_runs(session.workspace.path, [run_id]) < before + 2**16
    assert bytes_of_runs(session.workspace.path, [run_id, 999]) < before + 2**16, "a folder that is gone"


def test_a_folder_that_is_a_file_is_a_problem(session, run_id):
    with pytest.raises(Problem):
        bytes_of_runs(session.workspace.path / "workspace.db", [run_id])


def test_the_trash_names_its_size_off_the_windows_thread_and_forgets_it_when_emptied(qtbot, session, run_id):
    size = TrashSize(session)
    assert size.words == ""
    session.workspace.trash(run_id)
    session.follower.look()
    qtbot.waitUntil(lambda: size.words != "")
    assert size.words.startswith("3")
    assert size.words.endswith("MB")
    session.workspace.restore(run_id)
    session.follower.look()
    assert size.words == ""


def test_a_file_that_goes_while_a_folder_is_measured_costs_itself_alone(session, monkeypatch):
    run_id = session.workspace.create_run(RunConfig())
    folder = session.workspace.folder(run_id)
    for name in ("a.part", "b.bin", "c.bin"):
        (folder / name).write_bytes(bytes(10_000))
    whole = os.scandir

    @contextmanager
    def scan(path):
        with whole(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        (folder / "a.part").unlink(missing_ok=True)  # a run that works has replaced it
        yield iter(listed)

    monkeypatch.setattr(os, "scandir", scan)
    assert bytes_of_runs(session.workspace.path, [run_id]) >= 20_000
