"""Copies of the database from before its schema was changed, and the way back to the newest of them."""

import shutil
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlite_utils import Database

from workbench.files import atomic_write, parts
from workbench.problem import Problem
from workbench.workspace.database.connection import OperationalError, explained_errors, open_reader, open_writer
from workbench.workspace.database.problems import Damaged, Full
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease import Lease
from workbench.workspace.paths import DATABASE, regular
from workbench.workspace.schema.migrations import STEM, migration


def steps_ahead(folder: Path) -> int:
    """How many schema upgrades the next opening makes, 0 for a workspace of this Workbench. Changes nothing.

    Raises:
        Problem: no workspace, or a database that cannot be read.
    """

    def ahead(alone: bool) -> int:
        with closing(open_reader(folder / DATABASE, alone=alone)) as db, explained_errors(db):
            return len(migration.pending(Database(db)))

    try:
        return ahead(alone=False)
    except Full:
        return ahead(alone=True)


def copies(folder: Path) -> list[Path]:
    """The databases from before a step of the schema, as `migrations.migrate` keeps them, oldest first."""
    return [regular(path) for path in sorted(folder.glob(f"{STEM}-before-*.db"))]


def go_back(folder: Path) -> str:
    """Replace the database by the newest of `copies`; the database is kept under another name.

    Returns:
        What was done, and what to do next.

    Raises:
        Problem: there is no copy, it is damaged, or a program has the workspace open. Then nothing was changed.
        lease_holder.Leased: it is on a network disk, and another machine has it.
    """
    kept = copies(folder)
    if not kept:
        raise Problem(f"{folder} has no copy of its database from before an upgrade.", kept="Nothing was changed.")
    _check_whole(kept[-1])
    with lease.held(folder / DATABASE) as leased:
        if leased is not None and leased.shared:  # without a log, SQLite does not tell
            raise _still_open(folder)
        return _put_back(folder, kept[-1], leased)


def _put_back(folder: Path, older: Path, leased: Lease | None) -> str:
    database = folder / DATABASE
    replaced = database.with_name(f"{STEM}-after-{datetime.now():%Y%m%d-%H%M%S-%f}.db")
    with closing(open_writer(database, wal=leased is None)) as db, explained_errors(db):
        db.execute("pragma busy_timeout = 1000")
        db.execute("pragma locking_mode = exclusive")  # until it is closed
        try:
            db.execute("pragma journal_mode = delete")  # fails while any other connection is open
        except OperationalError:
            raise _still_open(folder) from None
        db.execute("vacuum into ?", (str(replaced),))
        if leased is not None:
            leased.check()  # this machine may have been suspended, and another may have taken over
        if parts.POSIX:
            _replace(database, older)
    if not parts.POSIX:  # Windows replaces no file that is open: not this program's, nor one that was opened since
        _replace(database, older)
    return (
        f"{database} is {older.name} again. The database that it replaces is kept as {replaced.name}. "
        "Open it with the older Workbench: this one would upgrade it again. "
        "Runs from after the upgrade are not in it; their folders are kept."
    )


def _replace(database: Path, older: Path) -> None:
    with older.open("rb") as copy, atomic_write(database) as file:
        shutil.copyfileobj(copy, file)


def _still_open(folder: Path) -> Problem:
    return Problem(
        f"The workspace {folder} is open in another program.",
        kept="Nothing was changed.",
        todo="Close all windows and end all runs that use it, then try again.",
    )


def _check_whole(copy: Path) -> None:
    with closing(open_reader(copy)) as db, explained_errors(db):
        if db.execute("pragma quick_check(1)").fetchone()[0] != "ok":
            raise Damaged(copy)
