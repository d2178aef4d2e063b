"""Uncaught exceptions: shown at most once a minute in the message bar and always logged; the program continues."""

import logging
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import monotonic
from types import TracebackType

from platformdirs import user_log_path
from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from workbench.problem import Problem

log = logging.getLogger(__name__)
LARGEST_LOG = 1 << 20  # bytes
QUIET = 60.0  # seconds in which the same defect is shown once
LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def log_folder() -> Path:
    """The folder of the window's log."""
    return user_log_path("workbench", appauthor=False)


def log_file() -> Path:
    """The file of the window's log; older ones have numbers behind the name."""
    return log_folder() / "window.log"


def start_log(path: Path) -> None:
    """Write the log to a file of at most 1 MB, with three older ones; to none when the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = _WindowLog(path, maxBytes=LARGEST_LOG, backupCount=3, encoding="utf-8")
    except OSError as error:
        log.warning("no log in %s: %s", path.parent, error)
        return
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(process)d %(threadName)s %(name)s: %(message)s")
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


class _WindowLog(RotatingFileHandler):
    """A log that goes on in its file where that cannot be renamed: on Windows while a second window writes it, too."""

    def doRollover(self) -> None:
        try:
            super().doRollover()
        except OSError:
            self.stream = self._open()


class Defects(QObject):
    """Receives the uncaught exceptions of all threads between `install` and `remove`."""

    noticed = Signal(object, str)  # Problem, traceback; on the window's thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def install(self) -> None:
        """Receive uncaught exceptions of all threads, and write Qt's messages to the log."""
        sys.excepthook = self.caught
        threading.excepthook = self.caught_in_thread
        qInstallMessageHandler(_to_log)

    def remove(self) -> None:
        """Restore Python's own hooks and Qt's own message handler."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def caught(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        """The exception hook: shows a Problem with its own sentences, anything else as a defect of Workbench."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error or kind(), trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        log.error("not caught:\n%s", text)
        if not self._is_news(f"{kind.__name__} {_place(trace)}"):
            return
        problem = error if isinstance(error, Problem) else _as_problem(kind)
        self.noticed.emit(problem, text)

    def caught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        """The exception hook of the other threads, which does the same."""
        self.caught(args.exc_type, args.exc_value, args.exc_traceback)

    def _is_news(self, key: str) -> bool:
        with self._lock:
            now, before = monotonic(), self._last.get(key)
            if before is not None and now - before < QUIET:
                return False
            self._last[key] = now
            return True


def _as_problem(kind: type[BaseException]) -> Problem:
    return Problem(
        "Something went wrong: this is a defect in Workbench.",
        kept="All stored data is kept, and a run that is training continues.",
        todo=f"Copy the details ({kind.__name__}) into a bug report.",
    )


def _place(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _to_log(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(LEVELS.get(kind, logging.WARNING), "%s", message)
