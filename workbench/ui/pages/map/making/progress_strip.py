"""The progress of a map that is being computed, over the map."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QWidget

from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label

GAP = 12  # px from the map's edge


class ProgressStrip(QFrame):
    """Shows what is being computed, its progress, and Cancel; hidden while nothing is computed."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", "raised")
        self.words = label("", "caption")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.bar.setAccessibleName("Progress of the map")
        self.cancel = button("Cancel", kind="quiet")
        self.cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 4, 2)
        for widget in (self.words, self.bar, self.cancel):
            row.addWidget(widget)
        self.hide()

    def show_progress(self, words: str, done: int, total: int) -> None:
        """Show the stage and its progress; `total` is 0 if unknown. Empty words hide the strip."""
        self.setVisible(bool(words))
        self.words.setText(words)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.place()

    def place(self) -> None:
        """Move to the middle of the parent's lower edge; where it would be wider, the bar is left out."""
        parent = self.parentWidget()
        assert parent is not None
        self.bar.setVisible(True)
        self.bar.setVisible(self.sizeHint().width() <= parent.width())
        self.adjustSize()
        self.move((parent.width() - self.width()) // 2, parent.height() - self.height() - GAP)
