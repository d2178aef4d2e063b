"""The user's arrangements of reports: order and ticks of sections, own text, and the last choice."""

import json
import logging
from collections.abc import Callable
from typing import Any

from workbench.names import short_name
from workbench.workspace.database.columns import Unreadable, parsed, rows_as_one
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

log = logging.getLogger(__name__)
Arrangement = dict[str, Any]
Kinds = dict[str, tuple[type, ...]]
LONGEST = 80  # characters of a title
UNREAD = "unread"  # the key of the reason why an arrangement could not be read
KINDS: Kinds = {"order": (list,), "ticked": (list,), "text": (str,), "title": (str,), "base": (str,)}
CHOSEN_KINDS: Kinds = {"template": (str,), "runs": (list,), "metric": (str,), "at": (str, int)}
CHOICE = "chosen"  # the row of what was chosen last; no template has this key


def arrangements(workspace: Workspace) -> dict[str, Arrangement]:
    """The stored arrangements by the key of the template; the user's own templates also have title and base.

    One that cannot be read has only UNREAD, with the reason.
    """
    with workspace.reading() as db:
        rows = rows_as_one(db, "template, arrangement", "report_templates where template != ?", (CHOICE,))
    return {key: _arrangement(arrangement, KINDS) for key, arrangement in rows}


def choice(workspace: Workspace) -> Arrangement:
    """The template, runs, metric and place that were chosen last; empty before the first."""
    with workspace.reading() as db:
        rows = db.execute("select arrangement from report_templates where template = ?", (CHOICE,)).fetchall()
    chosen = _arrangement(rows[0][0], CHOSEN_KINDS) if rows else {}
    if UNREAD in chosen:
        log.warning("what was chosen last for a report could not be read: %s", chosen[UNREAD])
        return {}
    return chosen


def _arrangement(text: str, kinds: Kinds) -> Arrangement:
    try:
        arrangement = parsed(text, dict)
        for name, kind in kinds.items():
            if name in arrangement and not isinstance(arrangement[name], kind):
                raise Unreadable(f"{name} is not as it was stored")
        whole = all(type(number) is int and 0 < number < 2**63 for number in arrangement.get("runs", ()))
        if not whole or ("metric" in arrangement) > ("at" in arrangement):
            raise Unreadable("runs or metric are not as they were stored")
        if type(arrangement.get("at", "")) is not str and not 0 <= arrangement["at"] < 2**31:
            raise Unreadable("at is not the number of an epoch")
    except Unreadable as error:
        return {UNREAD: str(error)}
    if "title" in arrangement:
        arrangement["title"] = short_name(arrangement["title"], LONGEST)
    return arrangement


def store_choice(workspace: Workspace, chosen: Arrangement) -> None:
    """Store the choice as JSON. Raises Problem if the workspace cannot be written."""
    store_arrangement(workspace, CHOICE, chosen)


def store_arrangement(workspace: Workspace, template: str, arrangement: Arrangement | None) -> None:
    """Store an arrangement as JSON, or delete it. Raises Problem if the workspace cannot be written."""
    change_arrangement(workspace, template, lambda stored: arrangement)


def change_arrangement(
    workspace: Workspace, template: str, change: Callable[[Arrangement | None], Arrangement | None]
) -> Arrangement | None:
    """Store what `change` makes of the stored arrangement, in one transaction: no other window writes in between.

    Returns what was stored before.

    Args:
        change: gets the arrangement as `arrangements` reads it, None where none is stored; None from it deletes it.

    Raises:
        Problem: the workspace cannot be written.
    """
    with workspace.writing() as db:
        rows = db.execute("select arrangement from report_templates where template = ?", (template,)).fetchall()
        before = _arrangement(rows[0][0], KINDS) if rows else None
        changed = change(before)
        if changed is None:
            db.execute("delete from report_templates where template = ?", (template,))
        else:
            db.execute(
                "insert or replace into report_templates (template, arrangement, changed) values (?, ?, ?)",
                (template, json.dumps(changed), now()),
            )
    return before
