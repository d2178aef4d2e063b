"""Opens the sweep dialog of Set up; its start waits for the end of Preflight, as that of a run does."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.config import RunConfig
from workbench.ui.pages.setup.preflight.runner import PreflightRunner
from workbench.ui.pages.setup.start.awaited import let_wait
from workbench.ui.state.session import Session

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight
    from workbench.ui.sweeps.dialog import SweepDialog


def open_sweep(
    session: Session,
    config: RunConfig,
    known: "tuple[RunConfig, Preflight] | None",
    place: str,
    runner: PreflightRunner,
    page: QWidget,
) -> "SweepDialog":
    """Vary a config, which the runner checks.

    Args:
        known: the config that was checked last, and what the check found.
        place: where the runs train at first.
    """
    from workbench.ui.sweeps.dialog import SweepDialog  # late, as the other dialogs: the window is shown first

    preflight = known[1] if known is not None and known[0] == config else None
    dialog = SweepDialog(session, config, preflight, place, page)
    let_wait(dialog, config, runner)
    runner.done.connect(dialog.take_preflight)
    runner.failed.connect(dialog.forbid)
    dialog.open()
    return dialog
