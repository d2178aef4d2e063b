"""Imports into a full disk, by two workspaces at once, and with clocks that jump: nothing is lost, nothing is twice."""

import contextlib
import json
import os
import shutil
import threading
import tracemalloc
from datetime import datetime, timedelta

import pytest

from tests.travelling_runs import first_part, rows, second_part
from tests.waits import HANG
from workbench.commands.training.ingest import take_in_all
from workbench.config import RunConfig
from workbench.jobs import meanwhile
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.workspace import Workspace, times
from workbench.workspace.arriving import arriving_files, copies
from workbench.workspace.arriving import ingest as importing
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import dataset_copy, journal, travelling, turns
from workbench.workspace.owners import ownership
from workbench.workspace.recorders.folder_recorder import FolderRecorder
from workbench.workspace.repairs.verification import verify
from workbench.workspace.tables import samples


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    """The rows of a workspace that has imported the run at once."""
    with Workspace(tmp_path_factory.mktemp("whole") / "space", create=True) as workspace:
        ingest(workspace, made)
        return rows(workspace)


def test_a_giant_array_of_a_small_data_set_is_not_copied(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "run")
    giant, lines = 1 << 32, (folder / journal.NAME).read_text("utf-8").splitlines()
    for at, line in enumerate(lines):
        entry = json.loads(line)
        if "evaluation" in entry:
            name = next(name for name in entry["evaluation"]["files"] if name.startswith("embeddings"))
            entry["evaluation"]["files"][name][0] = giant
            os.truncate(folder / name, giant)
            lines[at] = json.dumps(entry)
    (folder / journal.NAME).write_text("\n".join(lines) + "\n", "utf-8")
    with Workspace(tmp_path / "space", create=True) as workspace:
        taken = ingest(workspace, folder)
        assert taken.evaluations == 0
        assert "too many for" in taken.doubts[0]
        assert taken.points


def test_a_giant_copy_of_a_data_set_is_refused_unread(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "run")
    os.truncate(folder / "dataset.json", dataset_copy.LARGEST_COPY + 1)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is over 512 MiB"):
            dataset_copy.read_copy(folder / "dataset.json")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no limit of the size of files")
@pytest.mark.parametrize("room", [500, 6000, 11_000, 70_000])
def test_a_log_that_a_full_disk_cut_is_no_loss_and_the_import_goes_on(made, whole, tmp_path, room):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Workspace(tmp_path / "space", create=True) as workspace:
        for _ in range(40):
            workspace.set_note(workspace.create_run(RunConfig()), "a log longer than any other file")
        log = workspace.database.with_name(f"{workspace.database.name}-wal")
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + room, hard))
        try:
            with pytest.raises(Problem, match="The disk of"):
                ingest(workspace, made)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        shutil.copytree(workspace.path, tmp_path / "killed")
        ingest(workspace, made)
    for space in ("space", "killed"):
        with Workspace(tmp_path / space) as workspace:  # the log is not said to be cut
            assert ingest(workspace, made).status == "done"
            assert rows(workspace)["points"] == whole["points"]
            assert rows(workspace)["queries"] == whole["queries"]


def test_two_workspaces_import_one_live_run(whole, tmp_path):
    run = tmp_path / "run"
    travelling.make(run, RunConfig(name="a run"))
    first, second = (Workspace(tmp_path / name, create=True) for name in ("first", "second"))
    with first, second:
        for part in (first_part, second_part):
            recorder = FolderRecorder(run)
            ingest(first, run)
            part(recorder, run)
            recorder.close()
            ingest(second, run)
        ingest(first, run)
        assert rows(first) == rows(second) == whole
        first.take_over(1)
        with pytest.raises(Problem, match="was continued in this workspace"):
            ingest(first, run)
        assert ingest(second, run).status == "done"


@pytest.mark.parametrize("locks_folders", [turns.LOCKS_FOLDERS, False])
def test_a_second_importer_of_one_folder_waits_and_takes_nothing_twice(
    made, whole, tmp_path, locks_folders, monkeypatch
):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", locks_folders)
    take, second, waits = importing.take_evaluations, [], threading.Event()
    monkeypatch.setattr(importing, "sleep", lambda seconds: waits.set())
    with Workspace(tmp_path / "space", create=True) as workspace, Workspace(tmp_path / "space") as other:
        with contextlib.ExitStack() as stack:

            def in_between(*asked):
                if not second:
                    second.append(stack.enter_context(meanwhile(lambda: ingest(other, made))))
                    assert waits.wait(HANG)
                return take(*asked)

            monkeypatch.setattr(importing, "take_evaluations", in_between)
            first = ingest(workspace, made)
            later = second[0]()
        assert (first.new, first.points > 0, first.evaluations) == (True, True, 3)
        assert (later.new, later.points, later.evaluations, later.status) == (False, 0, 0, "done")
        assert rows(workspace) == whole


@pytest.mark.parametrize("locks_folders", [turns.LOCKS_FOLDERS, False])
def test_an_importer_that_waits_for_long_says_so_and_the_next_one_takes_all(
    made, whole, tmp_path, locks_folders, monkeypatch, capsys
):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", locks_folders)
    monkeypatch.setattr(importing, "PATIENCE", 0.0)
    with Workspace(tmp_path / "space", create=True) as workspace:
        first = shutil.copytree(made, tmp_path / "run")
        (first / journal.NAME).unlink()
        ingest(workspace, first)
        home = workspace.folder(1)
        with turns.alone(home, home.with_name(".importing-1.lock"), pytest.fail):  # as another program has it
            assert take_in_all(workspace, made, follow=False) == 1
        assert f"{made}: Run 1 is being imported by another program." in capsys.readouterr().err
        assert take_in_all(workspace, made, follow=False) == 0
        assert rows(workspace)["queries"] == whole["queries"]


def test_a_checkpoint_that_may_not_be_read_is_named_and_comes_once_it_may(made, tmp_path, monkeypatch):
    opened = arriving_files.opened

    def refused(path):
        if path == made / "last.pt":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path)

    with Workspace(tmp_path / "space", create=True) as workspace:
        with monkeypatch.context() as closed:
            closed.setattr(arriving_files, "opened", refused)
            taken = ingest(workspace, made)
        [doubt] = taken.doubts
        assert doubt.startswith(f"last.pt ({made / 'last.pt'} cannot be read (Permission denied)")
        assert (taken.checkpoints, ingest(workspace, made).checkpoints) == (1, 1)


class Clock(datetime):
    """The clock of this machine, set to another hour."""

    ahead = timedelta()

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + cls.ahead


@pytest.mark.parametrize("hours", [-30_000, -3, 5, 500_000])
def test_a_clock_that_jumps_between_two_passes_skips_nothing(made, whole, tmp_path, monkeypatch, hours):
    monkeypatch.setattr(times, "datetime", Clock)
    monkeypatch.setattr(ownership, "datetime", Clock)
    monkeypatch.setattr(Clock, "ahead", timedelta())
    run = shutil.copytree(made, tmp_path / "run")
    lines = (run / journal.NAME).read_bytes().splitlines(keepends=True)
    elsewhere = json.dumps({"owner": {"pid": 5, "host": "elsewhere", "born": 1.0}}).encode() + b"\n"
    lines = [elsewhere if b'"owner"' in line else line for line in lines]
    with Workspace(tmp_path / "space", create=True) as workspace:
        for at in range(1, len(lines) + 1):
            (run / journal.NAME).write_bytes(b"".join(lines[:at]))
            os.utime(run / journal.NAME, (at % 2 * 4_000_000_000,) * 2)
            Clock.ahead = timedelta(hours=hours * (at % 2))
            assert take_in_all(workspace, run, follow=False) == 0
            assert workspace.run(1).seconds >= 0
        known = rows(workspace)
        assert {name: known[name] for name in known if name != "runs"} == {
            name: whole[name] for name in whole if name != "runs"
        }
        assert workspace.run(1).status == "done"


@pytest.mark.parametrize("said", ["{", "[]", "7", '{"status": "flying", "problem": 3}', '{"status": {}}', "[" * 90_000])
def test_what_a_workspace_from_elsewhere_says_of_an_import_is_not_trusted(made, tmp_path, said):
    folder = shutil.copytree(made, tmp_path / "run")
    journal_here = (folder / journal.NAME).read_bytes()
    lines = journal_here.splitlines(keepends=True)
    (folder / journal.NAME).write_bytes(b"".join(lines[:3]))
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, folder)
        with workspace.writing() as db:
            db.execute("update arrivals set said = ?", (said,))
        (folder / journal.NAME).write_bytes(journal_here)
        assert ingest(workspace, folder).status == "done"


def test_all_evaluations_of_a_run_are_imported_at_once(made, tmp_path, monkeypatch):
    """The samples of a large data set are not read for each of them, and none is a transaction of its own."""
    read, real = [], samples.read_samples
    monkeypatch.setattr(samples, "read_samples", lambda *values: read.append(values) or real(*values))
    transactions, writing = [], Workspace.writing
    monkeypatch.setattr(Workspace, "writing", lambda space: transactions.append(1) or writing(space))
    counts = []
    for largest in (1 << 20, 1):
        monkeypatch.setattr(arriving_files, "AT_ONCE", largest)
        with Workspace(tmp_path / str(largest), create=True) as workspace:
            transactions.clear()
            assert ingest(workspace, made).evaluations == 3
            counts.append(len(transactions))
    assert counts[1] - counts[0] == 2
    assert len(read) == 2


@pytest.mark.parametrize("left", [0.3, 0.999, 1.0])
def test_what_a_power_cut_took_of_the_runs_own_journal_is_written_again(made, whole, tmp_path, left, monkeypatch):
    monkeypatch.setattr(importing, "AT_ONCE", 500)
    run = shutil.copytree(made, tmp_path / "run")
    content = (run / journal.NAME).read_bytes()
    lines = content.splitlines(keepends=True)
    (run / journal.NAME).write_bytes(b"".join(lines[:20]))
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
        home = workspace.folder(1) / journal.NAME
        os.truncate(home, int(left * home.stat().st_size))
        (run / journal.NAME).write_bytes(content)
        ingest(workspace, run)
        assert home.read_bytes() == content
        assert rows(workspace) == whole
        os.truncate(home, 0)  # nothing says that it was the same journal
        (run / journal.NAME).write_bytes(content + lines[-1])
        with pytest.raises(Problem, match=r"journal\.jsonl is empty: .* copy its journal\.jsonl to"):
            ingest(workspace, run)
        assert rows(workspace) == whole
        shutil.copy(run / journal.NAME, home)  # as the sentence says
        assert ingest(workspace, run).status == "done"
        assert home.read_bytes() == content + lines[-1]


def test_evaluations_after_one_for_which_there_is_no_room_come_later(made, whole, tmp_path, monkeypatch):
    real = copies.shutil.disk_usage

    def room(path):
        full = len(list((tmp_path / "space" / "runs" / "1").glob("ranking-*"))) == 2
        usage = real(path)
        return type(usage)(usage.total, usage.used, 0 if full else 1 << 40)

    with Workspace(tmp_path / "space", create=True) as workspace:
        with monkeypatch.context() as trouble:
            trouble.setattr(copies.shutil, "disk_usage", room)
            with pytest.raises(Problem, match="not enough space for it here"):
                ingest(workspace, made)
        assert len(workspace.evaluations(1)) == 2
        ingest(workspace, made)
        assert rows(workspace) == whole


@pytest.mark.parametrize("odd", ["folder", "link"])
def test_an_evaluation_whose_array_was_no_file_comes_once_it_is_one(made, whole, tmp_path, odd):
    folder = shutil.copytree(made, tmp_path / "run")
    array = next(folder.glob("embeddings-*.npy"))
    array.rename(tmp_path / "kept.npy")
    if odd == "folder":
        array.mkdir()
    else:
        array.symlink_to(tmp_path / "kept.npy")
    with Workspace(tmp_path / "space", create=True) as workspace:
        for _ in range(2):  # each time it is said, until it is mended
            taken = ingest(workspace, folder)
            assert "the evaluation of epoch" in taken.doubts[0]
        array.rmdir() if odd == "folder" else array.unlink()
        (tmp_path / "kept.npy").rename(array)
        taken = ingest(workspace, folder)
        assert (taken.evaluations, taken.doubts) == (1, [])
        assert {table: sorted(of_table) for table, of_table in rows(workspace).items()} == {
            table: sorted(of_table) for table, of_table in whole.items()
        }


def test_the_curves_of_an_import_that_was_broken_off_get_their_checksums_from_the_next(
    made, whole, tmp_path, monkeypatch
):
    with Workspace(tmp_path / "space", create=True) as workspace:
        with monkeypatch.context() as broken:
            problem = Problem("The folder went away.")
            broken.setattr(importing, "take_evaluations", lambda *facts: (_ for _ in ()).throw(problem))
            with pytest.raises(Problem, match="went away"):
                ingest(workspace, made)
        ingest(workspace, made)
        assert [damage.said for damage in verify(workspace, quiet)] == []
        assert rows(workspace) == whole
