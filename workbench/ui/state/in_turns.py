"""Long work of the window's thread, done in steps: one step in each turn of the event loop while a run works."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from workbench.ui.state.session import Session

BETWEEN = 2  # ms


class InTurns(QObject):
    """Runs steps one after another; the window can respond between them. A closed session ends them."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._steps: list[Callable[[], object]] = []
        self._timer = QTimer(self, interval=BETWEEN, singleShot=True)
        self._timer.timeout.connect(self._next)

    def begin(self, *steps: Callable[[], object], long: bool = False) -> None:
        """Run these steps: at once when no run trains, otherwise from the next turn on. Earlier steps are dropped.

        `long` ones are never done at once.
        """
        if self._session.busy or long:
            self._steps = list(steps)
            self._timer.start()
        else:
            self.stop()
            for step in steps:
                step()

    def stop(self) -> None:
        """Drop the steps that are left."""
        self._steps = []
        self._timer.stop()

    @property
    def busy(self) -> bool:
        """Whether steps are left."""
        return bool(self._steps)

    def _next(self) -> None:
        if self._session.closed:
            self._steps = []
        if self._steps:
            step = self._steps.pop(0)
            step()
        if self._steps:
            self._timer.start()
