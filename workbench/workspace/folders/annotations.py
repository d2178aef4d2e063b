"""What a person said of a run, beside its run folder: its name, note, tags and colour.

The note of a folder of an older Workbench is in its journal, which is then another one with each change of the note.
An older Workbench ignores the file, and writes none. Nothing in it is trusted: lengths are bounded, and all is text.
"""

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from workbench.workspace.database.connection import Connection
from workbench.workspace.folders.journal import Text
from workbench.workspace.owners import ownership
from workbench.workspace.paths import opened

NAME = "annotations.json"
LARGEST = 1 << 21  # bytes
MOST_TAGS, LONGEST_NAME, LONGEST_TAG, LONGEST_NOTE = 500, 200, 200, 100_000


class Annotations(BaseModel):
    """The content of the file.

    `colour` is an index into the palette of runs; `origin` tells whether the run was exported from a run here.
    """

    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
    tags: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=LONGEST_TAG)]], Field(max_length=MOST_TAGS)
    ] = []
    colour: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    origin: Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")] = ""  # as `origin_of`
    note: Annotated[Text, Field(max_length=LONGEST_NOTE)] = ""


def origin_of(workspace: Path, run_id: int) -> str:
    """A hash of the machine, the workspace's folder and the run's number: it tells neither of them to others."""
    facts = (ownership.here()["host"], str(workspace.absolute()), run_id)
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def annotations_of(name: str, tags: Sequence[str], colour: int, origin: str = "", note: str = "") -> Annotations:
    """Those of a run; of a name, a note or a tag that is too long its beginning, of too many tags the first."""
    short = [tag[:LONGEST_TAG] for tag in tags[:MOST_TAGS]]
    whole = Annotations(name=name[:LONGEST_NAME] or "unnamed", tags=short, colour=max(0, colour), origin=origin)
    return whole.model_copy(update={"note": note[:LONGEST_NOTE]})


def read(folder: Path) -> Annotations | None:
    """Those beside a run folder; None without.

    Raises:
        ValueError: it is no such file. Problem: it is a link, or no file. OSError: it cannot be read.
    """
    if not os.path.lexists(folder / NAME):
        return None
    with opened(folder / NAME) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError(f"{NAME} is over {LARGEST >> 10} KiB")
    return Annotations.model_validate_json(text)


def parsed(text: str) -> Annotations | None:
    """Those of a stored text; None if it is empty or not of this form."""
    try:
        return Annotations.model_validate_json(text)
    except ValueError:
        return None


def annotate(db: Connection, run_id: int, new: Annotations, before: Annotations, *, at_first: bool) -> None:
    """Give a run the name, note, tags and colour that came, where nobody has changed them here since `before` came.

    Args:
        before: what came the last time; with an earlier name and no tags if nothing did.
        at_first: whether the run is new. It gets the colour then, unless a run here has it: colours tell runs apart.
    """
    name = _line(new.name) or before.name
    sql = "update runs set name = ? where id = ? and name in (?, ?)"
    db.execute(sql, (name, run_id, before.name, _line(before.name)))
    ((note,),) = db.execute("select note from runs where id = ?", (run_id,)).fetchall()
    db.execute("update runs set note = ? where id = ?", (_note(note, new.note, before.note), run_id))
    had, have = _tags(before), _tags(new)
    gone = [(run_id, tag) for tag in sorted(had - have)]
    db.executemany("delete from tags where run_id = ? and tag = ?", gone)
    added = [(run_id, tag, run_id, tag) for tag in sorted(have - had)]
    sql = (
        "insert into tags (run_id, tag) select ?, ? where not exists (select 1 from tags where run_id = ? and tag = ?)"
    )
    db.executemany(sql, added)
    if at_first and new.colour is not None:
        free = "not exists (select 1 from runs where colour = ? and id != ? and trashed is null)"
        db.execute(f"update runs set colour = ? where id = ? and {free}", (new.colour, run_id, new.colour, run_id))


def _note(here: str, new: str, before: str) -> str:
    """The note of a run after the note `new` came, and `before` the last time: its own lines stay below what came."""
    if new == before or (not before and here.startswith(new)):  # the second after the loss of what came before
        return here
    if before and here != before and not here.startswith(f"{before}\n"):
        return here  # somebody has changed it here
    return "\n".join(filter(None, (new, here.removeprefix(before).strip("\n"))))


def _line(text: str) -> str:
    """Words in one line."""
    return " ".join(text.split())


def _tags(annotations: Annotations) -> set[str]:
    """The tags, without commas: these separate tags where a person types them."""
    return {_line(tag.replace(",", " ")) for tag in annotations.tags} - {""}
