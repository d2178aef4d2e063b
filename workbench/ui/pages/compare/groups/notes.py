"""What makes a comparison unequal or incomplete: a badge that counts the notes, and unfolds to their text."""

from collections.abc import Sequence

from PySide6.QtCore import QObject

from workbench.ui.style.words import counted
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.capped_text import CappedText

MOST_LINES = 7  # of text; beyond them it scrolls


class Notes(QObject):
    """Two widgets that the page places: the `badge`, and the `area` of the text, at most `MOST_LINES` high."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.badge = button("", "warning-circle")
        self.badge.setCheckable(True)
        self.badge.setToolTip("What makes the comparison unequal or incomplete")
        self.area = CappedText("warning", MOST_LINES)
        self.area.said.setAccessibleName("What makes the comparison unequal or incomplete")
        self.badge.toggled.connect(self._unfold)
        self.show_notes([])

    def show_notes(self, notes: Sequence[str]) -> None:
        """Show other notes, the most important first; both widgets are hidden if there are none."""
        self.badge.setText(counted(len(notes), "note"))
        self.badge.setVisible(bool(notes))
        self.area.set_text("\n".join(f"⚠ {note}" for note in notes))
        self._unfold()

    def _unfold(self) -> None:
        self.area.setVisible(self.badge.isChecked() and bool(self.area.text()))
