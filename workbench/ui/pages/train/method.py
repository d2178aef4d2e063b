"""The Method panel of the Train page: the pictures that a method describes of itself, step by step."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QStackedWidget, QVBoxLayout, QWidget

from workbench.charts import Chart
from workbench.ui.plots.chart_view import ChartView
from workbench.ui.style import theme
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.scrolled import Scrolled

COLUMNS, WIDE_COLUMNS, WIDE_PX = 2, 3, 1400  # px at 100% text from which three charts stand in one row
NOT_YET, NEVER = "Nothing is drawn yet", "Nothing was drawn"
WHO_DRAWS = (
    "Losses with class vectors draw similarities, angles and lengths here as they train; ICE, CCP, PSCE and RankMI "
    "draw weights, proxies, prototypes and distances."
)


class MethodPanel(QStackedWidget):
    """A grid of charts, and a slider over the steps of their drawing; it follows the newest until it is moved.

    `step_chosen` requests charts only while the panel is visible, and when it is shown again.
    """

    step_chosen = Signal(int)
    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[int] = []
        self._shown: int | None = None
        self._due = False  # whether the charts of that step are to be requested when the panel is visible
        self._titles: tuple[str, ...] = ()
        self.charts: list[ChartView] = []
        self._columns = 0  # of the grid, as it is laid out
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Step of the charts")
        self.slider.setToolTip("Drag left for earlier charts; the right end shows the newest")
        self.slider.valueChanged.connect(self._moved)
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout()
        row.addWidget(self.words)
        row.addWidget(self.slider, 1)
        self._grid = QGridLayout()
        self._grid.setSpacing(8)
        content, charts = QWidget(), QWidget()
        charts.setLayout(self._grid)
        self._grid.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 8, 0, 0)
        column.addWidget(Scrolled(charts), 1)
        column.addLayout(row)
        self.hint = EmptyHint(NOT_YET, WHO_DRAWS)
        self.addWidget(self.hint)
        self.addWidget(content)

    @property
    def step(self) -> int | None:
        """The step whose charts are shown; None without any."""
        return self._shown

    def show_live(self, live: bool) -> None:
        """Whether charts of the run may still come."""
        self.hint.say(WHO_DRAWS, NOT_YET if live else NEVER)

    def show_steps(self, steps: list[int]) -> None:
        """Steps at which charts were stored, rising; the newest is requested unless an earlier one is shown."""
        at_end = not self._steps or self.slider.value() == self.slider.maximum()
        self._steps = steps
        self.setCurrentIndex(1 if steps else 0)
        if not steps:
            self._shown = None
            return
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(steps) - 1)
        if at_end:
            self.slider.setValue(len(steps) - 1)
        self.slider.blockSignals(False)
        self._moved(self.slider.value())

    def show_charts(self, charts: list[Chart]) -> None:
        """Draw them; views are kept as long as the titles stay the same."""
        titles = tuple(chart.title for chart in charts)
        if titles != self._titles:
            self._make_views(titles)
        for view, chart in zip(self.charts, charts, strict=True):
            view.show_chart(chart)

    def _make_views(self, titles: tuple[str, ...]) -> None:
        for view in self.charts:
            self._grid.removeWidget(view)
            view.deleteLater()
        self._columns = 0
        self._titles = titles
        self.charts = [ChartView(title) for title in titles]
        for view in self.charts:
            view.wished.connect(self.wished)
        self._arrange()

    def _arrange(self) -> None:
        """Two charts in a row; three in a wide panel, where they fill their rows."""
        wide = self.width() >= theme.text_px(WIDE_PX) and len(self.charts) % WIDE_COLUMNS == 0
        columns = WIDE_COLUMNS if wide else COLUMNS
        if columns != self._columns:
            self._columns = columns
            for index, view in enumerate(self.charts):
                self._grid.addWidget(view, index // columns, index % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _moved(self, index: int) -> None:
        step = self._steps[index]
        self.words.setText(f"Step {step:,}")
        if step != self._shown:
            self._shown, self._due = step, True
            self._request()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._request()

    def _request(self) -> None:
        if self._due and self._shown is not None and self.isVisible():
            self._due = False
            self.step_chosen.emit(self._shown)
