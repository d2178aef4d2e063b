"""A combo box whose title is shortened with an ellipsis where there is no room for it; Qt cuts it off."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip, QWidget

from workbench.ui.widgets.labels import plain_tip

AROUND = 4  # px that the style leaves free beside the title
EDGE = 12  # px of the opened list around its titles


class ElidedBox(QComboBox):
    """Asks for the room of `minimumContentsLength` letters; a shortened title is whole in the tooltip."""

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
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)

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
