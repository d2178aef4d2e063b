"""Stands in for a person in front of the real program: form, training, report, close. test_program.py starts it."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench import app
from workbench.ui.window import main_window

PATIENCE = 150.0  # seconds for one step
OVER = ("stopped", "done")


class Person(QObject):
    """Does one thing after another, each as soon as the window allows it."""

    def __init__(self, window: main_window.MainWindow, reports: Path) -> None:
        super().__init__(window)
        self._window, self._reports, self._since = window, reports, monotonic()
        self._steps: list[tuple[Callable[[], bool], Callable[[], None]]] = [
            (lambda: window.isVisible() and self._page("setup").start.isEnabled(), self._start),
            (lambda: len(self._evaluations()) >= 2, self._stop),
            (lambda: window.session.run().status in OVER, lambda: window.session.show_page("report")),
            (lambda: self._page("report").preview.count >= 3, self._export),
            (lambda: (reports / "report.pdf").exists() and bool(self._page("report").model.written), window.close),
        ]
        self._timer = QTimer(self, interval=50)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        ready, act = self._steps[0]
        if ready():
            self._steps.pop(0)
            self._since = monotonic()
            if not self._steps:
                self._timer.stop()
            act()
        elif monotonic() - self._since > PATIENCE:
            self._timer.stop()
            sys.stderr.write(f"{len(self._steps)} more steps and the one that was waited for were left\n")
            QApplication.exit(4)  # the program then ends as it does after its window

    def _page(self, name: str):
        return self._window.pages.page(name)

    def _evaluations(self) -> list:
        return self._window.session.workspace.evaluations(self._window.session.run_id)

    def _start(self) -> None:
        QTest.mouseClick(self._page("setup").start, Qt.MouseButton.LeftButton)

    def _stop(self) -> None:
        self._window.session.control(self._window.session.run_id).stop()

    def _export(self) -> None:
        report = self._page("report")
        report.folder.setText(str(self._reports))
        QTest.mouseClick(report.export_button, Qt.MouseButton.LeftButton)


class Driven(main_window.MainWindow):
    """The window with a person before it."""

    def showEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if not hasattr(self, "person"):
            self.person = Person(self, Path(sys.argv[2]))


if __name__ == "__main__":
    main_window.MainWindow = Driven
    status = app.main(["--workspace", sys.argv[1]])
    sys.stdout.write(f"collector {'on' if gc.isenabled() else 'off'}\n")
    sys.exit(status)
