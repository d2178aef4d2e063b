"""Labels that show plain text only, since names and paths come from data; and labels with an icon."""

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import takewhile
from math import ceil
from unicodedata import combining

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QWidget

from workbench.names import in_one_line, visible
from workbench.ui.style.icons import SIZE, icon

NEAR = 60  # rows
MAY_BREAK, UNBROKEN = "\u200b", 8  # where Qt may break a long word, and after how many letters
LONG_WORD = re.compile(r"[^\s/\-]{31,}")  # Qt itself breaks lines at blanks, slashes and hyphens
JOINING = ("\u200d", "\ufe0e", "\ufe0f")  # of the letters around it: signs of which several make one picture


def label(text: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """Plain text in one of the style sheet's roles: title, section, caption, muted, right, wrong, warning, strong."""
    widget = WrappedLabel(visible(text), parent) if wrap else QLabel(visible(text), parent)
    widget.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        widget.setProperty("role", role)
    return widget


def plain_tip(text: str) -> str:
    """A tooltip that contains names: Qt would render text that looks like markup, and load pictures that it names."""
    text = visible(text)
    if "<" not in text and "&" not in text:
        return text
    return f"<qt>{escape(text, quote=False).replace(chr(10), '<br>')}</qt>"


def shortened(name: str, others: Iterable[str], metrics: QFontMetrics, width: int) -> str:
    """A name in a list, shortened to `width` px where it is like the others, so that it can be told from them.

    Its middle goes; where another name would then read the same, what both begin with goes; where one still does, as
    of names that differ in two places, as much of the beginning as has no room.
    """
    middle, left = Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft
    shown = metrics.elidedText(name, middle, width)
    if shown == name:
        return name
    unlike = [other for other in others if other != name]
    alike = reading_like(shown, unlike)
    if not alike:
        return shown
    ends = zip(min(name, *alike), max(name, *alike), strict=False)  # what these two begin with, all do
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    differing = metrics.elidedText(f"…{name[name.rfind(' ', 0, shared) + 1 :]}", middle, width)
    end = metrics.elidedText(name, left, width)
    return end if reading_like(differing, unlike) and not reading_like(end, unlike) else differing


def reading_like(shown: str, others: Iterable[str]) -> list[str]:
    """Those of other names that may read as a shortened one does: they begin and end as it."""
    start, end = shown.partition("…")[0], shown.rpartition("…")[2]  # a name without any room is empty
    return [other for other in others if other.startswith(start) and other.endswith(end)]


def names_near(
    index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole.value
) -> Iterator[str]:
    """The names in the rows of a list around one of them: as many as are seen at a time, and more.

    They are asked for one by one: most names fit, and need no other.
    """
    model, row = index.model(), index.row()
    rows = range(max(0, row - NEAR), min(model.rowCount(), row + NEAR))
    for near in rows:
        yield " ".join(str(model.index(near, index.column()).data(role)).split())


def restyle(widget: QWidget) -> None:
    """Apply the style sheet again after a property changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


class WrappedLabel(QLabel):
    """Text in as many lines as it needs; names that are longer than a line are broken, which Qt's labels do not do.

    What is copied of it has no mark of these breaks.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setWordWrap(True)
        self.setText(text)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show another text; rich text, whose words may be tags, as it is."""
        self._text = text
        is_rich = self.textFormat() == Qt.TextFormat.RichText
        super().setText(text if is_rich else LONG_WORD.sub(_breakable, text))

    def selectedText(self) -> str:
        """What is selected, as it is in the text."""
        return super().selectedText().replace(MAY_BREAK, "")

    def copy_selected(self) -> None:
        """Copy what is selected."""
        QGuiApplication.clipboard().setText(self.selectedText())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self.copy_selected()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy", self.copy_selected)
        copy.setEnabled(self.hasSelectedText())
        menu.addAction("Select all", self._select_all)
        menu.popup(event.globalPos())

    def _select_all(self) -> None:
        self.setSelection(0, len(super().text()))


def _breakable(word: re.Match[str]) -> str:
    """A long word that may be broken after every few letters, but not between a letter and its accents."""
    letters, parts = word[0], [""]
    for letter in letters:
        if len(parts[-1]) >= UNBROKEN and not (combining(letter) or letter in JOINING or parts[-1][-1] in JOINING):
            parts.append("")
        parts[-1] += letter
    return MAY_BREAK.join(parts)


class IconLabel(QLabel):
    """An icon in a colour of the theme, also of one that is chosen later.

    Args:
        name: of the icon; empty shows none.
        role: a token of the theme, "muted" or "accent".
        side: px.
    """

    def __init__(self, name: str = "", role: str = "muted", side: int = SIZE, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self._name, self._role = name, role
        self._draw()

    def show_icon(self, name: str, role: str) -> None:
        """Show another icon in the colour of a role."""
        if (name, role) != (self._name, self._role):
            self._name, self._role = name, role
            self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_role"):
            self._draw()

    def _draw(self) -> None:
        if self._name:
            self.setPixmap(icon(self._name, self._role).pixmap(self._side, self._side))
        else:
            self.clear()


class ElidedLabel(QLabel):
    """Text that is shortened to the available space; the whole text is in the tooltip and for screen readers.

    Another text changes no layout, but with `room_for`: Qt lays out the whole window again for each text of a QLabel.

    Args:
        lines: how many it may break into before it is shortened; their space is reserved.
    """

    def __init__(
        self,
        text: str = "",
        role: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
        lines: int = 1,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        super().setText(" ")  # has the height of a line
        self._text = ""
        self._mode, self._lines = mode, lines
        self._room_for: str | None = None
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show another text, in one line: breaks become spaces."""
        text = visible(in_one_line(text))
        if text != self._text:
            if self.accessibleName() == self._text:  # none of its own
                self.setAccessibleName(text)
            self._text = text
            if self._room_for is not None:
                self.updateGeometry()
            self.update()
        self._tell_whole()

    def set_lines(self, lines: int, *, room_for: str | None = None) -> None:
        """Break into at most this many lines before the text is shortened.

        With `room_for` only the space is reserved that this text, or a longer one that is shown, takes at the label's
        width.
        """
        if (lines, room_for) != (self._lines, self._room_for):
            self._lines, self._room_for = lines, room_for
            policy = self.sizePolicy()
            policy.setHeightForWidth(room_for is not None)
            vertical = QSizePolicy.Policy.Fixed if room_for is None else QSizePolicy.Policy.Preferred
            policy.setVerticalPolicy(vertical)  # a layout gives a fixed one its size hint alone, of one line
            self.setSizePolicy(policy)
            self.updateGeometry()
            self._tell_whole()

    def hasHeightForWidth(self) -> bool:
        return self._room_for is not None

    def heightForWidth(self, width: int) -> int:
        if self._room_for is None:
            return super().heightForWidth(width)
        margins = self.contentsMargins()
        inside = width - margins.left() - margins.right()
        lines = max(len(self._broken(text, inside)) for text in (self._text, self._room_for))
        return super().sizeHint().height() + (lines - 1) * self._line_height()

    def resizeEvent(self, event: object) -> None:
        self._tell_whole()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment() & ~Qt.AlignmentFlag.AlignVertical_Mask | self._height_in_room()),
            self.palette(),
            self.isEnabled(),
            "\n".join(self.written()),
            self.foregroundRole(),
        )

    def _height_in_room(self) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignVCenter if self._room_for is None else Qt.AlignmentFlag.AlignTop

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        more = self._lines - 1 if self._room_for is None else 0
        return QSize(hint.width(), hint.height() + more * self._line_height())

    def _line_height(self) -> int:
        return ceil(QFontMetricsF(self.font()).lineSpacing())  # Qt gives each line of a text whole pixels

    def written(self) -> list[str]:
        """The lines as they are seen; the last one is shortened where the text is longer."""
        return self._broken(self._text, self.contentsRect().width())

    def _broken(self, rest: str, width: int) -> list[str]:
        lines: list[str] = []
        while len(lines) < self._lines - 1 and self.fontMetrics().horizontalAdvance(rest) > width:
            first = self._fitting(rest, width)
            lines.append(rest[:first].rstrip())
            rest = rest[first:]
        return [*lines, self.fontMetrics().elidedText(rest, self._mode, width)]

    def _fitting(self, text: str, width: int) -> int:
        """How many letters fit in one line; a word is split only if it is longer than the line."""
        layout = QTextLayout(text, self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(width)
        layout.endLayout()
        return max(1, line.textLength())

    def _tell_whole(self) -> None:
        tip = plain_tip(self.text()) if self.written()[-1] not in self.text() else ""
        if tip != self.toolTip():
            self.setToolTip(tip)
