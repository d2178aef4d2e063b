"""Opens the range test of Set up; its start waits for the end of Preflight, as that of a run does.

Two networks that train on threads of one process would draw from one random generator, and no curve would come again.
"""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.config import RunConfig
from workbench.ui.pages.setup.preflight.runner import PreflightRunner
from workbench.ui.pages.setup.start.awaited import let_wait
from workbench.ui.state.session import Session

if TYPE_CHECKING:
    from workbench.ui.pages.setup.rate.dialog import RateDialog


def open_rate(session: Session, config: RunConfig, runner: PreflightRunner, page: QWidget) -> "RateDialog":
    """Find a learning rate for a config, which the runner checks; `used` of the dialog emits the chosen one."""
    from workbench.ui.pages.setup.rate.dialog import RateDialog  # late, as the other dialogs

    dialog = RateDialog(session, config, page)
    let_wait(dialog, config, runner)
    dialog.open()
    return dialog
