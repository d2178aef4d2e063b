"""What a screen reader says: every control of the frame, of each page and of the dialogs has a name."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabWidget,
    QToolButton,
    QWidget,
)
from trained import trained_run

from tests.ui.started import shown_window
from workbench.ui.pages.setup.preflight import runner as preflight
from workbench.ui.style.icons import icon

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
CONTROLS = (
    QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit,
)  # fmt: skip
INSIDE = (QComboBox, QAbstractSpinBox, QAbstractItemView, QKeySequenceEdit, QLineEdit)  # what they hold is theirs


def nameless(window: QWidget) -> list[str]:
    """The visible controls for which a screen reader has no words, with what they are in."""
    found = []
    for control in window.findChildren(QWidget):
        if not isinstance(control, CONTROLS) or not control.isVisible():
            continue
        if isinstance(control, QScrollBar | QHeaderView) or isinstance(control.parent(), INSIDE):
            continue
        spoken = QAccessible.queryAccessibleInterface(control)
        if not spoken.text(QAccessible.Text.Name).strip():
            parents = [type(control.parent()).__name__, control.objectName()]
            found.append(f"{type(control).__name__} in {' '.join(parents)}")
    return found


def untold(window: QWidget) -> list[str]:
    """The visible buttons that show a picture alone and have no tooltip."""
    shown = [button for button in window.findChildren(QAbstractButton) if button.isVisible()]
    bare = [button for button in shown if not button.text().strip() and not button.icon().isNull()]
    bare = [button for button in bare if not isinstance(button.parent(), INSIDE)]
    return [button.accessibleName() or repr(button) for button in bare if not button.toolTip().strip()]


@pytest.fixture
def window(qtbot, session, workspace, tmp_path, monkeypatch, analysis, drawing):
    monkeypatch.setattr(preflight, "SETTLES_AFTER", 10**8)  # no check of the run meanwhile
    session.show_run(trained_run(workspace, tmp_path / "pixels"))
    return shown_window(qtbot, session)


def test_a_control_without_a_name_is_found(window):
    bare = QLineEdit(window.pages)
    bare.show()
    assert nameless(window.pages) == ["QLineEdit in PageStack "]


def test_a_button_without_words_and_tooltip_is_found(window):
    bare = QToolButton(window.pages)
    bare.setIcon(icon("x"))
    bare.setAccessibleName("Close")
    bare.show()
    assert untold(window.pages) == ["Close"]


def test_every_control_has_a_name(window, qtbot):
    for name in ("setup", "train", "map", "retrieval", "compare", "report"):
        window.show_page(name)
        page = window.pages.page(name)
        qtbot.waitUntil(lambda page=page: window.pages.currentWidget() is page)
        if name == "setup":
            page.groups.unfold.click()
        qtbot.deliver()
        for tabs in [tabs for tabs in page.findChildren(QTabWidget) if tabs.isVisible()]:
            for index in range(tabs.count()):
                tabs.setCurrentIndex(index)
                qtbot.deliver()
                assert nameless(window) == [], (name, tabs.tabText(index))
                assert untold(window) == [], (name, tabs.tabText(index))
        assert nameless(window) == [], name
        assert untold(window) == [], name


@pytest.mark.parametrize("command", ["file.places", "edit.palette", "edit.shortcuts"])
def test_every_control_of_a_dialog_has_a_name(window, qtbot, monkeypatch, tmp_path, command):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    window.commands[command].trigger()
    qtbot.deliver()
    (dialog,) = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible() and widget is not window]
    assert nameless(dialog) == []
    assert untold(dialog) == []
    dialog.close()
