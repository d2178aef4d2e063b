"""What stands above the curves of a plot: its title, its legend and its menu."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel

GAP, BEFORE_LEGEND = 4, 12  # px
ALL, FEWER = "All {}", "Fewer"  # of the button at the end of a folded legend, and of a whole one
Sized = list[tuple[QWidget, QSize]]


class PlotHead(FlowLayout):
    """The legend is next to the title if it fits there in one line, otherwise below it, in as many lines as needed.

    Args:
        title: takes what the others leave of the first line.
        ends: at the right end of the first line.
    """

    def __init__(self, title: ElidedLabel, *ends: QWidget) -> None:
        super().__init__(spacing=0)
        self._title, self._ends = title, ends
        self._fixed: tuple[QWidget, ...] = (title, *ends)
        self._most = 0  # lines of a folded legend; 0: it is never folded
        for widget in self._fixed:
            self.addWidget(widget)

    def fold_to(self, lines: int) -> QToolButton:
        """Show at most so many lines of a legend below the title, and a button for all; to be called before it is made.

        Entries that are folded away cannot have the focus; numbers, pictures and files keep all curves.
        """
        self._most, self.more = lines, QToolButton()
        self.more.setCheckable(True)
        self.more.setAutoRaise(True)
        self.more.setProperty("legend", "true")  # its look, and the height of a line
        self.more.setToolTip("Show the whole legend, or the lines that leave room for the curves")
        self.more.toggled.connect(self._name_more)
        self._fixed = (*self._fixed, self.more)
        self.addWidget(self.more)
        return self.more

    def addWidget(self, widget: QWidget) -> None:
        super().addWidget(widget)
        self._name_more()

    def _name_more(self) -> None:
        if self._most:
            whole, count = self.more.isChecked(), self.count() - len(self._fixed)
            self.more.setText(FEWER if whole else ALL.format(count))
            self.more.setAccessibleName(
                "Fewer entries of the legend" if whole else f"All {count} entries of the legend"
            )

    def clear(self) -> None:
        """Remove and delete the legend."""
        self._cut_to(len(self._fixed))

    def _place(self, rect: QRect, move: bool) -> int:
        shown = self._shown()
        ends = [(widget, size) for widget, size in shown if widget in self._ends]
        legend = [(widget, size) for widget, size in shown if widget not in self._fixed]
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
        below = [] if beside else self._folded(legend, rect.width())
        if move and self._most:
            self._put_away([entry for entry in shown if entry not in [*first, *below] and entry[0] is not self._title])
        return line + (self._place_lines(below, rect.adjusted(0, line, 0, 0), move) if below else 0)

    def _folded(self, legend: Sized, width: int) -> Sized:
        """What stands below the title: the legend, or as much of it as has room beside the button for all."""
        most = self._most * max((size.height() for _, size in legend), default=0)
        if not self._most or self._lines_px(legend, width) <= most:
            return legend
        more = (self.more, self.more.sizeHint())
        if self.more.isChecked():
            return [*legend, more]
        fits = (
            count for count in range(len(legend) - 1, 0, -1) if self._lines_px([*legend[:count], more], width) <= most
        )
        return [*legend[: next(fits, 1)], more]

    def _lines_px(self, sized: Sized, width: int) -> int:
        return self._place_lines(sized, QRect(0, 0, width, 0), move=False)

    def _put_away(self, away: Sized) -> None:
        """Keep widgets out of sight and of the keyboard's way; hidden ones would be curves that are not offered."""
        folded = [widget for widget, _ in away]
        for widget, size in away:
            widget.setGeometry(QRect(QPoint(0, -size.height()), size))
        for widget, _ in self._shown():
            if widget is not self._title and widget not in self._ends:
                widget.setFocusPolicy(Qt.FocusPolicy.NoFocus if widget in folded else Qt.FocusPolicy.TabFocus)


def _whole(title: ElidedLabel) -> int:
    """Px that the title needs to be whole."""
    title.ensurePolished()
    return title.fontMetrics().horizontalAdvance(title.text())


def _centred(left: int, above: int, line: int, size: QSize) -> QRect:
    return QRect(left, above + (line - size.height()) // 2, size.width(), size.height())
