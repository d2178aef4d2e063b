"""MAP@R of each class over the epochs, as a heat map of the Geometry tab."""

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from workbench.numerals import minus, signed
from workbench.ui.pages.train.geometry.axes import STAR
from workbench.ui.plots.export import small
from workbench.ui.plots.painted_plot import PaintedPlot, Rows
from workbench.ui.style.theme import Tokens
from workbench.ui.style.words import NO_VALUE
from workbench.ui.widgets.labels import shortened
from workbench.ui.widgets.numbers.heat import ink_on, mixed

NAME_PX, GAIN_PX, CELL_TEXT = 76, 44, 24  # px of names and gains; of a cell that has room for its number
NAME_PART = 0.25  # of the plot's width, which names may take where that is more than NAME_PX
ABOVE, BELOW, ROW_PX = 4, 18, 14  # px above and below the cells, and of a row at least, so that no name is cut
LEAST_PX = 200  # px
SAID = 4  # scores of a class in its tooltip; of more, the first and the last
MOST_CLASSES = 20  # rows of the heat map: the worst


class ClassesPlot(PaintedPlot):
    """MAP@R of each class over the epochs, the worst first; classes that fall while the mean rises are marked."""

    def __init__(self) -> None:
        self._epochs: list[int] = []
        self._names: list[str] = []
        self._table = np.empty((0, 0))
        self._falling: set[str] = set()
        self._shown: int | None = None
        super().__init__("MAP@R of each class, %")
        self.picture.need_height(LEAST_PX)

    def show_classes(
        self, epochs: Sequence[int], names: Sequence[str], table: np.ndarray, falling: set[str],
        shown: int | None = None,
    ) -> None:  # fmt: skip
        """Show other scores.

        Args:
            epochs: of the columns. names: of classes [K]. table: [epochs, K] in 0..1, NaN without a query.
            falling: names of the classes that fall while the mean rises; they stand first.
            shown: the epoch whose column is framed.
        """
        known = [at for at in range(len(names)) if len(table) and np.isfinite(table[-1, at])]
        order = sorted(known, key=lambda at: (names[at] not in falling, table[-1, at]))[:MOST_CLASSES]
        self._epochs, self._falling, self._shown = list(epochs), falling, shown
        self._names, self._table = [names[at] for at in order], 100 * table[:, order] if len(table) else table
        worst = f", worst {len(order)} of {len(names)}" if len(order) < len(names) else ", worst first"
        self.retitle(f"MAP@R of each class, %{worst}")
        self.picture.need_height(max(LEAST_PX, round(ABOVE + BELOW + ROW_PX * len(self._names))))
        self.refresh()

    def rows(self) -> Rows:
        """The scores as a table with a head."""
        head: Rows = [["class", *self._epochs, "falls while the mean rises"]]
        return head + [
            [name, *(float(value) for value in self._table[:, at]), name in self._falling]
            for at, name in enumerate(self._names)
        ]

    def describe(self) -> str:
        """The worst class, and those that fall."""
        if not self._names:
            return f"{self.title}: no values yet."
        falls = ", ".join(sorted(self._falling)[:10]) or "none"
        return (
            f"{self.title}: first {self._names[0]} at {self._table[-1, 0]:.1f}. Falling while the mean rises: {falls}."
        )

    def words_at(self, position: QPointF) -> str:
        """The whole name of the class in the row at this position of the picture (px on screen), and its scores."""
        box, place = self._box(self.picture.area), self.picture.at(position)
        if not self._names or not box.top() <= place.y() < box.bottom():
            return ""
        down = int((place.y() - box.top()) / box.height() * len(self._names))
        scores = [
            f"{value:.1f}% at epoch {epoch}"
            for epoch, value in zip(self._epochs, self._table[:, down].tolist(), strict=True)
            if math.isfinite(value)
        ]
        ends = [*scores[:1], "…", *scores[-1:]] if len(scores) > SAID else scores
        return f"{self._names[down]}: MAP@R {', '.join(ends)}"

    def _box(self, area: QRectF) -> QRectF:
        """The cells."""
        longest = max(map(QFontMetrics(small(self.font())).horizontalAdvance, self._names), default=0) + 8
        names = max(NAME_PX, min(longest, int(NAME_PART * area.width())))
        return area.adjusted(names, ABOVE, -GAIN_PX, -BELOW)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw a cell for each class and epoch, and the gain."""
        if not self._names:
            return
        box = self._box(area)
        width, height = box.width() / len(self._epochs), box.height() / len(self._names)
        low, high = float(np.nanmin(self._table)), float(np.nanmax(self._table))
        metrics, centre = painter.fontMetrics(), int(Qt.AlignmentFlag.AlignCenter)
        middle_right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for down, name in enumerate(self._names):
            top = box.top() + down * height
            painter.setPen(QColor(tokens.wrong if name in self._falling else tokens.text))
            room = int(box.left() - area.left())
            words = shortened(name, self._names, metrics, room - 8)
            painter.drawText(QRectF(area.left(), top, room - 6, height), middle_right, words)
            for across, value in enumerate(self._table[:, down].tolist()):
                cell = QRectF(box.left() + across * width, top, width, height)
                if not math.isfinite(value):
                    continue
                part = (value - low) / (high - low) if high > low else 0.5
                colour = mixed(tokens.plot_background, tokens.accent, 0.08 + 0.92 * part)
                painter.fillRect(cell.adjusted(1, 1, -1, -1), colour)
                if width >= CELL_TEXT and height >= 13:
                    painter.setPen(ink_on(colour))
                    painter.drawText(cell, centre, f"{value:.0f}")
            gain = float(self._table[-1, down] - self._table[0, down])
            gain = round(gain) if math.isfinite(gain) else gain
            painter.setPen(QColor(tokens.right if gain > 0 else tokens.wrong if gain < 0 else tokens.muted))
            gained = QRectF(box.right(), top, GAIN_PX, height)
            words = NO_VALUE if math.isnan(gain) else minus(signed(gain, ".0f"))
            painter.drawText(gained, centre, words)
        painter.setPen(QColor(tokens.plot_axis))
        every = max(1, math.ceil(20 / max(width, 1e-9)))
        for across, epoch in enumerate(self._epochs):
            column = QRectF(box.left() + across * width, box.top(), width, box.height())
            if epoch == self._shown:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(STAR), 2))
                painter.drawRect(column)
                painter.setPen(QColor(tokens.plot_axis))
            if across % every == 0 or epoch == self._shown:
                words = f"{epoch} ★" if epoch == self._shown else str(epoch)
                painter.drawText(QRectF(column.center().x() - 20, box.bottom() + 2, 40, 14), centre, words)
        painter.drawText(QRectF(box.right(), box.bottom() + 2, GAIN_PX, 14), centre, "gain")
