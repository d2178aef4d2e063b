"""The run that is shown in each workspace, so that it is shown again when the workspace is opened again.

Of the workspace that was open last also the ticked runs: a comparison goes on where it was left.
"""

import json

from PySide6.QtCore import QObject, QTimer

from workbench.ui.state.session import Session

TICKED = "runs/ticked"  # preference: JSON of a workspace and the numbers of its ticked runs
LONGEST = 1_000_000  # letters


class RememberedRun(QObject):
    """Kept in the preferences, not in the workspace, which may be read-only; `show` when the window has its parts."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        # In the turn after the signals of another workspace, of which the last say that no run is shown.
        self._opened = QTimer(self, singleShot=True, interval=0)
        self._opened.timeout.connect(self.show)
        session.workspace_changed.connect(self._opened.start)
        session.run_changed.connect(self._remember)
        session.leaving.connect(self._remember_ticked)

    def show(self) -> None:
        """Show the run that was shown last in this workspace and tick those that were ticked, if they are still there.

        Where a run is shown, or some are ticked, that stays.
        """
        session = self._session
        if session.closed:
            return
        there = {run.id for run in session.runs()}
        if not session.ticks.runs:
            session.ticks.put(there & self._ticked())
        run_id = session.preferences.shown_run(session.workspace.path.absolute())
        if session.run_id is None and run_id in there:
            session.show_run(run_id)

    def _ticked(self) -> set[int]:
        """The numbers that were stored of this workspace; none where what is stored cannot be read."""
        text = self._session.preferences.text(TICKED)
        try:
            place, numbers = json.loads(text) if len(text) < LONGEST else ("", [])
            return set(numbers) if place == self._place() else set()
        except (ValueError, TypeError, RecursionError):
            return set()

    def _remember_ticked(self) -> None:
        ticked = json.dumps([self._place(), sorted(self._session.ticks.runs)])
        self._session.preferences.set_text(TICKED, ticked)

    def _place(self) -> str:
        return str(self._session.workspace.path.absolute())

    def _remember(self, run_id: int | None) -> None:
        if run_id is not None or not self._opened.isActive():
            self._session.preferences.remember_run(self._session.workspace.path.absolute(), run_id)
