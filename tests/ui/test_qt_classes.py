"""Qt's classes are made by the window's thread: two threads that made some at once ended the process."""

import subprocess
import sys

from workbench.ui import qt_classes

LOADED = """
import sys
from PySide6 import QtCore, QtGui, QtWidgets
from workbench.ui import qt_classes
from workbench.ui.page_stack import load_pages

before = {module: len(vars(module)) for module in (QtCore, QtGui, QtWidgets)}
for step in qt_classes.steps():
    step()
made = {module: len(vars(module)) for module in before}
modules = {name for name in sys.modules if name.startswith("PySide6.")}
load_pages()
print(all(made[module] > count for module, count in before.items()))
print([name for module, count in made.items() for name in list(vars(module))[count:]])
print(sorted({name for name in sys.modules if name.startswith("PySide6.")} - modules))
"""


def test_loading_the_pages_makes_no_class_of_qt():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["True", "[]", "[]"]


def test_the_pages_are_loaded_after_the_classes(qtbot, session, monkeypatch):
    from workbench.ui import main_window

    order = []
    monkeypatch.setattr(qt_classes, "steps", lambda: [lambda: order.append("class")] * 2)
    monkeypatch.setattr(main_window, "load_pages", lambda: order.append("pages"))
    window = main_window.MainWindow(session)
    qtbot.addWidget(window)
    window.make_ready()
    qtbot.waitUntil(lambda: "pages" in order)
    assert order == ["class", "class", "pages"]
