"""`python -m tests.campaign.monkey_window SPACE FILES SEED ACTIONS OUT`: a person who does anything that is possible.

Each action is drawn from the seed among what is visible and enabled; OUT gets a line for each. Nothing is deleted
permanently, and no file is chosen but those of FILES. An action that takes 90 seconds ends the process with all stacks.
"""

import faulthandler
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import shiboken6
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from workbench import app
from workbench.ui.state.session import PAGES
from workbench.ui.window import main_window

HANG = 90.0  # seconds
SOON = 200  # ms between two steps of the end
NEVER = ("Delete", "Quit")  # begin the words of buttons that are not clicked
SIZES = ((960, 600), (1280, 720), (1440, 900), (1920, 1080), (700, 420))
TEXTS = (
    "", " ", "0", "-1", "3", "0.5", "1e400", "nan", "9" * 20, "ä€😀", "שלום", "<b>x</b>&amp;", "a" * 60, "../../x", "[",
    "1,5", "%s {0}", "'; drop table runs; --", "\u202eabc", "lr:", "state:done", "tag:", "loss:ce",
)  # fmt: skip
KEYS = (
    "Ctrl+Shift+P", "F1", "Ctrl+N", "Ctrl+D", "Ctrl+Shift+Space", "Ctrl+F", "F2", "Space", "Ctrl+A", "Delete", "Ctrl+Z",
    "Ctrl+Shift+Z", "F6", "F11", "Ctrl+Alt+S", "Ctrl+Alt+R", "Ctrl+Alt+I", "Ctrl+Alt+A", "Ctrl++", "Ctrl+-", "Ctrl+T",
    "Ctrl+Return", "Ctrl+Shift+Return", "Ctrl+L", "Shift+F1", "Alt+Left", "Alt+Right", "Alt+Up", "Ctrl+V", "Ctrl+E",
    "Ctrl+Shift+D", "Ctrl+Shift+G", "Ctrl+Shift+L", "Up", "Down", "Left", "Right", "Home", "End", "Esc", "Return",
    "Tab", *"GOSRFITBNJKMCPDU[]",
)  # fmt: skip
LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class Monkey(QObject):
    """Does one thing after another, also while a dialog or a menu waits, and closes the window at the end."""

    def __init__(self, window: main_window.MainWindow, files: str, seed: str, actions: str, out: str) -> None:
        super().__init__(window)
        self._window, self._left, self._random = window, int(actions), random.Random(seed)
        self._files = sorted(Path(files).rglob("*"))
        self._out = Path(out).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115 - as long as the process
        self._chosen = {
            QAbstractButton: (8, self._click), QTabBar: (4, self._turn_tab), QComboBox: (4, self._open_choices),
            QAbstractItemView: (5, self._use_row), QAbstractSlider: (2, self._slide), QLineEdit: (2, self._type),
            QAbstractSpinBox: (2, self._type), QPlainTextEdit: (1, self._type), QWidget: (4, self._use_mouse),
        }  # fmt: skip
        answers = (("getExistingDirectory", str), ("getOpenFileName", lambda path: (path, "")))
        for name, answer in (*answers, ("getSaveFileName", lambda path: (f"{path}.saved", ""))):
            setattr(QFileDialog, name, staticmethod(lambda *_, answer=answer, **__: answer(str(self._file()))))
        QtGui.QDesktopServices.openUrl = staticmethod(lambda url: True)
        self._next(3000)

    def _next(self, wait: int) -> None:
        """Timers of their own, because a dialog's loop runs within the action that opened it."""
        faulthandler.dump_traceback_later(HANG, exit=True)
        QTimer.singleShot(wait, self, self._act)

    def _act(self) -> None:
        if self._left <= 0:
            self._end()
            return
        self._left -= 1
        self._next(self._random.choice((0, 0, 10, 30, 60, 100, 100, 400)))
        popup, dialog = QApplication.activePopupWidget(), QApplication.activeModalWidget()
        if isinstance(popup, QMenu):
            self._use_menu(popup)
        elif popup is not None or dialog is not None:
            self._use_part(popup or dialog)
        else:
            windows = [shown for shown in QApplication.topLevelWidgets() if isinstance(shown, QDialog)]
            beside = [dialog for dialog in windows if dialog.isVisible()]
            self._use_window() if not beside or self._random.random() < 0.6 else self._use_part(beside[0])

    def _end(self) -> None:
        """Close menus and dialogs, then the window, whose questions are answered at random."""
        popup, dialog = QApplication.activePopupWidget(), QApplication.activeModalWidget()
        QTimer.singleShot(SOON, self, self._end)
        if popup is not None:
            popup.close()
        elif dialog is not None:
            buttons = [button for button in dialog.findChildren(QAbstractButton) if _usable(button)]
            self._random.choice(buttons).click() if buttons else dialog.close()
        else:
            self._window.close()

    def _say(self, what: str, widget: QWidget | None = None) -> None:
        words = getattr(widget, "text", getattr(widget, "currentText", ""))  # a method of Qt's, or an attribute of ours
        shown = words() if callable(words) else words
        name = f" {type(widget).__name__} {widget.accessibleName() or shown!r}" if widget is not None else ""
        self._out.write(json.dumps(f"{what}{name}"[:160]) + "\n")

    def _file(self) -> Path:
        return self._random.choice(self._files)

    def _use_window(self) -> None:
        draws: Sequence[tuple[int, Callable[[], None]]] = (
            (10, self._use_page), (3, lambda: self._use_part(self._window)), (2, self._press), (1, self._show_page),
            (1, self._resize), (1, self._drop), (1, self._use_menu_bar), (1, self._show_run),
        )  # fmt: skip
        self._random.choices([act for _, act in draws], [weight for weight, _ in draws])[0]()

    def _use_page(self) -> None:
        self._use_part(self._window.pages.page(self._window.session.page))

    def _use_part(self, part: QWidget) -> None:
        """Something with one of the widgets that are seen in a page, a dialog or the window."""
        kinds: dict[type, list[QWidget]] = {}
        for widget in part.findChildren(QWidget):
            if _usable(widget) and widget.window() is part.window():
                kind = next(kind for kind in self._chosen if isinstance(widget, kind))
                kinds.setdefault(kind, []).append(widget)
        if not kinds or self._random.random() < 0.1:
            self._press()
            return
        kind = self._random.choices(list(kinds), [self._chosen[kind][0] for kind in kinds])[0]
        widget = self._random.choice(kinds[kind])
        if self._random.random() < 0.05:
            self._ask_menu(widget, self._point(widget))
        else:
            self._chosen[kind][1](widget)

    def _click(self, button: QAbstractButton) -> None:
        self._say("click", button)
        QTest.mouseClick(button, LEFT)

    def _turn_tab(self, tabs: QTabBar) -> None:
        self._say("turn a tab of", tabs)
        if tabs.count():
            QTest.mouseClick(tabs, LEFT, PLAIN, tabs.tabRect(self._random.randrange(tabs.count())).center())

    def _open_choices(self, box: QComboBox) -> None:
        if self._random.random() < 0.5:
            self._say("open", box)
            box.showPopup()
        else:
            self._press(box, self._random.choice(("Up", "Down", "Home", "End")))

    def _use_row(self, view: QAbstractItemView) -> None:
        index, area = view.indexAt(self._point(view.viewport())), view.viewport()
        at = view.visualRect(index).center() if index.isValid() else self._point(area)
        how = self._random.random()
        if how < 0.3:
            self._press(view, self._random.choice(("Space", "Down", "Up", "Return", "Delete", "Ctrl+A", "F2", "End")))
        elif how < 0.4:
            self._ask_menu(area, at)
        else:
            self._say(f"click row {index.row()} of", view)
            held = self._random.choice((PLAIN, PLAIN, Qt.KeyboardModifier.ControlModifier))
            QTest.mouseClick(area, LEFT, held, QPoint(10, at.y()) if how < 0.6 else at)
            if how > 0.9 and shiboken6.isValid(area):
                QTest.mouseDClick(area, LEFT, held, at)

    def _slide(self, slider: QAbstractSlider) -> None:
        self._say("slide", slider)
        slider.setValue(self._random.randint(slider.minimum(), slider.maximum()))

    def _type(self, field: QWidget) -> None:
        text = self._random.choice(TEXTS)
        self._say(f"type {text!r} in", field)
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(field, Qt.Key.Key_Delete)
        for letter in text:
            if shiboken6.isValid(field):
                QApplication.sendEvent(field, QtGui.QKeyEvent(QEvent.Type.KeyPress, 0, PLAIN, letter))
        if shiboken6.isValid(field):
            self._press(field, self._random.choice(("Return", "Tab", "Down", "Esc")), said=True)

    def _use_mouse(self, widget: QWidget) -> None:
        at, how = self._point(widget), self._random.random()
        self._say(f"mouse {how:.2f} on", widget)
        if how < 0.5:
            QTest.mouseClick(widget, LEFT, PLAIN, at)
        elif how < 0.6:
            QTest.mouseDClick(widget, LEFT, PLAIN, at)
        elif how < 0.8:
            QTest.mousePress(widget, LEFT, PLAIN, at)
            for _ in range(4):
                if shiboken6.isValid(widget):
                    QTest.mouseMove(widget, self._point(widget))
            if shiboken6.isValid(widget):
                QTest.mouseRelease(widget, LEFT, PLAIN, self._point(widget))
        else:
            far, none = QPoint(0, self._random.choice((-480, 120))), Qt.MouseButton.NoButton
            places = (QPointF(at), QPointF(widget.mapToGlobal(at)), QPoint(), far)
            QApplication.sendEvent(widget, QtGui.QWheelEvent(*places, none, PLAIN, Qt.ScrollPhase.NoScrollPhase, False))

    def _ask_menu(self, widget: QWidget, at: QPoint) -> None:
        self._say("context menu of", widget)
        QApplication.postEvent(
            widget, QtGui.QContextMenuEvent(QtGui.QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at))
        )

    def _use_menu(self, menu: QMenu) -> None:
        actions = [action for action in menu.actions() if action.isVisible() and action.isEnabled() and action.text()]
        action = self._random.choice(actions) if actions and self._random.random() < 0.8 else None
        self._say(f"menu: {action.text() if action else 'closed'}")
        if action is None or action.text().replace("&", "").startswith(NEVER):
            menu.close()
        else:
            menu.setActiveAction(action)
            QTest.keyClick(menu, Qt.Key.Key_Return)

    def _use_menu_bar(self) -> None:
        menu: Any = self._random.choice([action for action in self._window.menuBar().actions() if action.menu()]).menu()
        self._say(f"menu bar: {menu.title()}")
        menu.popup(self._window.mapToGlobal(QPoint(20, 20)))

    def _press(self, widget: QWidget | None = None, keys: str = "", *, said: bool = False) -> None:
        target, keys = widget or QApplication.focusWidget() or self._window, keys or self._random.choice(KEYS)
        if not said:
            self._say(f"press {keys} on", target)
        pressed = QtGui.QKeySequence(keys)[0]
        QTest.keyClick(target, pressed.key(), pressed.keyboardModifiers())

    def _show_page(self) -> None:
        page = self._random.choice(PAGES)
        self._say(f"page {page}")
        self._window.session.show_page(page)

    def _show_run(self) -> None:
        run = self._random.choice(self._window.session.runs() or [None])
        self._say(f"show run {run.id if run else None}")
        self._window.session.show_run(run.id if run else None)

    def _resize(self) -> None:
        size = self._random.choice(SIZES)
        self._say(f"resize to {size}")
        self._window.resize(*size)

    def _drop(self) -> None:
        path, mime = self._file(), QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        targets = [widget for widget in self._window.findChildren(QWidget) if _usable(widget) and widget.acceptDrops()]
        target = self._random.choice([self._window, *targets])
        self._say(f"drop {path.name} on", target)
        at, held = target.rect().center(), (Qt.DropAction.CopyAction, mime, LEFT, PLAIN)
        entering = QtGui.QDragEnterEvent(at, *held)
        QApplication.sendEvent(target, entering)
        last = QtGui.QDropEvent(QPointF(at), *held) if entering.isAccepted() else QtGui.QDragLeaveEvent()
        QApplication.sendEvent(target, last)

    def _point(self, widget: QWidget) -> QPoint:
        return QPoint(self._random.randrange(max(1, widget.width())), self._random.randrange(max(1, widget.height())))


def _usable(widget: QWidget) -> bool:
    if not (widget.isVisible() and widget.isEnabled()) or widget.visibleRegion().isEmpty():
        return False
    return not (isinstance(widget, QAbstractButton) and widget.text().replace("&", "").startswith(NEVER))


class Driven(main_window.MainWindow):
    """The window with a monkey before it."""

    def showEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if not hasattr(self, "monkey"):
            self.monkey = Monkey(self, *sys.argv[2:])


if __name__ == "__main__":
    main_window.MainWindow = Driven
    sys.exit(app.main(["--workspace", sys.argv[1]]))
