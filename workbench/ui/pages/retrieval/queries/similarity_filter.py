"""Histograms of the similarities of right and wrong nearest neighbours; a range of them filters the list."""

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.similarities import Range, Similarities
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.theme import Theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.labels import label

HEIGHT, LEAST_DRAG = 72, 3  # px
DECIMALS = 3
TIP = "Drag a range to list the queries whose nearest neighbour has a similarity in it; click to list all again"


class Histograms(QWidget):
    """Two histograms with a brush: right nearest neighbours upwards, wrong ones downwards, each at its own scale."""

    brushed = Signal(object)  # Range; None: a click without a drag

    def __init__(self) -> None:
        super().__init__()
        self._similarities: Similarities | None = None
        self._range: Range | None = None
        self._begun: float | None = None  # x in px where the drag began
        self._end = 0.0
        self.setFixedHeight(HEIGHT)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setToolTip(TIP)
        self.setAccessibleName("Similarities of right and wrong nearest neighbours")

    def show_similarities(self, similarities: Similarities | None, chosen: Range | None) -> None:
        """Draw these histograms with the chosen range; without similarities nothing is drawn."""
        self._similarities, self._range = similarities, chosen
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._similarities is not None:
            self._begun = self._end = event.position().x()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._begun is not None:
            self._end = event.position().x()
            self._range = self._dragged()
            self.update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        if self._begun is not None:
            dragged = self._dragged()
            self._begun = None
            self.brushed.emit(dragged)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.current()
        painter.fillRect(self.rect(), QColor(tokens.plot_background))
        shown = self._similarities
        if shown is not None:
            if self._range is not None:
                left, right = (self._x(value) for value in self._range)
                painter.fillRect(QRectF(left, 0, max(1.0, right - left), HEIGHT), QColor(tokens.selection))
            middle = HEIGHT / 2
            for counts, colour, upwards in ((shown.right, tokens.right, True), (shown.wrong, tokens.wrong, False)):
                heights = counts / max(1, counts.max()) * (middle - 2)
                width = self.width() / len(counts)
                for at, height in enumerate(heights.tolist()):
                    top = middle - height if upwards else middle
                    painter.fillRect(QRectF(at * width, top, max(1.0, width - 1), height), QColor(colour))
            painter.setPen(QColor(tokens.plot_axis))
            painter.drawLine(QPointF(0, middle), QPointF(self.width(), middle))
        painter.end()

    def _dragged(self) -> Range | None:
        """The range between the ends of the drag, or None for a click."""
        if self._begun is None or abs(self._end - self._begun) < LEAST_DRAG:
            return None
        low, high = sorted((self._value(self._begun), self._value(self._end)))
        return low, high

    def _value(self, x: float) -> float:
        assert self._similarities is not None
        low, high = self._similarities.ends
        share = min(1.0, max(0.0, x / max(1, self.width())))
        return round(low + share * (high - low), DECIMALS)

    def _x(self, value: float) -> float:
        assert self._similarities is not None
        low, high = self._similarities.ends
        return (value - low) / (high - low) * self.width()


class SimilarityFilter(QWidget):
    """Draws the range of `browsing` and passes the user's range to it; a button shows and hides the histograms."""

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self._browsing = browsing
        self.unfold = button("Similarities", "caret-right", "quiet")
        self.unfold.setCheckable(True)
        self.unfold.setToolTip("How similar the nearest neighbours are, right and wrong ones; a range filters the list")
        self.histograms = Histograms()
        self.low, self.high = _limit("Lowest similarity"), _limit("Highest similarity")
        self.said = label("", "caption", wrap=True)
        self.chip = button("", "x", "quiet")
        self.chip.setToolTip("List queries of all similarities again")
        self.body = QWidget()
        in_column(
            self.histograms, in_row((self.low, 1), label("to", "caption"), (self.high, 1), spacing=8), self.said,
            on=self.body, spacing=4,
        )  # fmt: skip
        in_column(
            (self.unfold, Qt.AlignmentFlag.AlignLeft), self.body, (self.chip, Qt.AlignmentFlag.AlignLeft), on=self,
            spacing=4,
        )  # fmt: skip
        self.body.hide()
        self.unfold.toggled.connect(self._unfold)
        self.histograms.brushed.connect(self._choose)
        self.chip.clicked.connect(self._clear)
        self.low.valueChanged.connect(self._typed)
        self.high.valueChanged.connect(self._typed)
        self.draw()

    def fit_text(self, theme_of_window: Theme) -> None:
        """Set the size for the current text size."""
        for box in (self.low, self.high):
            box.setMinimumWidth(theme_of_window.px(72))

    def draw(self) -> None:
        """Draw the histograms and the range of the model."""
        filters = self._browsing.filters
        shown, chosen = filters.similarities, filters.similarity
        self.histograms.show_similarities(shown, chosen)
        self.chip.setText(filters.similarity_title())
        self.chip.setVisible(chosen is not None)
        self.said.setText(
            "Reading…" if shown is None else
            f"{shown.right.sum():,} right (above), {shown.wrong.sum():,} wrong (below)"
        )  # fmt: skip
        self.histograms.setAccessibleDescription(self.said.text())
        ends = shown.ends if shown is not None else chosen or (0.0, 1.0)
        for box, value in zip((self.low, self.high), chosen or ends, strict=True):
            box.blockSignals(True)
            box.setRange(min(ends[0], value), max(ends[1], value))
            box.setValue(value)
            box.setEnabled(shown is not None)
            box.blockSignals(False)

    def _unfold(self, wanted: bool) -> None:
        self.body.setVisible(wanted)
        self.unfold.setIcon(icon("caret-down" if wanted else "caret-right", "text"))
        self._browsing.want_similarities(wanted)
        self.draw()

    def _choose(self, chosen: Range | None) -> None:
        self._browsing.choose_filters(similarity=chosen)

    def _clear(self) -> None:
        self._choose(None)

    def _typed(self) -> None:
        low, high = sorted((self.low.value(), self.high.value()))
        self._choose((low, high))


def _limit(name: str) -> QDoubleSpinBox:
    box = number_box(QDoubleSpinBox())
    box.setAccessibleName(name)
    box.setToolTip(f"{name} of a listed query and its nearest neighbour")
    box.setDecimals(DECIMALS)
    box.setSingleStep(0.01)
    box.setKeyboardTracking(False)
    return box
