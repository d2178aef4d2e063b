"""Text that grows up to a number of lines and scrolls beyond them."""

from math import ceil

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy

from workbench.ui.widgets.labels import label


class CappedText(QScrollArea):
    """A wrapped label, `said`, with a maximum height: longer text scrolls.

    Args:
        role: of the label, as in `label`.
        most: lines of text beyond which it scrolls.
    """

    def __init__(self, role: str, most: int) -> None:
        super().__init__()
        self._most = most
        self.said = label("", role, wrap=True)
        self.said.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(self.said)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        """The whole text."""
        return self.said.text()

    def set_text(self, text: str) -> None:
        """Show another text."""
        self.said.setText(text)
        self.updateGeometry()
        self._offer_bar()

    def heightForWidth(self, width: int) -> int:
        line = ceil(QFontMetricsF(self.said.font()).lineSpacing())  # a label gives each line whole pixels
        return max(0, min(self.said.heightForWidth(width), self._most * line))

    def sizeHint(self) -> QSize:
        return QSize(self.said.sizeHint().width(), self.heightForWidth(max(1, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # a layout takes the height of the hint for the most, which was that of another width
        self._offer_bar()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _offer_bar(self) -> None:
        """Show the scroll bar, and accept Tab, only when text is hidden.

        Qt judges by the label's least width, and a needless bar breaks more lines.
        """
        hidden = self.said.heightForWidth(self.width()) > self.height()
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if hidden else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if hidden else Qt.FocusPolicy.NoFocus)
