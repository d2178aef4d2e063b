"""How classes are taken in that are added after training: the accuracy by the number of images stored of each."""

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from workbench.colours import OKABE_ITO
from workbench.numerals import percentage
from workbench.results.few_shot import EPISODES, few_shot_sentence
from workbench.ui.plots.painted_plot import LINE, Axes, PaintedPlot, Rows
from workbench.ui.plots.value_scale import ticks
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Fact
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label

LEFT, RIGHT, TOP, BOTTOM = 46, 12, 22, 34  # px around the axes
DOT, APART, TALL = 3.0, 3.0, 190  # px; px between the two methods; least height
ROOM = 0.08  # of the span above the highest and below the lowest limit
METHODS = (  # key, title, number of its colour
    ("by_mean", "Class mean", 1),
    ("by_nearest", "Nearest image", 4),
)
NOT_THEN = "This evaluation was measured by an older version of Workbench, which did not measure new classes."
USUAL = (
    "600 episodes of N classes with K stored images each and 15 queries of each class, by the mean of each class "
    "(Snell et al., 2017), with the 95% interval of the mean over episodes"
)


class ShotsPlot(PaintedPlot):
    """The accuracy by the mean of each class and by the nearest image, for 1, 2, 5, 10 and 20 images of each class."""

    def __init__(self) -> None:
        self._measured: dict[str, Any] | None = None
        super().__init__("Accuracy by stored images")
        self.picture.need_height(TALL)

    def show_shots(self, measured: dict[str, Any] | None) -> None:
        """Show another measurement, as NewClasses in plain data; None empties the picture."""
        self._measured = measured
        self.refresh()

    def rows(self) -> Rows:
        """The numbers as a table with a head."""
        head: Rows = [["images of each class"]]
        for _, title, _ in METHODS:
            head[0] += [f"{title.lower()} %", "low", "high"]
        return head + [
            [point["images"], *(100 * share for key, *_ in METHODS for share in point[key])] for point in self._points
        ]

    def describe(self) -> str:
        """The accuracy with the fewest and with the most stored images."""
        if not self._points:
            return f"{self.title}: nothing is measured yet."
        ends = [self._points[0], self._points[-1]][: len(self._points)]
        said = [
            f"{point['images']} of each class: "
            + ", ".join(f"{percentage(point[key][0])} by {title.lower()}" for key, title, _ in METHODS)
            for point in ends
        ]
        return f"{self.title}: {'; '.join(said)}."

    @property
    def _points(self) -> list[dict[str, Any]]:
        return [] if self._measured is None else self._measured["points"]

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, the share that guessing would have, and both methods with their limits."""
        if self._measured is None or not self._points:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        limits = [100 * share for point in self._points for key, *_ in METHODS for share in point[key]]
        room = max(0.5, ROOM * (max(limits) - min(limits)))
        low, high = max(0.0, min(limits) - room), min(100.0, max(limits) + room)

        def y_of(share: float) -> float:
            return float(box.bottom() - (share - low) / (high - low) * box.height())

        axes = Axes(painter, area, box, tokens)
        for share in ticks(low, high):
            axes.at_left(y_of(share), f"{share:g}%")
        for place, point in enumerate(self._points):
            axes.below(self._x(place, box), str(point["images"]))
        axes.name_below("stored images of each class")
        chance = 100 / self._measured["classes"]
        if low <= chance <= high:
            painter.setPen(QPen(QColor(tokens.muted), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(box.left(), y_of(chance)), QPointF(box.right(), y_of(chance)))
            below = QRectF(box.left(), y_of(chance) + 2, box.width(), LINE)
            painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), "guessing")
        left = box.left()
        for number, (key, title, colour) in enumerate(METHODS):
            ink = QColor(theme.drawn(OKABE_ITO[colour], tokens))
            painter.setPen(QPen(ink, 1.6))
            at = [
                QPointF(self._x(place, box) + (2 * number - 1) * APART, y_of(100 * point[key][0]))
                for place, point in enumerate(self._points)
            ]
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(QPolygonF(at))
            for point, dot in zip(self._points, at, strict=True):
                _, least, most = point[key]
                painter.drawLine(QPointF(dot.x(), y_of(100 * least)), QPointF(dot.x(), y_of(100 * most)))
            painter.setBrush(ink if number == 0 else QColor(tokens.plot_background))  # told apart without colour, too
            key_at = QPointF(left + DOT, area.top() + LINE / 2)
            for dot in (*at, key_at):
                painter.drawEllipse(dot, DOT, DOT)
            painter.setPen(QColor(tokens.text))
            painter.drawText(QPointF(left + 4 * DOT, area.top() + LINE - 4), title)
            left += 7 * DOT + painter.fontMetrics().horizontalAdvance(title)

    def _x(self, place: int, box: QRectF) -> float:
        return float(box.left() + (place + 0.5) * box.width() / len(self._points))


class NewClassesSide(QWidget):
    """Beside the stores: how many images of a class must be stored, and the accuracy in the usual episodes."""

    asked = Signal()  # to measure what an older measurement lacks

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = ShotsPlot()
        self.facts = [Fact(f"{ways}-way {shots}-shot", whole=True) for ways, shots in EPISODES]
        for fact in self.facts:
            fact.setToolTip(USUAL)
        self.sentence = label("", "muted", wrap=True)
        self.measure = button("Measure new classes", "arrow-clockwise")
        self.measure.clicked.connect(self.asked)
        in_column((self.plot, 1), in_lines(*self.facts), self.sentence, self.measure, on=self, spacing=8)

    def show_new_classes(self, measured: dict[str, Any] | None) -> None:
        """Show the "new_classes" of a measurement; None: it has none."""
        there = measured is not None and bool(measured["points"])
        self.plot.setVisible(there)
        self.plot.show_shots(measured if there else None)
        self.measure.setVisible(measured is None)
        self.sentence.setText(NOT_THEN if measured is None else few_shot_sentence(measured))
        made = {(one["ways"], one["shots"]): one for one in ([] if measured is None else measured["episodes"])}
        for fact, kind in zip(self.facts, EPISODES, strict=True):
            fact.setVisible(kind in made)
            if kind in made:
                fact.set_value(f"{100 * made[kind]['accuracy']:.2f} ± {100 * made[kind]['half_width']:.2f}%")
