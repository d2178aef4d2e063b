"""Saves from a damaged database what no run folder has: names, notes, tags, colours, places, selections, sweeps."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from workbench.problem import Problem
from workbench.workspace.database.connection import Connection, DatabaseError, new_id, open_reader, sqlite3
from workbench.workspace.workspace import Workspace

Row = dict[str, Any]
KINDS: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (int, float), "TEXT": (str,)}
JSON = ("result", "parameters", "setting", "samples", "arrangement", "listed", "environment")  # columns
OF_PERSON = ("name", "note", "colour", "trashed", "created")  # columns of a run that no folder holds
OF_RUN = ("id", *OF_PERSON, "config", "seed", "dataset", "loss", "backbone", "epochs")
SUM = "checksum"  # column: of the row as it was; the new one gets its own
STORED = "select 1 from sqlite_master where type = 'table' and name = ? and rootpage > 0"  # what a view is not
LEAST = 4  # bytes that a row takes
FOLDER_GONE = "Its folder was gone when the workspace was repaired."
WORKER = {"holds": 0, "pid": None, "host": None, "born": None, "beat": None}  # of a sweep: it works no more


def salvage(workspace: Workspace, old: Path, folders: set[str]) -> str:
    """Copy into a rebuilt workspace what can be read of the damaged database `old`; returns a sentence.

    The old file is only read. A row that cannot be read, or has other types than the schema's, is left out.

    Args:
        folders: names of the runs' folders. A run that has none is restored as a row alone and reported as missing.

    Raises:
        Problem: the workspace cannot be written.
    """
    try:
        damaged = open_reader(old)
    except Problem:
        counts = {}
    else:
        with closing(damaged), workspace.writing() as db:
            counts = _Copy(damaged, db, old.stat().st_size // LEAST).all(folders)
    words_of_counts = [f"{count} {words}" for words, count in counts.items() if count]
    if not words_of_counts:
        return "Names, notes, tags, colours, selections and sweeps were lost with the damaged database."
    return f"From the damaged database also came {', '.join(words_of_counts)}; more of the kind may be lost."


class _Copy:
    """The rows of one damaged database, by table, and where they go.

    Args:
        most: rows that a table of its size has; of damaged pages that name each other there is no end.
    """

    def __init__(self, old: Connection, new: Connection, most: int) -> None:
        self._old, self._new, self._most = old, new, most
        self._runs = {number for (number,) in new.execute("select id from runs")}

    def all(self, folders: set[str]) -> dict[str, int]:
        """Everything; the number of rows by what they are called."""
        experiments, datasets = self._experiments(), self._datasets()
        self._sources()
        return {
            "runs with their names, notes and colours": sum(self._run(row, folders) for row in self._rows("runs")),
            "runs at places": self._add("placements", self._rows_of_runs("placements")),
            "tags": self._add("tags", self._rows_of_runs("tags")),
            "arrangements of reports": self._add("report_templates", self._rows("report_templates")),
            "saved views": self._add("saved_views", self._rows("saved_views")),
            "selections": self._add("selections", self._mapped("selections", "dataset_id", datasets)),
            "words on samples": self._add("sample_tags", self._mapped("sample_tags", "dataset_id", datasets)),
            "decisions on labels": self._add(
                "label_decisions", self._mapped("label_decisions", "dataset_id", datasets)
            ),
            "sweeps": self._add("sweeps", (self._sweep(row, experiments) for row in self._rows("sweeps"))),
            "runs of sweeps": self._add("sweep_trials", (self._trial(row) for row in self._rows("sweep_trials"))),
        }

    def _rows_of_runs(self, table: str) -> Iterator[Row]:
        return (row for row in self._rows(table) if row["run_id"] in self._runs)

    def _sources(self) -> None:
        """The folders from which runs were imported."""
        for row in self._rows("arrivals"):
            sql = "update arrivals set source = ? where uid = ? and run_id = ?"
            self._new.execute(sql, (row["source"], row["uid"], row["run_id"]))

    def _rows(self, table: str) -> Iterator[Row]:
        """As many rows as can be read, with the columns that both databases have; none of a view, which computes."""
        kinds = {row[1]: (row[2].upper(), row[3]) for row in self._new.execute(f'pragma table_info("{table}")')}
        try:
            if self._old.execute(STORED, (table,)).fetchone() is None:
                return
            names = [
                row[1]
                for row in self._old.execute(f'pragma table_info("{table}")')
                if row[1] in kinds and row[1] != SUM
            ]
            chosen = ", ".join(f'"{name}"' for name in names)
            rows = self._old.execute(f'select {chosen} from "{table}" limit {self._most}') if names else ()
            for values in rows:
                row = dict(zip(names, values, strict=True))
                if all(_fits(name, value, *kinds[name]) for name, value in row.items()):
                    yield row
        except (DatabaseError, UnicodeDecodeError):
            return

    def _add(self, table: str, rows: Iterator[Row]) -> int:
        """How many went in; one that the schema refuses is left out."""
        count = 0
        for row in rows:
            columns = ", ".join(f'"{name}"' for name in row)
            sql = f'insert or ignore into "{table}" ({columns}) values ({", ".join("?" * len(row))})'
            try:
                count += self._new.execute(sql, tuple(row.values())).rowcount
            except (sqlite3.IntegrityError, UnicodeEncodeError, OverflowError):
                continue
        return count

    def _run(self, row: Row, folders: set[str]) -> int:
        if row["id"] in self._runs:
            known = {name: row[name] for name in OF_PERSON if name in row}
            columns = ", ".join(f'"{name}" = ?' for name in known)
            self._new.execute(f"update runs set {columns} where id = ?", (*known.values(), row["id"]))
            return 1
        if str(row["id"]) in folders or row["id"] < 1:
            return 0
        self._runs.add(row["id"])
        alone = {name: row[name] for name in OF_RUN if name in row} | {"status": "interrupted", "problem": FOLDER_GONE}
        return self._add("runs", iter([alone]))

    def _experiments(self) -> dict[int, int]:
        """Numbers of experiments in the old database and in the new one, with their results."""
        numbers = {}
        for row in self._rows("experiments"):
            sql = "select id from experiments where name = ? and config = ? and created = ?"
            values = (row["name"], row["config"], row["created"])
            known = self._new.execute(sql, values).fetchone()
            added = "insert into experiments (name, config, created) values (?, ?, ?)"
            numbers[row["id"]] = known[0] if known else new_id(self._new.execute(added, values))
            sql = "update experiments set result = ? where id = ?"
            self._new.execute(sql, (row.get("result", "{}"), numbers[row["id"]]))
        return numbers

    def _datasets(self) -> dict[int, int]:
        known = dict(self._new.execute("select fingerprint, id from datasets"))
        return {row["id"]: known[row["fingerprint"]] for row in self._rows("datasets") if row["fingerprint"] in known}

    def _mapped(self, table: str, column: str, numbers: dict[int, int]) -> Iterator[Row]:
        for row in self._rows(table):
            if row[column] in numbers:
                yield row | {column: numbers[row[column]]}

    def _sweep(self, row: Row, experiments: dict[int, int]) -> Row:
        state = "paused" if row["state"] == "active" else row["state"]
        return row | WORKER | {"state": state, "experiment_id": experiments.get(row["experiment_id"])}

    def _trial(self, row: Row) -> Row:
        state = "paused" if row["state"] == "running" else row["state"]
        return row | {"state": state, "run_id": row["run_id"] if row["run_id"] in self._runs else None}


def _fits(name: str, value: object, kind: str, required: int) -> bool:
    """Whether a value is of its column's type; SQLite itself takes any."""
    if value is None:
        return not required and name != "id"
    if kind in KINDS and not isinstance(value, KINDS[kind]):
        return False
    if name in JSON:
        try:
            json.loads(str(value))
        except (ValueError, RecursionError):
            return False
    return True
