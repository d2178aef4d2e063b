"""The curve of a range test over the logarithm of the rate, with the suggested rates and the one that is chosen."""

from math import inf, isfinite, log10

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip

from workbench.numerals import significant
from workbench.running.facts.rate_curve import Suggestion, in_words, rounded
from workbench.ui.plots.items import blended
from workbench.ui.plots.painted_plot import Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import ValueScale, in_decimals, log_ticks, ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip

LEFT, RIGHT, TOP, BOTTOM, TICK, PAD = 56, 16, 10, 36, 16, 3  # px around the axes, of a line of words, around words
TALL, TICK_PX = 200, 80  # px: least height of the picture; of the axis for each number below it
MARGIN = 0.05  # of the range of the losses, above and below them
ABOVE = 0.5  # of the descent that is shown above it: what diverges leaves the picture
NUDGE = 1.1  # times the rate, for a key
TITLE = "Loss over the learning rate"
HINT = "Click, drag, or press Left and Right to choose a rate"
EMPTY = "Start the test: the loss of each batch appears here while the learning rate rises from batch to batch."
SCALE = ValueScale(log=True)
WRAPPED = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
KEYS = {Qt.Key.Key_Left: 1 / NUDGE, Qt.Key.Key_Right: NUDGE}


class RatePlot(PaintedPlot):
    """The losses of a test, which come one by one, and below the pointer their numbers.

    Attributes:
        chosen: the rate at the line that the user moves; None before there is one.
    """

    moved = Signal(float)  # the rate that the user chose

    def __init__(self) -> None:
        self._ends = (1e-6, 1.0)
        self._rates, self._losses, self._smooth = list[float](), list[float](), list[float]()
        self._suggestion: Suggestion | None = None
        self.chosen: float | None = None
        super().__init__(TITLE)
        self.picture.need_height(TALL)
        self.picture.installEventFilter(self)
        self.refresh()

    def begin(self, first: float, last: float) -> None:
        """Show an empty curve for a test of the rates from `first` to `last`, both above 0."""
        self._ends, self._rates, self._losses, self._smooth = (first, last), [], [], []
        self._suggestion, self.chosen = None, None
        self.picture.setToolTip("")
        self.refresh()

    def add(self, rate: float, loss: float, smooth: float) -> None:
        """Add the loss and the smoothed loss at the next rate."""
        self._rates.append(rate)
        self._losses.append(loss)
        self._smooth.append(smooth)
        self.picture.update()

    def end(self, suggestion: Suggestion) -> None:
        """Mark what the whole curve suggests, and choose its rate."""
        self._suggestion = suggestion
        self.picture.setToolTip(HINT)
        self.choose(suggestion.rate)

    def choose(self, rate: float | None) -> None:
        """Move the line to a rate; None removes it."""
        self.chosen = rate
        self.refresh()

    def rows(self) -> Rows:
        """A row for each step: its rate, its loss and the smoothed loss."""
        head: Rows = [["step", "learning rate", "loss", "smoothed loss"]]
        points = zip(self._rates, self._losses, self._smooth, strict=True)
        return head + [[step, *numbers] for step, numbers in enumerate(points, 1)]

    def describe(self) -> str:
        """How the loss goes, what it suggests and what is chosen."""
        if not self._rates:
            return EMPTY
        smooth = np.array(self._smooth)
        least = int(np.argmin(np.where(np.isfinite(smooth), smooth, inf)))
        said = [
            f"{TITLE} of {len(self._rates):,} batches: {significant(float(smooth[0]))} at {in_words(self._rates[0])}, "
            f"minimum {significant(float(smooth[least]))} at {in_words(self._rates[least])}, "
            f"last {significant(float(smooth[-1]))} at {in_words(self._rates[-1])}."
        ]
        if self._suggestion is not None and self._suggestion.rate is not None:
            said.append(f"Suggested: {in_words(self._suggestion.rate)}.")
        if self.chosen is not None:
            said.append(f"Chosen: {in_words(self.chosen)}.")
        return " ".join(said)

    # What the user does

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Choose a rate by the pointer or by keys, once the test has ended; say what is below the pointer."""
        if watched is self.picture and self._rates:
            if isinstance(event, QMouseEvent):
                self._point(event)
            elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                times = KEYS.get(Qt.Key(event.key()))
                if times is not None and self._suggestion is not None:
                    self._take((self.chosen or self._rates[len(self._rates) // 2]) * times)
                    return True
        return super().eventFilter(watched, event)

    def _point(self, event: QMouseEvent) -> None:
        at = self.picture.at(event.position())
        pressed = event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton
        dragged = event.type() == QEvent.Type.MouseMove and event.buttons() & Qt.MouseButton.LeftButton
        if self._suggestion is not None and (pressed or dragged):
            self._take(self.rate_at(at.x()))
        if event.type() == QEvent.Type.MouseMove:
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(self._words(at.x())), self.picture)

    def _take(self, rate: float) -> None:
        first, last = self._ends
        self.choose(rounded(min(max(rate, first), last)))
        assert self.chosen is not None
        self.moved.emit(self.chosen)

    def _words(self, x: float) -> str:
        rate = self.rate_at(x)
        place = int(np.argmin(np.abs(np.log(self._rates) - np.log(rate))))
        numbers = (significant(value, 4) for value in (self._losses[place], self._smooth[place]))
        return "Learning rate {}: loss {}, smoothed {}".format(in_words(self._rates[place]), *numbers)

    # Drawing

    def rate_at(self, x: float) -> float:
        """The rate at a place on the bottom axis, px of the picture at 100% text."""
        box, (first, last) = _axes(self.picture.area), self._ends
        share = min(max((x - box.left()) / max(1.0, box.width()), 0.0), 1.0)
        return float(first * (last / first) ** share)

    def place_of(self, rate: float, area: QRectF) -> float:
        """Where a rate is on the bottom axis of an area, px."""
        box, (first, last) = _axes(area), self._ends
        return box.left() + box.width() * log10(rate / first) / log10(last / first)

    def _range(self) -> tuple[float, float]:
        """The least and the greatest loss that is shown, with a margin."""
        losses = np.array(self._losses)
        values = np.array([*self._losses, *self._smooth])
        known = values[np.isfinite(values)]
        if not len(known):
            return 0.0, 1.0
        low, high = float(known.min()), float(known.max())
        early = losses[: max(1, len(losses) // 4)]
        if len(early := early[np.isfinite(early)]) and (begins := float(early.max())) > low:
            high = min(high, begins + ABOVE * (begins - low))
        margin = MARGIN * ((high - low) or abs(high) or 1.0)
        return low - margin, high + margin

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, both curves and the rates that are marked into `area`; before the first loss a sentence."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._rates:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(area.adjusted(LEFT, TOP, -LEFT, -TOP), WRAPPED, EMPTY)
            return
        box, (low, high) = _axes(area), self._range()
        self._paint_axes(painter, area, tokens, low, high)
        painter.save()
        painter.setClipRect(box)
        colour = QColor(theme.SERIES["ce"] if not tokens.dark else theme.LIGHTER[theme.SERIES["ce"]])
        curves = ((self._losses, blended(colour, QColor(tokens.plot_background)), 1.0), (self._smooth, colour, 2.0))
        for losses, shade, width in curves:
            line = QPolygonF()
            for rate, loss in zip(self._rates, losses, strict=True):
                if isfinite(loss):
                    y = box.bottom() - box.height() * (min(loss, 10 * abs(high) + high) - low) / (high - low)
                    line.append(QPointF(self.place_of(rate, area), y))
            painter.setPen(QPen(shade, width))
            painter.drawPolyline(line)
        painter.restore()
        self._paint_marks(painter, area, tokens)

    def _paint_marks(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        box = _axes(area)
        if self._suggestion is not None and self._suggestion.rate is not None and self._suggestion.tenth is not None:
            marks = ((self._suggestion.rate, "steepest descent"), (self._suggestion.tenth, "minimum / 10"))
            for rate, _ in marks:
                self._paint_line(painter, area, rate, QPen(QColor(tokens.muted), 1.0, Qt.PenStyle.DashLine))
            painter.setPen(QColor(tokens.muted))
            ground = QColor(tokens.plot_background)
            for line, (rate, words) in enumerate(marks):
                self._paint_words(painter, box, self.place_of(rate, area), line, f"{in_words(rate)} {words}", ground)
        if self.chosen is not None:
            self._paint_line(painter, area, self.chosen, QPen(QColor(tokens.accent), 2.0))

    def _paint_line(self, painter: QPainter, area: QRectF, rate: float, pen: QPen) -> None:
        x, box = self.place_of(rate, area), _axes(area)
        if box.left() <= x <= box.right():
            painter.setPen(pen)
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))

    def _paint_words(
        self, painter: QPainter, box: QRectF, x: float, line: int, words: str, ground: QColor
    ) -> None:  # fmt: skip
        """Words beside a line, at the side with more room, each mark in a line of its own, over what is behind them."""
        if not box.left() <= x <= box.right():
            return
        wide = painter.fontMetrics().horizontalAdvance(words) + 2 * PAD
        left = x - wide - PAD if x - box.left() > box.right() - x else x + PAD
        room = QRectF(left, box.bottom() - TICK * (line + 1) - 2, wide, TICK)
        painter.fillRect(room, ground)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), words)

    def _paint_axes(self, painter: QPainter, area: QRectF, tokens: Tokens, low: float, high: float) -> None:
        box = _axes(area)
        axes, numbers = Axes(painter, area, box, tokens), ticks(low, high)
        for number, words in zip(numbers, in_decimals(numbers), strict=True):
            axes.at_left(box.bottom() - box.height() * (number - low) / (high - low), words)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        first, last = (SCALE.height(rate) for rate in self._ends)
        for height, words in log_ticks(SCALE, first, last, max(2, int(box.width() / TICK_PX))):
            axes.below(box.left() + box.width() * (height - first) / (last - first), words)
        axes.name_below("Learning rate, logarithmic", Qt.AlignmentFlag.AlignHCenter)


def _axes(area: QRectF) -> QRectF:
    return area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
