"""Copies of the database from before its schema was changed, and the way back to the newest of them."""

import shutil
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlite_utils import Database

from workbench.files import atomic_write
from workbench.problem import Problem
from workbench.workspace.connection import OperationalError, explained_errors, open_reader, open_writer
from workbench.workspace.database_problems import Damaged
from workbench.workspace.migrations import migration
from workbench.workspace.paths import regular
from workbench.workspace.store import DATABASE

STEM = DATABASE.partition(".")[0]


def steps_ahead(folder: Path) -> int:
    """How many schema upgrades the next opening makes, 0 for a workspace of this Workbench. Changes nothing.

    Raises:
        Problem: no workspace, or a database that cannot be read.
    """
    with closing(open_reader(folder / DATABASE)) as db, explained_errors(db):
        return len(migration.pending(Database(db)))


def copies(folder: Path) -> list[Path]:
    """The databases from before a step of the schema, as `migrations.migrate` keeps them, oldest first."""
    return [regular(path) for path in sorted(folder.glob(f"{STEM}-before-*.db"))]


def go_back(folder: Path) -> str:
    """Replace the database by the newest of `copies`; the database is kept under another name.

    Returns:
        What was done, and what to do next.

    Raises:
        Problem: there is no copy, it is damaged, or a program has the workspace open. Then nothing was changed.
    """
    kept = copies(folder)
    if not kept:
        raise Problem(f"{folder} has no copy of its database from before an upgrade.", kept="Nothing was changed.")
    _check_whole(kept[-1])
    database = folder / DATABASE
    replaced = database.with_name(f"{STEM}-after-{datetime.now():%Y%m%d-%H%M%S-%f}.db")
    with closing(open_writer(database)) as db, explained_errors(db):
        db.execute("pragma busy_timeout = 1000")
        db.execute("pragma locking_mode = exclusive")  # until it is closed
        try:
            db.execute("pragma journal_mode = delete")  # fails while any other connection is open
        except OperationalError:
            raise Problem(
                f"The workspace {folder} is open in another program.",
                kept="Nothing was changed.",
                todo="Close all windows and end all runs that use it, then try again.",
            ) from None
        db.execute("vacuum into ?", (str(replaced),))
        with kept[-1].open("rb") as copy, atomic_write(database) as file:
            shutil.copyfileobj(copy, file)
    return (
        f"{database} is {kept[-1].name} again. The database that it replaces is kept as {replaced.name}. "
        "Open it with the older Workbench: this one would upgrade it again. "
        "Runs from after the upgrade are not in it; their folders are kept."
    )


def _check_whole(copy: Path) -> None:
    with closing(open_reader(copy)) as db, explained_errors(db):
        if db.execute("pragma quick_check(1)").fetchone()[0] != "ok":
            raise Damaged(copy)
