"""A line edit for a path. While it is not edited, the home folder is "~" and a long path is shortened at its start."""

from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionFrame, QToolTip

from workbench.ui.style.words import from_home
from workbench.ui.widgets.labels import plain_tip

SIDES = 4  # px between the frame and the text, as Qt has them, both sides together


class PathLine(QLineEdit):
    """Shows the end of a path, which is more informative than its start; the tooltip and editing show all of it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        written = self.written()
        if written == self.text():
            super().paintEvent(event)
            return
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        style, painter = self.style(), QPainter(self)
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelLineEdit, option, painter, self)
        room = style.subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        room.adjust(SIDES // 2, 0, -SIDES // 2, 0)
        painter.setPen(self.palette().text().color())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), written)

    def event(self, event: QEvent) -> bool:
        """Show the whole path as the tooltip of a shortened one."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.written() != self.text():
            QToolTip.showText(event.globalPos(), plain_tip(self.text()), self)
            return True
        return super().event(event)

    def written(self) -> str:
        """The visible text: the whole text while it is edited."""
        if self.hasFocus():
            return self.text()
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self).width() - SIDES
        shown = from_home(Path(self.text())) if self.text() else ""
        return self.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideLeft, room)
