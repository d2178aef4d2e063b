"""A repair brings back each run by itself, spoils no database, and goes on saying what is missing."""

import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.cli import main
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.events import Ended, Saved, Scalar
from workbench.problem import Problem
from workbench.workspace import Workspace, times
from workbench.workspace.choices import saved_views, selections
from workbench.workspace.database import connection
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.database.problems import Damaged, Missing
from workbench.workspace.folders import journal, turns
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs import rebuild
from workbench.workspace.repairs.repair import repair
from workbench.workspace.tables import samples

GOOD = b'{"scalars": [["batch/loss", 1, 0.5]]}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace of three finished runs, closed."""
    with Workspace(tmp_path_factory.mktemp("repair") / "space", create=True) as workspace:
        for number in range(3):
            recorder = Recorder(workspace, workspace.create_run(RunConfig(name=f"run {number}")))
            images = Images()
            recorder.dataset(workspace.register_dataset(images, None))
            recorder.environment({"torch": "x"})
            for step in range(1, 21):
                recorder(Scalar("batch/loss", step, 1 / step))
            recorder(evaluated(images, 1, 10))
            recorder(evaluated(images, 2, 20))
            checkpoint = workspace.folder(recorder.run_id) / "last.pt"
            checkpoint.write_bytes(b"weights")
            recorder(Saved("last", checkpoint, 2, 20))
            recorder(Ended("done"))
    return workspace.path


@pytest.fixture
def folder(made, tmp_path):
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "space")


def database_files(folder):
    """The database and its WAL; a reader leaves an empty one behind."""
    return {
        path.name: path.read_bytes()
        for path in (folder / DATABASE, folder / f"{DATABASE}-wal")
        if path.exists() and path.stat().st_size
    }


def spoil(database):
    data = bytearray(database.read_bytes())
    data[:3000] = bytes(3000)
    database.write_bytes(data)


def spoil_one_table(folder):
    """Damage a page of which nothing of a run is."""
    with Workspace(folder) as workspace, workspace.writing() as db:
        db.execute("create table spoilt (x integer) strict")
        db.execute("insert into spoilt values (1)")
        page = db.execute("select rootpage from sqlite_master where name = 'spoilt'").fetchone()[0]
        size = db.execute("pragma page_size").fetchone()[0]
    data = bytearray((folder / DATABASE).read_bytes())
    data[(page - 1) * size : page * size] = b"\xee" * size
    (folder / DATABASE).write_bytes(data)


def told(workspace, run_id):
    """Name, status, length of the curve, epochs evaluated, first neighbours of the last."""
    run, evaluations = workspace.run(run_id), workspace.evaluations(run_id)
    near = workspace.neighbours(run_id, 2**40) if evaluations else []
    curve = len(workspace.scalars(run_id, "batch/loss")[0])
    return run.name, run.status, curve, [each.epoch for each in evaluations], [each.sample_id for each in near]


WHOLE = ("done", 20, [1, 2])
CONFIGS = {
    "bad TOML": b"name = [",
    "newer": b"newer = 1\n",
    "deep": b"a = " + b"[" * 5000,
    "number of 5,000 digits": b"seed = " + b"1" * 5000,
    "not UTF-8": b"\xff\xfe",
    "gone": None,
}


@pytest.mark.parametrize("how", CONFIGS)
def test_a_bad_config_costs_one_run_and_is_named_again_and_again(folder, how):
    config = folder / "runs" / "2" / "config.toml"
    before = config.read_bytes()
    config.unlink()
    if CONFIGS[how] is not None:
        config.write_bytes(CONFIGS[how])
    spoil(folder / DATABASE)
    said, lost = repair(folder)
    assert "2 runs came back" in said
    assert "runs/2 could not be brought back" in said
    assert len(lost) == 1
    assert "runs/2 is not a run" in lost[0]
    assert repair(folder)[1] == lost
    with Workspace(folder) as workspace:
        assert {run.id for run in workspace.runs()} == {1, 3}
        assert workspace.create_run(RunConfig()) == 4  # the folder that is left is not taken
    config.write_bytes(before)
    assert repair(folder)[1] == []
    with Workspace(folder) as workspace:
        assert told(workspace, 2)[1:4] == WHOLE


def garble_journal(run):
    (run / journal.NAME).write_bytes(b"\x00" * 50 + (run / journal.NAME).read_bytes()[50:])


def inject(run):
    entry = {"run": {'status" = 1, name = "robbed" --': 2, "id": 9, "note": "robbed"}}
    (run / journal.NAME).write_bytes(json.dumps(entry).encode() + b"\n" + (run / journal.NAME).read_bytes())


def cut(name):
    return lambda run: os.truncate(run / name, (run / name).stat().st_size // 2)


def pipe(run):
    (run / journal.NAME).unlink()
    os.mkfifo(run / journal.NAME)


def short_arrays(run):
    np.savez(run / "ranking-2.npz", **{**np.load(run / "ranking-2.npz"), "labels": np.arange(3)})


def open_bracket(run):
    """A header that NumPy reads with Python's tokenizer, which then raises an error of its own."""
    data = (run / "embeddings-1.npy").read_bytes()
    (run / "embeddings-1.npy").write_bytes(data[:128].replace(b")", b"(").replace(b"}", b" ") + data[128:])


# What is done to run 2, what is said to be missing, and what is still told of it.
HURT = {
    "broken line": (garble_journal, "1 line of its journal", None),
    "injected keys": (inject, "", ("run 1", *WHOLE)),
    "cut rankings": (cut("ranking-2.npz"), "the evaluation of epoch 2", ("run 1", "done", 20, [1])),
    "cut embeddings": (cut("embeddings-1.npy"), "the evaluation of epoch 1", ("run 1", "done", 20, [2])),
    "open bracket": (open_bracket, "the evaluation of epoch 1", ("run 1", "done", 20, [2])),
    "cut proxies": (cut("proxies-1.npz"), "the proxies of epoch 1", ("run 1", *WHOLE)),
    "wrong lengths": (short_arrays, "the evaluation of epoch 2", ("run 1", "done", 20, [1])),
    "data set": (lambda run: (run / "dataset.json").write_text("{"), "its data set", None),
    "no journal": (lambda run: (run / journal.NAME).unlink(), "its journal", ("run 1", "interrupted", 0, [])),
    "folder": (lambda run: ((run / journal.NAME).unlink(), (run / journal.NAME).mkdir()), "its journal", None),
    "pipe": (pipe, "its journal", ("run 1", "interrupted", 0, [])),
}


@pytest.mark.parametrize("how", HURT)
def test_a_run_that_is_hurt_keeps_what_is_whole(folder, how):
    if how == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("no FIFO on this system")
    change, named, left = HURT[how]
    change(folder / "runs" / "2")
    (folder / DATABASE).unlink()
    _, lost = repair(folder)
    assert bool(lost) == bool(named)
    assert named in " ".join(lost)
    assert repair(folder)[1] == lost
    with Workspace(folder) as workspace:
        assert told(workspace, 1)[1:4] == told(workspace, 3)[1:4] == WHOLE
        assert workspace.run(2).note == ""
        if left is not None:
            assert told(workspace, 2)[:4] == left


@pytest.mark.parametrize("name", ["01", "²", "0", "99999999999999999999", "copy"])
def test_a_folder_that_is_named_like_no_run_is_named(folder, name):
    shutil.copytree(folder / "runs" / "1", folder / "runs" / name)
    spoil(folder / DATABASE)
    said, lost = repair(folder)
    assert "3 runs came back" in said
    assert [words for words in lost if f"runs/{name} " in words] == lost != []


def make_newer(db):
    db.execute("pragma user_version = 99")


def make_foreign(db):
    db.execute("pragma application_id = 7")


def lock(db):
    db.execute("pragma locking_mode = exclusive")
    db.execute("begin exclusive")


@pytest.mark.parametrize(
    ("change", "words"), [(make_newer, "newer"), (make_foreign, "another program"), (lock, "another program")]
)
def test_a_good_database_is_left_alone(folder, change, words, monkeypatch, capsys):
    monkeypatch.setattr(connection, "WAIT", 0.1)
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as db:
        change(db)
        before = database_files(folder)
        assert main(["doctor", "--repair", "--workspace", str(folder)]) == 1
        assert database_files(folder) == before
    assert words in capsys.readouterr().err


def as_killed(folder, tmp_path):
    """A copy whose last rows lie in the WAL, with a note that is nowhere else."""
    with Workspace(folder) as workspace:
        workspace.set_note(1, "mine")
        workspace.set_tags(1, ["kept"])
        workspace.create_run(RunConfig(name="last"))
        shutil.copytree(folder, tmp_path / "killed", ignore=shutil.ignore_patterns("*-shm"))
    assert (tmp_path / "killed" / f"{DATABASE}-wal").stat().st_size
    return tmp_path / "killed"


def test_rows_that_lie_in_the_wal_are_kept(folder, tmp_path):
    killed = as_killed(folder, tmp_path)
    before = database_files(killed)
    assert "Nothing was changed" in repair(killed)[0]
    assert database_files(killed) == before
    with Workspace(killed) as workspace:
        assert (workspace.run(1).note, workspace.run(4).name) == ("mine", "last")


def test_a_database_that_is_gone_is_read_back_from_its_wal(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:  # never checkpointed: every page is in the WAL
        workspace.set_note(workspace.create_run(RunConfig()), "mine")
        shutil.copytree(workspace.path, tmp_path / "killed", ignore=shutil.ignore_patterns("*-shm"))
    (tmp_path / "killed" / DATABASE).write_bytes(b"")
    os.utime(tmp_path / "killed" / DATABASE, (0, 0))
    wal = (tmp_path / "killed" / f"{DATABASE}-wal").read_bytes()
    assert "read back" in repair(tmp_path / "killed")[0]
    assert [path.read_bytes() for path in (tmp_path / "killed").glob("*.damaged-*-wal")] == [wal]
    with Workspace(tmp_path / "killed") as workspace:
        assert workspace.run(1).note == "mine"


def test_a_database_behind_the_journals_is_completed(folder, tmp_path):
    with Workspace(folder) as workspace, workspace.writing() as db:
        db.execute("update runs set status = 'running' where id = 2")
        db.execute("delete from scalar_points where run_id = 2 and step > 12")
        db.execute("delete from evaluations where run_id = 2 and epoch = 2")
        db.execute("update runs set note = 'mine' where id = 2")
    assert main(["doctor", "--workspace", str(folder)]) == 1
    assert "Completed from their journals: runs 2." in repair(folder)[0]
    assert "Nothing was changed" in repair(folder)[0]
    with Workspace(folder) as workspace:
        assert told(workspace, 2)[1:] == told(workspace, 1)[1:]
        assert workspace.run(2).note == "mine"


def test_what_the_damaged_database_still_says_comes_along(folder):
    ids = Images().sample_ids
    with Workspace(folder) as workspace:
        workspace.rename(2, "mine")
        workspace.set_note(2, "a note")
        workspace.set_tags(2, ["good"])
        workspace.trash(3)
        selections.put(workspace, None, selections.Selection(1, "odd ones", tuple(ids[:3].tolist())))
        saved_views.put(workspace, None, saved_views.SavedView("hard ones", {"failures_only": True}))
    spoil_one_table(folder)
    shutil.rmtree(folder / "runs" / "3")
    said, lost = repair(folder)
    assert "From the damaged database also came" in said
    assert lost == ["the folder of run 3 is missing"]
    with Workspace(folder) as workspace:
        run = workspace.run(2)
        assert (run.name, run.note, run.tags) == ("mine", "a note", ("good",))
        assert [each.name for each in selections.all_selections(workspace, run.dataset_id)] == ["odd ones"]
        assert saved_views.all_views(workspace) == [saved_views.SavedView("hard ones", {"failures_only": True})]
        assert workspace.run(3).trashed is not None


def test_the_samples_that_come_back_have_checksums_again(folder):
    (folder / DATABASE).unlink()
    repair(folder)
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as db:
        db.execute("drop trigger samples_update")  # as a flipped bit, of which no trigger knows
        db.execute("update samples set path = 'another' where id = (select min(id) from samples)")
        with pytest.raises(Damaged, match="samples"):
            samples.read_samples(db, 1)


def test_a_missing_database_is_not_hidden_by_a_new_one(folder):
    (folder / DATABASE).unlink()
    with pytest.raises(Missing, match="doctor --repair"):
        Workspace(folder, create=True)
    assert repair(folder)[1] == []


def test_a_repair_that_fails_changes_nothing(folder, monkeypatch):
    spoil(folder / DATABASE)
    before = sorted((path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file())
    monkeypatch.setattr(
        "workbench.workspace.repairs.repair.rebuild", lambda *_: (_ for _ in ()).throw(Problem("Full."))
    )
    with pytest.raises(Problem, match="Full"):
        repair(folder)
    assert sorted((path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file()) == before
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["runs"]


@pytest.mark.parametrize("when", [2.0**40, -(2.0**40), 1e300, float("nan")])
def test_a_run_whose_files_have_an_impossible_time_comes_back(folder, monkeypatch, when):
    """Some file systems keep such times; most do not, so the reading of the time is what is played."""
    assert times.moment(when) == times.NO_TIME
    real = times.moment
    monkeypatch.setattr(rebuild, "moment", lambda seconds: real(when))
    (folder / DATABASE).write_bytes(b"no database" * 500)
    said, _ = repair(folder)
    assert "3 runs came back" in said
    with Workspace(folder) as workspace:
        assert workspace.run(1).created == times.NO_TIME


@pytest.mark.parametrize("number", ["9" * 30, "9" * 12, "٣"])
def test_a_folder_named_like_remains_of_a_repair_does_not_stop_one(folder, number):
    (folder / f".repair-{number}-x").mkdir()
    (folder / DATABASE).write_bytes(b"no database" * 500)
    assert "3 runs came back" in repair(folder)[0]


@pytest.mark.parametrize(
    "at", ["Checking the database", "Reading the runs' folders", "Putting the new database in its place"]
)
def test_a_repair_that_is_cancelled_leaves_the_damaged_database_as_it_was(folder, at):
    spoil(folder / DATABASE)
    before = database_files(folder)

    def progress(text, done, total):
        if text == at:
            raise Cancelled

    with pytest.raises(Cancelled):
        repair(folder, progress)
    assert database_files(folder) == before
    assert list(folder.glob(".repair-*")) == []
    assert "3 runs came back" in repair(folder)[0]


@pytest.mark.parametrize("at", ["replace", "rename"])
def test_a_repair_that_is_killed_while_the_databases_change_places_is_completed(folder, monkeypatch, at):
    with Workspace(folder) as workspace:
        workspace.rename(2, "mine")
        workspace.set_note(2, "a note")
    spoil_one_table(folder)
    (folder / f"{DATABASE}-shm").touch()
    move = getattr(Path, at)

    def killed(path, target):
        if at == "rename" and path.name.endswith("-shm"):
            raise KeyboardInterrupt
        if at == "replace" and Path(target).name == DATABASE:
            raise KeyboardInterrupt
        return move(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, at, killed)
        with pytest.raises(KeyboardInterrupt):
            repair(folder)
    assert not (folder / DATABASE).exists()
    said, lost = repair(folder)
    assert said.startswith("A repair that was interrupted just before its end was completed.")
    assert lost == []
    with Workspace(folder) as workspace:
        assert (workspace.run(2).name, workspace.run(2).note) == ("mine", "a note")
    assert not list(folder.glob("*.repaired"))


def test_remains_of_a_repair_that_was_killed_after_its_work_are_removed(folder):
    (folder / f".repair-{2**22 + 1}-abc" / "new").mkdir(parents=True)
    assert "is intact" in repair(folder)[0]
    assert not list(folder.glob(".repair-*"))


def test_of_a_run_that_was_killed_before_its_folder_was_made_nothing_is_called_lost(folder):
    with Workspace(folder) as workspace:
        run_id = workspace.create_run(RunConfig())
        shutil.rmtree(workspace.folder(run_id))
    (sentence,) = repair(folder)[1]
    assert sentence == (
        f"run {run_id} has no folder, because its program ended before it made one; resume or delete the run"
    )


@pytest.mark.parametrize("locks_folders", [turns.LOCKS_FOLDERS, False])
def test_two_programs_do_not_repair_one_workspace_at_once(folder, locks_folders, monkeypatch):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", locks_folders)
    spoil(folder / DATABASE)

    def second(text, done, total):
        with pytest.raises(Problem, match="Another program repairs"):
            repair(folder)

    assert "3 runs came back" in repair(folder, second)[0]
    assert len(list(folder.glob("*.damaged-*"))) == 1
    assert "is intact" in repair(folder)[0]
