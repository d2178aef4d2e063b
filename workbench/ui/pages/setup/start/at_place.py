"""A run that Set up starts at a place: what the config names and the place has not is said at its field."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.pages.setup.start.form_page import FormPage

if TYPE_CHECKING:  # the window is painted before it needs a place
    from workbench.places.place import Place


def start_at_place(page: FormPage, config: RunConfig, place: "Place", then: Callable[[], None] | None) -> None:
    """Start a run of the page's config at a place; a field that it refuses stays changeable, and can be tried again."""
    _show(page, config)
    page.session.start_at(config, place, then, partial(_show, page, config))


def _show(page: FormPage, config: RunConfig, problem: Problem | None = None) -> None:
    """Show the errors of the form, and the refusal of the place, until the next edit or start."""
    if page.draft is None or page.config != config:
        return
    refused = {problem.field: str(problem)} if problem is not None and problem.field else {}
    page.groups.show_draft(page.draft, page.verdict.errors | refused)
    for field in refused:
        page.groups.show_field(field)
