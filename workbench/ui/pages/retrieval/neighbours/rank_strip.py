"""The ranks of a query's class in the whole ranking, as lines on a strip."""

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.results.explanations import Standing
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import ElidedLabel, label

STRIP, LINE = 14, 2.0  # px: height, width of a line
MOST_SAID = 12  # most ranks in the accessible name
TITLE, MEANING = "Ranks of its class", "each line is one of its images in the whole ranking"


class Lines(QWidget):
    """The strip: one line for each rank, and another shade for the first R ranks.

    Args:
        role: the token of the theme that the lines have as their colour.
    """

    def __init__(self, role: str = "right", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = role
        self._ranks, self._searched, self._r = np.empty(0, np.int64), 1, 0
        self.setFixedHeight(STRIP)

    def show_ranks(self, ranks: np.ndarray, searched: int, r: int) -> None:
        """Draw ranks [n], from 1 to `searched`, and the shade of the first `r`."""
        self._ranks, self._searched, self._r = ranks, max(1, searched), r
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.current()
        painter.fillRect(self.rect(), QColor(tokens.divider))
        room = self.width() - LINE
        painter.fillRect(
            QRectF(0, 0, room * min(self._r, self._searched) / self._searched, STRIP), QColor(tokens.selection)
        )
        for x in np.unique(np.floor(room * (self._ranks - 1) / self._searched)).tolist():
            painter.fillRect(QRectF(x, 0, LINE, STRIP), QColor(getattr(tokens, self._role)))
        painter.end()


class RankStrip(QWidget):
    """The strip with its title and the labels of its ends; hidden if the ranking is not known."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = Lines()
        self.first, self.last = label("", "caption"), label("", "caption")
        head = in_row(label(TITLE, "strong"), (ElidedLabel(MEANING, "caption"), 1), spacing=8)
        in_column(head, self._lines, in_row(self.first, 1, self.last), on=self, spacing=2)
        self.hide()

    def show_ranks(self, standing: Standing | None, r: int) -> None:
        """Show the ranks of a query's class; `r` is the number of its other images. None hides the strip."""
        self.setVisible(standing is not None and len(standing.ranks) > 0)
        if standing is None:
            return
        self._lines.show_ranks(standing.ranks, standing.searched, r)
        self.first.setText(f"1 to R = {r:,} in blue")
        self.last.setText(f"{standing.searched:,}")
        self._lines.setAccessibleName(f"Ranks of its class out of {standing.searched:,}: {said(standing.ranks)}")


def said(ranks: np.ndarray) -> str:
    """The first ranks in words, and how many more there are: "3, 8 and 2 more"."""
    rest = len(ranks) - MOST_SAID
    return ", ".join(map(str, ranks[:MOST_SAID].tolist())) + (f" and {rest:,} more" if rest > 0 else "")
