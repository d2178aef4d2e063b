"""Nothing damaged is shown: hashes of files, checksums of rows and curves, the log, and the doctor that reads all."""

import io
import json
import os
import zipfile
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.trained import trained_run
from tests.unit.workspace.older import make_older
from workbench.cli import cli
from workbench.files import room
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.reports import write_report
from workbench.results.class_geometry import measure_classes
from workbench.results.explanations import explain_failures
from workbench.workspace import Workspace
from workbench.workspace.database import write_ahead
from workbench.workspace.database.connection import open_writer, sqlite3
from workbench.workspace.database.problems import Damaged, explain
from workbench.workspace.measured.arrays import read_array, read_arrays
from workbench.workspace.measured.ranking import read_ranking
from workbench.workspace.repairs.repair import repair
from workbench.workspace.repairs.verification import verify


@pytest.fixture
def space(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        trained_run(workspace, tmp_path / "cache", 12)
    return tmp_path / "space"


def change(space, sql, *values):
    """Change a row as a flipped bit would: no trigger sees it."""
    with closing(open_writer(space / "workspace.db")) as db:
        triggers = db.execute("select name, sql from sqlite_master where type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"drop trigger {name}")
        db.execute(sql, values)
        for _, text in triggers:
            db.execute(text)


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("update runs set name = 'other'", "runs, row 1"),
        ("update evaluations set metrics = replace(metrics, '0.', '1.') where id = 2", "evaluations, row 2"),
        ("update datasets set class_names = '[]'", "datasets, row 1"),
        ("update metrics set name = 'x' where id = 1", "metrics, row 1"),
        ("update artefacts set path = 'x.npy' where id = 1", "artefacts, row 1"),
    ],
)
def test_a_changed_row_is_named_when_the_workspace_is_opened(space, sql, named):
    change(space, sql)
    with pytest.raises(Damaged, match=named):
        Workspace(space)


READ = {
    "curve": lambda space: space.scalars(1, "batch/loss"),
    "names": lambda space: space.scalar_names(1),
    "queries": lambda space: space.queries(2),
    "embeddings": lambda space: space.embeddings(2),
    "query": lambda space: space.query(2, int(space.samples(1).ids[3])),
    "near": lambda space: [space.neighbours(1, each, 2) for each in space.samples(1).ids.tolist()],
    "samples": lambda space: space.samples(1),
    "tables": lambda space: write_report(space, (1,), space.path / "out", ("csv",)),
}


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("update scalar_points set value = 3 where metric_id = 1 and step = 5", ["curve"]),
        ("delete from scalar_points where metric_id = 1", ["names", "curve"]),
        ("update queries set label = 3 - label where place = 3", ["queries", "embeddings", "query", "near", "tables"]),
        ("update queries set similarities = neighbours where place = 3", ["query", "near", "tables"]),
        ("update samples set class = 'cow' where \"row\" = 3", ["samples", "query", "near", "tables"]),
    ],
)
def test_changed_queries_samples_and_curves_are_named_where_they_are_read(space, sql, parts):
    change(space, sql)
    with Workspace(space) as workspace:
        for part in parts:
            with pytest.raises(Problem, match="damaged"):
                READ[part](workspace)
        assert [each for each in verify(workspace, quiet) if not each.good]


def test_a_write_by_another_program_is_no_damage(space):
    with closing(sqlite3.connect(space / "workspace.db")) as db:
        db.execute("update runs set note = 'by hand'")
        db.execute("insert into scalar_points (run_id, metric_id, step, value) values (1, 1, 99, 0.5)")
        db.execute("update queries set label = 1")
        db.commit()
    with Workspace(space) as workspace:
        assert workspace.run(1).note == "by hand"
        assert workspace.scalars(1, "batch/loss")[0][-1] == 99
        assert set(workspace.queries(2).labels.tolist()) == {1}
        assert all(each.good for each in verify(workspace, quiet))


DOORS = {
    "embeddings": lambda space: space.embeddings(3),
    "vectors": lambda space: space.vectors(3),
    "classes": lambda space: measure_classes(space, 3, quiet),
    "failures": lambda space: explain_failures(space, 3, quiet),
}


@pytest.mark.parametrize("harm", ["flipped", "cut", "empty", "pickled", "another", "too large"])
@pytest.mark.parametrize("hashed", [True, False])
def test_damaged_embeddings_are_a_sentence_at_every_door(space, harm, hashed):
    path = space / "runs" / "1" / "embeddings-2.npy"
    whole = path.read_bytes()
    if harm == "pickled":
        np.save(path, np.array([{}, []], dtype=object), allow_pickle=True)
    elif harm == "another":
        np.save(path, np.zeros((5, 6), np.float32))
    else:
        huge = io.BytesIO()
        np.lib.format.write_array_header_1_0(huge, {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**20)})
        harmed = {"flipped": whole[:-3] + bytes([whole[-3] ^ 4]) + whole[-2:], "cut": whole[:-9], "empty": b""}
        path.write_bytes({**harmed, "too large": huge.getvalue()}[harm])
    with Workspace(space) as workspace:
        if not hashed:
            with workspace.writing() as db:
                db.execute("update artefacts set blake2b = ?", (_digest(path),))
            if harm == "flipped":
                return
        for door in DOORS.values():
            with pytest.raises(Problem, match=r"embeddings-2\.npy"):
                door(workspace)
    for words in (["export", "1", "--format", "npy", "--epoch", "last"], ["export", "1", "--format", "projector"]):
        ended = CliRunner().invoke(cli, [*words, "-w", str(space), "--out", str(space / "out")])
        assert ended.exit_code in (0, 1)
        assert ended.exception is None or isinstance(ended.exception, SystemExit)


def _digest(path):
    from workbench import files

    return files.digest(path)


@pytest.mark.parametrize("name", ["ranking-2.npz", "proxies-2.npz"])
def test_other_damaged_arrays_are_a_sentence(space, name):
    path = space / "runs" / "1" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with Workspace(space) as workspace:
        with pytest.raises(Problem, match=name):
            (read_ranking if name.startswith("ranking") else Workspace.proxies)(workspace, 3)
        assert [each.what for each in verify(workspace, quiet)] == [f"Run 1, {name}"]


def test_an_archive_that_unpacks_to_more_than_it_holds_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", b"\0" * 10_000_000)
    with pytest.raises(Problem, match="unpacks to more"):
        read_arrays(tmp_path / "bomb.npz", ("points",))
    with pytest.raises(Problem, match=r"bomb\.npz cannot be read"):
        read_array(tmp_path / "bomb.npz")


@pytest.mark.parametrize("at", [10, 20, 40, 60, -1])
def test_a_damaged_log_is_told_once_and_kept(space, tmp_path, at):
    with Workspace(space) as workspace:
        workspace.set_note(1, "first")
        workspace.set_note(1, "last")
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("workspace.db", "workspace.db-wal"):
            (copy / name).write_bytes((space / name).read_bytes())
    log = copy / "workspace.db-wal"
    data = bytearray(log.read_bytes())
    data[at] ^= 16
    log.write_bytes(data)
    with pytest.raises(Problem, match="last changes"):
        Workspace(copy)
    assert next(copy.glob("*.damaged-*")).read_bytes() == data
    with Workspace(copy) as workspace:
        assert workspace.run(1).note in ("", "first", "last")


@pytest.mark.skipif(os.name != "posix", reason="Windows deletes no open file")
def test_a_log_that_is_gone_when_it_was_looked_at_is_no_damage(space, tmp_path):
    """The program that wrote it has closed the database meanwhile."""
    with Workspace(space) as workspace:
        workspace.set_note(1, "last")
        log = tmp_path / "copy.db-wal"
        content = bytearray((space / "workspace.db-wal").read_bytes())
        content[-1] ^= 16
        log.write_bytes(content)
    looks = []

    def looked(text, done, total):
        looks.append(done)
        if len(looks) == write_ahead.LOOKS:
            log.unlink()

    assert write_ahead.set_aside(tmp_path / "copy.db", looked) is None
    assert not list(tmp_path.glob("*.damaged-*"))


def test_a_log_whose_writer_was_killed_within_a_frame_is_opened_as_it_was_before(space, tmp_path):
    with Workspace(space) as workspace:
        workspace.set_note(1, "last")
        for name in ("workspace.db", "workspace.db-wal"):
            (tmp_path / name).write_bytes((space / name).read_bytes()[: -100 if name.endswith("wal") else None])
    with Workspace(tmp_path) as again:
        assert again.run(1).note == ""
    assert not list(tmp_path.glob("*.damaged-*"))


def test_the_log_is_checked_at_the_opening_and_not_for_each_reader(space, monkeypatch):
    checked = []
    monkeypatch.setattr(write_ahead, "set_aside", lambda path, progress: checked.append(path))
    with Workspace(space) as workspace:
        assert checked == [workspace.database]
        with closing(workspace.reader()) as db:
            assert db.execute("select count(*) from evaluations").fetchone()[0]
    assert len(checked) == 1


def test_a_log_that_is_changed_while_it_is_open_is_found_at_the_next_opening(space):
    with Workspace(space) as workspace:
        workspace.set_note(1, "right")
        log = space / "workspace.db-wal"
        content = log.read_bytes()
        assert b"right" in content
        log.write_bytes(content.replace(b"right", b"wrong"))
    with pytest.raises(Damaged, match="runs, row 1"):
        Workspace(space)


def test_a_log_that_is_cut_while_it_is_open_is_no_full_disk(space):
    with Workspace(space) as workspace:
        workspace.set_note(1, "long " * 4000)
        with (space / "workspace.db-wal").open("r+b") as log:
            log.truncate(4096)
        with pytest.raises(Problem, match="could not be read or written") as caught:
            workspace.run(1)
        assert "full" not in str(caught.value)


@pytest.mark.parametrize(("free", "words"), [(0, "is full"), (3 << 20, "could not be read or written")])
def test_an_error_of_the_disk_is_a_full_one_only_where_no_room_is_left(tmp_path, monkeypatch, free, words):
    monkeypatch.setattr(room.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    assert words in explain(sqlite3.OperationalError("disk I/O error"), tmp_path / "workspace.db").what
    assert "is full" in explain(sqlite3.OperationalError("database or disk is full"), tmp_path / "workspace.db").what


def test_a_whole_log_is_read(space, tmp_path):
    with Workspace(space) as workspace:
        workspace.set_note(1, "last")
        for name in ("workspace.db", "workspace.db-wal"):
            (tmp_path / name).write_bytes((space / name).read_bytes())
    with Workspace(tmp_path) as again:
        assert again.run(1).note == "last"


def test_the_doctor_reads_all_and_names_what_is_damaged(space):
    assert "damaged: none" in CliRunner().invoke(cli, ["doctor", "-w", str(space)]).output
    path = space / "runs" / "1" / "embeddings-0.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    ended = CliRunner().invoke(cli, ["doctor", "-w", str(space)])
    assert ended.exit_code == 1
    assert "Run 1, embeddings-0.npy" in ended.output


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pipes among files")
def test_a_pipe_in_place_of_a_file_is_named_and_not_waited_for(space):
    names = ["embeddings-1.npy", "ranking-1.npz"]
    for name in names:
        (space / "runs" / "1" / name).unlink()
        os.mkfifo(space / "runs" / "1" / name)
    with Workspace(space) as workspace:
        named = [finding.what for finding in verify(workspace, quiet) if not finding.good]
    assert sorted(named) == sorted(f"Run 1, {name}" for name in names)


def test_an_older_workspace_gets_its_checksums_when_it_is_opened(space):
    make_older(space / "workspace.db", "m011_checksums")
    with Workspace(space), closing(open_writer(space / "workspace.db")) as db:
        for name in ("evaluation_sums", "sample_sums", "curve_sums"):
            assert db.execute(f"select count(*) from {name}").fetchone()[0] > 0


def test_files_that_two_run_folders_have_exchanged_are_named(space, tmp_path):
    with Workspace(space) as workspace:
        trained_run(workspace, tmp_path / "more", 24, "more blobs")
        assert all(finding.good for finding in verify(workspace, quiet))
        for name in ("config.toml", "dataset.json"):
            first, second = (space / "runs" / run / name for run in "12")
            texts = first.read_bytes(), second.read_bytes()
            first.write_bytes(texts[1])
            second.write_bytes(texts[0])
        damage = {finding.what: finding.said for finding in verify(workspace, quiet) if not finding.good}
    assert sorted(damage) == [f"Run {run}, {name}" for run in "12" for name in ("config.toml", "dataset.json")]
    assert "that of run 1" in damage["Run 2, config.toml"]
    assert "another data set" in damage["Run 1, dataset.json"]


@pytest.mark.parametrize("name", ["config.toml", "dataset.json"])
def test_a_cut_file_of_a_run_is_named(space, name):
    path = space / "runs" / "1" / name
    path.write_bytes(path.read_bytes()[:-9])
    with Workspace(space) as workspace:
        assert [finding.what for finding in verify(workspace, quiet) if not finding.good] == [f"Run 1, {name}"]


EARLIER = "2020-01-01T00:00:00+00:00"


@pytest.fixture
def journals_exchanged(space, tmp_path):
    """Two runs, the second of 2020, whose folders have each other's journals; the second's has one point more."""
    with Workspace(space) as workspace:
        trained_run(workspace, tmp_path / "more", 24, "more blobs")
        with workspace.writing() as db:
            ((began,),) = db.execute("select started from runs where id = 2").fetchall()
            db.execute("update runs set started = ? where id = 2", (EARLIER,))
    first, second = (space / "runs" / run / "journal.jsonl" for run in "12")
    texts = first.read_text(), second.read_text().replace(began, EARLIER, 1)
    first.write_text(texts[1] + '{"scalars": [["test/foreign", 7, 0.5]]}\n')
    second.write_text(texts[0])
    return space


def test_exchanged_journals_are_named_and_no_repair_takes_points_of_the_other_run(journals_exchanged):
    with Workspace(journals_exchanged) as workspace:
        damage = {finding.what: finding.said for finding in verify(workspace, quiet) if not finding.good}
    assert sorted(damage) == ["Run 1, journal.jsonl", "Run 2, journal.jsonl"]
    assert "that of run 2" in damage["Run 1, journal.jsonl"]
    said, _ = repair(journals_exchanged)
    assert "Nothing was changed" in said
    with Workspace(journals_exchanged) as workspace:
        assert "test/foreign" not in workspace.scalar_names(1)


def test_a_journal_that_began_in_the_same_second_is_known_by_what_was_measured(space):
    journal = space / "runs" / "1" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"MAP@R": 0.', '"MAP@R": 0.0'))
    with Workspace(space) as workspace:
        [finding] = [finding for finding in verify(workspace, quiet) if not finding.good]
    assert finding.what == "Run 1, journal.jsonl"
    assert "is not the journal of this run." in finding.said


def test_an_experiment_in_the_folder_of_a_run_that_is_in_none_or_another_is_named(space):
    written = {"name": "Folds", "config": "", "created": EARLIER}
    (space / "runs" / "1" / "experiment.json").write_text(json.dumps(written))
    with Workspace(space) as workspace:
        [finding] = [finding for finding in verify(workspace, quiet) if not finding.good]
        assert finding.what == "Run 1, experiment.json"
        assert "this run is in none" in finding.said
        with workspace.writing() as db:
            db.execute(
                "insert into experiments (id, name, config, created) values (5, 'Folds', 'other', ?)", (EARLIER,)
            )
            db.execute("update runs set experiment_id = 5 where id = 1")
        [finding] = [finding for finding in verify(workspace, quiet) if not finding.good]
        assert "names another experiment" in finding.said
