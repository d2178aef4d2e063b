"""A workspace as an earlier version left it: its tables as they were, with the rows that they can hold."""

from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from workbench.workspace.database.connection import open_writer, writing
from workbench.workspace.schema.migrations import migration


def make_older(database: Path, step: str, user_version: int = 2) -> None:
    """Put a closed workspace's database back to before a step of the schema."""
    now = database.rename(database.with_name("now.db"))
    older = database.parent / "older" / database.name  # no database is made beside folders of runs
    older.parent.mkdir()
    with closing(open_writer(older, create=True)) as db:
        with writing(db):
            migration.apply(Database(db), stop_before=step)
            db.execute(f"pragma user_version = {user_version}")
        db.execute("attach ? as now", (str(now),))
        db.execute("pragma foreign_keys = off")
        with writing(db):
            tables = db.execute("select name from main.sqlite_master where type = 'table'").fetchall()
            for (table,) in tables:
                if not table.startswith(("sqlite_", "_")):
                    names = ", ".join(f'"{row[1]}"' for row in db.execute(f"pragma main.table_info({table})"))
                    db.execute(f"insert into main.{table} ({names}) select {names} from now.{table}")
        db.execute("detach now")
    now.unlink()
    older.rename(database)
    older.parent.rmdir()
