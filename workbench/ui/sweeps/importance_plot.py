"""The importance of a sweep's parameters as bars, each with its range over resamples."""

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from workbench.metric_names import metric_name
from workbench.numerals import percentage
from workbench.sweeps.importance import SOURCE, Importance, share_words
from workbench.ui.plots.painted_plot import PaintedPlot, Rows
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip, shortened

ROW_PX, BAR_PX, AXIS_PX, GAP = 26, 14, 20, 8  # px: a row, its bar, the line of numbers below, between things
NAMES_MOST, SHARE_PX = 0.3, 52  # of the width that the names may take; px of the column of shares
CAP = 3.0  # px, half the height of the ends of a range
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
TITLE = "Parameter importance"


class ImportancePlot(PaintedPlot):
    """A bar for each parameter, the greatest share first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._shown: Importance | None = None
        self._titles: Mapping[str, str] = {}
        super().__init__(TITLE, parent)
        self.picture.setToolTip(plain_tip(f"{SOURCE}: the share of the variance that each parameter explains alone"))

    def show_importance(self, measured: Importance, titles: Mapping[str, str]) -> None:
        """Show other shares, with the titles of their fields."""
        self._shown, self._titles = measured, titles
        self.picture.need_height(ROW_PX * len(measured.shares) + AXIS_PX)
        self.retitle(
            f"{TITLE}: share of the variance of {metric_name(measured.metric)}, {measured.settings:,} settings"
        )
        self.refresh()

    def rows(self) -> Rows:
        """A row for each parameter: field, title, share and its range in percent."""
        head: Rows = [["field", "parameter", "share %", "low %", "high %", "settings", "method"]]
        if self._shown is None:
            return head
        return head + [
            [share.field, self._name(share.field), 100 * share.share, 100 * share.low, 100 * share.high,
             self._shown.settings, SOURCE]
            for share in self._shown.shares
        ]  # fmt: skip

    def describe(self) -> str:
        """Each share with its range."""
        shares = () if self._shown is None else self._shown.shares
        return f"{self.title}: {'; '.join(f'{self._name(share.field)} {share_words(share)}' for share in shares)}."

    def _name(self, field: str) -> str:
        return self._titles.get(field, field)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw names, bars, ranges, shares and the axis into `area`."""
        shares = () if self._shown is None else self._shown.shares
        if not shares:
            return
        metrics, names = painter.fontMetrics(), [self._name(share.field) for share in shares]
        wide = min(NAMES_MOST * area.width(), max(map(metrics.horizontalAdvance, names)) + 1.0)
        box = area.adjusted(wide + 2 * GAP, 0, -SHARE_PX - GAP, -AXIS_PX)
        high = min(ROW_PX * 1.5, box.height() / len(shares))
        box.setHeight(high * len(shares))
        self._paint_axis(painter, box, tokens)
        for row, (share, name) in enumerate(zip(shares, names, strict=True)):
            middle = box.top() + high * (row + 0.5)
            place = QRectF(area.left() + GAP, middle - high / 2, wide, high)
            painter.setPen(QColor(tokens.text))
            painter.drawText(place, RIGHT, shortened(name, names, metrics, int(wide)))
            written = QRectF(box.right() + GAP, middle - high / 2, SHARE_PX - GAP, high)
            painter.drawText(written, RIGHT, percentage(share.share))
            bar = QRectF(box.left(), middle - BAR_PX / 2, box.width() * share.share, BAR_PX)
            painter.fillRect(bar, QColor(tokens.accent))
            low, most = (box.left() + box.width() * end for end in (share.low, share.high))
            painter.setPen(QPen(QColor(tokens.text), 1.4))
            painter.drawLine(QPointF(low, middle), QPointF(most, middle))
            for x in (low, most):
                painter.drawLine(QPointF(x, middle - CAP), QPointF(x, middle + CAP))

    @staticmethod
    def _paint_axis(painter: QPainter, box: QRectF, tokens: Tokens) -> None:
        grid = QColor(tokens.plot_axis)
        grid.setAlpha(tokens.plot_grid_alpha)
        for tick in TICKS:
            x = box.left() + box.width() * tick
            painter.setPen(QColor(tokens.plot_axis) if tick == 0 else grid)
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.setPen(QColor(tokens.plot_axis))
            painter.drawText(QRectF(x - 30, box.bottom() + 2, 60, AXIS_PX - 2), CENTRE, percentage(tick, 0))
