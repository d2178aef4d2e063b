"""The curve plot that pages share, with title, legend, read-out and menu; it reuses its items to be fast."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QToolButton, QVBoxLayout

from workbench.comparing.curves.smoothing import exponential_mean
from workbench.ui.plots.canvas import PlotCanvas, ReadOut
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.curve_words import breaks_named, course
from workbench.ui.plots.file_head import Entry, RenderedPlot
from workbench.ui.plots.head import PlotHead
from workbench.ui.plots.items import Series
from workbench.ui.plots.legend import LegendButton, swatch
from workbench.ui.plots.menu import PlotMenu
from workbench.ui.plots.pointed import difference_in_words, place_in_words, pointed_at, values_in_words
from workbench.ui.plots.rings import Crossing, Ring, crossing_place
from workbench.ui.plots.table import CurveNumbers, CurveTable, TableDialog
from workbench.ui.plots.value_scale import LINEAR, ValueScale, logarithmic, steep
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip

__all__ = ["CurvePlot", "Series"]

REDRAW_MS, TURN_MS = 100, 23
LEAST_WIDTH = 220  # px, minimum
SMOOTHED = 10  # points from which on a curve is smoothed: of fewer, the first would stand for all
PLOTS = count()
ON_RIGHT = " (right)"  # what the title of a curve with the axis at the right ends with


class CurvePlot(RenderedPlot):
    """Curves over steps or epochs, on one axis or two.

    Args:
        title: name of the quantity, with its unit.
        series: the curves, in the order of the legend.
        x_title: quantity on the bottom axis: "step", "epoch".
        log_if_steep: use a logarithmic scale, until the user chooses one, once the largest value shown is above 1000
            times the median, which hides the others on a linear scale.
        log_button: show a button for the logarithmic scale, besides the command in the menu.
        compared: two series; the read-out has the first minus the second where both have a point.
    """

    full_size_asked = Signal()  # a double-click while all of the curves is in view

    def __init__(
        self,
        title: str,
        series: Sequence[Series],
        x_title: str = "step",
        log_if_steep: bool = False,
        log_button: bool = False,
        compared: tuple[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.title, self.x_title = title, x_title
        self.counts = x_title  # the unit of the stored x values
        self._across: Callable[[np.ndarray], np.ndarray] | None = None  # where they are drawn; None: as stored
        self._best: float | None = None
        self.series = list(series)
        self.curves = {entry.name: Curve() for entry in series}
        self.log, self.smoothing = False, 0.0
        self._log_if_steep, self._log_by_itself = log_if_steep, False
        self._compared = compared
        self._marks: list[tuple[float, str]] = []
        self._crossings: list[Crossing] = []
        self._grew = False  # whether points were added since it was last drawn
        # Plots of one page take turns, so that no turn of the event loop paints them all.
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS + TURN_MS * (next(PLOTS) % 4))
        self._timer.timeout.connect(self._redraw_seen)
        self._build(log_button)
        for entry in self.series:
            self.legend[entry.name].setChecked(not entry.hidden)
        self._apply_theme()

    def _build(self, log_button: bool) -> None:
        self.setProperty("card", "true")
        self.setMinimumWidth(LEAST_WIDTH)
        self.canvas = PlotCanvas(self.series, self.x_title)
        self.canvas.pointed.connect(self.show_values)
        self.canvas.zoomed.connect(self._ask_redraw)
        self.canvas.full_size_asked.connect(self.full_size_asked)
        self.canvas.came_to_light.connect(self.redraw)
        self.canvas.came_to_light.connect(self.canvas.take_range)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas.setAccessibleName(self.title)
        self._title = ElidedLabel(self.title, "strong")
        self.menu = PlotMenu(self)
        self.log_action, self.smoother = self.menu.log, self.menu.smoother
        self._more = icon_button("dots-three", f"Menu of {self.title}")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setMenu(self.menu)
        self._more.setToolTip("Log scale, smoothing, copy, save, table")
        self.legend = {series.name: self._legend_button(series) for series in self.series}
        self.read_out = ReadOut(self.canvas)
        self.empty = label("No values", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        QVBoxLayout(self.canvas).addWidget(self.empty)
        self.value, self.foot = label("", "strong"), ElidedLabel("", "caption")
        ends = [self.value, *([self._log_button()] if log_button else []), self._more]
        self.head = PlotHead(self._title, *ends)
        for entry in self.legend.values():
            self.head.addWidget(entry)
        in_column(self.head, (self.canvas, 1), self.foot, on=self, margins=(8, 4, 4, 4), spacing=0)
        self.tell("", "")

    def _log_button(self) -> QToolButton:
        """A second place for the command of the menu, where the values often need it."""
        log = QToolButton()
        log.setDefaultAction(self.log_action)
        log.setToolTip("Logarithmic scale of the left axis")
        log.setAccessibleName(f"Logarithmic scale of {self.title}")
        log.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return log

    def follow_room(self) -> None:
        """Request only the minimum height below the legend, and take all the height that is available."""
        self.canvas.follows_room = True
        self.canvas.updateGeometry()

    def tell(self, value: str, course: str) -> None:
        """Show a value after the title and a line of text below the curves; empty texts take no room."""
        for shown, words in ((self.value, value), (self.foot, course)):
            shown.setText(words)
            shown.setVisible(bool(words))

    def _legend_button(self, series: Series) -> LegendButton:
        entry = LegendButton(series)
        entry.toggled.connect(partial(self._toggle, series.name))
        return entry

    def add_series(self, series: Series) -> None:
        """Add a curve without points, for plots whose curves are added later."""
        self.series.append(series)
        self.curves[series.name] = Curve()
        self.canvas.add_line(series)
        self.legend[series.name] = self._legend_button(series)
        self.head.addWidget(self.legend[series.name])
        self.legend[series.name].setIcon(swatch(series))

    def drop_series(self) -> None:
        """Remove every curve."""
        self.clear()
        self.series.clear()
        self.curves.clear()
        self.legend.clear()
        self.head.clear()
        self.canvas.drop_lines()

    def rename(self, title: str, x_title: str | None = None) -> None:
        """Change the title of the plot and the label of its bottom axis."""
        self.title = title
        if x_title is not None:
            self.counts = x_title
            self.stand_over(x_title)
        self._title.setText(title)
        self.head.update()
        self.canvas.setAccessibleName(title)
        self._more.setAccessibleName(f"Menu of {title}")

    def stand_over(self, x_title: str, across: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        """Draw the curves over another quantity than the stored x values, such as time; stored points do not change.

        Lines, crosshair, table and files use it, too.

        Args:
            x_title: the new quantity on the bottom axis.
            across: maps stored x values [n], ascending, to positions [n], non-decreasing; None: as stored.
        """
        renamed = x_title != self.x_title
        self.x_title, self._across = x_title, across
        if renamed:
            self.canvas.item.setLabel("bottom", x_title)
            self.canvas.fit()
        self.canvas.show_best(self._place(self._best))
        self._ask_redraw()

    def _places(self, curve: Curve) -> np.ndarray:
        return curve.steps if self._across is None else self._across(curve.steps)

    def _place(self, step: float | None) -> float | None:
        return step if step is None or self._across is None else float(self._across(np.array([float(step)]))[0])

    def append(self, name: str, steps: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray) -> None:
        """Add points to one series; they are drawn within 100 ms."""
        self.curves[name].append(steps, values)
        self._grew = True
        self._ask_redraw()

    def replace(self, name: str, steps: Sequence[float] | np.ndarray, values: Sequence[float] | np.ndarray) -> None:
        """Replace the points of one series."""
        self.curves[name].clear()
        self.append(name, steps, values)

    def retitle(self, name: str, title: str, short: str = "") -> None:
        """Change the title of a series, and what the legend says instead of it; "" is the title."""
        index = next(index for index, series in enumerate(self.series) if series.name == name)
        if self.series[index].title != title:
            self.series[index] = dataclasses.replace(self.series[index], title=title, short=short)
            self._tell_absent()
            self.legend[name].setAccessibleName(f"Show {title}")
            self.legend[name].setToolTip(plain_tip(f"Show or hide {title}"))

    def say_when_empty(self, words: str) -> None:
        """Set the text in the middle, which is shown while no curve has a value."""
        self.empty.setText(words)

    def clear(self) -> None:
        """Remove all points and marks; the series remain."""
        if self._log_by_itself:
            self._take_log(False, by_itself=True)
        for curve in self.curves.values():
            curve.clear()
        self._marks, self._crossings = [], []
        self.canvas.fit()
        self._ask_redraw()

    def mark(self, step: float, text: str) -> None:
        """Draw a vertical line with a label, for a problem that the values do not show."""
        if (step, text) not in self._marks:
            self._marks.append((step, text))
            self._ask_redraw()

    def show_crossings(self, crossings: Sequence[Crossing]) -> None:
        """Ring these crossings of curves of the left axis and write their letters beside them; no others."""
        if list(crossings) != self._crossings:
            self._crossings = list(crossings)
            self._ask_redraw()

    def rings(self) -> list[Ring]:
        """Where the rings of the crossings are, of curves that the legend does not hide and that have a place there."""
        shown = {series.name for series in self.shown() if len(self.curves[series.name])}
        drawn = (crossing for crossing in self._crossings if {crossing.first, crossing.second} <= shown)
        return [ring for ring in map(self._ring, drawn) if np.isfinite([ring.x, ring.y]).all()]

    def _ring(self, crossing: Crossing) -> Ring:
        ends = np.array([crossing.before, crossing.after])
        first, second = (
            np.interp(ends, self.curves[name].steps, self.canvas.scale.heights(self.curves[name].finite_values()))
            for name in (crossing.first, crossing.second)
        )
        share, height = crossing_place(first.tolist(), second.tolist())
        before, after = ends if self._across is None else self._across(ends)
        return Ring(crossing.letter, float(before + share * (after - before)), height, crossing.wrong)

    def marks(self) -> list[tuple[float, str]]:
        """All vertical marks: (step, label); NaN and infinite values are labelled with their curve."""
        return sorted([*self._marks, *breaks_named(self.shown(), self.curves, self.counts)])

    def shown(self) -> list[Series]:
        """The series that the legend does not hide."""
        return [series for series in self.series if self.legend[series.name].isChecked()]

    def set_log(self, on: bool) -> None:
        """Show the left axis on a logarithmic scale, or on a linear one, whatever the values are."""
        self._log_if_steep = False
        self._take_log(on)
        self._ask_redraw()

    def _take_log(self, on: bool, *, by_itself: bool = False) -> None:
        self.log, self._log_by_itself = on, on and by_itself
        with QSignalBlocker(self.log_action):
            self.log_action.setChecked(on)

    def _take_scale(self) -> ValueScale:
        """The scale of the left axis for what is shown; it becomes logarithmic by itself where that was wanted."""
        values = [self.curves[series.name].values for series in self.shown() if series.axis == "left"]
        if self._log_if_steep and not self.log and steep(values):
            self._take_log(True, by_itself=True)
        scale = LINEAR
        if self.log:
            canvas = self.canvas
            scale = logarithmic([*values, *canvas.values()], with_zero=canvas.item.vb.from_zero)
        self.canvas.set_scale(scale)
        return scale

    def set_smoothing(self, weight: float) -> None:
        """Draw the debiased exponential mean with this weight of the past over the faint raw curve; 0 draws none.

        Curves of fewer than SMOOTHED points are drawn as they are.
        """
        self.smoothing = weight
        self.smoother.show_weight(weight)
        self._ask_redraw()

    def _redraw_seen(self) -> None:
        """Redraw in a separate turn of the event loop if the plot is visible, otherwise when it is shown again."""
        if self.isVisible():
            self.canvas.take_turn()

    def redraw(self) -> None:
        """Draw the current points."""
        self._timer.stop()
        if self._grew:
            self.canvas.grow()
            self._grew = False
        columns, scale = max(200, self.canvas.width()), self._take_scale()
        for series in self.series:
            curve = self.curves[series.name]
            places = self._places(curve)
            seen = slice(*np.searchsorted(places, self.canvas.span()))
            smoothed = self.smoothing > 0 and len(curve) >= SMOOTHED and not series.dots and not series.exact
            smooth = exponential_mean(curve.values, self.smoothing)[seen] if smoothed else None
            of_axis = scale if series.axis == "left" else LINEAR
            self.canvas.lines[series.name].draw(places[seen], curve.finite_values()[seen], smooth, columns, of_axis)
        on_right = [self._places(self.curves[series.name]) for series in self.shown() if series.axis == "right"]
        self.canvas.reach_over(on_right)
        self.canvas.show_rings(self.rings())
        self.canvas.show_marks([(float(self._place(step) or 0.0), words) for step, words in self.marks()])
        self.canvas.setAccessibleDescription(self.describe())
        self._tell_absent()

    def _tell_absent(self) -> None:
        """Say in the legend which curves have no points, or in the middle of the plot if no curve has any."""
        has_points = any(len(curve) for curve in self.curves.values())
        self.empty.setVisible(not has_points)
        on_right = any(series.axis == "right" and len(self.curves[series.name]) for series in self.series)
        self.canvas.show_axes(has_points, on_right)
        for series in self.series:
            absent = " (no values)" if has_points and not len(self.curves[series.name]) else ""
            self.legend[series.name].say((series.short or series.title) + absent)

    def describe(self) -> str:
        """A sentence for screen readers about what the curves show."""
        parts = [course(series.title, self.curves[series.name], self.counts) for series in self.shown()]
        trouble = [words for _, words in self.marks()]
        scale = ", on a logarithmic scale" if self.log and parts else ""
        return f"{self.title}{scale}: {'; '.join(parts + trouble) or 'nothing is shown'}."

    def numbers(self) -> CurveNumbers:
        """All numbers, one row per step; a curve that the legend does not offer has no column."""
        offered = [series for series in self.series if not self.legend[series.name].isHidden()]
        curves = [self.curves[series.name].at(self._places) for series in offered]
        titles = [series.title.removesuffix(ON_RIGHT) for series in offered]  # a table has no second axis
        return CurveNumbers(self.x_title, list(zip(titles, curves, strict=True)))

    def table(self) -> CurveTable:
        """The numbers as a Qt model."""
        return CurveTable(self.numbers())

    def csv(self) -> Content:
        """What makes the numbers as CSV, with all digits; it is called on a thread."""
        return self.numbers().csv

    def tabbed(self) -> str:
        """The numbers with all digits, with tabs between the columns."""
        return "\n".join(self.numbers().lines())

    def show_table(self) -> TableDialog:
        """Open the table of all numbers."""
        dialog = TableDialog(self.title, self.table(), self)
        dialog.wished.connect(self.wished)
        dialog.show()
        return dialog

    def surface(self) -> PlotCanvas:
        """The curves with their axes."""
        return self.canvas

    def dress(self, look: Tokens) -> None:
        """Give curves and axes the colours of a theme, without a crosshair."""
        self.canvas.point_at(None)
        self.canvas.apply(look)

    def entries(self) -> list[Entry]:
        """The legend of a file: the series that are shown."""
        return [(series.title, series.colour, series.style) for series in self.shown()]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "legend") and theme.look() != self._dressed:
            self._apply_theme()  # once: a change of theme sends many such events

    def contextMenuEvent(self, event: Any) -> None:
        self.menu.popup(event.globalPos())

    def _apply_theme(self) -> None:
        """Take the theme's colours; faint curves are blended with its background, and therefore redrawn."""
        self._dressed = theme.look()
        self.canvas.apply(theme.current())
        for series in self.series:
            self.legend[series.name].setIcon(swatch(series))
        self.redraw()

    def _ask_redraw(self) -> None:
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _toggle(self, name: str, on: bool) -> None:
        self.canvas.show_line(name, on)
        self.redraw()

    def show_best(self, at: float | None) -> None:
        """Mark the best epoch, a stored x value, with a dashed line and a star; None removes the mark."""
        self._best = at
        self.canvas.show_best(self._place(at))

    def show_values(self, place: float | None) -> None:
        """Show crosshair and read-out at the points nearest to this place on the bottom axis; None removes them."""
        if place is None:
            self._hide_values()
            return
        placed = {series.name: self._places(self.curves[series.name]) for series in self.shown()}
        pointed = pointed_at(place, self.curves, placed)
        if pointed is None:
            self._hide_values()
            return
        self.canvas.point_at(pointed.at)
        words = [place_in_words(pointed, self.counts, self.counts if self._across is None else self.x_title)]
        words += values_in_words(pointed, self.series, self.curves)
        if self._compared is not None:
            words.append(difference_in_words(pointed, self._compared, self.series, self.curves))
        self.read_out.show_at(pointed.at, "  ".join(filter(None, words)))

    def _hide_values(self) -> None:
        self.canvas.point_at(None)
        self.read_out.hide()
