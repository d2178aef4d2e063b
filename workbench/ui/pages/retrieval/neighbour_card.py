"""One neighbour: its picture in a frame of right or wrong, with tick or cross, similarity and class."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QWidget

from workbench.ui import theme
from workbench.workspace.rows import Neighbour

SIDE, FRAME = 112, 3  # px
TEXT = 36  # px under the picture


class NeighbourCard(QAbstractButton):
    """Clicked (or Enter): that neighbour becomes the query."""

    def __init__(self, neighbour: Neighbour, judged: bool = True, parent: QWidget | None = None) -> None:
        """`judged` is False for an image of one's own, whose class nobody knows: then there is no tick and no cross."""
        super().__init__(parent)
        self.neighbour, self._judged = neighbour, judged
        self._pixmap: QPixmap | None = None
        self._absent = False
        verdict = ("right" if neighbour.right else "wrong") if judged else "not judged"
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(
            f"Neighbour {neighbour.rank}, {verdict}, {neighbour.class_name}, similarity {neighbour.similarity:.3f}"
        )
        self.setToolTip(f"Rank {neighbour.rank}: click to make it the query")

    def sizeHint(self) -> QSize:
        return QSize(SIDE + 2 * FRAME, SIDE + 2 * FRAME + TEXT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def set_picture(self, pixmap: QPixmap | None, absent: bool) -> None:
        """Show the picture, or that it is missing."""
        self._pixmap, self._absent = pixmap, absent
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, near = theme.current(), self.neighbour
        verdict = QColor((tokens.right if near.right else tokens.wrong) if self._judged else tokens.muted)
        painter = QPainter(self)
        frame = QRect(0, 0, SIDE + 2 * FRAME, SIDE + 2 * FRAME)
        inside = frame.adjusted(FRAME, FRAME, -FRAME, -FRAME)
        painter.fillRect(inside, QColor(tokens.surface))
        if self._pixmap is not None:
            place = self._pixmap.rect()
            place.moveCenter(inside.center())
            painter.drawPixmap(place.topLeft(), self._pixmap)
        else:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(inside, int(Qt.AlignmentFlag.AlignCenter), "missing" if self._absent else "…")
        pen = QPen(QColor(tokens.accent) if self.hasFocus() else verdict, FRAME)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(frame.adjusted(1, 1, -2, -2))
        metrics, y = self.fontMetrics(), frame.bottom() + 3
        painter.setPen(verdict)
        sign = ("✓ " if near.right else "✗ ") if self._judged else ""
        painter.drawText(QRect(0, y, self.width(), 16), int(Qt.AlignmentFlag.AlignLeft), f"{sign}{near.similarity:.3f}")
        painter.setPen(QColor(tokens.muted))
        painter.drawText(QRect(0, y, self.width(), 16), int(Qt.AlignmentFlag.AlignRight), str(near.rank))
        painter.setPen(QColor(tokens.text))
        name = metrics.elidedText(near.class_name, Qt.TextElideMode.ElideMiddle, self.width())
        painter.drawText(QRect(0, y + 16, self.width(), 18), int(Qt.AlignmentFlag.AlignLeft), name)
