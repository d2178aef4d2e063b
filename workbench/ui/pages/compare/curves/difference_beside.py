"""Beside the curves where they leave room: what each group's difference from the baseline is in the page's metric."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.comparing.difference.baseline import BaselineRow
from workbench.comparing.difference.forest import forest_of
from workbench.ui.pages.compare.difference.forest import ForestPanel
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.scrolled import Scrolled

WIDE_PX, SIDE_PX = 960, 330  # px at 100% text: width of curves and differences from which both stand, of the latter
HINT = "Click or press the arrow keys to open the difference of a group"


class DifferenceBeside(QWidget):
    """Curves with the differences at their right; hidden where the window is narrow, or nothing is compared.

    Args:
        curves: the widget of the curves.
    """

    def __init__(self, curves: QWidget) -> None:
        super().__init__()
        self._side = QWidget()
        inside = QWidget()
        self._row: QHBoxLayout = in_row((curves, 1), self._side, on=self, spacing=8)
        in_column(Scrolled(inside), on=self._side)
        self.forest = ForestPanel(scrolls=False)
        self.forest.plot.picture.setToolTip(HINT)
        in_column(self.forest, 1, on=inside, margins=(0, 8, 0, 8))
        self._compared = False
        self._fit()

    def show_rows(self, rows: Sequence[BaselineRow], styles: Mapping[str, GroupStyle], metric: str) -> None:
        """Show each group against the baseline, which comes first, in one metric; `styles` are by the group's title."""
        forest = forest_of(rows).in_metric(metric) if rows else None
        self._compared = forest is not None and bool(forest.rows)
        if forest is not None:
            self.forest.show_forest(forest, styles)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.forest.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_compared"):
            self._fit()

    def _fit(self) -> None:
        self._side.setFixedWidth(theme.text_px(SIDE_PX))
        self._side.setVisible(self._compared and self.width() >= theme.text_px(WIDE_PX))
