"""Closing the window while a run works: the person chooses, and the run ends by itself. No thread is ever killed."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QProgressBar, QVBoxLayout, QWidget

from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label

WORDS_WIDTH = 400  # px


class AskDialog(QDialog):
    """Stop after this epoch, cancel, or keep the window."""

    stop_chosen = Signal()
    cancel_chosen = Signal()

    def __init__(self, name: str, waiting: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("A run is working")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.stop = button("Stop after this epoch", "stop", "primary")
        self.cancel = button("Cancel the run", "x-circle", "danger")
        self.keep = button("Keep the window open")
        in_line = {0: "", 1: " The run in line is withdrawn."}.get(
            waiting, f" The {waiting} runs in line are withdrawn."
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(8)
        column.addWidget(label(f"“{name}” is still working", "section", wrap=True))
        text = (
            "Stopping after this epoch keeps its curve, evaluations and checkpoint; it can be resumed. "
            f"Cancelling discards what it trained.{in_line}"
        )
        words = label(text, wrap=True)
        words.setMinimumWidth(WORDS_WIDTH)
        column.addWidget(words)
        row = QHBoxLayout()
        row.addStretch(1)
        for choice in (self.keep, self.cancel, self.stop):
            row.addWidget(choice)
        column.addSpacing(8)
        column.addLayout(row)
        column.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        self.keep.setDefault(True)
        self.keep.clicked.connect(self.reject)
        self.stop.clicked.connect(self.stop_chosen)
        self.cancel.clicked.connect(self.cancel_chosen)
        self.stop.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.accept)


class WaitDialog(QDialog):
    """Stands while the run ends; the window goes on painting."""

    cancel_chosen = Signal()

    def __init__(self, words: str, can_cancel: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Closing")
        self.setModal(True)
        self.words = label(words, wrap=True)
        bar = QProgressBar(textVisible=False)
        bar.setRange(0, 0)
        bar.setAccessibleName("Waiting for the run to end")
        self.cancel = button("Cancel the run instead", "x-circle", "danger")
        self.cancel.setVisible(can_cancel)
        self.cancel.clicked.connect(self.cancel_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(12)
        column.addWidget(self.words)
        column.addWidget(bar)
        column.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignRight)
        self.words.setMinimumWidth(WORDS_WIDTH)
        column.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)

    def reject(self) -> None:
        """Esc does not end the waiting."""


class Closing(QObject):
    """Decides whether the window may close now, and closes it when the last run has ended."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.ask: AskDialog | None = None
        self.wait: WaitDialog | None = None

    def may_close(self) -> bool:
        """True when nothing works; otherwise the person is asked, and the window closes later."""
        if not self._session.busy:
            return True
        if self.ask is None and self.wait is None:
            self._open_question()
        return False

    def _open_question(self) -> None:
        queue = self._session.queue
        first = queue.running if queue.running is not None else queue.waiting[0]
        self.ask = AskDialog(self._session.workspace.run(first).name, len(queue.waiting), self._window)
        self.ask.stop_chosen.connect(self._stop)
        self.ask.cancel_chosen.connect(self._cancel)
        self.ask.finished.connect(self._asked)
        self.ask.open()

    def _asked(self) -> None:
        self.ask = None

    def _stop(self) -> None:
        self._session.queue.withdraw_waiting()
        running = self._session.queue.running
        control = None if running is None else self._session.control(running)
        if control is not None:
            control.stop()
        self._wait("The run finishes this epoch. The window closes then.", can_cancel=True)

    def _cancel(self) -> None:
        self._session.queue.withdraw_waiting()
        running = self._session.queue.running
        if running is not None:
            self._session.cancel_run(running)
        self._wait("The run ends. The window closes then.", can_cancel=False)

    def _wait(self, words: str, can_cancel: bool) -> None:
        if not self._session.busy:
            self._close()
            return
        if self.wait is None:
            self.wait = WaitDialog(words, can_cancel, self._window)
            self.wait.cancel_chosen.connect(self._cancel)
            self._session.queue.idle.connect(self._close)
            self.wait.open()
        self.wait.words.setText(words)
        self.wait.cancel.setVisible(can_cancel)

    def _close(self) -> None:
        if self.wait is not None:
            self.wait.hide()
            self.wait.deleteLater()
            self.wait = None
        self._window.close()
