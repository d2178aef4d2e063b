"""What is done to several runs in one transaction: moved to the trash and back, tagged and coloured."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from workbench.names import visible_name
from workbench.workspace.database.connection import Connection
from workbench.workspace.owners.ownership import Working
from workbench.workspace.tables import runs


def trash(db: Connection, run_ids: Iterable[int]) -> list[int]:
    """Put runs into the trash, but for those that work or are gone; returns the numbers of those that were put."""
    moved = []
    for run_id in run_ids:
        with suppress(Working, runs.Deleted):
            runs.trash(db, run_id)
            moved.append(run_id)
    return moved


def restore(db: Connection, run_ids: Iterable[int]) -> list[int]:
    """Take runs out of the trash; returns the numbers of those that there still are."""
    back = []
    for run_id in run_ids:
        with suppress(runs.Deleted):
            runs.set_column(db, run_id, "trashed", None)
            back.append(run_id)
    return back


def change_tags(db: Connection, added: Mapping[int, Collection[str]], removed: Mapping[int, Collection[str]]) -> None:
    """Give runs tags, and take tags from them; runs that are gone are left out. Other tags stay as they are."""
    for run_id in added.keys() | removed.keys():
        with suppress(runs.Deleted):
            runs.check_there(db, run_id)
            stored = [tag for (tag,) in db.execute("select tag from tags where run_id = ?", (run_id,)).fetchall()]
            taken = [tag for tag in stored if visible_name(tag) in removed.get(run_id, ())]
            db.executemany("delete from tags where run_id = ? and tag = ?", [(run_id, tag) for tag in taken])
            new = [(run_id, tag) for tag in added.get(run_id, ())]
            db.executemany("insert or ignore into tags (run_id, tag) values (?, ?)", new)


def set_colours(db: Connection, colours: Mapping[int, int]) -> None:
    """Give runs other colours; runs that are gone are left out."""
    for run_id, colour in colours.items():
        with suppress(runs.Deleted):
            runs.set_column(db, run_id, "colour", colour)
