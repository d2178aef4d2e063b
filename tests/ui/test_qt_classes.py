"""Qt's classes are made by the window's thread: two threads that made some at once ended the process."""

import subprocess
import sys
import threading

from tests.waits import HANG
from workbench.ui.window.process import qt_classes

LOADED = """
import sys
from PySide6 import QtCore, QtGui, QtWidgets
from workbench.ui.window.process import qt_classes
from workbench.ui.window.page_stack import load_parts, loads

before = {module: len(vars(module)) for module in (QtCore, QtGui, QtWidgets)}
for step in qt_classes.steps():
    step()
made = {module: len(vars(module)) for module in before}
modules = {name for name in sys.modules if name.startswith("PySide6.")}
libraries = ("PySide6", "workbench.ui", "pyqtgraph", "qtawesome")
of_qt = {name for name in sys.modules if name.startswith(libraries)}
load_parts()
print("workbench.comparing.difference.forest" in sys.modules)
print(sorted({name for name in sys.modules if name.startswith(libraries)} - of_qt))
for step in loads():
    step()
print("workbench.ui.pages.compare.difference.forest_plot" in sys.modules)
print(all(made[module] > count for module, count in before.items()))
print([name for module, count in made.items() for name in list(vars(module))[count:]])
print(sorted({name for name in sys.modules if name.startswith("PySide6.")} - modules))
"""


def test_a_thread_loads_nothing_of_qt_and_loading_the_pages_makes_no_class_of_qt_itself():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:6] == ["True", "[]", "True", "True", "[]", "[]"]


def test_the_pages_are_loaded_after_the_classes(qtbot, session, monkeypatch):
    from workbench.ui.window import main_window

    order = []
    monkeypatch.setattr(qt_classes, "steps", lambda: [lambda: order.append("class")] * 2)
    monkeypatch.setattr(main_window, "load_parts", lambda: order.append("parts"))
    monkeypatch.setattr(main_window, "loads", lambda: [lambda: order.append("page")] * 2)
    window = qtbot.addWidget(main_window.MainWindow(session))
    window.make_ready()
    qtbot.waitUntil(lambda: order.count("page") == 2)
    assert order == ["class", "class", "parts", "page", "page"]


def test_the_pages_are_loaded_also_if_another_workspace_was_opened_meanwhile(qtbot, session, tmp_path, monkeypatch):
    from workbench.ui.window import main_window
    from workbench.workspace import Workspace

    begun, go_on, loaded = [], threading.Event(), []

    def load() -> None:
        begun.append(True)
        assert go_on.wait(HANG)

    monkeypatch.setattr(qt_classes, "steps", list)
    monkeypatch.setattr(main_window, "load_parts", load)
    monkeypatch.setattr(main_window, "loads", lambda: [lambda: loaded.append(True)])
    window = qtbot.addWidget(main_window.MainWindow(session))
    window.make_ready()
    qtbot.waitUntil(lambda: bool(begun))
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    go_on.set()
    qtbot.waitUntil(lambda: bool(loaded))
    qtbot.waitUntil(lambda: not window.inspector.empty)
