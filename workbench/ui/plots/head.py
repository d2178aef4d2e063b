"""What stands above the curves of a plot: its title, its legend and its menu."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget

from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel

GAP, BEFORE_LEGEND = 4, 12  # px


class PlotHead(FlowLayout):
    """The legend is next to the title if it fits there in one line, otherwise below it, in as many lines as needed.

    Args:
        title: takes what the others leave of the first line.
        ends: at the right end of the first line.
    """

    def __init__(self, title: ElidedLabel, *ends: QWidget) -> None:
        super().__init__(spacing=0)
        self._title, self._ends = title, ends
        for widget in (title, *ends):
            self.addWidget(widget)

    def clear(self) -> None:
        """Remove and delete the legend."""
        self._cut_to(1 + len(self._ends))

    def _place(self, rect: QRect, move: bool) -> int:
        shown = self._shown()
        ends = [(widget, size) for widget, size in shown if widget in self._ends]
        legend = shown[1 + len(ends) :]  # behind the title
        room = rect.width() - sum(size.width() + GAP for _, size in ends)
        wide = sum(size.width() for _, size in legend)
        beside = _whole(self._title) + BEFORE_LEGEND + wide <= room
        first = [*legend, *ends] if beside else ends
        line = max([self._title.sizeHint().height(), *(size.height() for _, size in first)])
        if move:
            left = rect.x() + room - (wide if beside else 0)
            self._title.setGeometry(QRect(rect.x(), rect.y(), max(0, left - rect.x()), line))
            for widget, size in first:
                left += GAP if widget in self._ends else 0
                widget.setGeometry(_centred(left, rect.y(), line, size))
                left += size.width()
        if beside:
            return line
        return line + self._place_lines(legend, rect.adjusted(0, line, 0, 0), move)


def _whole(title: ElidedLabel) -> int:
    """Px that the title needs to be whole."""
    title.ensurePolished()
    return title.fontMetrics().horizontalAdvance(title.text())


def _centred(left: int, above: int, line: int, size: QSize) -> QRect:
    return QRect(left, above + (line - size.height()) // 2, size.width(), size.height())
