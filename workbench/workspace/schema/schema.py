"""Checks that a database has only Workbench's tables: SQLite would obey anything else that a hostile file declares."""

import json
import re
from contextlib import closing
from functools import cache
from hashlib import blake2b
from pathlib import Path

from workbench.files.resources import shipped
from workbench.problem import Problem
from workbench.workspace.database.connection import READABLE_UP_TO, SET, Connection, memory
from workbench.workspace.database.problems import Damaged

SHIPPED = "schema.json"  # among the resources: the newest schema, written by packaging/schema.py
STEPS = "_sqlite_migrations"  # the table of sqlite-utils that tells which steps were taken
# Its text differs between versions of sqlite-utils: nothing but its columns may be in it.
STEPS_SQL = re.compile(
    r"create (table|unique index) \w+ (on _sqlite_migrations )?"
    r"\((\b(id|migration_set|name|applied_at|integer|text|primary|key|not|null)\b|[ ,()])+\)"
)
COUNTS = {  # what `analyze` keeps
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
FUNCTIONS = ("json_each",)  # of SQLite, in our statements: a view of that name would take its place
Objects = dict[str, tuple[str, str, str]]  # by name: kind, table, SQL on one line


class Foreign(Damaged):
    """The database declares something that Workbench did not make, through damage or on purpose."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(path, how=f"is not as Workbench makes it: {what}")


def check_schema(connection: Connection, path: Path) -> bool:
    """Compare the database's declarations with those of the upgrades that it has. A view may be added, but no FUNCTION.

    Returns:
        Whether it is of the newest schema, so that no step is to be taken.

    Raises:
        Problem: a step of a newer Workbench; Foreign for a trigger, a table or an index that was added, is declared
            differently or is missing.
    """
    rows = _rows(connection)
    if not rows:
        return False
    objects = dict(rows)
    if len(objects) < len(rows):  # a trigger may have the name of a table
        raise Foreign(path, "it declares one name twice")
    if objects.get(STEPS, ("",))[0] != "table":
        raise Foreign(path, f"the table {STEPS} is missing")
    of_steps = {name: whole for name, whole in objects.items() if _is_of_steps(*whole)}
    if STEPS not in of_steps:  # it may compute what is read from it
        raise Foreign(path, f"the table “{STEPS}” is declared differently")
    taken = {str(name) for (name,) in connection.execute(f"select name from {STEPS} where migration_set = ?", (SET,))}
    steps, wanted = _shipped()
    newest = taken == set(steps)
    if not newest:
        wanted = _made_by_those_of(taken)
    for name, (kind, table, sql) in objects.items():
        if name in of_steps or (kind, name, sql) == ("table", name, COUNTS.get(name)):
            continue
        if kind == "view" and name not in wanted and name.lower() not in FUNCTIONS:
            continue
        if wanted.get(name) != (kind, table, sql):
            shown = " ".join(name.split())[:60]
            raise Foreign(path, f"the {kind} “{shown}” {'is declared differently' if name in wanted else 'was added'}")
    if missing := sorted(wanted.keys() - objects.keys()):
        raise Foreign(path, f"“{missing[0]}” is missing")
    return newest and bool(connection.execute("pragma user_version").fetchone()[0] <= READABLE_UP_TO)


def text_of_newest() -> str:
    """The text of the file SHIPPED: the names of all steps, and what they make of an empty database."""
    steps = _every_step()
    return json.dumps({"made of": _sources(), "steps": steps, "objects": _made_by(steps)}, indent=1) + "\n"


def _sources() -> str:
    """A hash of the steps' text: what was written before a step was added is not believed."""
    return blake2b(Path(__file__).with_name("migrations.py").read_bytes(), digest_size=8).hexdigest()


def _shipped() -> tuple[list[str], Objects]:
    """Every step and what they make, read instead of made: the window's start need not load sqlite-utils."""
    stored = shipped(SHIPPED)
    if stored.get("made of") != _sources():
        return [], {}
    objects = {name: (kind, table, sql) for name, (kind, table, sql) in stored["objects"].items()}
    return stored["steps"], objects


def _made_by_those_of(taken: set[str]) -> Objects:
    known = _every_step()
    if taken - set(known):
        raise Problem(
            "This workspace was made by a newer Workbench.",
            kept="It was not changed.",
            todo="Update Workbench to open it.",
        )
    return _made_by(tuple(step for step in known if step in taken))


def _every_step() -> tuple[str, ...]:
    from sqlite_utils import Database

    from workbench.workspace.schema.migrations import migration

    with closing(memory()) as empty:
        return tuple(step.name for step in migration.pending(Database(empty)))


@cache
def _made_by(steps: tuple[str, ...]) -> Objects:
    """What these steps make of an empty database."""
    from sqlite_utils import Database

    from workbench.workspace.schema.migrations import migration

    with closing(memory()) as connection:
        db = Database(connection)
        for step in migration.pending(db):
            if step.name in steps:
                step.fn(db)
        return dict(_rows(connection))


def _is_of_steps(kind: str, table: str, sql: str) -> bool:
    return table == STEPS and (not sql or bool(STEPS_SQL.fullmatch(sql.replace('"', "").replace("[", "").lower())))


def _rows(connection: Connection) -> list[tuple[str, tuple[str, str, str]]]:
    """What a database declares: name, and kind, table and SQL on one line."""
    rows = connection.execute("select type, name, tbl_name, ifnull(sql, '') from sqlite_master")
    return [(str(name), (str(kind), str(table), " ".join(str(sql).split()))) for kind, name, table, sql in rows]
