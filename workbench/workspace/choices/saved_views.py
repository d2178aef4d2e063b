"""Views of the Retrieval page with a name: filter, order and search text, for every run of the workspace."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.names import short_name
from workbench.problem import Problem
from workbench.workspace.database.columns import Unreadable, parsed, rows_as_one
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

LONGEST = 80  # characters of a name


@dataclass(frozen=True, slots=True)
class SavedView:
    """The filters and order of a list, as plain data for JSON. Its name is unique in the workspace."""

    name: str
    listed: dict[str, Any] = field(default_factory=dict)
    problem: str = ""  # why it could not be read


def all_views(workspace: Workspace) -> list[SavedView]:
    """By name without regard to case; one that cannot be read is empty and says why.

    A workspace of an older version that cannot be written has none.
    """
    with workspace.reading() as db:
        if not db.execute("select 1 from sqlite_master where name = 'saved_views'").fetchone():
            return []
        rows = rows_as_one(db, "name, listed", "(select * from saved_views order by lower(name), name)")
    return [_view(name, listed) for name, listed in rows]


def _view(name: str, listed: str) -> SavedView:
    name = short_name(name, LONGEST)
    try:
        return SavedView(name, parsed(listed, dict))
    except Unreadable as error:
        return SavedView(name, problem=str(error))


def put(workspace: Workspace, before: SavedView | None, after: SavedView | None) -> list[SavedView]:
    """Replace `before` by `after`; None as `before` adds a view, None as `after` deletes one.

    Returns:
        All views, as `all_views`.

    Raises:
        Problem: no name, one of over 80 characters or another view's; `before` is gone; nothing can be written.
    """
    new = None if after is None else replace(after, name=" ".join(after.name.split()))
    if new is not None and not 1 <= len(new.name) <= LONGEST:
        raise Problem(f"The name of a view has 1 to {LONGEST} characters.", kept="No view was changed.")
    with workspace.writing() as db:
        if before is not None and not db.execute("delete from saved_views where name = ?", (before.name,)).rowcount:
            raise Problem(f"There is no view named “{before.name}” any more.", kept="Nothing was changed.")
        if new is not None:
            if db.execute("select 1 from saved_views where name = ?", (new.name,)).fetchone():
                raise Problem(
                    f"There is a view named “{new.name}” already.", kept="It was not changed.", todo="Choose another."
                )
            row = (new.name, json.dumps(new.listed), now())
            db.execute("insert into saved_views (name, listed, changed) values (?, ?, ?)", row)
    return all_views(workspace)
