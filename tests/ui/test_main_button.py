"""Enter in a dialog: its main button from a field, the button with the focus, and nothing where it is disabled."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QSpinBox

from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


class Planted(MainButtonDialog):
    """Two fields, three buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.field, self.number = QLineEdit(), QSpinBox()
        self.help, self.cancel, self.main = icon_button("question", "Help"), button("Cancel"), button("Start")
        in_column(self.field, self.number, self.help, self.cancel, self.main, on=self)
        self.pressed: list[str] = []
        for name in ("help", "cancel", "main"):
            getattr(self, name).clicked.connect(lambda _=False, name=name: self.pressed.append(name))


@pytest.fixture
def dialog(qtbot):
    made = Planted()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.mark.parametrize(
    ("place", "pressed"),
    [("field", "main"), ("number", "main"), ("help", "help"), ("cancel", "cancel"), ("main", "main")],
)
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_presses_the_button_with_the_focus_or_the_main_one(dialog, qtbot, place, pressed, key):
    getattr(dialog, place).setFocus()
    qtbot.keyClick(getattr(dialog, place), key)
    assert dialog.pressed == [pressed]


def test_enter_does_nothing_while_the_main_button_is_disabled(dialog, qtbot):
    dialog.main.setEnabled(False)
    dialog.field.setFocus()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.pressed == []
    assert dialog.isVisible()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
