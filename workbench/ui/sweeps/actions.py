"""The window's command "Sweeps…", and a notice about sweeps without a worker, as after a restart of the machine."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from workbench.progress import Progress
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import RESUME
from workbench.workspace.experiments import sweeps as stored

if TYPE_CHECKING:
    from workbench.ui.sweeps.panel import SweepsPanel

LOOKS_AFTER = 3000  # ms: the window is shown first


class SweepActions(QObject):
    """One command with its panel."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.show = commands.add("run.sweeps", "Sweeps…", self.show_panel, "Ctrl+Alt+S", "grid-four")
        self._timer = QTimer(self, singleShot=True, interval=LOOKS_AFTER)
        self._timer.timeout.connect(self.look)
        session.workspace_changed.connect(self._timer.start)
        self._timer.start()

    def show_panel(self) -> "SweepsPanel":
        """Open the panel, or bring it to the front."""
        from workbench.ui.sweeps.panel import show_sweeps  # late: the window is shown first

        return show_sweeps(self._session, self._window)

    def look(self) -> None:
        """Notify of active sweeps that no worker works on."""
        workspace = self._session.workspace

        def work(progress: Progress) -> list[int]:
            sweeps = stored.every(workspace)
            return [sweep.id for sweep in sweeps if sweep.state == "active" and not (sweep.alive or sweep.starting)]

        self._session.run_in_thread("Sweeps", work, self._tell, quiet=True)

    def _tell(self, lost: list[int]) -> None:
        if lost:
            numbers = ", ".join(map(str, sorted(lost)))
            words = f"Sweep {numbers} no longer has" if len(lost) == 1 else f"Sweeps {numbers} no longer have"
            said = f"{words} a worker process. {RESUME} in “Sweeps…” continues where the sweep stopped."
            self._session.notify(said, EVERYWHERE)
