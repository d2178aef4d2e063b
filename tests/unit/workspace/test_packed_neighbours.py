"""Neighbours packed into blobs, read back through the package and in plain SQL, beside those stored as JSON before."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.ui.small_run import Images, blobs, evaluated, store_run
from tests.unit.workspace.older import make_older
from workbench.events import Ended
from workbench.workspace import Workspace
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.database.packed import packed, unpacked
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import FARTHEST

LIMITS = st.integers(-(2**31), 2**31 - 1)
VIEW = (
    "select rank, sample_id, label, similarity from neighbours where evaluation_id = ? and query_id = ? order by rank"
)


@given(arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 7)), elements=LIMITS))
def test_packing_is_undone(numbers):
    blobs = packed(numbers)
    assert [unpacked(each) for each in blobs] == numbers.tolist()
    assert [unpacked(json.dumps(each)) for each in numbers.tolist()] == numbers.tolist()


@pytest.fixture
def stored(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        store_run(workspace, np.repeat(np.arange(2), 3), name="Other data")
        yield workspace, store_run(workspace, np.repeat(np.arange(5), 8))


def in_sql(workspace, evaluation, query):
    plain = sqlite3.connect(workspace.database)
    plain.execute("pragma trusted_schema = off")
    rows = plain.execute(VIEW, (evaluation, query)).fetchall()
    plain.close()
    return rows


def told(workspace, run, evaluation, query):
    found = workspace.neighbours(run.run_id, query, evaluation)
    return [(each.rank, each.sample_id, each.label, each.similarity) for each in found]


def test_the_view_and_the_package_say_the_same(stored):
    workspace, run = stored
    for evaluation in run.evaluations:
        for query in run.ids.tolist():
            assert in_sql(workspace, evaluation, query) == told(workspace, run, evaluation, query)


def test_a_distance_too_far_for_32_bits_is_said_to_be_so(tmp_path):
    labels = np.repeat(np.arange(2), 3)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, labels)
        recorder = Recorder(workspace, run.run_id)
        recorder.dataset(workspace.run(run.run_id).dataset_id)
        far = np.array([[-0.12344, -34_567.25, -214_747.5, -1e6, -np.finfo(np.float32).max]] * 6, np.float32)
        recorder(replace(evaluated(Images([], labels, (), run.ids, ""), 3, blobs(labels, 1, 0), 5, None), distance="l2",
                         similarities=far))  # fmt: skip
        recorder(Ended("done"))
        (*_, last) = workspace.evaluations(run.run_id)
        near = workspace.neighbours(run.run_id, int(run.ids[0]), last.id)
        stored = [-0.1234, -34_567.25, -214_747.5, -FARTHEST, -FARTHEST]
        assert [each.similarity for each in near] == pytest.approx(stored, rel=1e-7)
        assert near[0].similarity_words == "−0.123"
        assert [each.similarity_words for each in near[3:]] == ["−214,748 or less"] * 2
        assert [row[3] for row in in_sql(workspace, last.id, int(run.ids[0]))] == [each.similarity for each in near]


def test_any_number_of_32_bits_comes_back_in_sql(stored):
    workspace, run = stored
    numbers = [2**31 - 1, 65_536, 256, 255, 1, 0, -1, -255, -256, -65_537, -(2**31)]
    values = (packed(np.array([numbers]))[0], packed(np.arange(len(numbers))[None])[0], run.evaluations[0])
    with workspace.writing() as db:
        db.execute("update queries set similarities = ?, neighbours = ? where evaluation_id = ?", values)
    rows = in_sql(workspace, run.evaluations[0], int(run.ids[0]))
    assert [round(10_000 * similarity) for *_, similarity in rows] == numbers
    assert [sample_id for _, sample_id, _, _ in rows] == run.ids[: len(numbers)].tolist()


def test_what_was_stored_as_json_is_still_read(stored):
    workspace, run = stored
    first, second = run.evaluations
    before = {query: told(workspace, run, first, query) for query in run.ids.tolist()}
    with workspace.writing() as db:
        rows = db.execute(
            "select rowid, neighbours, similarities from queries where evaluation_id = ?", (first,)
        ).fetchall()
        for place, near, similarities in rows:
            texts = (json.dumps(unpacked(near)), json.dumps(unpacked(similarities)), place)
            db.execute("update queries set neighbours = ?, similarities = ? where rowid = ?", texts)
    for query in run.ids.tolist():
        assert told(workspace, run, first, query) == in_sql(workspace, first, query) == before[query]
        assert in_sql(workspace, second, query) == told(workspace, run, second, query)


def test_a_workspace_of_an_older_version_gets_the_view_and_keeps_its_copy(stored):
    workspace, run = stored
    workspace.close()
    make_older(workspace.database, "m008_packed_neighbours", user_version=1)
    with Workspace(workspace.path) as opened:
        query, evaluation = int(run.ids[0]), run.evaluations[0]
        assert in_sql(opened, evaluation, query) == told(opened, run, evaluation, query)
        with opened.reading() as db:
            assert db.execute("pragma user_version").fetchone() == (2,)
    assert len(list(workspace.path.glob("workspace-before-*.db"))) == 1
