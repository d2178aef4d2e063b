"""GPUs of this machine, and the process that waits for the next run, while they are shown."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel

from workbench.running.devices.gpus import Gpu, gpus
from workbench.ui.state.session import Session
from workbench.ui.style.words import memory

LOOK_EVERY = 2000  # ms
UNBOUNDED = 2**24 - 1  # px: what Qt takes for no limit


class MachineLines(QLabel):
    """One line for each GPU and one for a waiting process, read on a thread; hidden where there is neither.

    Args:
        look: reads the GPUs; the machine's by default.
    """

    def __init__(self, session: Session, look: Callable[[], list[Gpu]] = gpus) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setAccessibleName("GPUs of this machine, and the process that waits for the next run")
        self.setProperty("role", "muted")
        self.setMaximumHeight(0)
        self._session, self._look = session, look
        self._none = False  # no GPU was seen: none appears while the program runs
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._read)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._read()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _read(self) -> None:
        self._session.read(self._lines, self._show)

    def _lines(self) -> list[str]:
        seen = [] if self._none else self._look()
        self._none = not seen
        lines = [gpu.words for gpu in seen]
        if taken := self._session.spare.memory():
            lines.append(f"A process with torch loaded waits for the next run: {memory(taken)}.")
        return lines

    def _show(self, lines: list[str]) -> None:
        self.setText("\n".join(lines))
        self.setMaximumHeight(UNBOUNDED if lines else 0)  # it stays visible, so that it gets show events
