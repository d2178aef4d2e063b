"""The precision of Label triage after each answer, with its interval."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.numerals import percentage
from workbench.results.label_overlay import Precision
from workbench.ui.plots.painted_plot import Axes, PaintedPlot, Rows
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip

COLOUR = "#0072B2"
LEFT, RIGHT, TOP, BOTTOM = 36, 8, 8, 32  # px around the axes
TALL, DOT, BAND = 110, 2.2, 45  # px; px; of 255, opacity of the interval
MOST_DOTS = 40  # answers; more of them are a line
LEAST_SPAN = 20  # answers that the axis has room for at least, where so many are suspect
SHARES = (0.0, 0.5, 1.0)


class PrecisionPlot(PaintedPlot):
    """Draws the share of wrong labels among the answers so far, from the first answer to the last."""

    def __init__(self) -> None:
        self._path: list[Precision] = []
        self._suspects = 0
        super().__init__("Precision", role="section")
        self.picture.need_height(TALL)

    def show_path(self, path: list[Precision], suspects: int) -> None:
        """Show the precision after each answer, of a queue with so many suspects."""
        self._path, self._suspects = path, suspects
        self.refresh()
        self.picture.setToolTip(plain_tip(self.describe()))

    def rows(self) -> Rows:
        """A row for each answer."""
        head: Rows = [["answers", "wrong labels", "precision %", "low", "high"]]
        return head + [
            [one.answered, one.right, 100 * one.right / one.answered, 100 * one.low, 100 * one.high]
            for one in self._path
        ]

    def describe(self) -> str:
        """The last point in words."""
        if not self._path:
            return "Precision of the suspicion: nothing is answered yet."
        last = self._path[-1]
        share, low, high = (percentage(value, 0) for value in (last.right / last.answered, last.low, last.high))
        return (
            f"Precision of the suspicion after each answer that was not Unsure: {share} after {last.answered:,}, "
            f"95% interval {low} to {high}."
        )

    @property
    def span(self) -> int:
        """Answers at the right end of the axis: twice those so far, so that a few of many suspects are a curve, too."""
        return max(1, len(self._path), min(self._suspects, max(LEAST_SPAN, 2 * len(self._path))))

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, interval and line."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        most = self.span
        axes = Axes(painter, area, box, tokens)
        for share in SHARES:
            axes.at_left(box.bottom() - box.height() * share, percentage(share, 0))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        for count in sorted({0, most // 2, most}):
            axes.below(box.left() + box.width() * count / most, f"{count:,}")
        axes.name_below("answered")

        def at(one: Precision, share: float) -> QPointF:
            return QPointF(box.left() + box.width() * one.answered / most, box.bottom() - box.height() * share)

        colour = QColor(theme.drawn(COLOUR, tokens))
        band = QColor(colour)
        band.setAlpha(BAND)
        upper, lower = ([at(one, share) for one, share in self._ends(high)] for high in (True, False))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(band)
        painter.drawPolygon(QPolygonF(upper + lower[::-1]))
        line = [at(one, one.right / one.answered) for one in self._path]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.6))
        painter.drawPolyline(QPolygonF(line))
        painter.setBrush(colour)
        for point in line if len(line) <= MOST_DOTS else line[-1:]:
            painter.drawEllipse(point, DOT, DOT)

    def _ends(self, high: bool) -> list[tuple[Precision, float]]:
        return [(one, one.high if high else one.low) for one in self._path]
