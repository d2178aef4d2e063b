"""What a start uses of the page that has the form."""

from typing import Protocol

from workbench.config import RunConfig
from workbench.ui.pages.setup.form.groups import FormGroups
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.verdict import Verdict
from workbench.ui.pages.setup.start.column import StartColumn
from workbench.ui.state.session import Session


class FormPage(Protocol):
    """The page of Set up.

    Attributes:
        draft: what the form shows; None until the catalog is known.
        verdict: on the draft.
    """

    session: Session
    draft: Draft | None
    verdict: Verdict
    groups: FormGroups
    beside: StartColumn

    @property
    def config(self) -> RunConfig | None:
        """The draft as it can start; None while something is wrong."""

    def take_config(self, config: RunConfig) -> None:
        """Show a config."""

    def start_run(self) -> None:
        """Start the run as its button does."""
