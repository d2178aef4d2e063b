"""The run that is shown in each workspace, so that it is shown again when the workspace is opened again."""

from PySide6.QtCore import QObject, QTimer

from workbench.ui.state.session import Session


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

    def show(self) -> None:
        """Show the run that was shown last in this workspace, if it is still there and no run is shown."""
        session = self._session
        if session.closed or session.run_id is not None:
            return
        run_id = session.preferences.shown_run(session.workspace.path.absolute())
        if run_id in {run.id for run in session.runs()}:
            session.show_run(run_id)

    def _remember(self, run_id: int | None) -> None:
        if run_id is not None or not self._opened.isActive():
            self._session.preferences.remember_run(self._session.workspace.path.absolute(), run_id)
