"""Evaluations that a run does not keep are deleted with their rows, maps and files, and no repair misses them."""

import json
import os
import shutil
from contextlib import contextmanager, suppress
from itertools import count

import numpy as np
import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.config import RunConfig
from workbench.events import Ended, Keep, Scalar, Status
from workbench.workspace import Workspace
from workbench.workspace.folders import journal
from workbench.workspace.measured import superseded
from workbench.workspace.measured.deployments import store_deployment
from workbench.workspace.measured.evaluations import NoEvaluation
from workbench.workspace.measured.ranking import read_ranking, read_scores
from workbench.workspace.measured.stored_maps import Measured, maps_of, store_map
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs.repair import missing, repair

RUN = 1


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a run of evaluations 0 to 3, with a map of 1 and of 2, that kept 0, 2 and 3."""
    with Workspace(tmp_path / "space", create=True) as made:
        images, recorder = Images(), Recorder(made, made.create_run(RunConfig()))
        recorder(Status("Loading"))
        recorder.dataset(made.register_dataset(images, None))
        for epoch in range(4):
            recorder(Scalar("test/MAP@R", 10 * epoch, 0.5))
            recorder(evaluated(images, epoch, 10 * epoch))
        for evaluation in made.evaluations(RUN)[1:3]:
            store_map(made, evaluation.id, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, Measured(0.9))
        recorder(Keep((0, 2, 3)))
        recorder(Ended("done"))
        yield made


def epochs_of(workspace):
    return [evaluation.epoch for evaluation in workspace.evaluations(RUN)]


def lacks(workspace):
    with workspace.reading() as db:
        return missing(db, workspace.path)


def test_rows_files_and_maps_of_the_others_are_gone_and_curves_are_whole(workspace):
    names = [path.name for path in workspace.folder(RUN).iterdir()]
    assert epochs_of(workspace) == [0, 2, 3]
    assert not [name for name in names if name.partition(".")[0].endswith("-1")]
    assert len([name for name in names if name.startswith("map-")]) == 1
    with workspace.reading() as db:
        paths = [path for (path,) in db.execute("select path from artefacts where run_id = ?", (RUN,))]
        assert sorted(paths) == sorted(name for name in names if name.startswith(("embeddings", "proxies", "map")))
        assert db.execute("select count(*) from queries").fetchone() == (3 * 12,)
    assert workspace.scalars(RUN, "test/MAP@R")[0].tolist() == [0, 10, 20, 30]
    assert lacks(workspace) == []


READERS = {
    "embeddings": lambda space, number, sample: space.embeddings(number),
    "vectors": lambda space, number, sample: space.vectors(number),
    "proxies": lambda space, number, sample: space.proxies(number),
    "ranking": lambda space, number, sample: read_ranking(space, number),
    "scores": lambda space, number, sample: read_scores(space, number),
    "query": lambda space, number, sample: space.query(number, sample),
    "neighbours": lambda space, number, sample: space.neighbours(RUN, sample, number),
}


@pytest.mark.parametrize("reader", READERS)
def test_an_evaluation_that_is_deleted_while_it_is_read_is_not_said_to_be_damaged(workspace, monkeypatch, reader):
    """It is deleted before each look at the database in turn."""
    first, looks, before, deleted = workspace.evaluations(RUN)[0].id, Workspace.reading, 0, {True}
    sample = int(workspace.queries(first).sample_ids[0])
    workspace.close()
    while deleted:
        before += 1
        folder, numbers, deleted = workspace.path.with_name(f"copy {before}"), count(1), set[bool]()
        shutil.copytree(workspace.path, folder)
        with Workspace(folder) as copy, Workspace(folder) as other:

            @contextmanager
            def look(space, numbers=numbers, other=other, before=before, deleted=deleted):
                if space is not other and next(numbers) == before:
                    with other.writing() as db:
                        gone = superseded.keep_only(db, RUN, (2, 3))
                    superseded.remove_files(other.folder(RUN), (2, 3), gone)
                    deleted.add(True)
                with looks(space) as db:
                    yield db

            with monkeypatch.context() as changed, suppress(NoEvaluation):
                changed.setattr(Workspace, "reading", look)
                READERS[reader](copy, first, sample)
    assert before > 1


def test_a_measurement_of_a_deleted_evaluation_is_not_stored(workspace):
    number = workspace.evaluations(RUN)[0].id
    with workspace.writing() as db:
        superseded.keep_only(db, RUN, (2, 3))
    store_deployment(workspace, number, "int8 0.001", {})
    with workspace.reading() as db:
        assert db.execute("select count(*) from deployments").fetchone() == (0,)


def test_files_that_were_open_go_the_next_time(workspace):
    left = [workspace.folder(RUN) / name for name in ("embeddings-1.npy", "ranking-1.npz")]
    for path in left:
        path.touch()
    workspace.take_over(RUN)
    recorder = Recorder(workspace, RUN)
    recorder(Keep((0, 2, 3)))
    recorder.close()
    assert not [path for path in left if path.exists()]


@pytest.mark.skipif(os.name == "nt", reason="making links needs rights there")
@pytest.mark.parametrize("resumed", [False, True])
def test_maps_of_deleted_evaluations_that_a_kill_left_go_when_the_run_is_found_dead_or_resumed(
    workspace, tmp_path, resumed
):
    folder, outside = workspace.folder(RUN), tmp_path / "outside.npz"
    (left,) = folder.glob("map-*")
    kept = workspace.evaluations(RUN)[2].id
    number = store_map(workspace, kept, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, Measured(0.9))
    with workspace.writing() as db:
        superseded.keep_only(db, RUN, (3,))  # the kill comes after this
        db.execute("update runs set status = 'running', pid = 4194305 where id = ?", (RUN,))
    outside.write_bytes(b"of somebody")
    others = [folder / "map-77-pca.npz", folder / "map of mine.npz", tmp_path / "space" / left.name]
    others[0].symlink_to(outside)
    for path in others[1:]:
        path.touch()
    assert left.exists()
    if resumed:
        workspace.take_over(RUN)
        Recorder(workspace, RUN).close()
    else:
        assert workspace.sweep_dead_runs() == [RUN]
    assert not left.exists()
    assert all(path.exists() for path in others)
    assert outside.read_bytes() == b"of somebody"
    assert workspace.coordinates(number)[0].shape == (12, 2)


def test_a_repair_brings_none_of_them_back_and_misses_none(workspace):
    workspace.close()
    for path in workspace.path.glob("workspace.db*"):
        path.unlink()
    assert repair(workspace.path)[1] == []
    with Workspace(workspace.path) as again:
        assert epochs_of(again) == [0, 2, 3]
        assert lacks(again) == []


def test_rows_of_an_older_copy_of_the_database_go_in_a_repair(workspace):
    with workspace.writing() as db:  # as the copy has them
        db.execute(
            "insert into evaluations (run_id, epoch, step, embeddings_id, distance, metrics, created) "
            "select run_id, 1, 10, embeddings_id, distance, metrics, created from evaluations where epoch = 2"
        )
        db.execute("delete from scalar_points")
    workspace.close()
    repair(workspace.path)
    with Workspace(workspace.path) as again:
        assert epochs_of(again) == [0, 2, 3]


@pytest.mark.parametrize("unread", [None, '"forget"', '"evaluation"'])
def test_a_repair_takes_no_map_of_what_a_run_recorded_again_after_it_had_let_go_of_it(tmp_path, unread):
    """It keeps 0 and 3, is resumed after epoch 0, and records 1 and 2 again; a line of its journal may be damaged."""
    with Workspace(tmp_path / "space", create=True) as made:
        images, recorder = Images(), Recorder(made, made.create_run(RunConfig()))
        recorder(Status("Loading"))
        recorder.dataset(made.register_dataset(images, None))
        for epoch in (0, 1, 2, 3, 1, 2):
            recorder(Scalar("test/MAP@R", 10 * epoch, 0.5))
            recorder(evaluated(images, epoch, 10 * epoch))
            if epoch == 3:
                recorder(Keep((0, 3)))
                recorder.forget_after(0)
        recorder(Ended("done"))
        assert epochs_of(made) == [0, 1, 2]
        for evaluation in made.evaluations(RUN):
            store_map(made, evaluation.id, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, Measured(0.9))
        before = maps_of(made, RUN)
        with made.writing() as db:
            db.execute("delete from scalar_points where step = 20")  # so that there is something to repair
        path = made.folder(RUN) / journal.NAME
    lines = path.read_text("utf-8").splitlines()
    damaged = max((number for number, line in enumerate(lines) if unread and unread in line), default=len(lines))
    path.write_text(
        "".join(f"{line[:9] if number == damaged else line}\n" for number, line in enumerate(lines)), "utf-8"
    )
    repair(tmp_path / "space")
    with Workspace(tmp_path / "space") as again:
        assert [projection.id for projection in maps_of(again, RUN)] == [projection.id for projection in before]
        assert epochs_of(again)[:3] == [0, 1, 2]
        assert again.scalars(RUN, "test/MAP@R")[0].tolist()[:3] == [0, 10, 20]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([0, 1, 2, {"keep": [0, 2]}], [0, 2]),
        ([0, 1, {"keep": [0, 1]}, 2, {"keep": [0, 2]}], [0, 2]),
        ([0, 1, 2, 3, {"keep": [0, 3]}, {"keep": [1, 3]}, 4], [3, 4]),
        ([0, 2, 4, {"keep": [0, 4]}, {"forget": 10}, 2, {"keep": [0, 2]}], [0, 2]),
        ([0, 1, {"keep": [0]}], [0, 1]),  # of a later epoch
        ([0, 1, 2, {"keep": [0, 2]}, {"forget": 0}, 1], [0, 1]),  # recorded again by a run that went on
        ([0, 1, {"keep": []}, 2], [0, 1, 2]),  # chooses none, lets go of none
        ([0, 1, 2, {"keep": [0, 2]}, {"forget": 10}, 2], [0, 2]),
        ([0, 1, {"keep": list(range(101))}], [0, 1]),  # no run writes so many
        ([0, 1, 2, {"keep": ["0", "2"]}], [0, 2]),
        ([0, 1, {"keep": "all"}], [0, 1]),
    ],
)
def test_a_journal_tells_the_evaluations_that_stayed(tmp_path, lines, left):
    facts = {"distance": "cosine", "metrics": {}}
    told = [
        {"evaluation": facts | {"epoch": line, "step": 10 * line}} if isinstance(line, int) else line for line in lines
    ]
    (tmp_path / journal.NAME).write_text("".join(f"{json.dumps(line)}\n" for line in told), "utf-8")
    entries = [entry for entry in journal.entries(tmp_path, b'"evaluation"') if entry is not None]
    assert [entry.evaluation.epoch for entry in entries if entry.evaluation] == left
    assert len([entry for entry in entries if entry.taken_back]) == len(entries) - len(left)
