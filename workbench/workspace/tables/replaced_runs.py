"""A run that is trained in place of another: the other goes into the trash, also after a kill between the two steps.

The new run says in its environment which one it replaces until that one is in the trash.
"""

from contextlib import suppress

from workbench.events import RunState
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.columns import Unreadable, parsed
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders.deleted_checkpoints import why_it_cannot_go_on
from workbench.workspace.measured.artefacts import stored_paths
from workbench.workspace.times import now

INSTEAD_OF = "instead_of"  # in the environment of the new run: the number of the other


def half_replaced(db: Connection) -> dict[int, int]:
    """The runs that a new one replaces and that may not be in the trash yet, by the new one."""
    pairs = dict[int, int]()
    rows = db.execute("select id, environment from runs where instr(environment, ?)", (f'"{INSTEAD_OF}"',)).fetchall()
    for new, text in rows:
        with suppress(Unreadable):  # which the run reports
            other = parsed(text, dict).get(INSTEAD_OF)
            if type(other) is int and 0 < other < new:
                pairs[new] = other
    return pairs


def complete(workspace: OpenWorkspace) -> list[int]:
    """Put what a killed program has replaced into the trash; the numbers of these runs.

    A run that can go on, works, or belongs to another experiment stays where it is.

    Raises:
        Problem: the workspace cannot be written.
    """
    with workspace.reading() as db:
        pairs = half_replaced(db)
    replaced = []
    for new, other in pairs.items():
        with workspace.writing() as db:
            if _is_replaceable(workspace, db, new, other):
                db.execute("update runs set trashed = ? where id = ?", (now(), other))
                replaced.append(other)
            settle(db, new)
    return replaced


def settle(db: Connection, new: int) -> None:
    """Note that the run which `new` replaces is in the trash, or stays for good."""
    sql = f"update runs set environment = json_remove(environment, '$.{INSTEAD_OF}') where id = ?"
    db.execute(sql, (new,))


def _is_replaceable(workspace: OpenWorkspace, db: Connection, new: int, other: int) -> bool:
    sql = (
        "select o.status from runs o join runs n on n.id = ? "
        "where o.id = ? and o.trashed is null and o.experiment_id is n.experiment_id"
    )
    row = db.execute(sql, (new, other)).fetchone()
    if row is None or not RunState(row[0]).resumable:
        return False
    with suppress(Problem):  # a journal that cannot be read: the run stays
        saved = bool(stored_paths(db, other, "checkpoint"))
        return bool(why_it_cannot_go_on(workspace.folder(other), saved=saved))
    return False
