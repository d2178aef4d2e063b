"""A notification on the desktop when a run or sweep has ended, failed or waits, while another window is in front."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from workbench.ui.state.commands import Commands
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.window.runs.watched_ends import WatchedEnds

if TYPE_CHECKING:
    from workbench.ui.window.runs.outcomes import Outcome

NOTICES = "runs/notices"  # preference: whether the desktop is told
GATHERED = 3000  # ms in which several outcomes become one notification
MOST_LINES = 3
SHOWN = 15_000  # ms; most desktops have a time of their own
AS_DATA = str.maketrans("<>", "‹›")  # some desktops read a text as HTML, others would show an escape as it is


class DesktopNotice(QObject):
    """Tells the desktop what `WatchedEnds` notices; nothing where the desktop has no tray or the user wants none.

    The icon is in the tray from a notification until the window is active again. A click on either raises the window
    and shows the run, of several the last one that went wrong.
    """

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._commands, self._window = session, commands, window
        self._due: list[Outcome] = []
        self._shown: Outcome | None = None  # by a click
        self._tray: QSystemTrayIcon | None = None  # made with the first notification
        self.wanted = commands.add("run.notices", "Notify me on the desktop", None, checkable=True)
        self.wanted.setToolTip(
            "While another window is in front: when a run fails or waits for you, when one ends that trained for a "
            "minute or longer, and when a sweep ends"
        )
        self.wanted.setChecked(session.preferences.flag(NOTICES, default=True))
        self.wanted.toggled.connect(self._choose)
        self._gathered = QTimer(self, singleShot=True, interval=GATHERED)
        self._gathered.timeout.connect(self._tell)
        session.workspace_changed.connect(self._forget)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.applicationStateChanged.connect(self._state_changed)
        self.watched = WatchedEnds(session, self)
        self.watched.happened.connect(self._hear)

    def _choose(self, on: bool) -> None:
        self._session.preferences.set_flag(NOTICES, on)

    def _hear(self, outcome: "Outcome") -> None:
        self._due.append(outcome)
        if not self._gathered.isActive():
            self._gathered.start()

    def _tell(self) -> None:
        due, self._due = self._due, []
        if not due or QApplication.activeWindow() is not None:  # who is back sees it in the window
            return
        QApplication.alert(self._window)
        if self.wanted.isChecked() and QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show(due)

    def _show(self, due: "list[Outcome]") -> None:
        tray = self._tray or self._make_tray()
        wrong = [outcome for outcome in due if outcome.wrong]
        self._shown = (wrong or due)[-1]
        head, lines = due[0].head, [outcome.text for outcome in due[:MOST_LINES]]
        if len(due) > 1:
            head = f"{counted(len(due), 'message')} from Workbench"
        if len(due) > MOST_LINES:
            lines.append(f"And {len(due) - MOST_LINES:,} more.")
        text = "\n".join(lines).translate(AS_DATA)
        tray.setToolTip(plain_tip(text))
        tray.show()
        icon = QSystemTrayIcon.MessageIcon.Warning if wrong else QSystemTrayIcon.MessageIcon.Information
        tray.showMessage(head, text, icon, SHOWN)

    def _make_tray(self) -> QSystemTrayIcon:
        self._tray = tray = QSystemTrayIcon(QApplication.windowIcon(), self)
        tray.messageClicked.connect(self._come_back)
        tray.activated.connect(self._come_back)
        return tray

    def _come_back(self) -> None:
        """Raise the window and show what was told last."""
        window, shown = self._window, self._shown
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.raise_()
        window.activateWindow()
        self._put_away()
        if shown is None:
            return
        if shown.run_id is None:
            self._commands["run.sweeps"].trigger()
        elif self._session.run(shown.run_id) is not None:
            self._session.show_run(shown.run_id)
            self._session.show_page("train")

    def _state_changed(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self._put_away()

    def _put_away(self) -> None:
        """The user is back and sees it in the window."""
        self._due.clear()
        if self._tray is not None:
            self._tray.hide()

    def _forget(self) -> None:
        """Another workspace is open, in which another run may have the number."""
        self._shown = None
        self._put_away()
