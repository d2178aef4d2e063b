"""How a person arranged the reports of a workspace: order and ticks of sections, own text."""

import json
from typing import Any

from workbench.workspace.workspace import Workspace, now

Arrangement = dict[str, Any]


def arrangements(workspace: Workspace) -> dict[str, Arrangement]:
    """What was stored, by the key of the template."""
    # One row of one text: every row is a wait for the interpreter beside a training thread.
    sql = "select json_group_array(json_array(template, json(arrangement))) from report_templates"
    with workspace.reading() as db:
        ((text,),) = db.execute(sql).fetchall()
    return dict(json.loads(text))


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
