"""The form as it was left in a workspace: it is there again when the window is opened on that workspace."""

import json
from typing import Any

from pydantic import ValidationError

from workbench.config import BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.state.session import Session

KEPT = "setup/form"  # preference: JSON of the workspace, the config that changes are measured against, and the form's
LONGEST = 1_000_000  # letters


def keep_form(session: Session, draft: Draft | None) -> None:
    """Store what the form shows; a value that no config can have, as letters in a number, is stored as it was before.

    Nothing is stored before there is a form.
    """
    if draft is None:
        return
    base = _written(draft.base)
    stored = [_place(session), base, _written(draft.values) or base]
    if base:
        session.preferences.set_text(KEPT, json.dumps(stored))


def kept_form(session: Session, known: Catalog) -> Draft | None:
    """The form as it was left in this workspace; None where it was not, or what was stored cannot be read."""
    text = session.preferences.text(KEPT)
    try:
        place, *texts = json.loads(text) if len(text) < LONGEST else []
        base, form = (RunConfig.recorded(part) for part in texts)
    except (ValueError, TypeError, RecursionError, BadConfig):
        return None
    if place != _place(session):
        return None
    draft = Draft(known, base)
    if form != base:
        draft.load(form, as_base=False)
    return draft


def _place(session: Session) -> str:
    return str(session.workspace.path.absolute())


def _written(values: dict[str, Any]) -> str:
    """The values of a draft as TOML; empty where they are no config."""
    try:
        return RunConfig.model_validate(values).to_toml()
    except ValidationError:
        return ""
