"""A person before the real window: `train SPACE CONFIG` starts or resumes a run and closes at its end.

`turn SPACE PAGES FILE` turns pages of a workspace with a run, and writes memory and open files to FILE as JSON lines.
"""

import json
import sys
from pathlib import Path

import psutil
from PySide6.QtCore import QEvent, QObject, QTimer

from workbench import app
from workbench.config import RunConfig
from workbench.ui.state.session import PAGES
from workbench.ui.window import main_window

OVER = ("done", "stopped", "failed", "cancelled")
EVERY = 20  # page turns between two measurements


class Trainer(QObject):
    """Starts the config's run once the engine is there, or goes on with the one that is there."""

    def __init__(self, window: main_window.MainWindow, config: str) -> None:
        super().__init__(window)
        self._window, self._session, self._config = window, window.session, Path(config)
        self._timer = QTimer(self, interval=20)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._begun = False

    def _look(self) -> None:
        runs = self._session.workspace.runs()
        if not self._begun:
            if self._window.pages.page("setup").start.isEnabled():
                self._begun = True
                self._begin(runs)
        elif runs[0].status in OVER and not self._session.queue.busy:
            self._timer.stop()
            self._window.close()

    def _begin(self, runs: list) -> None:
        if not runs:
            self._session.start(RunConfig.from_toml(self._config))
        elif runs[0].status != "done":
            self._session.resume_run(runs[0].id)


class Reader(QObject):
    """Turns one page after another, each when the one before has been painted."""

    def __init__(self, window: main_window.MainWindow, pages: str, out: str) -> None:
        super().__init__(window)
        self._window, self._left, self._out = window, int(pages), Path(out)
        self._process, self._turned = psutil.Process(), 0
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)
        self._timer.start()

    def _turn(self) -> None:
        session = self._window.session
        if not self._window.pages.page("setup").start.isEnabled() or not session.runs():
            return
        if session.run_id is None:
            session.show_run(session.runs()[0].id)
        if self._turned % EVERY == 0:
            self._measure()
        if self._turned == self._left:
            self._timer.stop()
            self._window.close()
            return
        evaluations = session.workspace.evaluations(session.run_id)
        if evaluations:
            session.show_evaluation(evaluations[self._turned // len(PAGES) % len(evaluations)].id)
        session.show_page(PAGES[self._turned % len(PAGES)])
        self._turned += 1

    def _measure(self) -> None:
        facts = {"count": self._turned, "files": self._process.num_fds(), "memory": self._process.memory_info().rss}
        with self._out.open("a") as file:
            file.write(json.dumps(facts) + "\n")


PEOPLE = {"train": Trainer, "turn": Reader}


class Driven(main_window.MainWindow):
    """The window with a person before it."""

    def showEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if not hasattr(self, "person"):
            self.person = PEOPLE[sys.argv[1]](self, *sys.argv[3:])


if __name__ == "__main__":
    main_window.MainWindow = Driven
    sys.exit(app.main(["--workspace", sys.argv[2]]))
