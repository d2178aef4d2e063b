"""A choice among a few values: buttons side by side, one of which is checked."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import plain_tip


class Segments(QWidget):
    """A row of buttons, one of which is checked.

    Args:
        name: of what is chosen, for screen readers.
        choices: (value, title) of each button.
    """

    chosen = Signal(str)  # by the user

    def __init__(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.buttons = {value: button(title, kind="segment") for value, title in choices}
        self._group = QButtonGroup(self)
        for value, choice in self.buttons.items():
            choice.setCheckable(True)
            choice.setProperty("value", value)
            choice.setAccessibleName(f"{name}: {choice.text()}")
            self._group.addButton(choice)
        self._group.buttonClicked.connect(self._say)
        in_row(*self.buttons.values(), on=self, spacing=0)

    def value(self) -> str:
        """The value of the checked button; empty while none is checked."""
        down = self._group.checkedButton()
        return str(down.property("value")) if down is not None else ""

    def set_value(self, value: str) -> None:
        """Check the button of this value, without a signal."""
        self.buttons[value].setChecked(True)

    def allow(self, value: str, allowed: bool, why_not: str) -> None:
        """Enable or disable one choice; the tooltip of a disabled one gives the reason."""
        self.buttons[value].setEnabled(allowed)
        self.buttons[value].setToolTip("" if allowed else plain_tip(why_not))

    def _say(self) -> None:
        self.chosen.emit(self.value())
