"""A button of Label triage with its key, the answer, and below it what the answer means."""

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton

from workbench.names import visible
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip

KEY, BESIDE, ABOVE = 22, 8, 7  # px at 100% text: the key, beside all, above and below the words
LEAST, MOST = 130, 190  # px at 100% text: the least width, and the most that a long answer asks for
BOLD = QFont.Weight.DemiBold


class AnswerButton(QPushButton):
    """Draws its key in a frame, and two lines beside it; they are shortened where they have no room.

    Args:
        key: the letter that does the same; the caller makes the shortcut.
        meaning: the second line.
        kind: "primary" or empty.
    """

    def __init__(self, key: str, answer: str, meaning: str, kind: str = "") -> None:
        super().__init__()
        self._key, self._longest = key, ""
        self.answer, self.meaning = answer, meaning
        if kind:
            self.setProperty("kind", kind)
        self.setAutoDefault(False)
        self.say(answer, meaning)

    def say(self, answer: str, meaning: str, tip: str = "") -> None:
        """Show other words; the tooltip has them whole, with the key, and then `tip`."""
        self.answer, self.meaning = visible(answer), visible(meaning)
        self.setAccessibleName(f"{self.answer} ({self._key})")
        self.setAccessibleDescription(self.meaning)
        self.setToolTip(plain_tip(f"{self.answer} ({self._key}): {self.meaning}. {tip}".strip()))
        self.update()

    def need_room(self, longest: str) -> None:
        """Have room for an answer as long as this one, so far as `MOST` allows it."""
        self._longest = visible(longest)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self._bold()).horizontalAdvance(self._longest)
        around = theme.text_px(KEY) + 3 * theme.text_px(BESIDE) + 1
        wide = min(max(words + around, theme.text_px(LEAST)), theme.text_px(MOST))
        return QSize(wide, self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.text_px(LEAST), self._height())

    def heightForWidth(self, _width: int) -> int:
        """The height of both lines, which is that of every width."""
        return self._height()

    def _height(self) -> int:
        lines = QFontMetrics(self._bold()).height() + QFontMetrics(self._small()).height()
        return lines + 2 * theme.text_px(ABOVE)

    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(BOLD)
        return font

    def _small(self) -> QFont:
        font = theme.caption_font(self.font())
        font.setWeight(QFont.Weight.Normal)
        return font

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QPainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        self.style().drawControl(QStyle.ControlElement.CE_PushButtonBevel, option, painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, second = self._colours()
        room, side = theme.text_px(BESIDE), theme.text_px(KEY)
        cap = QRect(QPoint(room, (self.height() - side) // 2), QSize(side, side))
        painter.setPen(colour)
        painter.setFont(self._bold())
        painter.drawRoundedRect(QRectF(cap).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.drawText(cap, int(Qt.AlignmentFlag.AlignCenter), self._key)
        self._write(
            painter, cap.right() + room, (self.answer, self._bold(), colour), (self.meaning, self._small(), second)
        )
        painter.end()

    def _colours(self) -> tuple[QColor, QColor]:
        """Of the key and the first line, and of the second line."""
        tokens = theme.current()
        if not self.isEnabled():
            return QColor(tokens.disabled), QColor(tokens.disabled)
        if self.property("kind") == "primary":
            return QColor(tokens.on_accent), QColor(tokens.on_accent)
        return QColor(tokens.text), QColor(tokens.muted)

    def _write(self, painter: QPainter, left: int, *lines: tuple[str, QFont, QColor]) -> None:
        """Write lines of text below each other from `left` on, shortened to the button."""
        wide, y = self.width() - left - theme.text_px(BESIDE), theme.text_px(ABOVE)
        for text, font, colour in lines:
            painter.setFont(font)
            painter.setPen(colour)
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, wide)
            painter.drawText(QRect(left, y, wide, metrics.height()), int(Qt.AlignmentFlag.AlignLeft), shown)
            y += metrics.height()
