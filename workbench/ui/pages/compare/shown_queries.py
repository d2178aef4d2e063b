"""What the two tabs that list queries share: thumbnails, and buttons that show the current query in either run."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QTableView, QWidget

from workbench.ui.widgets.buttons import button

THUMBNAIL = 36  # px


class ShownQueries(QWidget):
    """A table of queries. `opened` (run, sample id) asks to show the query in that run; a subclass emits it."""

    opened = Signal(int, object)
    table: QTableView

    def _set_up_table(self, table: QTableView, head: QHBoxLayout) -> None:
        """Take the table, and add the buttons to the row above it."""
        self.table = table
        table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.buttons = [button("Show in the baseline", kind="quiet"), button("Show in the other", kind="quiet")]
        for show_button in self.buttons:
            show_button.setToolTip("Open the chosen query on the Retrieval page, in a run of that group")
            head.addWidget(show_button)
        self.buttons[0].clicked.connect(self._open_first)
        self.buttons[1].clicked.connect(self._open_second)
        table.selectionModel().currentChanged.connect(self._check)

    def _check(self) -> None:
        for show_button in self.buttons:
            show_button.setEnabled(self.table.currentIndex().isValid() and not self.table.isHidden())

    def _open_first(self) -> None:
        self._open(0)

    def _open_second(self) -> None:
        self._open(1)

    def _open(self, side: int) -> None:
        """Show the query of the current row in the run of the baseline (0) or of the other group (1)."""
        raise NotImplementedError
