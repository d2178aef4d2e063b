"""Name, memory and load of each GPU of this machine, while they are looked at."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel

from workbench.running.gpus import Gpu, gpus
from workbench.ui.session import Session

LOOK_EVERY = 2000  # ms
UNBOUNDED = 2**24 - 1  # px: what Qt takes for no limit


class GpuLines(QLabel):
    """One line for each GPU, read on a thread; hidden where there is none.

    Args:
        look: reads the GPUs; the machine's by default.
    """

    def __init__(self, session: Session, look: Callable[[], list[Gpu]] = gpus) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.setAccessibleName("GPUs of this machine")
        self.setProperty("role", "muted")
        self.setMaximumHeight(0)
        self._session, self._look = session, look
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
        self._session.read(self._look, self._show)

    def _show(self, seen: list[Gpu]) -> None:
        self.setText("\n".join(gpu.words for gpu in seen))
        self.setMaximumHeight(UNBOUNDED if seen else 0)  # it stays shown, so that it is told when it is
        if not seen:
            self._timer.stop()  # a GPU does not appear while the program runs
