"""How a person arranged the reports of a workspace: order and ticks of sections, own text, and what was chosen last."""

import json
from typing import Any

from workbench.workspace.workspace import Workspace, now

Arrangement = dict[str, Any]
CHOICE = "chosen"  # the row of what was chosen last; no template has this key


def arrangements(workspace: Workspace) -> dict[str, Arrangement]:
    """What was stored, by the key of the template; one of a name of its own also has title and base."""
    # One row of one text: every row is a wait for the interpreter beside a training thread.
    sql = "select json_group_array(json_array(template, json(arrangement))) from report_templates where template != ?"
    with workspace.reading() as db:
        ((text,),) = db.execute(sql, (CHOICE,)).fetchall()
    return dict(json.loads(text))


def choice(workspace: Workspace) -> Arrangement:
    """The template, runs, metric and place that were chosen last; empty before the first."""
    with workspace.reading() as db:
        found = db.execute("select arrangement from report_templates where template = ?", (CHOICE,)).fetchall()
    return dict(json.loads(found[0][0])) if found else {}


def store_choice(workspace: Workspace, chosen: Arrangement) -> None:
    """Keep what was chosen as JSON. Raises Problem when the workspace cannot be written."""
    store_arrangement(workspace, CHOICE, chosen)


def store_arrangement(workspace: Workspace, template: str, arrangement: Arrangement | None) -> None:
    """Keep an arrangement as JSON, or forget it. Raises Problem when the workspace cannot be written."""
    with workspace.writing() as db:
        if arrangement is None:
            db.execute("delete from report_templates where template = ?", (template,))
        else:
            db.execute(
                "insert or replace into report_templates (template, arrangement, changed) values (?, ?, ?)",
                (template, json.dumps(arrangement), now()),
            )
