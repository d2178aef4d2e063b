"""The fields of the run that a paper's sweep changes, with a button that keeps the run's own values."""

from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.sweeps.space import short
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label


class FixedLine(QWidget):
    """Visible while changes apply to every run; `left_out` is emitted when the user keeps the run's own values."""

    left_out = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.changes: dict[str, Any] = {}
        self._varied: frozenset[str] = frozenset()
        self.words = label("", wrap=True)
        self.drop = button("Leave as on Set up", kind="quiet")
        in_row((self.words, 1), self.drop, on=self)
        self.drop.clicked.connect(self._drop)
        self.show_changes({})

    def show_changes(self, changes: Mapping[str, Any]) -> None:
        """Show other values by dotted field; hidden without any."""
        self.changes = dict(changes)
        self._tell()

    def show_varied(self, fields: Iterable[str]) -> None:
        """Set the fields that the sweep varies: their values are not fixed."""
        self._varied = frozenset(fields)
        self._tell()

    def _tell(self) -> None:
        changes = [f"{field} = {short(value)}" for field, value in self.changes.items() if field not in self._varied]
        self.words.setText(f"Every run also has {', '.join(changes)}, as in the paper.")
        self.setVisible(bool(changes))

    def _drop(self) -> None:
        self.show_changes({})
        self.left_out.emit()
