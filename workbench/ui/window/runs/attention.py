"""What another window's user sees of the runs: the progress in the window's title, and a request in the task bar."""

from collections.abc import Iterator

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from workbench.numerals import percentage
from workbench.ui.state.session import Session
from workbench.workspace.rows import Run


class Attention(QObject):
    """Follows the runs of this window.

    The title begins with the share of the run that works. The task bar asks for attention when the last run has ended,
    when one failed, and when one waits for the user; Qt does this only while another window is in front.
    """

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._asked: tuple[int, str] | None = None  # the run that waits for the user, and why
        session.runs_changed.connect(self.refresh)
        session.workspace_changed.connect(self.refresh)
        session.run_ended.connect(self._run_ended)
        self.refresh()

    def refresh(self) -> None:
        """Bring the title up to date, and ask for attention if a run began to wait for the user."""
        working = next(self._own("running", "waiting"), None)
        title = f"{self._session.workspace.path.name} - Workbench"
        if working is not None and working.total:
            title = f"{percentage(min(1.0, working.done / working.total), 0)} · {working.name} · {title}"
        if self._window.windowTitle() != title:
            self._window.setWindowTitle(title)
        waits = working is not None and working.status == "waiting" and bool(working.problem)
        asked = (working.id, working.problem) if working is not None and waits else None
        if asked is not None and asked != self._asked:
            QApplication.alert(self._window)
        self._asked = asked

    def _run_ended(self, _run_id: int, status: str) -> None:
        if status == "failed" or next(self._own("running", "waiting", "queued"), None) is None:
            QApplication.alert(self._window)

    def _own(self, *states: str) -> Iterator[Run]:
        """The runs in one of these states that this window steers, newest first."""
        runs = (run for run in self._session.runs() if run.status in states)
        return (run for run in runs if self._session.control(run.id) is not None)
