"""A run that is queued behind another: the page stays, for the next one, and the shown run, too."""

from functools import partial

from PySide6.QtCore import QObject

from workbench.config import RunConfig
from workbench.names import visible_name
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session

LONGEST = 80  # letters of a run's name


class Queueing(QObject):
    """Adds runs to the queue, and says so."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def add(self, config: RunConfig) -> None:
        """Queue all runs of a config."""
        failed = partial(self._session.notify, concern=EVERYWHERE)
        self._session.add_runs([config], partial(self._added, visible_name(config.name, LONGEST)), failed)

    def _added(self, name: str, numbers: list[int]) -> None:
        runs = f"“{name}” is" if len(numbers) == 1 else f"{len(numbers):,} runs of “{name}” are"
        self._session.mention(f"{runs} in the queue.")
