"""Where both classes of a suspect stand in its stored ranking: a strip for the suggested class and one for its own."""

import numpy as np
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from workbench.ui.pages.retrieval.neighbours.rank_strip import Lines, said
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip

SUGGESTED, OWN = "warning", "right"  # tokens of the theme for the lines of the two classes
MOST_NAME = 120  # px at 100% text; a longer name is shortened


class ClassRanks(QWidget):
    """Two strips under a title; hidden where there is nothing to show."""

    def __init__(self) -> None:
        super().__init__()
        self.meaning = ElidedLabel("", "caption")
        self.names = [ElidedLabel("", "", Qt.TextElideMode.ElideMiddle) for _ in range(2)]
        self.strips = [Lines(role) for role in (SUGGESTED, OWN)]
        self.ends = [label("", "caption") for _ in range(3)]
        self._rows = rows = QGridLayout()
        rows.setHorizontalSpacing(8)
        rows.setVerticalSpacing(4)
        rows.setColumnStretch(1, 1)
        for row, (name, strip) in enumerate(zip(self.names, self.strips, strict=True)):
            rows.addWidget(name, row, 0)
            rows.addWidget(strip, row, 1)
        rows.addLayout(self._axis(), 2, 1)
        head = in_row(label("Ranks of both classes", "strong"), (self.meaning, 1), spacing=8)
        in_column(head, rows, on=self, spacing=4)
        self.hide()

    def _axis(self) -> QHBoxLayout:
        first, middle, last = self.ends
        return in_row(first, 1, middle, 1, last)

    def show_ranks(self, ranks: list[tuple[str, np.ndarray]], searched: int) -> None:
        """Show the ranks [m], from 1, of one or two named classes, the suggested first, in `searched` neighbours."""
        self.setVisible(bool(ranks) and searched > 1)
        self.meaning.setText(f"the first {searched:,} of the ranking")
        for end, rank in zip(self.ends, (1, (1 + searched) // 2, searched), strict=True):
            end.setText(f"{rank:,}")
        for at, (name, strip) in enumerate(zip(self.names, self.strips, strict=True)):
            name.setVisible(at < len(ranks))
            strip.setVisible(at < len(ranks))
            if at < len(ranks):
                self._show_one(name, strip, *ranks[at], searched)
        self._fit_names()

    def changeEvent(self, event: QEvent) -> None:
        """Give the names their room again where text has another size."""
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_rows"):
            self._fit_names()

    def _fit_names(self) -> None:
        needed = max(name.fontMetrics().horizontalAdvance(name.text()) for name in self.names)
        self._rows.setColumnMinimumWidth(0, min(needed + 1, theme.text_px(MOST_NAME)))

    @staticmethod
    def _show_one(name: ElidedLabel, strip: Lines, title: str, ranks: np.ndarray, searched: int) -> None:
        name.setText(title)
        strip.show_ranks(ranks, searched, 0)
        words = f"{len(ranks):,} of the nearest {searched:,} are labelled {title}"
        strip.setAccessibleName(f"{words}: ranks {said(ranks)}" if len(ranks) else words)
        strip.setToolTip(plain_tip(strip.accessibleName()))
