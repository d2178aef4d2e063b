"""What goes in comes out, to any tool; what is damaged, newer or full is said and nothing is lost."""

import json
import math
import os
import subprocess
import sys
import threading
from contextlib import closing
from copy import deepcopy

import numpy as np
import pytest

from tests.full_disk import full_for
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, Evaluated, Progress, Resumed, Saved, Scalar, Status, Waiting
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.database.connection import open_writer, sqlite3, writing
from workbench.workspace.database.problems import Damaged
from workbench.workspace.measured import curves
from workbench.workspace.measured.stored_maps import Measured, store_map
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders import recording
from workbench.workspace.recorders.uncommitted import Uncommitted


class Images:
    """What the workspace needs of an ImageSet."""

    name, root, image_size, channels = "blobs", None, 8, 1
    fingerprint = "f00d"
    official = None
    class_names = ("even", "odd")

    def __init__(self, n=12):
        self.paths = [f"blobs/{i:03}.png" for i in range(n)]
        self.labels = np.arange(n) % 2
        self.sample_ids = np.arange(n, dtype=np.int64) * 1_000_003 + 2**40


def evaluated(images, epoch=1, step=10, score=0.5, k=4):
    n = len(images.labels)
    order = np.array([[j for j in range(n) if j != i][:k] for i in range(n)])
    others = [[j for j in range(n) if j != i] for i in range(n)]
    first = np.array([1 + next(r for r, j in enumerate(others[i]) if j % 2 == i % 2) for i in range(n)])
    rng = np.random.default_rng(epoch)
    return Evaluated(
        epoch, step, "cosine", {"recall@1": 0.75, "MAP@R": score, "P@R": math.nan}, images.sample_ids, images.labels,
        rng.normal(size=(n, 3)).astype(np.float32), np.linspace(0, 1, n, dtype=np.float32), first.astype(np.int32),
        np.full(n, n // 2 - 1, np.int32), images.sample_ids[order],
        np.linspace(1, -1, n * k).reshape(n, k).astype(np.float32), np.eye(2, 3, dtype=np.float32), np.arange(2),
    )  # fmt: skip


@pytest.fixture
def done(workspace):
    """A workspace with one finished run of two evaluations; returns (workspace, run id, images)."""
    images = Images()
    run_id = workspace.create_run(RunConfig(name="first"))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, workspace.path / "pixels.npy"))
    recorder.environment({"torch": "x"})
    for step in range(1, 11):
        recorder(Scalar("batch/loss", step, math.nan if step == 7 else 1 / step))
    recorder(Progress(10, 20, 123.0, 456, 7.0))
    recorder(evaluated(images, 1, 10, 0.5))
    recorder(evaluated(images, 2, 20, 0.4))
    checkpoint = workspace.folder(run_id) / "last.pt"
    checkpoint.write_bytes(b"weights")
    recorder(Saved("last", checkpoint, 2, 20))
    recorder(Ended("done"))
    return workspace, run_id, images


@pytest.mark.parametrize("begun", [(), ("pragma journal_mode = wal",)], ids=["nothing", "header"])
def test_a_database_whose_making_was_killed_is_made(begun, tmp_path):
    space = tmp_path / "space"
    (space / "runs").mkdir(parents=True)
    (space / "workspace.db").touch()
    killed = sqlite3.connect(space / "workspace.db")
    for statement in begun:
        killed.execute(statement)
    killed.close()
    for _ in range(2):
        with Workspace(space, create=True) as workspace:
            assert workspace.runs() == []


def test_a_run_tells_its_progress_and_its_best_and_last_scores(done):
    workspace, run_id, _ = done
    run = workspace.run(run_id)
    assert (run.status, run.done, run.total, run.images_per_second) == ("done", 10, 20, 123.0)
    assert (run.best["MAP@R"], run.best_epoch, run.last["MAP@R"]) == (0.5, 1, 0.4)
    assert math.isnan(run.best["P@R"])
    assert run.environment == {"torch": "x"}
    assert run.ended is not None


def test_nan_survives_sqlite_which_has_none(done):
    workspace, run_id, _ = done
    steps, values = workspace.scalars(run_id, "batch/loss")
    assert steps.tolist() == list(range(1, 11))
    assert np.flatnonzero(np.isnan(values)).tolist() == [6]
    assert workspace.scalar_names(run_id) == ["batch/loss"]


def test_neighbours_come_back_by_sample_id_with_rank_and_verdict(done):
    workspace, run_id, images = done
    query = int(images.sample_ids[3])
    found = workspace.neighbours(run_id, query)
    assert [each.rank for each in found] == [1, 2, 3, 4]
    assert [each.sample_id for each in found] == images.sample_ids[[0, 1, 2, 4]].tolist()
    assert [each.right for each in found] == [False, True, False, False]
    expected = evaluated(images).similarities[3]
    assert [each.similarity for each in found] == pytest.approx(expected, abs=1e-4)
    assert found[1].class_name == "odd"


def test_embeddings_queries_and_proxies_are_in_one_order(done):
    workspace, run_id, images = done
    evaluation = workspace.evaluations(run_id)[0]
    ids, labels, vectors = workspace.embeddings(evaluation.id)
    event = evaluated(images, 1)
    assert ids.tolist() == images.sample_ids.tolist()
    assert labels.tolist() == images.labels.tolist()
    np.testing.assert_array_equal(vectors, event.embeddings)
    queries = workspace.queries(evaluation.id)
    np.testing.assert_allclose(queries.ap, event.ap)
    assert queries.right.tolist() == (event.first_hit == 1).tolist()
    proxies = workspace.proxies(evaluation.id)
    assert proxies is not None
    np.testing.assert_array_equal(proxies[0], event.proxies)


def test_any_sqlite_tool_reads_the_views(done):
    workspace, _, images = done
    plain = sqlite3.connect(workspace.database)
    rows = plain.execute(
        "select rank, sample_id, similarity from neighbours where query_id = ? and evaluation_id = 1 order by rank",
        (int(images.sample_ids[3]),),
    ).fetchall()
    assert [row[:2] for row in rows] == list(zip([1, 2, 3, 4], images.sample_ids[[0, 1, 2, 4]].tolist(), strict=True))
    assert plain.execute("select count(*) from scalars where name = 'batch/loss'").fetchone() == (10,)
    assert plain.execute("select count(*) from query_rows where class = 'odd' and evaluation_id = 1").fetchone() == (6,)
    plain.close()


def test_a_map_is_stored_with_its_facts(done):
    workspace, _, _ = done
    points = np.random.default_rng(0).normal(size=(12, 2))
    versions = {"umap-learn": "0"}
    number = store_map(workspace, 1, "umap", {"n_neighbors": 5}, 3, points, points[:2], versions, Measured(0.9))
    stored, proxies = workspace.coordinates(number)
    np.testing.assert_allclose(stored, points, rtol=1e-6)
    assert proxies is not None
    [projection] = workspace.projections(1)
    assert (projection.method, projection.params, projection.seed, projection.trustworthiness) == (
        "umap", {"n_neighbors": 5}, 3, 0.9,
    )  # fmt: skip


def test_trash_restore_and_delete(done):
    workspace, run_id, _ = done
    with pytest.raises(Problem, match="in the trash"):
        workspace.delete(run_id)
    workspace.trash(run_id)
    assert workspace.runs() == []
    workspace.restore(run_id)
    assert [run.id for run in workspace.runs()] == [run_id]
    workspace.trash(run_id)
    assert workspace.empty_trash() == 1
    assert not workspace.folder(run_id).exists()
    assert workspace.runs(trashed=True) == []


def test_name_note_and_tags(workspace):
    run_id = workspace.create_run(RunConfig())
    workspace.rename(run_id, "'; drop table runs; --")
    workspace.set_note(run_id, "<b>note</b>")
    workspace.set_tags(run_id, [" b ", "a", "a", ""])
    run = workspace.run(run_id)
    assert (run.name, run.note, run.tags) == ("'; drop table runs; --", "<b>note</b>", ("a", "b"))


def test_waiting_has_its_reason_and_resumes(workspace):
    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    recorder(Waiting("The loss is nan at step 3."))
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("waiting", "The loss is nan at step 3.")
    recorder(Resumed())
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("running", "")
    recorder(Ended("stopped"))


def test_a_resumed_run_forgets_what_came_after_its_checkpoint(done):
    workspace, run_id, _ = done
    recorder = Recorder(workspace, run_id)
    recorder.forget_after(10)
    recorder(Ended("stopped"))
    assert [each.epoch for each in workspace.evaluations(run_id)] == [1]


def test_full_disk_pauses_an_attended_run_and_loses_no_point(workspace, monkeypatch):
    run_id, control = workspace.create_run(RunConfig()), Control(attended=True)
    recorder = Recorder(workspace, run_id, control)
    monkeypatch.setattr(recording, "COMMIT_EVERY", -1.0)
    whole = Uncommitted.write

    def full(self, db):
        raise Problem("The disk is full.")

    monkeypatch.setattr(Uncommitted, "write", full)
    recorder(Scalar("batch/loss", 1, 0.5))
    assert control.paused
    assert "full" in control.reason
    monkeypatch.setattr(Uncommitted, "write", whole)
    recorder(Scalar("batch/loss", 2, 0.25))
    assert workspace.scalars(run_id, "batch/loss")[1].tolist() == [0.5, 0.25]
    recorder(Ended("done"))


def test_full_disk_ends_an_unattended_run(workspace, monkeypatch):
    recorder = Recorder(workspace, workspace.create_run(RunConfig()), Control())
    monkeypatch.setattr(recording, "COMMIT_EVERY", -1.0)
    monkeypatch.setattr(Uncommitted, "write", lambda self, db: (_ for _ in ()).throw(Problem("The disk is full.")))
    with pytest.raises(Problem, match="full"):
        recorder(Scalar("batch/loss", 1, 0.5))
    recorder.close()


def test_a_real_page_limit_is_the_sentence_of_a_full_disk(workspace):
    with workspace.writing() as db:
        db.execute("pragma max_page_count = 60")
    with pytest.raises(Problem, match="is full"):
        [workspace.create_run(RunConfig(name="x" * 200)) for _ in range(1000)]


def test_runs_of_a_dead_process_are_marked(workspace):
    run_id = workspace.create_run(RunConfig())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with workspace.writing() as db:
        db.execute("update runs set status = 'running', pid = ? where id = ?", (gone.pid, run_id))
    assert workspace.sweep_dead_runs() == [run_id]
    assert workspace.run(run_id).status == "interrupted"


def test_an_own_run_is_left_alone(workspace):
    workspace.create_run(RunConfig())
    assert workspace.sweep_dead_runs() == []


def test_a_newer_workspace_is_refused_and_not_touched(tmp_path):
    Workspace(tmp_path, create=True).close()
    db = sqlite3.connect(tmp_path / DATABASE)
    db.execute("pragma user_version = 99")
    db.close()
    with pytest.raises(Problem, match="newer Workbench"):
        Workspace(tmp_path)


def test_what_is_no_workspace_is_named(tmp_path):
    with pytest.raises(Problem, match="not a workspace"):
        Workspace(tmp_path)
    other = sqlite3.connect(tmp_path / DATABASE)
    other.execute("create table songs (id)")
    other.close()
    with pytest.raises(Problem, match="another program"):
        Workspace(tmp_path)
    (tmp_path / DATABASE).write_bytes(b"")  # as a program leaves it that was killed while it made the workspace
    with pytest.raises(Problem, match="not a workspace yet"):
        Workspace(tmp_path)
    (tmp_path / "runs" / "1").mkdir(parents=True)
    with pytest.raises(Damaged):
        Workspace(tmp_path)
    (tmp_path / DATABASE).write_bytes(b"not a database at all, but long enough to be read as one" * 100)
    with pytest.raises(Damaged):
        Workspace(tmp_path)


def test_damaged_pages_are_noticed_and_the_folders_bring_everything_back(done):
    from workbench.workspace.repairs.repair import repair

    workspace, run_id, images = done
    before = workspace.scalars(run_id, "batch/loss")[1], workspace.neighbours(run_id, int(images.sample_ids[3]))
    with closing(open_writer(workspace.database)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    workspace.close()
    data = bytearray(workspace.database.read_bytes())
    for at in range(5000, len(data), 997):
        data[at] ^= 255
    workspace.database.write_bytes(data)
    with pytest.raises(Damaged):
        Workspace(workspace.path)
    assert "1 run came back" in repair(workspace.path)[0]
    with Workspace(workspace.path) as again:
        np.testing.assert_array_equal(again.scalars(run_id, "batch/loss")[1], before[0])
        assert again.neighbours(run_id, int(images.sample_ids[3])) == before[1]
        assert again.run(run_id).status == "done"
    assert list(workspace.path.glob("*.damaged-*"))


def test_all_or_nothing(workspace):
    def half() -> None:
        with workspace.writing() as db:
            db.execute("insert into metrics (name) values ('half')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    with workspace.reading() as db:
        assert db.execute("select count(*) from metrics").fetchone() == (0,)
    with pytest.raises(sqlite3.IntegrityError), workspace.writing() as db:
        db.execute("insert into tags (run_id, tag) values (999, 'orphan')")


KILLED = """
import sys
import threading
from workbench.config import RunConfig
from workbench.events import Scalar
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder
workspace = Workspace(sys.argv[1], create=True)
recorder = Recorder(workspace, workspace.create_run(RunConfig()))
for step in range(1, 10**9):
    recorder(Scalar("batch/loss", step, 1.0))
    if step % 20000 == 0:
        print(step, flush=True)
"""


def test_kill_9_while_writing_leaves_a_whole_database(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(8):
        child.stdout.readline()
    with Workspace(tmp_path) as workspace:  # a fast child may not have written yet
        while not len(workspace.scalars(1, "batch/loss")[0]):
            child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    with Workspace(tmp_path) as workspace:
        steps, _ = workspace.scalars(1, "batch/loss")
        assert steps.tolist() == list(range(1, len(steps) + 1))
        assert len(steps) > 0
        with workspace.reading() as db:
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        assert workspace.sweep_dead_runs() == [1]


def test_two_writers_wait_for_each_other(workspace):
    with Workspace(workspace.path) as other:
        for turn in range(50):
            (workspace if turn % 2 else other).create_run(RunConfig(name=str(turn)))
    assert len(workspace.runs()) == 50


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write_opens_for_reading(tmp_path):
    Workspace(tmp_path, create=True).close()
    tmp_path.chmod(0o555)
    try:
        with Workspace(tmp_path) as workspace:
            assert workspace.read_only
            with pytest.raises(Problem, match="reading only"):
                workspace.create_run(RunConfig())
    finally:
        tmp_path.chmod(0o755)


def test_a_read_only_workspace_says_so(workspace, monkeypatch):
    workspace.create_run(RunConfig())
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Workspace(workspace.path) as other:
        assert other.read_only
        assert len(other.runs()) == 1
        with pytest.raises(Problem, match="reading only"):
            other.rename(1, "no")


def test_a_step_of_the_schema_is_taken_with_a_copy_first(tmp_path, monkeypatch):
    from workbench.workspace.schema import migrations, schema

    Workspace(tmp_path, create=True).close()
    monkeypatch.setattr(schema, "SHIPPED", "of no steps.json")
    longer = deepcopy(migrations.migration)
    longer(name="m999_extra")(lambda db: db.execute("alter table runs add column extra text"))
    monkeypatch.setattr(migrations, "migration", longer)
    with Workspace(tmp_path) as workspace, workspace.reading() as db:
        assert "extra" in [row[1] for row in db.execute("pragma table_info(runs)")]
    assert len(list(tmp_path.glob("workspace-before-*.db"))) == 1
    longer(name="m999_more")(lambda db: db.execute("alter table runs add column more text"))
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as db:
        with pytest.raises(Problem, match="could not be written"):
            migrations.migrate(db, tmp_path / DATABASE / "no folder" / DATABASE)
        assert "more" not in [row[1] for row in db.execute("pragma table_info(runs)")], "no copy, no step"


def test_config_beside_the_run_is_the_config(workspace):
    run_id = workspace.create_run(RunConfig(name="ünïcode – 数字"))
    text = (workspace.folder(run_id) / "config.toml").read_text("utf-8")
    assert text == workspace.run(run_id).config
    assert "数字" in text
    assert json.dumps(text)


def test_a_run_without_room_for_its_folder_is_not_made(workspace, monkeypatch):
    with monkeypatch.context() as patch:
        full_for(patch, "config.toml")
        with pytest.raises(Problem, match=r"no space left to write .*config\.toml"):
            workspace.create_run(RunConfig())
    assert workspace.runs() == []
    assert not (workspace.path / "runs" / "1").exists()
    assert workspace.create_run(RunConfig()) == 1, "the same again"


def test_writing_reports_a_lock(workspace, monkeypatch):
    with closing(open_writer(workspace.database)) as db, workspace.writing():
        db.execute("pragma busy_timeout = 50")
        with pytest.raises(Problem, match="another program"), writing(db):
            pass


def test_a_database_that_another_program_is_making_is_waited_for(tmp_path):
    """SQLite makes the file empty and fills it a moment later: that is no damage."""
    with Workspace(tmp_path / "whole", create=True) as made:
        with closing(open_writer(made.database)) as db:
            db.execute("pragma wal_checkpoint(truncate)")
        whole = made.database.read_bytes()
    folder = tmp_path / "making"
    folder.mkdir()
    (folder / "workspace.db").touch()
    writer = threading.Timer(0.2, (folder / "workspace.db").write_bytes, [whole])
    writer.start()
    with Workspace(folder) as workspace:
        assert workspace.runs() == []
    writer.join()


def test_names_of_scalars_are_found_without_reading_the_points(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        runs = [workspace.create_run(RunConfig()) for _ in range(2)]
        with workspace.writing() as db:
            db.execute("insert into metrics (id, name) values (91, 'batch/loss'), (92, 'probe/ce')")
            db.executemany(
                "insert into scalar_points (run_id, metric_id, step, value) values (?, 91, ?, 1.0)",
                ((run_id, step) for run_id in runs for step in range(5_000)),
            )
        looked = []
        with closing(workspace.reader()) as db:
            db.set_progress_handler(lambda: looked.append(1), 1_000)  # of SQLite's instructions
            assert curves.scalars_of_runs(db, runs) == ["batch/loss"]
            assert curves.scalar_names(db, runs[1]) == ["batch/loss"]
        assert len(looked) < 3


@pytest.mark.parametrize(("wal", "said"), [(True, 1), (False, 2)], ids=["a log", "a rollback journal"])
def test_the_program_waits_for_the_disk_as_the_journal_needs_it(tmp_path, monkeypatch, waits_for_the_disk, wal, said):
    """SQLite's numbers of NORMAL, which is enough with a log, and of FULL."""
    monkeypatch.setattr(connection, "SYNCHRONOUS", waits_for_the_disk)
    with closing(open_writer(tmp_path / "new.db", create=True, wal=wal)) as db:
        assert db.execute("pragma synchronous").fetchone() == (said,)
