"""Qt's classes for Python: PySide makes each when its name is first read.

Two threads that do so at once end the process, so the window's thread reads all names before another imports pages.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType

from PySide6 import QtCore, QtGui, QtWidgets

LARGE = (QtCore, QtGui, QtWidgets)
SMALL = ("QtSvg", "QtOpenGL", "QtOpenGLWidgets", "QtTest")  # pyqtgraph imports them where they are installed
IN_A_TURN = 40  # names: some milliseconds


def steps() -> list[Callable[[], None]]:
    """What makes every class that the pages and pyqtgraph use: one step for each turn of the event loop."""
    parts = [
        partial(_make, module, names[start : start + IN_A_TURN])
        for module, names in ((module, dir(module)) for module in LARGE)
        for start in range(0, len(names), IN_A_TURN)
    ]
    return [*parts, *(partial(_make_all, name) for name in SMALL)]


def _make(module: ModuleType, names: list[str]) -> None:
    for name in names:
        getattr(module, name)


def _make_all(name: str) -> None:
    with suppress(ImportError):
        module = import_module(f"PySide6.{name}")
        _make(module, dir(module))
