"""A plot that paints itself, with a title and a menu to copy and save it; in files it is on white."""

from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QToolTip, QWidget

from workbench.ui.plots.export import HEAD_PX, SavedPlot, small
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import ElidedLabel, plain_tip

LEAST = (130, 140)  # px at 100% text: minimum width and height of a picture
LINE, WIDE = 15, 50.0  # px of a line of words below a plot, and of a number there
Rows = list[list[Any]]


class Picture(QWidget):
    """The surface that a painted plot paints on, in px at 100% text: all of it grows with the window's text."""

    def __init__(self, plot: "PaintedPlot") -> None:
        super().__init__(plot)
        self._plot, self._least = plot, LEAST[1]
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("focusRing", True)  # see ui/window/frame/focus_ring.py
        self.need_height(LEAST[1])

    @property
    def area(self) -> QRectF:
        """The area to paint on, in px at 100% text."""
        return QRectF(QPointF(), QSizeF(self.size()) / theme.text_scale())

    @staticmethod
    def at(position: QPointF) -> QPointF:
        """A position of the pointer (px on screen) in px at 100% text."""
        return position / theme.text_scale()

    def need_height(self, least: int) -> None:
        """Set the minimum height, in px at 100% text."""
        self._least = least
        self.setMinimumSize(theme.text_px(LEAST[0]), theme.text_px(least))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_least"):
            self.need_height(self._least)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, shown = QPainter(self), theme.current()
        painter.fillRect(self.rect(), QColor(shown.plot_background))
        painter.scale(theme.text_scale(), theme.text_scale())
        painter.setFont(small(self.font()))
        self._plot.paint(painter, self.area, shown)
        painter.end()


class Axes:
    """Numbers and lines around the box of a painted plot, in its colours.

    Args:
        area: of the whole plot. box: what is between its axes. Both in px at 100% text.
    """

    def __init__(self, painter: QPainter, area: QRectF, box: QRectF, tokens: Tokens) -> None:
        self._painter, self._area, self._box = painter, area, box
        self._words, self._grid = QColor(tokens.plot_axis), QColor(tokens.plot_axis)
        self._grid.setAlpha(tokens.plot_grid_alpha)

    def at_left(self, y: float, words: str) -> None:
        """Draw a line across the box, and a number at its left end."""
        self._painter.setPen(self._grid)
        self._painter.drawLine(QPointF(self._box.left(), y), QPointF(self._box.right(), y))
        self._painter.setPen(self._words)
        place = QRectF(self._area.left(), y - 8, self._box.left() - self._area.left() - 6, 16)
        self._painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), words)

    def below(self, x: float, words: str, *, line: bool = False, wide: float = WIDE) -> None:
        """Draw a number below the box, moved into the area; with `line` one through the box, too."""
        if line:
            self._painter.setPen(self._grid)
            self._painter.drawLine(QPointF(x, self._box.top()), QPointF(x, self._box.bottom()))
        self._painter.setPen(self._words)
        place = QRectF(x - wide / 2, self._box.bottom() + 2, wide, LINE)
        place.moveRight(min(place.right(), self._area.right()))
        self._painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), words)

    def name_below(self, words: str, side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight) -> None:
        """Write what the bottom axis shows, below its numbers."""
        place = QRectF(self._area.left(), self._box.bottom() + 2 + LINE, self._box.right() - self._area.left(), LINE)
        self._painter.setPen(self._words)
        self._painter.drawText(place, int(side), words)


class PaintedPlot(SavedPlot):
    """A base class: `paint` draws, `rows` returns the numbers, `describe` a sentence for screen readers.

    Args:
        role: how the title is written, a role of the style sheet.
    """

    def __init__(self, title: str, role: str = "strong") -> None:
        super().__init__()
        self.setProperty("card", "true")
        self.picture = Picture(self)
        self.picture.installEventFilter(self)
        self._title = ElidedLabel("", role)
        self._more = self.menu_button()
        self.head = QHBoxLayout()
        self.head.addWidget(self._title, 1)
        self.head.addWidget(self._more)
        in_column(self.head, (self.picture, 1), on=self, margins=(8, 4, 8, 4))
        self.retitle(title)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw the whole plot into `area` (px at 100% text), in the colours of `tokens`."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """The numbers as a table, its head first."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the plot shows, in a sentence or two, for screen readers."""
        raise NotImplementedError

    def words_at(self, position: QPointF) -> str | None:
        """What is at this position of the picture (px on screen), for its tooltip; None where a plot has no such words.

        An empty text hides the tooltip.
        """
        return None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.picture and isinstance(event, QHelpEvent):
            words = self.words_at(QPointF(event.pos()))
            if words is not None:
                QToolTip.showText(event.globalPos(), plain_tip(words), self.picture)
                return True
        return super().eventFilter(watched, event)

    def retitle(self, title: str, short: str = "") -> None:
        """Change the title, and what the window shows of it; "" is all of it."""
        self.title = title
        self._title.setText(short or title)
        self.setToolTip(plain_tip(title) if short else "")  # of its parts, too, that have none of their own
        self.picture.setAccessibleName(title)
        self._more.setAccessibleName(f"Menu of {title}")

    def refresh(self) -> None:
        """Repaint, and update the accessible description."""
        self.picture.setAccessibleDescription(self.describe())
        self.picture.update()

    def size_in_file(self) -> QSize:
        """The size of the picture in a file, with its title, in px at 100% text."""
        area = self.picture.area
        return QSize(round(area.width()), round(area.height()) + HEAD_PX)

    def paint_in_file(self, painter: QPainter, size: QSize) -> None:
        """Draw the plot, on white with its title, in the light theme."""
        self.paint_title(painter, size)
        self.paint(painter, QRectF(0, HEAD_PX, size.width(), size.height() - HEAD_PX), theme.LIGHT)
