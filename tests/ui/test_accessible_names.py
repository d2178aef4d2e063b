"""What a screen reader says: every control of the frame, of Set up and of Train has a name."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)
from trained import trained_run

from tests.ui.started import shown_window

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
CONTROLS = (
    QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit,
)  # fmt: skip
INSIDE = (QComboBox, QAbstractSpinBox, QAbstractItemView)  # what they hold speaks through them
OTHERS = ("map", "retrieval", "compare", "report")


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


@pytest.fixture
def window(qtbot, session, workspace, tmp_path):
    session.show_run(trained_run(workspace, tmp_path / "pixels"))
    return shown_window(qtbot, session)


def test_a_control_without_a_name_is_found(window):
    bare = QLineEdit(window.pages)
    bare.show()
    assert nameless(window.pages) == ["QLineEdit in PageStack "]


@pytest.mark.parametrize("name", ["setup", "train"])
def test_every_control_has_a_name(window, qtbot, name):
    window.show_page(name)
    if name == "setup":
        window.pages.page(name).groups.unfold.click()
    qtbot.deliver()
    assert nameless(window) == []
