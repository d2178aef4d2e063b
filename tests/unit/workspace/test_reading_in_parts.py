"""Columns of millions of rows come in parts: one answer for all of them holds the interpreter, and the window waits."""

from contextlib import contextmanager

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench.results.stored import read_training_half
from workbench.workspace.database import checksums, number_columns
from workbench.workspace.database.connection import memory
from workbench.workspace.measured import evaluations, ranking
from workbench.workspace.tables import samples

PART = 7
LABELS = np.repeat(np.arange(5), 8)


class Watched:
    """A connection that notes how many rows and how many numbers of a text came at once."""

    def __init__(self, db):
        self._db, self.most = db, 0

    def __getattr__(self, name):
        return getattr(self._db, name)

    def execute(self, *asked):
        return WatchedAnswer(self, self._db.execute(*asked))

    def note(self, rows):
        texts = [value.count(",") + 1 for row in rows for value in row if isinstance(value, str)]
        self.most = max([self.most, len(rows), *texts])
        return rows


class WatchedAnswer:
    def __init__(self, watched, cursor):
        self._watched, self._cursor = watched, cursor

    def fetchone(self):
        row = self._cursor.fetchone()
        self._watched.note([] if row is None else [row])
        return row

    def fetchmany(self, size):
        return self._watched.note(self._cursor.fetchmany(size))

    def fetchall(self):
        return self._watched.note(self._cursor.fetchall())


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


@pytest.fixture
def parts(monkeypatch):
    for module in (checksums, number_columns):
        monkeypatch.setattr(module, "AT_A_TIME", PART)


@contextmanager
def watching(workspace):
    with workspace.reading() as db:
        yield Watched(db)


def test_samples_come_in_parts_and_are_the_same(workspace, run, parts, monkeypatch):
    dataset = workspace.run(run.run_id).dataset_id
    with watching(workspace) as db:
        read = samples.read_samples(db, dataset)
        assert 1 < db.most <= PART
    assert read.rows.tolist() == list(range(len(LABELS)))
    assert read.labels.tolist() == LABELS.tolist()
    assert (len(set(read.paths)), len(read.official)) == (len(LABELS), len(LABELS))
    assert all(column.flags.c_contiguous for column in (read.ids, read.rows, read.labels))


def test_queries_come_in_parts_and_are_the_same(workspace, run, monkeypatch):
    (evaluation, *_) = run.evaluations
    whole = workspace.queries(evaluation)
    monkeypatch.setattr(number_columns, "AT_A_TIME", PART)
    with watching(workspace) as db:
        read = evaluations.read_queries(db, evaluation)
        assert 1 < db.most <= PART
        assert not db.in_transaction
    for name in ("sample_ids", "labels", "ap", "first_hit", "r", "right"):
        np.testing.assert_array_equal(getattr(read, name), getattr(whole, name))


def test_the_ranking_finds_its_samples_in_parts(workspace, run, parts, monkeypatch):
    watched = []

    def reader():
        watched.append(Watched(open_reader()))
        return watched[-1]

    open_reader = workspace.reader
    monkeypatch.setattr(workspace, "reader", reader)
    read = ranking.read_ranking(workspace, run.evaluations[-1])
    assert read.sample_ids.tolist() == workspace.queries(run.evaluations[-1]).sample_ids.tolist()
    assert 1 < watched[0].most <= PART


@pytest.mark.parametrize("keys", [[], [-(2**63), 2**63 - 1], [-(2**63), -5, 0, 3, 4, 9, 2**63 - 1]])
def test_every_key_is_read_once(parts, monkeypatch, keys):
    monkeypatch.setattr(number_columns, "AT_A_TIME", 2)
    db = memory()
    db.execute("create table numbers (held integer, key integer, value real)")
    db.execute("create index by_key on numbers (held, key)")
    db.executemany("insert into numbers values (1, ?, ?)", [(key, number / 4) for number, key in enumerate(keys)])
    db.execute("insert into numbers values (2, 7, 7)")
    fields = {"keys": ("key", np.int64), "values": ("value", np.float32)}
    read = number_columns.read_columns(db, "numbers where held = ?", 1, fields, "key")
    assert read["keys"].tolist() == keys
    assert read["values"].tolist() == [number / 4 for number in range(len(keys))]
    assert (read["keys"].dtype, read["values"].dtype) == (np.int64, np.float32)
    db.close()


def test_only_the_columns_that_are_asked_for_are_read(monkeypatch):
    """A row of a query holds its neighbours, too, which are kilobytes."""
    db, read = memory(), set()
    db.execute("create table numbers (held integer, key integer, value real, neighbours blob)")
    db.execute("insert into numbers values (1, 5, 0.5, x'00')")
    db.set_authorizer(lambda action, table, column, *_: read.add(column) or 0)
    number_columns.read_columns(db, "numbers where held = ?", 1, {"values": ("value", np.float32)}, "key")
    assert "value" in read
    assert "neighbours" not in read
    db.close()


def test_a_part_belongs_to_the_transaction_that_is_open(parts):
    db = memory()
    db.execute("create table numbers (held integer, key integer)")
    db.execute("begin")
    db.execute("insert into numbers values (1, 5)")
    read = number_columns.read_columns(db, "numbers where held = ?", 1, {"keys": ("key", np.int64)}, "key")
    assert (read["keys"].tolist(), db.in_transaction) == ([5], True)
    db.close()


def test_a_training_half_is_found_without_a_search_that_holds_the_interpreter(workspace, run, monkeypatch):
    monkeypatch.setattr(np, "isin", None)
    stored = (run.ids[::2], np.zeros((len(run.ids[::2]), 2), np.float32))
    monkeypatch.setattr("workbench.results.stored.read_training", lambda *asked: stored)
    half = read_training_half(workspace, run.evaluations[-1])
    assert half.labels.tolist() == run.labels[::2].tolist()
