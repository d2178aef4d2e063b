"""Two buttons that open the chosen query of a table in a run of the baseline or of the other group."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTableView, QWidget

from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.flow import FlowLayout


class OpenButtons(QWidget):
    """Emits `asked` with the group in which to open the current row: 0 for the baseline, 1 for the other group.

    Activating a row emits it, too.

    Args:
        table: of queries; call `check` whenever it is shown, hidden or filled.
    """

    asked = Signal(int)

    def __init__(self, table: QTableView) -> None:
        super().__init__()
        self._table = table
        self.sides = [button("Show in the baseline", kind="quiet"), button("Show in the other", kind="quiet")]
        flow = FlowLayout(self, spacing=8)  # large text needs two lines
        for opener in self.sides:
            flow.addWidget(opener)
        for side, opener in enumerate(self.sides):
            opener.setToolTip("Open the chosen query on the Retrieval page, in a run of that group")
            opener.clicked.connect(partial(self._ask, side))
        table.activated.connect(partial(self._ask, 1))
        table.selectionModel().currentChanged.connect(self.check)

    def check(self, *_: object) -> None:
        """Enable both buttons while a row is selected."""
        for opener in self.sides:
            opener.setEnabled(self._table.currentIndex().isValid() and not self._table.isHidden())

    def _ask(self, side: int, *_: object) -> None:
        self.asked.emit(side)
