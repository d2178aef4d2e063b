"""Columns of whole numbers and scores of up to millions of rows, read some thousands of rows at a time.

Each column of a part comes as one text, because every fetched row waits for the interpreter lock beside a training
thread. The texts of a million rows are tens of megabytes, and the window waits while they become objects of Python.
"""

from collections.abc import Mapping

import numpy as np

from workbench.workspace.database.checksums import damaged
from workbench.workspace.database.connection import Connection, at_one_moment
from workbench.workspace.database.packed import numbers_of

AT_A_TIME = 20_000  # rows
LEAST, MOST = -(2**63), 2**63 - 1  # of SQLite's whole numbers


def read_columns(
    db: Connection, rows: str, value: int, fields: Mapping[str, tuple[str, type]], key: str
) -> dict[str, np.ndarray]:
    """Columns [n] of some rows of a table, in the order of `key`; a value that is NULL is left out of its column.

    Args:
        db: all parts are read as of one moment.
        rows: SQL that names the rows: "queries where evaluation_id = ?".
        value: for the question mark.
        fields: name of a column -> its SQL and the type of its numbers.
        key: a column of whole numbers, each once among the rows, that has an index.

    Raises:
        Damaged: the index is out of order.
    """
    parts: dict[str, list[np.ndarray]] = {name: [np.empty(0, kind)] for name, (_, kind) in fields.items()}
    named = ", ".join(f"{sql} as column_{place}" for place, (sql, _) in enumerate(fields.values()))
    some = f"select {key} as last, {named} from {rows} and {key} >= ? order by {key} limit {AT_A_TIME}"
    texts = ", ".join(f"group_concat(column_{place})" for place in range(len(fields)))
    sql, least = f"select {texts}, max(last) from ({some})", LEAST
    with at_one_moment(db):
        while least <= MOST:
            *columns, last = db.execute(sql, (value, least)).fetchone()
            if last is None:
                break
            if not isinstance(last, int) or last < least:
                raise damaged(db, f"an index of {rows.partition(' ')[0]}")
            least = last + 1
            for (name, (_, kind)), text in zip(fields.items(), columns, strict=True):
                parts[name].append(numbers_of(text, kind))
    return {name: np.concatenate(columns) for name, columns in parts.items()}
