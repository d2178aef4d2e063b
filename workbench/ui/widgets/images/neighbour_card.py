"""One neighbour: its picture in a coloured frame with a tick (right) or a cross (wrong), similarity and class."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QWidget

from workbench.names import in_one_line
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip
from workbench.workspace.rows import Neighbour

SIDE, FRAME = 112, 3  # px; of a picture where its card has the width of its hint
LEAST = 76  # px, minimum width
MAKES_QUERY = "Click to make it the query."
NO_PICTURE = "No image"  # the tooltip says why
VERDICTS = {True: ("✓", "right", "right"), False: ("✗", "wrong", "wrong"), None: ("", "unknown", "border")}


class NeighbourCard(QAbstractButton):
    """A button of one neighbour, pressed by a click or Enter. Cards are reused for the next query.

    Args:
        side: px of its picture where it has the width of its hint. One below `LEAST` has one line of words and this
            width: tick or cross, and the class.
        does: what a click does, for the tooltip.
    """

    def __init__(self, parent: QWidget | None = None, side: int = SIDE, does: str = MAKES_QUERY) -> None:
        super().__init__(parent)
        self._side, self._does = side, does
        self.neighbour: Neighbour | None = None
        self._judged = True
        self._elsewhere = ""  # its rank in another list, beside its own
        self._pixmap: QPixmap | None = None
        self.absent = ""  # why there is no picture, as a sentence
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_neighbour(self, neighbour: Neighbour, judged: bool) -> None:
        """Show another neighbour; `judged` is False if the query's class is not known."""
        self.neighbour, self._judged = neighbour, judged
        self._pixmap, self.absent, self._elsewhere = None, "", ""
        self._name()
        self._tell()
        self.update()

    def mark(self, elsewhere: str) -> None:
        """Write its rank in another list beside its own, such as "← 57"; empty for nothing."""
        if elsewhere != self._elsewhere:
            self._elsewhere = elsewhere
            self._name()
            self._tell()
            self.updateGeometry()
            self.update()

    @property
    def ranked(self) -> str:
        """Its rank, and that in another list: "3 ← 57"."""
        return "" if self.neighbour is None else f"{self.neighbour.rank} {self._elsewhere}".rstrip()

    def _name(self) -> None:
        neighbour = self.neighbour
        assert neighbour is not None
        _, word, _ = self._verdict()
        verdict = f", {word}" if self._judged else ""
        self.setAccessibleName(
            f"Neighbour {self.ranked}{verdict}, {neighbour.class_name}, similarity {neighbour.similarity_words}"
        )

    def sample(self) -> int | None:
        """The id of the shown image; None before there is one."""
        return None if self.neighbour is None else self.neighbour.sample_id

    def _tell(self) -> None:
        """The tooltip: what is shown, and why a picture is missing."""
        if self.neighbour is not None:
            near = f", {self.said}" if self._is_small else ""
            words = f"Rank {self.ranked}: {self.neighbour.class_name}{near}. {self._does}"
            self.setToolTip(plain_tip(f"{words}\n{self.absent}".strip()))

    def sizeHint(self) -> QSize:
        return self._of_width(self._side + 2 * FRAME)

    @property
    def _is_small(self) -> bool:
        return self._side < LEAST

    def minimumSizeHint(self) -> QSize:
        if self._is_small:
            return self.sizeHint()
        words = self.fontMetrics().horizontalAdvance(f"{self.said}  {self.ranked}" if self.neighbour else "")
        return self._of_width(min(self._side + 2 * FRAME, max(LEAST, words)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._of_width(width).height()

    def _of_width(self, width: int) -> QSize:
        lines = 1 if self._is_small else 2
        return QSize(width, width + lines * self.fontMetrics().height() + 6)

    @property
    def square(self) -> QRect:
        """Where the picture stands."""
        side = self.width() - 2 * FRAME
        return QRect(FRAME, FRAME, side, side)

    def set_picture(self, pixmap: QPixmap | None, absent: str) -> None:
        """Show the picture, or why there is none."""
        if (pixmap, absent) != (self._pixmap, self.absent):
            self._pixmap, self.absent = pixmap, absent
            self._tell()
            self.update()

    @property
    def said(self) -> str:
        """The words below the picture: tick or cross, and the similarity."""
        return "" if self.neighbour is None else f"{self._verdict()[0]} {self.neighbour.similarity_words}".strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.neighbour is None:
            return
        tokens, painter = theme.current(), QPainter(self)
        sign, _, role = self._verdict()
        ink = QColor(getattr(tokens, role))
        frame = self.square.adjusted(-FRAME, -FRAME, FRAME, FRAME)
        self._paint_picture(painter, self.square, tokens)
        pen = QPen(QColor(tokens.accent) if self.hasFocus() else ink, FRAME)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRect(frame.adjusted(1, 1, -2, -2))
        self._paint_words(painter, frame.bottom() + 3, sign, ink, tokens)

    def _verdict(self) -> tuple[str, str, str]:
        return VERDICTS[self.neighbour.right if self._judged and self.neighbour is not None else None]

    def _paint_picture(self, painter: QPainter, inside: QRect, tokens: theme.Tokens) -> None:
        painter.fillRect(inside, QColor(tokens.surface))
        if self._pixmap is not None:
            size = self._pixmap.size().scaled(inside.size(), Qt.AspectRatioMode.KeepAspectRatio)
            target = QRect(inside.topLeft(), size)
            target.moveCenter(inside.center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(target, self._pixmap)
        else:
            painter.setPen(QColor(tokens.muted))
            wrap = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
            painter.drawText(inside.adjusted(6, 6, -6, -6), wrap, NO_PICTURE if self.absent else "…")

    def _paint_words(self, painter: QPainter, top: int, sign: str, ink: QColor, tokens: theme.Tokens) -> None:
        assert self.neighbour is not None
        line, metrics = self.fontMetrics().height(), self.fontMetrics()
        first, second = QRect(0, top, self.width(), line), QRect(0, top + line, self.width(), line)
        painter.setPen(ink if sign else QColor(tokens.text))
        if self._is_small:
            left = metrics.horizontalAdvance(f"{sign} ") if sign else 0
            painter.drawText(first, int(Qt.AlignmentFlag.AlignLeft), sign)
            painter.setFont(theme.caption_font(self.font()))
            self._paint_name(painter, first.adjusted(left, 0, 0, 0), Qt.TextElideMode.ElideRight, tokens)
            return
        self._paint_numbers(painter, first, tokens)
        self._paint_name(painter, second, Qt.TextElideMode.ElideMiddle, tokens)

    def _paint_name(self, painter: QPainter, place: QRect, mode: Qt.TextElideMode, tokens: theme.Tokens) -> None:
        assert self.neighbour is not None
        painter.setPen(QColor(tokens.text))
        name = painter.fontMetrics().elidedText(in_one_line(self.neighbour.class_name), mode, place.width())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)

    def _paint_numbers(self, painter: QPainter, first: QRect, tokens: theme.Tokens) -> None:
        assert self.neighbour is not None
        painter.drawText(first, int(Qt.AlignmentFlag.AlignLeft), self.said)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(first, int(Qt.AlignmentFlag.AlignRight), self.ranked)
