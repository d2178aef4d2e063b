"""One alarm of the Geometry tab."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.evaluation.health import DEAD_ONES, OK, Alarm
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, restyle

SHOW, HIDE = "Show them", "Show the spectrum"
ROLES = {"ok": "right", "note": "warning", "bad": "wrong"}
MARKS = {"ok": "✓", "note": "⚠", "bad": "✗"}


class AlarmCard(QFrame):
    """One alarm: a mark, a title and a sentence; for dead dimensions also a button that shows them.

    `asked` (whether they are to be shown): the button was pressed.
    """

    asked = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self.title, self.words = label("", "strong", wrap=True), label("", "caption", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 6)
        column.setSpacing(0)
        column.addWidget(self.title)
        column.addWidget(self.words)
        self.show_them = button(SHOW, kind="segment")
        self.show_them.setCheckable(True)
        self.show_them.setToolTip("The variance of each dimension in place of the spectrum, and which of them are dead")
        self.show_them.toggled.connect(self._toggled)
        column.addWidget(self.show_them, 0, Qt.AlignmentFlag.AlignLeft)
        self.show_them.hide()

    def show_alarm(self, alarm: Alarm) -> None:
        """Show another alarm, in the colour of its level."""
        self.show_them.setVisible(alarm.about == DEAD_ONES)
        if alarm.about != DEAD_ONES:
            self.show_them.setChecked(False)
        self.title.setText(f"{MARKS[alarm.level]} {alarm.title}")
        self.title.setProperty("role", "strong" if alarm.level == OK else f"strong {ROLES[alarm.level]}")
        self.words.setText(alarm.words)
        restyle(self.title)

    def _toggled(self, shown: bool) -> None:
        self.show_them.setText(HIDE if shown else SHOW)
        self.asked.emit(shown)
