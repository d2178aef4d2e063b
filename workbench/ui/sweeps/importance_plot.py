"""The importance of a sweep's parameters as bars, each with its range over resamples."""

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.metric_names import metric_name
from workbench.numerals import percentage
from workbench.sweeps.importance import SOURCE, Importance, Share, share_words
from workbench.ui.plots.painted_plot import PaintedPlot, Rows
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip, shortened

ROW_PX, BAR_PX, AXIS_PX, GAP = 26, 14, 20, 8  # px: a row, its bar, the line of numbers below, between things
NAMES_MOST, SHARE_PX = 0.3, 52  # of the width that the names may take; px of the column of shares
CAP = 3.0  # px, half the height of the ends of a range
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
ELIDED = Qt.TextElideMode.ElideRight
CENTRE = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
TITLE = "Parameter importance"


class ImportancePlot(PaintedPlot):
    """A bar for each parameter, the greatest share first; below, under a heading, those of only some settings."""

    def __init__(self) -> None:
        self._shown: Importance | None = None
        self._titles: Mapping[str, str] = {}
        super().__init__(TITLE)
        self.picture.setToolTip(plain_tip(f"{SOURCE}: the share of the variance that each parameter explains alone"))

    def show_importance(self, measured: Importance, titles: Mapping[str, str]) -> None:
        """Show other shares, with the titles of their fields."""
        self._shown, self._titles = measured, titles
        self.picture.need_height(ROW_PX * len(self._lines()) + AXIS_PX)
        self.retitle(
            f"{TITLE}: share of the variance of {metric_name(measured.metric)}, {measured.settings:,} settings"
        )
        self.refresh()

    def rows(self) -> Rows:
        """A row for each parameter: field, title, share and its range in percent, and the settings that it is of."""
        head: Rows = [["field", "parameter", "share %", "low %", "high %", "settings", "among", "method"]]
        return head + [
            [share.field, self._name(share.field), 100 * share.share, 100 * share.low, 100 * share.high,
             settings, among, SOURCE]
            for share, settings, among in self._all()
        ]  # fmt: skip

    def describe(self) -> str:
        """Each share with its range."""
        shares = [
            f"{self._name(share.field)} {share_words(share)}{f' {among}' if among else ''}"
            for share, _, among in self._all()
        ]
        return f"{self.title}: {'; '.join(shares)}."

    def _all(self) -> Iterator[tuple[Share, int, str]]:
        """Each share with the number of its settings and, where they are some of all, which these are."""
        if self._shown is None:
            return
        yield from ((share, self._shown.settings, "") for share in self._shown.shares)
        for part in self._shown.parts:
            yield from ((share, part.measured.settings, part.among) for share in part.shares)

    def _lines(self) -> list[Share | str]:
        """What is drawn from top to bottom: shares, and headings of those of some settings."""
        lines: list[Share | str] = []
        heading = ""
        for share, _, among in self._all():
            if among != heading:
                heading = among
                lines.append(f"{among[:1].upper()}{among[1:]}")
            lines.append(share)
        return lines

    def _name(self, field: str) -> str:
        return self._titles.get(field, field)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw names, bars, ranges, shares and the axis into `area`."""
        lines = self._lines()
        if not lines:
            return
        metrics, names = painter.fontMetrics(), [self._name(share.field) for share, _, _ in self._all()]
        wide = min(NAMES_MOST * area.width(), max(map(metrics.horizontalAdvance, names)) + 1.0)
        box = area.adjusted(wide + 2 * GAP, 0, -SHARE_PX - GAP, -AXIS_PX)
        high = min(ROW_PX * 1.5, box.height() / len(lines))
        box.setHeight(high * len(lines))
        self._paint_axis(painter, box, tokens)
        for row, line in enumerate(lines):
            middle = box.top() + high * (row + 0.5)
            if isinstance(line, str):
                place = QRectF(area.left() + GAP, middle - high / 2, area.width() - 2 * GAP, high)
                painter.fillRect(place, QColor(tokens.plot_background))
                painter.setPen(QColor(tokens.muted))
                painter.drawText(place, LEFT, metrics.elidedText(line, ELIDED, int(place.width())))
                continue
            place = QRectF(area.left() + GAP, middle - high / 2, wide, high)
            painter.setPen(QColor(tokens.text))
            painter.drawText(place, RIGHT, shortened(self._name(line.field), names, metrics, int(wide)))
            written = QRectF(box.right() + GAP, middle - high / 2, SHARE_PX - GAP, high)
            painter.drawText(written, RIGHT, percentage(line.share))
            bar = QRectF(box.left(), middle - BAR_PX / 2, box.width() * line.share, BAR_PX)
            painter.fillRect(bar, QColor(tokens.accent))
            low, most = (box.left() + box.width() * end for end in (line.low, line.high))
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
