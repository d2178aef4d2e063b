"""MAP@R over the epochs of the map, a small curve above the slider: a star for the best, a number for the shown."""

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSlider, QStyle, QWidget

from workbench.ui.pages.map.model.timeline import Timeline
from workbench.ui.style import theme
from workbench.ui.style.words import percent
from workbench.ui.widgets.labels import plain_tip

TALL = 30  # px of height at 100% text
EDGE = 7  # px above and below the curve
DOT = 3.0  # px: radius of the shown epoch's dot
GAP = 4  # px between the dot and its number


class ScoreLine(QWidget):
    """Draws the scores of a timeline, each above the position of its epoch on the slider."""

    def __init__(self, timeline: Timeline, slider: QSlider) -> None:
        super().__init__()
        self._timeline, self._slider = timeline, slider
        self.setFixedHeight(theme.text_px(TALL))
        self.setAccessibleName("MAP@R of each epoch")
        self.draw()

    def draw(self) -> None:
        """Show the current timeline; nothing if fewer than two epochs have a score."""
        self.setVisible(self._timeline.scored)
        self.setAccessibleDescription(self._timeline.scores_in_words)
        self.setToolTip(plain_tip(self._timeline.scores_in_words))
        self.update()

    def places(self) -> list[QPointF]:
        """The positions of the scores in px; NaN scores are left out."""
        return [QPointF(x, y) for x, y in self._places() if np.isfinite(y)]

    def _places(self) -> list[tuple[float, float]]:
        scores = np.array(self._timeline.scores)
        handle = self._slider.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, None, self._slider)
        x = np.linspace(handle / 2, self.width() - handle / 2, len(scores))
        low, high = np.nanmin(scores), np.nanmax(scores)
        share = (scores - low) / (high - low) if high > low else np.full(len(scores), 0.5)
        return list(zip(x.tolist(), (self.height() - EDGE - share * (self.height() - 2 * EDGE)).tolist(), strict=True))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES:
            self.setFixedHeight(theme.text_px(TALL))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._timeline.scored:
            return
        tokens, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(theme.drawn(theme.SERIES["MAP@R"]))
        painter.setPen(QPen(colour, 1.5))
        painter.drawPolyline(QPolygonF(self.places()))
        places, scores = self._places(), self._timeline.scores
        best, shown = self._timeline.best, self._timeline.nearest
        painter.setBrush(colour)
        painter.setPen(Qt.PenStyle.NoPen)
        if np.isfinite(scores[shown]):
            painter.drawEllipse(QPointF(*places[shown]), DOT, DOT)
        painter.setFont(theme.caption_font(self.font()))
        painter.setPen(QColor(tokens.text))
        words = f"{percent(scores[shown])}{' ★' if shown == best else ''}"
        self._beside(painter, places[shown], words)
        if best != shown:
            painter.setPen(colour)
            painter.drawText(QRectF(places[best][0] - 10, places[best][1] - 10, 20, 20), _CENTRE, "★")
        painter.end()

    def _beside(self, painter: QPainter, at: tuple[float, float], words: str) -> None:
        """Draw words to the right of a position, or to its left if there is no room, above or below the curve."""
        wide, x = painter.fontMetrics().horizontalAdvance(words), at[0]
        left = x + DOT + GAP if x + DOT + GAP + wide <= self.width() else x - DOT - GAP - wide
        half = self.height() / 2
        top = 0.0 if at[1] > half else half
        painter.drawText(QRectF(left, top, wide + 1, half), _CENTRE, words)


_CENTRE = int(Qt.AlignmentFlag.AlignCenter)
