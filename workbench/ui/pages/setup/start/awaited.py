"""A start that waits for the end of its Preflight, so that no run begins that the check would refuse."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.pages.setup.preflight.runner import PreflightRunner

if TYPE_CHECKING:
    from workbench.ui.pages.setup.rate.dialog import RateDialog
    from workbench.ui.sweeps.dialog import SweepDialog


class AwaitedStart(QObject):
    """The config whose start was asked for while its check waits or works; none as a rule."""

    changed = Signal(bool)  # whether a start waits
    ready = Signal()  # the check has passed, or gave way to a run that trains: the run can start now
    refused = Signal(str)  # why the run is not started

    def __init__(self, runner: PreflightRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._config: RunConfig | None = None
        runner.done.connect(self._go)
        runner.held.connect(self._go)
        runner.failed.connect(self._refuse)
        runner.cancelled.connect(self._cancelled)

    @property
    def waits(self) -> bool:
        """Whether a start waits."""
        return self._config is not None

    def ask(self, config: RunConfig) -> None:
        """Start the run of the checked config as soon as its check has ended, which begins now if it has not."""
        self._config = config
        self.changed.emit(True)
        self._runner.hurry()

    def keep(self, config: RunConfig | None, reason: str = "") -> None:
        """Drop the start if the config has changed since, or cannot start any more because of the reason."""
        if self._config is None or config == self._config:
            return
        self.drop()
        if reason:
            self.refused.emit(reason)

    def drop(self) -> None:
        """The start is not wanted any more; the check goes on."""
        if self._config is not None:
            self._config = None
            self.changed.emit(False)

    def _go(self) -> None:
        if self._config is not None:
            self.drop()
            self.ready.emit()

    def _refuse(self, problem: Problem) -> None:
        self._end(str(problem))

    def _cancelled(self) -> None:
        self._end("Preflight was cancelled.")

    def _end(self, reason: str) -> None:
        if self._config is not None:
            self.drop()
            self.refused.emit(reason)


def let_wait(dialog: "RateDialog | SweepDialog", config: RunConfig, runner: PreflightRunner) -> None:
    """Let what a dialog starts wait for the end of the check of its config, as long as the dialog is open."""
    awaited = AwaitedStart(runner, dialog)

    def wait() -> bool:
        if runner.checking:
            awaited.ask(config)
        return awaited.waits

    dialog.wait = wait
    awaited.ready.connect(dialog.start_now)
    awaited.refused.connect(dialog.refuse)
    dialog.finished.connect(awaited.drop)
