"""The Cost tab: time and memory of each run against its quality."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QWidget

from workbench.comparing.comparison_text import metric_title
from workbench.comparing.measures import Summary, is_share
from workbench.comparing.overview import Overview
from workbench.ui.pages.compare.cost.cost_plot import CostPlot, symbol
from workbench.ui.pages.compare.style.group_styles import GroupStyle, legend_titles
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled
from workbench.workspace.rows import Run

MOST_NAMED = 12  # groups in the legend
BESIDE = 480  # px at 100% text: width from which both plots have room beside each other


class CostPanel(Scrolled):
    """Two plots side by side; below each other where the page is narrow."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QWidget(), parent)
        self.seconds = CostPlot("Time against quality", "seconds of work")
        self.memory = CostPlot("Memory against quality", "peak memory, MB")
        for plot in (self.seconds, self.memory):
            plot.wished.connect(self.wished)
        self._row: QHBoxLayout = in_row(self.seconds, self.memory, spacing=8)
        self.legend = FlowLayout(spacing=12)
        words = (
            "Small symbols: runs. Large, outlined symbols: group means. "
            "Times measured on different devices are not comparable."
        )
        in_column((self._row, 1), self.legend, label(words, "muted", wrap=True), on=self.widget(), margins=8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_row"):
            self._place()

    def _place(self) -> None:
        direction, beside = QBoxLayout.Direction, self.width() >= theme.text_px(BESIDE)
        self._row.setDirection(direction.LeftToRight if beside else direction.TopToBottom)

    def show_overview(self, overview: Overview, shown_as: Sequence[GroupStyle]) -> None:
        """Show other groups with their styles, in the same order."""
        title = metric_title(overview.metric)
        unit = 100 if is_share(overview.metric) else 1
        pairs = list(zip(overview.summaries, shown_as, strict=True))
        self.legend.clear()
        names = legend_titles([summary.group.title for summary, _ in pairs])
        for name, (_, style) in list(zip(names, pairs, strict=True))[:MOST_NAMED]:
            self.legend.addWidget(LegendEntry(name, style))
        for plot, of in ((self.seconds, seconds), (self.memory, megabytes)):
            plot.show_groups(
                [(summary.group.title, style, _points(summary, of, unit)) for summary, style in pairs], title
            )


class LegendEntry(QWidget):
    """A group's symbol and title."""

    def __init__(self, title: str, style: GroupStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        picture = QLabel()
        picture.setPixmap(symbol(style))
        in_row(picture, label(title), on=self, spacing=4)


def seconds(run: Run) -> float:
    """Seconds that the run worked, without pauses."""
    return run.seconds


def megabytes(run: Run) -> float:
    """Peak memory, in units of 10^6 bytes."""
    return run.memory_bytes / 1e6


def _points(summary: Summary, cost: Callable[[Run], float], unit: int) -> list[tuple[float, float]]:
    """(cost, quality) of the runs for which both are known."""
    known = [run for run in summary.group.runs if run.id in summary.values and cost(run) > 0]
    return [(cost(run), unit * summary.values[run.id]) for run in known]
