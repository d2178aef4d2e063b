"""What a start uses of the page that has the form."""

from typing import Protocol

from workbench.config import RunConfig
from workbench.ui.pages.setup.form.groups import FormGroups
from workbench.ui.pages.setup.preflight.answers import CheckedForm
from workbench.ui.pages.setup.start.column import StartColumn


class FormPage(CheckedForm, Protocol):
    """The page of Set up."""

    groups: FormGroups
    beside: StartColumn

    def take_config(self, config: RunConfig) -> None:
        """Show a config."""

    def start_run(self) -> None:
        """Start the run as its button does."""
