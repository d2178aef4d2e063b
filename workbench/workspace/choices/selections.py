"""Named selections: sets of samples of a data set, with a note; every run and epoch of the data set has them."""

import json
from dataclasses import dataclass, replace

import numpy as np

from workbench.names import short_name
from workbench.problem import Problem
from workbench.workspace.database.columns import Unreadable, integers_of, rows_as_one
from workbench.workspace.database.connection import Connection
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

LONGEST = 80  # characters of a name
LONGEST_NOTE = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Selection:
    """A set of samples. Its name is unique in its data set."""

    dataset_id: int
    name: str
    samples: tuple[int, ...]  # ids, rising
    note: str = ""
    created: str = ""  # ISO 8601 in UTC
    id: int | None = None  # None before it is stored


def all_selections(workspace: Workspace, dataset_id: int) -> list[Selection]:
    """Those of a data set, by name without regard to case."""
    in_order = "(select * from selections where dataset_id = ? order by lower(name), name)"
    with workspace.reading() as db:
        rows = rows_as_one(db, "id, name, note, created, samples", in_order, (dataset_id,))
    return [_selection(dataset_id, *row) for row in rows]


def _selection(dataset_id: int, number: int, name: str, note: str, created: str, samples: str) -> Selection:
    """A selection that cannot be read is empty, and its note says so."""
    name, note = short_name(name, LONGEST), short_name(note, LONGEST_NOTE)
    try:
        return Selection(dataset_id, name, integers_of(samples), note, created, number)
    except Unreadable as error:
        return Selection(dataset_id, name, (), f"Its samples could not be read ({error}). {note}", created, number)


def checked(selection: Selection) -> Selection:
    """With single white space in its name and its ids once and rising. Raises Problem: no or too long a name."""
    name = " ".join(selection.name.split())
    if not name or len(name) > LONGEST:
        raise Problem(f"The name of a selection has 1 to {LONGEST} characters.", kept="No selection was changed.")
    if len(selection.note) > LONGEST_NOTE:
        raise Problem(f"A note has at most {LONGEST_NOTE:,} characters.", kept="No selection was changed.")
    ids = tuple(np.unique(np.asarray(selection.samples, np.int64)).tolist())
    return replace(selection, name=name, samples=ids, created=selection.created or now())


def put(workspace: Workspace, before: Selection | None, after: Selection | None, *, unchanged: bool = False) -> None:
    """Replace `before` by `after`; None as `before` adds a selection, None as `after` deletes one.

    Swapping the arguments undoes a call.

    Args:
        unchanged: only if the samples and the note of `before` are still those that are stored.

    Raises:
        Problem: the name is another selection's, or `checked` refuses it; `before` is gone, or was changed where it
            must be `unchanged`; nothing can be written.
    """
    new = None if after is None else checked(after)
    with workspace.writing() as db:
        if before is not None and unchanged:
            _refuse_changed(db, before)
        if before is not None:
            gone = db.execute(
                "delete from selections where dataset_id = ? and name = ?", (before.dataset_id, before.name)
            ).rowcount
            if not gone:
                raise Problem(f"There is no selection named “{before.name}” any more.", kept="Nothing was changed.")
        if new is not None:
            if db.execute(
                "select 1 from selections where dataset_id = ? and name = ?", (new.dataset_id, new.name)
            ).fetchone():
                raise Problem(
                    f"There is a selection named “{new.name}” already.",
                    kept="It was not changed.",
                    todo="Choose another.",
                )
            db.execute(
                "insert into selections (id, dataset_id, name, samples, note, created) values (?, ?, ?, ?, ?, ?)",
                (new.id, new.dataset_id, new.name, json.dumps(new.samples), new.note, new.created),
            )


def _refuse_changed(db: Connection, known: Selection) -> None:
    """Raises Problem if a selection is there with other samples or another note."""
    sql = "select id, name, note, created, samples from selections where dataset_id = ? and name = ?"
    stored = [_selection(known.dataset_id, *row) for row in db.execute(sql, (known.dataset_id, known.name)).fetchall()]
    if any((there.samples, there.note) != (known.samples, known.note) for there in stored):
        what = f"The selection “{known.name}” was changed meanwhile by another window or a command."
        raise Problem(what, kept="Undo and Redo leave it as it is.")
