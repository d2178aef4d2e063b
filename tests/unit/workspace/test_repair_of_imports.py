"""What the doctor and a repair say of imported runs whose evaluations did not come, or were refused."""

import json
import shutil

import numpy as np
import pytest

from tests.travelling_runs import in_folder, rows
from workbench import files
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import arrivals, journal
from workbench.workspace.repairs.repair import missing, repair
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements


@pytest.fixture
def run(tmp_path):
    in_folder(tmp_path / "run")
    return tmp_path / "run"


def lacks(space):
    with Workspace(space) as workspace, workspace.reading() as db:
        return missing(db, space)


def spoil(run):
    """An evaluation that names neighbours which the data set does not have, with the hash of these arrays."""
    with np.load(run / "ranking-3.npz") as stored:
        columns = dict(stored)
    np.savez(run / "ranking-3.npz", **columns | {"neighbours": columns["neighbours"] + 1000})
    lines = [json.loads(line) for line in (run / journal.NAME).read_text("utf-8").splitlines()]
    for line in lines:
        if line.get("evaluation", {}).get("epoch") == 3:
            path = run / "ranking-3.npz"
            line["evaluation"]["files"][path.name] = [path.stat().st_size, files.digest(path)]
    (run / journal.NAME).write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def test_an_evaluation_that_was_refused_is_named_and_no_repair_is_advised(run, tmp_path):
    spoil(run)
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert len(ingest(workspace, run).doubts) == 1
    said = [f"run 1 lacks: the evaluation of epoch 3, which could not be used when its run came from {run}"]
    assert lacks(tmp_path / "space") == said
    for _ in range(2):
        done, left = repair(tmp_path / "space")
        assert done == f"The database of {tmp_path / 'space'} is intact: 1 run. Nothing was changed."
        assert left == said


def test_an_evaluation_that_has_not_come_is_imported_and_not_repaired(run, tmp_path):
    kept = shutil.move(run / "embeddings-3.npy", tmp_path / "kept.npy")
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
    said = "the evaluation of epoch 3, whose arrays have not come from"
    assert lacks(tmp_path / "space") == [f"run 1 lacks: {said} {run}; `workbench ingest {run}` imports them"]
    assert "Nothing was changed." in repair(tmp_path / "space")[0]
    shutil.move(kept, run / "embeddings-3.npy")
    with Workspace(tmp_path / "space") as workspace:
        ingest(workspace, run)
    assert lacks(tmp_path / "space") == []


def test_what_a_repair_could_not_restore_is_not_missing_when_it_has_come(run, tmp_path):
    kept = shutil.move(run / "embeddings-3.npy", tmp_path / "kept.npy")
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
    for path in (tmp_path / "space").glob("workspace.db*"):
        path.unlink()
    _, left = repair(tmp_path / "space")
    assert len(left) == 1
    assert "the evaluation of epoch 3 (" in left[0]
    shutil.move(kept, run / "embeddings-3.npy")
    with Workspace(tmp_path / "space") as workspace:
        ingest(workspace, run)
    assert lacks(tmp_path / "space") == []


def test_damaged_arrays_that_stay_damaged_are_no_completion(run, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
        with workspace.writing() as db:
            db.execute("delete from evaluations where epoch = 3")
        array = workspace.folder(1) / "embeddings-3.npy"
        whole = array.read_bytes()
        array.write_bytes(whole[:-1] + b"\1")  # arrays of another evaluation of that epoch look like this, too
    for _ in range(2):
        done, left = repair(tmp_path / "space")
        assert "Nothing was changed." in done
        assert "Completed" not in done
        assert "is not the one that its journal names" in left[0]
    array.write_bytes(whole)
    assert "Completed from their journals: runs 1." in repair(tmp_path / "space")[0]
    assert lacks(tmp_path / "space") == []


def lose(space):
    for path in space.glob("workspace.db*"):
        path.unlink()


def damage(space):
    """One page of the database, which nothing that is kept needs."""
    with Workspace(space) as workspace, workspace.writing() as db:
        db.execute("create table spoilt (x integer) strict")
        db.execute("insert into spoilt values (1)")
        (page,) = db.execute("select rootpage from sqlite_master where name = 'spoilt'").fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
    content = bytearray((space / "workspace.db").read_bytes())
    content[(page - 1) * size : page * size] = b"\xee" * size
    (space / "workspace.db").write_bytes(content)


@pytest.fixture
def live(run, tmp_path):
    """The lines of a run elsewhere, of which the first ones were imported."""
    lines = (run / journal.NAME).read_bytes().splitlines(keepends=True)
    elsewhere = {"owner": {"pid": 5, "host": "elsewhere", "born": 1.0}}
    lines[0] = f"{json.dumps(elsewhere)}\n".encode()
    lines = [line for line in lines if b'"owner"' not in line or line is lines[0]]
    at = next(number for number, line in enumerate(lines) if b'"running"' in line) + 1
    (run / journal.NAME).write_bytes(b"".join(lines[:at]))
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert ingest(workspace, run).status == "running"
    return lines[at:]


def test_a_live_run_works_on_after_a_repair(run, live, tmp_path):
    lose(tmp_path / "space")
    repair(tmp_path / "space")
    with Workspace(tmp_path / "space") as workspace:
        assert (workspace.run(1).status, workspace.run(1).host, workspace.run(1).pid) == ("interrupted", "elsewhere", 5)
        with (run / journal.NAME).open("ab") as file:
            file.write(live[0])
        assert ingest(workspace, run).status == "running"
        assert workspace.run(1).problem == ""
        (run / journal.NAME).write_bytes((run / journal.NAME).read_bytes() + b"".join(live[1:]))
        assert ingest(workspace, run).status == "done"


def test_a_line_that_a_kill_cut_off_is_read_whole_after_a_repair(run, live, tmp_path):
    home = tmp_path / "space" / "runs" / "1" / journal.NAME
    home.write_bytes(home.read_bytes() + live[0][:-5])
    lose(tmp_path / "space")
    repair(tmp_path / "space")
    (run / journal.NAME).write_bytes((run / journal.NAME).read_bytes() + b"".join(live))
    with Workspace(tmp_path / "space") as workspace, Workspace(tmp_path / "whole", create=True) as whole:
        assert ingest(workspace, run).unread == 0
        ingest(whole, run)
        assert rows(workspace)["points"] == rows(whole)["points"]


@pytest.mark.parametrize("cut", [0, 1, 5], ids=["at its end", "before its end", "within a line"])
@pytest.mark.parametrize("lost", [False, True], ids=["the database is whole", "the database is lost"])
def test_what_an_import_wrote_down_before_a_kill_is_not_taken_in_twice(run, tmp_path, lost, cut):
    """It writes lines into the run's own journal, then commits them; a repair replays them from there."""
    lines = (run / journal.NAME).read_bytes().splitlines(keepends=True)
    lines = [line for line in lines if b'"owner"' not in line]  # this process, which a repair would leave alone
    at = next(number for number, line in enumerate(lines) if b'"note"' in line)
    (run / journal.NAME).write_bytes(b"".join(lines[:at]))
    with Workspace(tmp_path / "space", create=True) as workspace:
        ingest(workspace, run)
    written = b"".join(lines[at:20]) + lines[at].replace(b"A note", b"Another")
    with (tmp_path / "space" / "runs" / "1" / journal.NAME).open("ab") as file:
        file.write(written[: len(written) - cut])
    if lost:
        lose(tmp_path / "space")
    repair(tmp_path / "space")
    (run / journal.NAME).write_bytes(b"".join([*lines[:at], written, *lines[20:]]))
    with Workspace(tmp_path / "space") as workspace, Workspace(tmp_path / "whole", create=True) as whole:
        ingest(workspace, run)
        ingest(whole, run)
        assert workspace.run(1).note == whole.run(1).note == "A note of the run.\nAnother of the run."
        assert workspace.run(1).status == "done"
        assert rows(workspace)["points"] == rows(whole)["points"]
    assert lacks(tmp_path / "space") == []


def test_a_run_at_a_place_is_followed_on_after_a_repair(run, live, tmp_path):
    placement = Placement(1, "f" * 32, "box", "its job", reached="2026-11-26T00:00:00+00:00")
    with Workspace(tmp_path / "space") as workspace, workspace.writing() as db:
        placements.store(db, placement)
    damage(tmp_path / "space")
    done, _ = repair(tmp_path / "space")
    assert "1 runs at places" in done
    with Workspace(tmp_path / "space") as workspace, workspace.reading() as db:
        assert placements.at_work(db, "box") == [placement]
        assert arrivals.origin(db, 1) == (str(run), True)
