"""The tab of the Train page for curves that no other tab shows, such as those of a user's own loop."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from workbench.colours import OF_RUNS
from workbench.comparing.measures import is_logged_share, percent_factor
from workbench.metric_names import LIMIT, TITLES, metric_name
from workbench.names import visible
from workbench.ui.pages.train.plots.plot_grid import PlotGrid
from workbench.ui.pages.train.plots.scalar_points import Points, by_name
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

MOST = 30  # plots at a time: each takes some ms to make and to draw
MOST_KEPT = 2 * MOST  # plots that are kept while a search does not want them
WIDE = 280  # px of a plot at 100% text where three stand in a row
SEARCHED = 7  # curves from which on there is a field to find one
READ_ELSEWHERE = (LIMIT, "test/recall@")  # beginnings of names that other tabs and the tiles use
SHOWN_ELSEWHERE = frozenset({"test/P@1", "test/P@R", "test/MAP@R", "batch/feed_wait"}).union(
    name for name in TITLES if name.startswith(("anatomy/", "system/"))
)


class OtherCurves(Scrolled):
    """A plot for each curve, by name; give it scalars as they arrive. A plot is made once it is in sight.

    Args:
        elsewhere: says whether another tab has a plot for the curve of that name.
    """

    wished = Signal(object)  # Wish, for Session.fulfil
    made = Signal(object)  # a CurvePlot that is new
    any_changed = Signal()  # `names` is no longer empty, or is again

    def __init__(self, elsewhere: Callable[[str], bool]) -> None:
        super().__init__(QWidget())
        self._elsewhere = elsewhere
        self.curves: dict[str, Points] = {}
        self._plots: dict[str, CurvePlot] = {}
        self._factors: dict[str, int] = {}  # of the values in each plot
        self._wanted: list[str] = []  # names of the curves that the search finds, sorted
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a curve")
        self.search.setAccessibleName("Find a curve")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._find)
        self.count = label("", "muted")
        grid = QGridLayout()
        in_column(in_row((self.search, 1), self.count), (grid, 1), on=self.widget(), spacing=8)
        self.grid = PlotGrid((), grid, self)
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._make_next)
        self._find()

    @property
    def names(self) -> list[str]:
        """Names of the curves, sorted."""
        return sorted(self.curves)

    @property
    def plots(self) -> tuple[CurvePlot, ...]:
        """The plots made so far, by the names of their curves."""
        return tuple(self._plots[name] for name in sorted(self._plots))

    def clear(self) -> None:
        """Remove all curves and plots, for another run."""
        had_any = bool(self.curves)
        self.curves.clear()
        self.grid.lay_out(())
        self._drop(list(self._plots))
        self._find()
        if had_any:
            self.any_changed.emit()

    def add(self, points: Iterable[tuple[str, int, float]]) -> None:
        """Scalars (name, step, value) in the order written; names that other tabs show are passed over."""
        points, before = list(points), len(self.curves)
        others = {name for name in {name for name, _, _ in points} if self._is_other(name)}
        self.curves.update({name: Points() for name in others - self.curves.keys()})
        for name, step, value in points:
            if name in others:
                self.curves[name].add(step, value)
        for name, steps, values in by_name(points, self._plots):
            if percent_factor(name, values) < self._factors[name]:
                self._drop([name])  # it is in percent already, which its first values did not show
                self._arrange()
            else:
                self._plots[name].append(name, steps, self._factors[name] * values)
        if len(self.curves) > before:
            self._find()
        if self.curves and not before:
            self.any_changed.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _is_other(self, name: str) -> bool:
        elsewhere = name in SHOWN_ELSEWHERE or name.startswith(READ_ELSEWHERE) or self._elsewhere(name)
        return name in self.curves or not elsewhere

    def _find(self) -> None:
        """Show the curves whose name or title has the words of the search."""
        words = self.search.text().lower().split()
        self._wanted = [
            name for name in self.names if all(word in f"{name} {metric_name(name)}".lower() for word in words)
        ]
        self._arrange()

    def _arrange(self) -> None:
        """Lay out the plots that are made, and begin to make the others of those that are wanted."""
        wanted, count = self._wanted[:MOST], len(self.curves)
        self.search.setVisible(count >= SEARCHED)
        self.count.setText(f"{len(wanted):,} of {count:,} curves")
        self.count.setVisible(len(wanted) < count)
        columns = 3 if self.width() >= 3 * theme.text_px(WIDE) else 2
        self.grid.lay_out([self._plots[name] for name in wanted if name in self._plots], columns)
        if len(self._plots) > MOST_KEPT:
            self._drop(set(self._plots) - set(wanted))
        if self.isVisible():
            self._next.start()

    def _drop(self, names: Iterable[str]) -> None:
        for name in names:
            plot = self._plots.pop(name)
            self.grid.remove(plot)
            plot.deleteLater()

    def _make_next(self) -> None:
        """Make one plot that is wanted, and come again for the next."""
        missing = [name for name in self._wanted[:MOST] if name not in self._plots]
        if not missing or not self.isVisible():
            return
        name = missing[0]
        title = visible(metric_name(name))
        colour = OF_RUNS[self.names.index(name) % len(OF_RUNS)]
        plot = CurvePlot(f"{title}, %" if is_logged_share(name) else title, [Series(name, title, colour)])
        plot.legend[name].hide()  # its title is that of the plot
        values = self.curves[name].values
        self._factors[name] = percent_factor(name, values)
        plot.canvas.show_percent(is_logged_share(name))
        plot.wished.connect(self.wished)
        plot.replace(name, self.curves[name].steps, self._factors[name] * values)
        self._plots[name] = plot
        self.grid.add(plot)
        self._arrange()
        self.made.emit(plot)
