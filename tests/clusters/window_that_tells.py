"""The real window, which prints what it shows of its first run as JSON lines: `window_that_tells WORKSPACE`."""

import json
import sys

from PySide6.QtCore import QEvent, QTimer

from workbench import app
from workbench.ui.window import main_window

EVERY = 100  # ms


class Telling(main_window.MainWindow):
    """Shows the first run, and prints its state with the points of its loss that came to the window."""

    def showEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if not hasattr(self, "timer"):
            self.steps, self.before = set(), ""
            self.session.scalars_arrived.connect(self._take)
            self.timer = QTimer(self, interval=EVERY)
            self.timer.timeout.connect(self._tell)
            self.timer.start()

    def _take(self, points) -> None:
        self.steps |= {step for name, step, _ in points if name == "batch/loss"}

    def _tell(self) -> None:
        runs = self.session.runs()
        if not runs:
            return
        if self.session.run_id is None:
            self.session.show_run(runs[0].id)
        facts = {"status": runs[0].status, "points": len(self.steps), "silent": runs[0].placement.silent,
                 "open": runs[0].placement.open}  # fmt: skip
        if (line := json.dumps(facts)) != self.before:
            self.before = line
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main_window.MainWindow = Telling
    sys.exit(app.main(["--workspace", sys.argv[1]]))
