"""Checkpoints are deleted to free space: of which runs, what stays, and what then says when they were deleted."""

import json
from pathlib import Path

import pytest

from tests.full_disk import full_for
from tests.travelling_runs import in_folder
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import deleted_checkpoints, journal
from workbench.workspace.folders.deleted_checkpoints import NAME
from workbench.workspace.folders.run_folders import sizes_of_runs
from workbench.workspace.news import Place, Watch
from workbench.workspace.repairs.repair import repair
from workbench.workspace.repairs.verification import verify
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements
from workbench.workspace.tables.freed_space import to_be_freed

LAST, BEST = 3000, 2000  # bytes


@pytest.fixture
def run(workspace):
    """A run that was stopped, with both checkpoints."""
    return made(workspace, "stopped")


def made(workspace, status="done"):
    run_id = workspace.create_run(RunConfig())
    for name, size in (("last.pt", LAST), ("best.pt", BEST)):
        path = workspace.file(run_id, name)
        path.write_bytes(bytes(size))
        workspace.add_artefact(run_id, "checkpoint", path, 10)
    workspace.set_status(run_id, status)
    return run_id


def names(workspace, run_id):
    return {path.name for path in workspace.folder(run_id).iterdir()}


def day_of(workspace, run_id):
    return deleted_checkpoints.day_of(workspace.folder(run_id))


def test_both_checkpoints_go_and_the_rest_of_the_folder_stays(workspace, run):
    before = names(workspace, run)
    assert to_be_freed(workspace, [run]).freed == {run: LAST + BEST}
    assert names(workspace, run) == before, "that was only a question"
    space = workspace.delete_checkpoints([run])
    assert (space.freed, space.kept, space.bytes) == ({run: LAST + BEST}, {}, LAST + BEST)
    assert names(workspace, run) == before - {"last.pt", "best.pt"} | {NAME}
    assert workspace.artefacts(run, "checkpoint") == []
    assert workspace.delete_checkpoints([run]).freed == {}, "there are none any more"


def test_the_best_checkpoint_stays_where_it_is_wanted(workspace, run):
    assert workspace.delete_checkpoints([run], keep_best=True).freed == {run: LAST}
    assert [path.name for path in workspace.artefacts(run, "checkpoint")] == ["best.pt"]
    assert day_of(workspace, run) == "", "there is one"
    assert workspace.delete_checkpoints([run]).freed == {run: BEST}
    assert set(json.loads((workspace.folder(run) / NAME).read_text("utf-8"))) == {"last.pt", "best.pt"}


def test_one_file_with_both_names_is_freed_once_and_only_with_both(workspace, run):
    """As in a run at a place whose last epoch is its best."""
    folder = workspace.folder(run)
    before = sizes_of_runs(workspace.path, [run])[run].bytes
    (folder / "best.pt").unlink()
    (folder / "best.pt").hardlink_to(folder / "last.pt")
    assert sizes_of_runs(workspace.path, [run])[run].bytes == before - BEST
    assert to_be_freed(workspace, [run]).freed == {run: LAST}
    assert to_be_freed(workspace, [run], keep_best=True).freed == {}, "the best one is the same file"
    assert workspace.delete_checkpoints([run]).freed == {run: LAST}
    assert sizes_of_runs(workspace.path, [run])[run].bytes < before - LAST


def test_without_a_best_checkpoint_the_last_one_is_the_network_and_stays(workspace, run):
    workspace.file(run, "best.pt").unlink()
    assert workspace.delete_checkpoints([run], keep_best=True).freed == {}
    assert workspace.has_file(run, "last.pt")


@pytest.mark.parametrize(("status", "said"), [("running", "running"), ("queued", "queued"), ("waiting", "paused")])
def test_a_run_that_works_waits_or_is_paused_keeps_them(workspace, status, said):
    run_id, other = made(workspace, status), made(workspace)
    space = workspace.delete_checkpoints([run_id, other])
    assert space.kept == {run_id: f"Run {run_id} has not ended: it is {said}."}
    assert space.freed == {other: LAST + BEST}
    assert workspace.has_file(run_id, "last.pt")


def test_a_run_whose_process_is_gone_has_ended(workspace):
    run_id = made(workspace, "running")
    with workspace.writing() as db:
        db.execute("update runs set owner = 'other', host = 'another-machine', pid = 7, heartbeat = '2026-01-01'")
    assert workspace.delete_checkpoints([run_id]).freed == {run_id: LAST + BEST}


def test_a_cancel_between_two_runs_keeps_those_after_it(workspace):
    first, second = made(workspace), made(workspace)

    def progress(_text, done, _total):
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        workspace.delete_checkpoints([first, second], progress=progress)
    assert [workspace.has_file(run_id, "last.pt") for run_id in (first, second)] == [False, True]


def test_a_run_in_the_trash_and_one_that_is_gone_are_named(workspace, run):
    workspace.trash(run)
    kept = workspace.delete_checkpoints([run, 99]).kept
    assert kept[run] == f"Run {run} is in the trash."
    assert kept[99].startswith("Run 99 no longer exists")
    assert workspace.has_file(run, "best.pt")


def test_a_run_of_which_more_may_come_from_its_place_keeps_them(workspace, run):
    with workspace.writing() as db:
        placements.store(db, Placement(run, "0" * 32, "box", "1"))
    assert "may still be written at box" in workspace.delete_checkpoints([run]).kept[run]
    with workspace.writing() as db:
        placements.store(db, Placement(run, "0" * 32, "box", "1", open=False))
    assert workspace.delete_checkpoints([run]).freed == {run: LAST + BEST}


def test_a_run_of_a_sweep_that_goes_on_keeps_them(workspace):
    with workspace.writing() as db:
        db.execute(
            "insert into sweeps (id, name, config, how, parameters, points, metric, reported, state, created) "
            "values (1, 'Rates', '', 'grid', '[]', 1, 'test/MAP@R', 0, 'paused', '2026-01-01')"
        )
    run_id = made(workspace, "stopped")
    with workspace.writing() as db:
        db.execute(
            "insert into sweep_trials (sweep_id, point, place, setting, seed, fold, state, run_id) "
            "values (1, 1, 1, '{}', 0, 0, 'paused', ?)", (run_id,),
        )  # fmt: skip
    assert "belongs to sweep 1" in workspace.delete_checkpoints([run_id]).kept[run_id]
    with workspace.writing() as db:
        db.execute("update sweeps set state = 'cancelled'")
    assert workspace.delete_checkpoints([run_id]).freed == {run_id: LAST + BEST}


def test_a_link_is_neither_followed_nor_deleted(workspace, run, tmp_path):
    weights = tmp_path / "weights.pt"
    workspace.file(run, "best.pt").rename(weights)
    (workspace.folder(run) / "best.pt").symlink_to(weights)
    assert "is a link" in workspace.delete_checkpoints([run]).kept[run]
    assert (weights.stat().st_size, workspace.has_file(run, "last.pt")) == (BEST, True)


def test_it_cannot_go_on_and_says_since_when(workspace, run):
    workspace.delete_checkpoints([run], keep_best=True)
    with pytest.raises(
        Problem, match=rf"Run {run} cannot continue: its last checkpoint was deleted on 20\d\d-\d\d-\d\d"
    ):
        workspace.take_over(run)
    workspace.delete_checkpoints([run])
    with pytest.raises(Problem, match=rf"Run {run} cannot continue: its checkpoints were deleted on 20"):
        workspace.take_over(run)
    assert workspace.run(run).status == "stopped"


def test_the_window_hears_that_the_run_cannot_be_resumed(workspace, run):
    watch = Watch(workspace)
    try:
        before = watch.look(Place(run_id=run)).after
        assert (before.followed.has_checkpoint, before.followed.deleted) == (True, "")
        workspace.delete_checkpoints([run], keep_best=True)
        after = watch.look(before).after.followed
        assert (after.has_checkpoint, after.deleted) == (False, deleted_checkpoints.stands_still(workspace.folder(run)))
        assert after.deleted
    finally:
        watch.close()


def test_nothing_is_damaged_and_a_repair_brings_nothing_back(workspace, run):
    workspace.delete_checkpoints([run])
    assert [damage for damage in verify(workspace, lambda *args: None) if not damage.good] == []
    path = workspace.path
    workspace.close()
    (path / "workspace.db").unlink()
    _, lacking = repair(path)
    assert lacking == []
    with Workspace(path) as again:
        assert again.artefacts(run, "checkpoint") == []
        assert day_of(again, run)


def test_on_a_full_disk_the_files_go_first(workspace, run, monkeypatch):
    full_for(monkeypatch, NAME)
    sizes = []
    whole = deleted_checkpoints.record

    def recorded(folder, deleted):
        sizes.append(sorted(path.name for path in folder.glob("*.pt")))
        if len(sizes) == 2:
            monkeypatch.undo()
        whole(folder, deleted)

    monkeypatch.setattr(deleted_checkpoints, "record", recorded)
    assert workspace.delete_checkpoints([run]).freed == {run: LAST + BEST}
    assert sizes == [["best.pt", "last.pt"], []]
    assert day_of(workspace, run)
    assert workspace.artefacts(run, "checkpoint") == []


@pytest.fixture
def in_use(monkeypatch):
    """Names of files that cannot be deleted, as on Windows where another program has them open."""
    names, whole = set(), Path.unlink

    def unlink(path, missing_ok=False):
        if path.name in names:
            raise PermissionError(13, "The process cannot access the file", str(path))
        whole(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    return names


def test_of_a_run_with_a_file_in_use_the_other_file_is_counted_and_this_one_named(workspace, run, in_use):
    in_use.add("best.pt")
    space = workspace.delete_checkpoints([run])
    assert space.freed == {run: LAST}
    assert space.kept == {run: f"Of run {run} best.pt (The process cannot access the file) cannot be deleted."}
    assert [path.name for path in workspace.artefacts(run, "checkpoint")] == ["best.pt"]
    with pytest.raises(Problem, match="its last checkpoint was deleted on"):
        workspace.take_over(run)
    in_use.add("last.pt")
    other = made(workspace, "stopped")
    assert workspace.delete_checkpoints([other]).freed == {}
    workspace.take_over(other)  # it goes on: nothing of it was deleted
    in_use.clear()
    assert workspace.delete_checkpoints([run]).freed == {run: BEST}


def test_what_a_disk_that_stays_full_cannot_note_is_counted_all_the_same(workspace, run, monkeypatch):
    full_for(monkeypatch, NAME)
    space = workspace.delete_checkpoints([run])
    assert (space.freed, names(workspace, run) & {"last.pt", "best.pt"}) == ({run: LAST + BEST}, set())
    assert space.kept == {run: f"The checkpoints of run {run} were deleted; there was no space to note when."}


def test_a_checkpoint_that_is_there_all_the_same_is_imported(workspace, tmp_path):
    """The deletion was ended between its note and the file, or the file was put back."""
    folder = tmp_path / "run"
    in_folder(folder)
    deleted_checkpoints.record(folder, {"last.pt": deleted_checkpoints.Deleted(at="2026-11-20T12:00:00+00:00")})
    assert workspace.has_file(ingest(workspace, folder).run_id, "last.pt")


def test_an_import_brings_back_what_is_new_and_not_what_was_deleted(workspace, tmp_path):
    folder = tmp_path / "run"
    in_folder(folder)
    run_id = ingest(workspace, folder).run_id
    assert workspace.has_file(run_id, "last.pt")
    before = (workspace.folder(run_id) / journal.NAME).read_bytes()
    workspace.delete_checkpoints([run_id])
    for _ in range(2):
        taken = ingest(workspace, folder)
        assert (taken.checkpoints, taken.unfinished, taken.doubts) == (0, False, [])
    assert not workspace.has_file(run_id, "last.pt")
    assert (workspace.folder(run_id) / journal.NAME).read_bytes() == before
    weights = (folder / "last.pt").read_bytes()
    assert ingest(workspace, folder, deleted_too=True).checkpoints == 2
    assert workspace.file(run_id, "last.pt").read_bytes() == weights
    assert {path.name for path in workspace.artefacts(run_id, "checkpoint")} == {"last.pt", "best.pt"}
    assert ingest(workspace, folder, deleted_too=True).checkpoints == 0


def test_a_deletion_whose_checkpoints_are_not_in_the_folder_stays_as_it_is(workspace, tmp_path):
    folder = tmp_path / "run"
    in_folder(folder)
    run_id = ingest(workspace, folder).run_id
    workspace.delete_checkpoints([run_id])
    (folder / "last.pt").unlink()
    (folder / "best.pt").write_bytes(b"others")
    assert ingest(workspace, folder, deleted_too=True).checkpoints == 0
    assert day_of(workspace, run_id)


def test_what_a_folder_says_was_deleted_comes_with_it(workspace, tmp_path):
    folder = tmp_path / "run"
    in_folder(folder)
    deleted_checkpoints.record(folder, {"last.pt": deleted_checkpoints.Deleted(at="2026-11-20T12:00:00+00:00")})
    (folder / "last.pt").unlink()
    run_id = ingest(workspace, folder).run_id
    assert deleted_checkpoints.stands_still(workspace.folder(run_id)) == "2026-11-20"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"last.pt": {"at": "yesterday"}}',
        b'{"last.pt": {"at": "9999-12-31T23:59:59-23:59"}}',
        b'{"../other": {"at": "2026-11-20T12:00:00+00:00"}}',
        b"[" * 100_000,
        b'{"last.pt": {"at": "2026-11-20T12:00:00+00:00", "blake2b": "' + b"x" * 100 + b'"}}',
    ],
)
def test_a_file_that_is_not_ours_says_nothing(workspace, run, content):
    folder = workspace.folder(run)
    for name in ("last.pt", "best.pt"):
        (folder / name).unlink()
    (folder / NAME).write_bytes(content)
    assert deleted_checkpoints.read(folder) == {}
    assert deleted_checkpoints.lack(run, folder) == f"Run {run} has no checkpoint."
