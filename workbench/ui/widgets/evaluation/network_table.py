"""A table of what the networks of runs score: on their own test sets and on other images."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from workbench.numerals import percentage
from workbench.results.network_scores import NetworkScore, NetworkScores
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.tables.row_table import select_rows

HEAD = ("Run", "Images", "Epoch", "Queries", "MAP@R", "R@1")
MOST_READ = 50  # tests, the newest: a network may be tested every night
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
OPENS = "Double-click or Enter shows that run"


class NetworkTable(QWidget):
    """A title and the rows below it; hidden until there are scores.

    Args:
        title: above the table, and for screen readers.
        most_rows: after which the table scrolls.
    """

    run_chosen = Signal(int)  # the row of this run was double-clicked, or Enter pressed on it

    def __init__(self, title: str, most_rows: int) -> None:
        super().__init__()
        self._most_rows = most_rows
        self.title, self.table = label(title, "strong"), QTableWidget(0, len(HEAD))
        self.rest = ElidedLabel("", "muted")
        select_rows(self.table, title)
        for column, words in enumerate(HEAD):
            self.table.setHorizontalHeaderItem(column, _cell(words, column))
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setToolTip(OPENS)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(HEAD.index("Images"), QHeaderView.ResizeMode.Stretch)
        in_column(self.title, self.table, self.rest, on=self, spacing=4)
        self._runs: list[int] = []
        self.table.activated.connect(lambda index: self.run_chosen.emit(self._runs[index.row()]))
        self.hide()

    def show_scores(self, scores: NetworkScores) -> None:
        """List the scores, and how many older tests are not among them; nothing is shown where there are none."""
        shown = [*scores.own, *scores.newest]
        self._runs = [score.run_id for score in shown]
        self.table.setRowCount(len(shown))
        for row, score in enumerate(shown):
            for column, words in enumerate(_cells(score)):
                self.table.setItem(row, column, _cell(words, column))
        head, line = self.table.horizontalHeader().sizeHint().height(), self.table.rowHeight(0)
        self.table.setFixedHeight(head + min(len(shown), self._most_rows) * line + 2 * self.table.frameWidth())
        older = max(0, len(scores.tests) - MOST_READ)
        self.rest.setText(f"{counted(older, 'older test')} not listed; the Runs list has all" if older else "")
        self.rest.setVisible(bool(older))
        self.setVisible(bool(shown))


def _cell(words: str, column: int) -> QTableWidgetItem:
    """A cell, or the head, of a column."""
    cell = QTableWidgetItem(words)
    cell.setTextAlignment(LEFT if column == HEAD.index("Images") else RIGHT)
    return cell


def _cells(score: NetworkScore) -> list[str]:
    """The cells of HEAD."""
    metrics = score.evaluation.metrics
    shares = [percentage(metrics.get(name)) for name in ("MAP@R", "recall@1")]
    return [str(score.run_id), score.images, str(score.epoch), f"{metrics.get('queries', 0):,.0f}", *shares]
