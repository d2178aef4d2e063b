"""The queries of an evaluation, ordered and filtered, as a list asks for them: keys at once, rows by the page."""

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.workspace import checksums
from workbench.workspace.connection import told
from workbench.workspace.workspace import Workspace

ORDERS = ("label", "label", "ap", "first_hit")  # columns of the table `queries`, each with an index
# A query whose class has no other image has no AP and no first hit: it comes last, whichever way the list goes.
VALUED = {"ap": "ap is not null", "first_hit": "first_hit > 0"}
UNVALUED = {"ap": "ap is null", "first_hit": "first_hit = 0"}
FIELDS = "sample_id, class, ap, first_hit, r, path"
Row = tuple[int, str, float | None, int, int, str]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which queries are listed."""

    failures: bool = False  # first neighbour of another class
    label: int | None = None
    samples: tuple[int, ...] | None = None  # only these ids, as selected in the map


@dataclass(frozen=True, slots=True)
class Listing:
    """One order of the queries of one evaluation. Safe to read on any thread."""

    evaluation_id: int
    filter: Filter = Filter()
    column: int = 2
    down: bool = False

    def keys(self, workspace: Workspace) -> np.ndarray:
        """Sample ids [n] int64 in order. Raises Problem when the database cannot be read.

        Every question is answered from an index alone: the rows themselves are wide.
        """
        name, way = ORDERS[self.column], "desc" if self.down else "asc"
        parts = (VALUED[name], UNVALUED[name]) if name in VALUED else ("1",)
        keys = np.concatenate([self._ids(workspace, f"{part} order by {name} {way}, sample_id") for part in parts])
        if self.filter.failures:
            keys = keys[np.isin(keys, self._ids(workspace, "first_hit > 1"))]
        if self.filter.label is not None:
            keys = keys[np.isin(keys, self._ids(workspace, "label = ?", self.filter.label))]
        if self.filter.samples is not None:
            keys = keys[np.isin(keys, self.filter.samples)]
        return keys

    def rows(self, workspace: Workspace, keys: np.ndarray) -> dict[int, Row]:
        """Rows by sample id, in any order; those that are gone are left out."""
        where = "evaluation_id = ? and sample_id in (select value from json_each(?))"
        values = [self.evaluation_id, json.dumps(keys.tolist())]
        with closing(workspace.reader()) as db, told(db):
            checksums.check_shown(db, self.evaluation_id, keys.tolist())
        return {row[0]: tuple(row) for row in read(workspace, FIELDS, f"query_rows where {where}", values)}

    def _ids(self, workspace: Workspace, rest: str, *values: int) -> np.ndarray:
        """One text of all ids: a third of the time of one Python object for each."""
        inner = f"select sample_id from queries where evaluation_id = ? and {rest}"
        source = f"(select group_concat(sample_id) as ids from ({inner}))"
        ((text,),) = read(workspace, "ids", source, [self.evaluation_id, *values])
        return np.fromstring(text or "", np.int64, sep=",")


def count_by_class(workspace: Workspace, evaluation_id: int) -> dict[int, int]:
    """How many queries each class of an evaluation has, by label, rising. Raises Problem."""
    inner = "select label, count(*) as n from queries where evaluation_id = ? group by label order by label"
    rows = read(workspace, "label, n", f"({inner})", [evaluation_id])
    return {row[0]: row[1] for row in rows}


def read(workspace: Workspace, fields: str, source: str, values: list[Any]) -> list[list[Any]]:
    """All rows of one question, on a connection of its own, as one JSON text.

    SQLite's Python module takes the interpreter anew for every row: beside a training thread 200 rows are 200 waits.

    Raises:
        Problem: the database cannot be read.
    """
    with closing(workspace.reader()) as db, told(db):
        ((text,),) = db.execute(f"select json_group_array(json_array({fields})) from {source}", values).fetchall()
    rows: list[list[Any]] = json.loads(text)
    return rows
