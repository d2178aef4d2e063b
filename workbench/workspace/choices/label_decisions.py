"""The user's decisions about labels of a data set: an overlay. Images and stored labels are never changed."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.problem import Problem
from workbench.workspace.database.columns import rows_as_one
from workbench.workspace.database.connection import Connection
from workbench.workspace.tables.samples import refuse_unknown
from workbench.workspace.times import precisely_now
from workbench.workspace.workspace import Workspace

KEEP, RELABEL, DROP, UNSURE = DECISIONS = ("keep", "relabel", "drop", "unsure")


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision about the label of one sample."""

    sample_id: int
    decision: str  # one of DECISIONS
    label: int | None = None  # the right label, if it is relabelled


def all_decisions(workspace: Workspace, dataset_id: int) -> dict[int, Decision]:
    """Decisions by sample id, in the order in which they were made."""
    made = "(select * from label_decisions where dataset_id = ? order by created, sample_id)"
    with workspace.reading() as db:
        rows = rows_as_one(db, "sample_id, decision, label", made, (dataset_id,))
    return {row[0]: Decision(*row) for row in rows}


def decide(workspace: Workspace, dataset_id: int, decisions: Iterable[Decision]) -> None:
    """Store decisions; each replaces an earlier one about the same sample.

    Raises:
        Problem: an unknown decision, a relabelled sample without a label or another one with it; there is no such
            data set; nothing can be written.
    """
    rows = list(decisions)
    for row in rows:
        if row.decision not in DECISIONS:
            raise Problem(f"There is no decision named {row.decision!r}.", todo=f"Known: {', '.join(DECISIONS)}.")
        if (row.label is None) == (row.decision == RELABEL):
            raise Problem("A sample that is relabelled needs the label, and no other has one.", kept="Nothing changed.")
    with workspace.writing() as db:
        if rows:
            refuse_unknown(db, dataset_id, "No decision was changed.")
        _store(db, dataset_id, rows)


def _store(db: Connection, dataset_id: int, rows: Iterable[Decision]) -> None:
    db.executemany(
        "insert or replace into label_decisions (dataset_id, sample_id, decision, label, created) "
        "values (?, ?, ?, ?, ?)",
        [(dataset_id, row.sample_id, row.decision, row.label, precisely_now()) for row in rows],
    )


def take_back(workspace: Workspace, dataset_id: int, answer: Decision, before: Decision | None) -> None:
    """Store the decision before an answer again, or none.

    Raises:
        Problem: another decision than the answer is stored, by another program; nothing can be written.
    """
    decided = "select sample_id, decision, label from label_decisions where dataset_id = ? and sample_id = ?"
    with workspace.writing() as db:
        rows = db.execute(decided, (dataset_id, answer.sample_id)).fetchall()
        if [Decision(*row) for row in rows] != [answer]:
            what = "The answer was not undone. It was changed meanwhile by another window or a command."
            raise Problem(what, kept="It stays as it is there.")
        if before is None:
            db.execute(
                "delete from label_decisions where dataset_id = ? and sample_id = ?", (dataset_id, answer.sample_id)
            )
        else:
            _store(db, dataset_id, [before])
