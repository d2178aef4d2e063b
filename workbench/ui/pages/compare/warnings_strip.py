"""What makes a comparison unequal or incomplete: a few lines above the tabs, the others when they are asked for."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.ui.icons import icon
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.capped_text import CappedText

FIRST = 2  # warnings that are seen without a click
MOST_LINES = 7  # of text; beyond them it scrolls


class WarningsStrip(QWidget):
    """Never higher than some lines of text, so that the plots below keep their room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.told: list[str] = []
        self.area = CappedText("warning", MOST_LINES)
        self.area.said.setAccessibleName("What makes the comparison unequal or incomplete")
        self.more = button("", "caret-right", kind="quiet")
        self.more.setCheckable(True)
        self.more.toggled.connect(self._show)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def show_warnings(self, told: Sequence[str]) -> None:
        """Other warnings, most important first; nothing is seen of the strip without any."""
        self.told = list(told)
        self.setVisible(bool(self.told))
        self._show()

    def _show(self) -> None:
        unfolded, rest = self.more.isChecked(), len(self.told) - FIRST
        seen = self.told if unfolded else self.told[:FIRST]
        self.area.set_text("\n".join(f"⚠ {each}" for each in seen))
        self.more.setVisible(rest > 0)
        self.more.setText("Fewer" if unfolded else f"{rest} more {'warning' if rest == 1 else 'warnings'}")
        self.more.setIcon(icon("caret-down" if unfolded else "caret-right"))
