"""The rollback journal beside a database, looked at before SQLite plays it back.

Format: SQLite, "Database File Format".

A journal may name a super-journal, which several databases share. Once SQLite has played the journal back it deletes
that file, wherever it is (3.40 does, 3.53 does not). Workbench writes one database in a transaction: its own
journals name none.
"""

import os
from pathlib import Path

from workbench.problem import Problem
from workbench.workspace.paths import opened

MAGIC = bytes.fromhex("d9d505f920a163d7")
TAIL = 16  # bytes at the end: length of the name, its sum, MAGIC


def check_names_no_file(database: Path) -> None:
    """Raises Problem if the database's journal names another file; a missing journal is none."""
    journal = database.with_name(f"{database.name}-journal")
    try:
        with opened(journal) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            tail = file.read(TAIL)
    except OSError:  # missing, or gone meanwhile; SQLite reports one that cannot be read
        return
    if tail.endswith(MAGIC) and 0 < int.from_bytes(tail[:4], "big") <= size - TAIL:
        raise Problem(
            f"The workspace {database.parent} was not opened: its {journal.name} names another file, which SQLite may "
            "delete.",
            kept="Nothing was changed.",
            todo=f"Workbench writes no such journal. Move {journal.name} away, then open the workspace again.",
        )
