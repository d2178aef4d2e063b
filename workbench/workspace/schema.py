"""Whether a database's tables are ours: a file from elsewhere may declare what it likes, and SQLite would obey it."""

import re
from contextlib import closing
from functools import cache
from pathlib import Path

from sqlite_utils import Database

from workbench.problem import Problem
from workbench.workspace import migrations
from workbench.workspace.connection import Connection, Damaged, memory

STEPS = "_sqlite_migrations"  # the table of sqlite-utils that tells which steps were taken
# Its text differs between versions of sqlite-utils: nothing but its columns may be in it.
STEPS_SQL = re.compile(
    r"create (table|unique index) \w+ (on _sqlite_migrations )?"
    r"\((\b(id|migration_set|name|applied_at|integer|text|primary|key|not|null)\b|[ ,()])+\)"
)
COUNTS = ("sqlite_stat1", "sqlite_stat4")  # what `analyze` keeps; SQLite alone can make tables of these names
Objects = dict[str, tuple[str, str, str]]  # by name: kind, table, SQL on one line


class Foreign(Damaged):
    """The database declares something that Workbench did not make, by damage or on purpose."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path, how=f"is not as Workbench makes it: {what}")


def check_schema(connection: Connection, path: Path) -> None:
    """Compare what the database declares with what the steps that it has taken make. Views of other names may be there.

    Raises:
        Problem: a step of a newer Workbench; Foreign for a trigger, a table or an index that was added, is declared
            differently or is missing.
    """
    objects = _objects(connection)
    if not objects:
        return
    if objects.get(STEPS, ("",))[0] != "table":
        raise Foreign(path, f"the table {STEPS} is missing")
    rows = connection.execute(f"select name from {STEPS} where migration_set = ?", (migrations.migration.name,))
    taken = {str(name) for (name,) in rows}
    with closing(memory()) as empty:
        known = tuple(step.name for step in migrations.migration.pending(Database(empty)))
    if taken - set(known):
        raise Problem(
            "This workspace was made by a newer Workbench.",
            kept="It was not changed.",
            todo="Update Workbench to open it.",
        )
    wanted = _made_by(tuple(step for step in known if step in taken))
    for name, (kind, table, sql) in objects.items():
        if table == STEPS and (not sql or STEPS_SQL.fullmatch(sql.replace('"', "").replace("[", "").lower())):
            continue
        if name in COUNTS or (kind == "view" and name not in wanted):
            continue
        if wanted.get(name) != (kind, table, sql):
            shown = " ".join(name.split())[:60]
            raise Foreign(path, f"the {kind} “{shown}” {'is declared otherwise' if name in wanted else 'was added'}")
    if missing := sorted(wanted.keys() - objects.keys()):
        raise Foreign(path, f"“{missing[0]}” is missing")


@cache
def _made_by(steps: tuple[str, ...]) -> Objects:
    """What these steps make of an empty database."""
    with closing(memory()) as connection:
        db = Database(connection)
        for step in migrations.migration.pending(db):
            if step.name in steps:
                step.fn(db)
        return _objects(connection)


def _objects(connection: Connection) -> Objects:
    rows = connection.execute("select type, name, tbl_name, ifnull(sql, '') from sqlite_master")
    return {str(name): (str(kind), str(table), " ".join(str(sql).split())) for kind, name, table, sql in rows}
