"""A metric over epochs or a scalar over steps: mean of each group, its band over seeds, each run as a faint line."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from workbench.comparing.comparison_text import metric_title
from workbench.comparing.curves.training_curves import TrainingCurves
from workbench.comparing.fairness.shared_epochs import runs_named
from workbench.comparing.measures import Curve, is_logged_share, is_share
from workbench.comparing.statistics.intervals import FEWEST_SEEDS
from workbench.metric_names import metric_name
from workbench.ui.pages.compare.curves.band import Band, FaintLine
from workbench.ui.pages.compare.style.group_styles import GroupStyle, legend_titles, short_title
from workbench.ui.plots.curve_plot import SMOOTHED, CurvePlot, Series
from workbench.ui.plots.items import blended
from workbench.ui.plots.smoothing_slider import SmoothingSlider
from workbench.ui.style import theme
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label

MOST_DRAWN = 12  # groups: more are not distinguishable, and their legend is not readable
LEGEND_LINES = 2  # until the user asks for more: twelve groups would leave no room for their curves in a low window
SEEDS = {0: "mean over seeds", 1: "one seed"}  # the end of the title, by how many each group has; 0: not the same
TURN_MS = 4  # between two groups, for what else waits
BAND, FEW_BANDS = 46, 4  # of 255, opacity of a band; of more bands than that each is fainter
SHADED = f"Shaded: 95% t-interval over seeds, from {FEWEST_SEEDS} seeds on. Faint: each run"


class SeedCurves(QWidget):
    """One plot; groups are drawn one per event-loop turn, so that the window stays responsive."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self) -> None:
        super().__init__()
        self.plot = CurvePlot("Curves", [], x_title="epoch", log_if_steep=True)
        self.plot.wished.connect(self.wished)
        self.smoother = SmoothingSlider(self.plot.smoothing)
        self.smoother.chosen.connect(self.plot.set_smoothing)
        self.smoother.chosen.connect(self._tell_smoothing)
        self.plot.smoother.chosen.connect(self.smoother.show_weight)
        self.plot.smoother.chosen.connect(self._tell_smoothing)
        self.plot.head.fold_to(LEGEND_LINES)
        self.plot.follow_room()  # a legend that grows takes room of the plot, before anything scrolls
        self.note = label("", "muted", wrap=True)
        in_column((self.plot, 1), self.note, on=self, margins=8)
        self.behind: dict[str, list[pg.GraphicsObject]] = {}  # runs and band of each curve, by its series
        self._waiting: list[tuple[Curve, str, GroupStyle]] = []
        self._last: list[Callable[[], None]] = []  # what is to be done after the last of them
        self._training: TrainingCurves | None = None
        self._factor, self._opacity = 1, BAND
        self._dots = True
        self._turn = QTimer(self, interval=TURN_MS)
        self._turn.timeout.connect(self._draw_next)

    def show_curves(self, curves: Sequence[Curve], shown_as: Sequence[GroupStyle], metric: str) -> None:
        """Draw curves with their styles, in the same order; shares are drawn in percent."""
        self._factor, self._dots = 100 if is_share(metric) else 1, True
        self._begin(curves, shown_as, f"{metric_title(metric)} over epochs", "epoch")
        self._tell(curves)

    def show_training(self, training: TrainingCurves, shown_as: Sequence[GroupStyle]) -> None:
        """Draw a scalar over steps, shares in percent, with the styles of its curves in the same order."""
        share = is_logged_share(training.name)
        self._factor, self._dots = 100 if share else 1, False
        name = f"{metric_name(training.name)}{' %' if share else ''}"
        self._begin(training.curves, shown_as, f"{name} over steps", "step")
        self._training = training
        self._tell_smoothing()

    def say(self, text: str) -> None:
        """Show a sentence in place of curves."""
        self._clear()
        self.note.setText(text)

    def _tell_smoothing(self) -> None:
        if self._training is not None:
            self.note.setText(in_sentences(self._training, self.plot.smoothing))

    def _clear(self) -> None:
        for item in (item for items in self.behind.values() for item in items):
            self.plot.canvas.item.removeItem(item)
        self.behind, self._waiting, self._last, self._training = {}, [], [], None
        self.plot.drop_series()

    def _begin(self, curves: Sequence[Curve], shown_as: Sequence[GroupStyle], title: str, x_title: str) -> None:
        self._clear()
        shared = _seeds_of_all(curves)
        self.plot.rename(f"{title}, {SEEDS.get(shared, f'mean over {shared} seeds')}", x_title)
        self.plot.canvas.show_percent(self._factor == 100 and all(_are_shares(curve) for curve in curves))
        titles = legend_titles([curve.group.title for curve in curves])
        if not shared:
            titles = [f"{title} (n = {curve.n})" for title, curve in zip(titles, curves, strict=True)]
        self._waiting = list(zip(curves, titles, shown_as, strict=True))[:MOST_DRAWN]
        self._opacity = BAND * FEW_BANDS // max(FEW_BANDS, len(self._waiting))
        canvas = self.plot.canvas
        self._last = [self.plot.redraw, canvas.take_range, canvas.take_axes, canvas.take_range, canvas.take_axes]
        canvas.setUpdatesEnabled(False)  # painted once, when all are there
        self._turn.start()

    @property
    def drawing(self) -> bool:
        """Whether curves are still to be drawn."""
        return bool(self._waiting or self._last)

    def _draw_next(self) -> None:
        if not self._waiting:
            self._finish()
            return
        curve, title, style = self._waiting.pop(0)
        name = str(len(self.behind))
        solid = style.pen == Qt.PenStyle.SolidLine
        series = Series(
            name, title, style.colour, dots=self._dots, dashed=not solid, pen=style.pen, may_be_undefined=not self._dots
        )
        self.plot.add_series(series)
        self._draw(self.plot, name, curve, style)

    def _finish(self) -> None:
        """Pass the numbers, compute their range and paint: each in its own event-loop turn."""
        if self._last:
            self._last.pop(0)()
            return
        self._turn.stop()
        self.plot.canvas.setUpdatesEnabled(True)

    def _draw(self, plot: CurvePlot, name: str, curve: Curve, style: GroupStyle) -> None:
        factor, items = self._factor, list[pg.GraphicsObject]()
        faint = blended(QColor(style.colour), QColor(theme.current().plot_background))
        if len(curve.runs) > 1:
            x, y = _joined(curve)
            items.append(FaintLine(x, factor * y, faint))
        known = np.isfinite(curve.low)
        if known.any():
            low, high = (factor * limit[known] for limit in (curve.low, curve.high))
            colour = QColor(style.colour)
            colour.setAlpha(self._opacity)
            items.append(Band(curve.places[known], low, high, colour))
        for item in items:
            item.setZValue(-1)
            plot.canvas.item.addItem(item)  # the range has all of them
        self.behind[name] = items
        plot.append(name, curve.places, factor * curve.mean)
        plot.legend[name].toggled.connect(partial(self._toggle, name))

    def _toggle(self, name: str, on: bool) -> None:
        for item in self.behind.get(name, []):
            item.setVisible(on)

    def _tell(self, curves: Sequence[Curve]) -> None:
        parts = [
            "Bold: mean over seeds at the epochs that all runs of a group have.",
            f"{SHADED}.",
        ]
        bare = [curve.group.title for curve in curves if not curve.runs]
        points = sum(bool(curve.runs) and curve.group.trained_nothing for curve in curves)
        if points:
            parts.append(f"{counted(points, 'group')} of tests, with one evaluation each, cannot have a line.")
        if bare:
            parts.append(f"Without the metric: {len(bare)} {'group' if len(bare) == 1 else 'groups'}.")
        if len(curves) > MOST_DRAWN:
            parts.append(_first_drawn(MOST_DRAWN, len(curves)))
        self.note.setText(" ".join(parts))


def in_sentences(training: TrainingCurves, smoothing: float = 0.0) -> str:
    """Sentences on what the lines show and what is missing, with runs by their numbers.

    Args:
        smoothing: weight of the exponential mean of the bold lines.
    """
    widths = sorted({round(curve.bin_width) for curve in training.curves if curve.bin_width})
    between = " to ".join(f"{width:,}" for width in dict.fromkeys((*widths[:1], *widths[-1:])))
    binned = f"of means over bins of {between} steps" if widths else ""
    all_binned = all(curve.bin_width for curve in training.curves)
    exact = "" if all_binned else "at the steps that all runs of a group have"
    stride = max((curve.stride for curve in training.curves), default=1)
    thinned = f", a point every {stride:,} steps at most" if stride > 1 else ""
    smooth = smoothing and any(len(curve.places) >= SMOOTHED for curve in training.curves)
    smoothed = f", smoothed with weight {smoothing:.2f}" if smooth else ""
    parts = [
        f"Bold: mean over seeds {', or '.join(filter(None, (binned, exact)))}{smoothed}.",
        f"{SHADED}{thinned}.",
    ]
    if training.without:
        parts.append(f"Without this value: {runs_named(training.without)}.")
    if training.not_finite:
        parts.append(f"Sometimes NaN or infinite, shown as a gap: {runs_named(training.not_finite)}.")
    apart = [curve.group.title for curve in training.curves if not len(curve.places)]
    if apart:
        parts.append(f"Without a mean, since the runs share no steps: {', '.join(map(short_title, apart))}.")
    if training.groups > len(training.curves):
        parts.append(_first_drawn(len(training.curves), training.groups))
    return " ".join(parts)


def _are_shares(curve: Curve) -> bool:
    """Whether the interval of the seeds, too, stays within what is possible: it is shown as wide as it is."""
    ends = np.concatenate([curve.low, curve.high])
    return bool(np.all((ends >= 0) & (ends <= 1) | ~np.isfinite(ends)))


def _seeds_of_all(curves: Sequence[Curve]) -> int:
    """The number of seeds that every group has; 0 if they have different numbers."""
    numbers = {curve.n for curve in curves}
    return numbers.pop() if len(numbers) == 1 else 0


def _first_drawn(drawn: int, groups: int) -> str:
    return (
        f"The first {drawn} of {groups} groups are drawn; order the table by a column, or untick some, to see others."
    )


def _joined(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """All runs of a group as one line with gaps: one item is drawn many times faster than many."""
    gap = np.array([np.nan])
    xs = [part for _, x, _ in curve.runs for part in (x.astype(np.float64), gap)]
    ys = [part for _, _, y in curve.runs for part in (y, gap)]
    return np.concatenate(xs), np.concatenate(ys)
