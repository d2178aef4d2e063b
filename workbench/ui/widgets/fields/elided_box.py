"""A combo box whose title is shortened with an ellipsis where there is no room for it; Qt cuts it off."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip, QWidget

from workbench.ui.widgets.labels import NEAR, plain_tip, reading_like, shortened

AROUND = 4  # px that the style leaves free beside the title
EDGE = 12  # px of the opened list around its titles


class ElidedBox(QComboBox):
    """Asks for the room of `minimumContentsLength` letters; a shortened title is whole in the tooltip.

    Its end goes; where an entry near it would then read the same, its middle or its beginning goes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def showPopup(self) -> None:
        """Open the list as wide as its longest title, as far as the screen has room beside the box."""
        rows = self.view()
        bar = rows.verticalScrollBar().sizeHint().width() if self.count() > self.maxVisibleItems() else 0
        room = self.screen().availableGeometry().right() - self.mapToGlobal(self.rect().topLeft()).x()
        rows.setMinimumWidth(max(self.width(), min(rows.sizeHintForColumn(0) + bar + EDGE, room)))
        super().showPopup()

    def written(self) -> str:
        """The title as it is seen."""
        option = QStyleOptionComboBox()
        super().initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width() - AROUND
        title, metrics, at = self.currentText(), self.fontMetrics(), self.currentIndex()
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
        if shown == title:
            return title
        rows = range(max(0, at - NEAR), min(self.count(), at + NEAR))  # some boxes list thousands of classes
        others = [text for text in map(self.itemText, rows) if text != title]
        return shortened(title, others, metrics, room) if reading_like(shown, others) else shown

    def paintEvent(self, _event: QPaintEvent) -> None:
        option, painter = QStyleOptionComboBox(), QStylePainter(self)
        self.initStyleOption(option)
        option.currentText = self.written()
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Where the title is shortened, the tooltip has all of it."""
        if isinstance(event, QHelpEvent) and self.written() != self.currentText():
            QToolTip.showText(event.globalPos(), plain_tip(self.currentText()), self)
            return True
        return super().event(event)
