"""The two halves of a split: a bar in their proportion, and the images and classes of each."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.style import theme
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label

HEIGHT, GAP = 6, 2  # px
TRAIN, TEST = "#0072B2", "#56B4E9"


class SplitBar(QWidget):
    """Hidden until the halves are known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = _Halves()
        self.train, self.test = label("", "caption"), label("", "caption")
        in_column(self.bar, in_lines(self.train, self.test, spacing=16), on=self, spacing=2)
        self.hide()

    def show_halves(self, train: tuple[int, int], test: tuple[int, int]) -> None:
        """Show (images, classes) of each half."""
        for words, name, (images, classes) in ((self.train, "train", train), (self.test, "test", test)):
            words.setText(f"{images:,} {name}, {counted(classes, 'class', 'classes')}")
        self.bar.show_share(train[0] / max(1, train[0] + test[0]))
        self.show()


class _Halves(QWidget):
    """Painted; the words below it say the same."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setFixedHeight(HEIGHT)

    def sizeHint(self) -> QSize:
        return QSize(80, HEIGHT)

    def show_share(self, share: float) -> None:
        """The training half, 0 to 1 of all."""
        self._share = share
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole, train = self.width() - GAP, round((self.width() - GAP) * self._share)
        painter.fillRect(0, 0, train, HEIGHT, QColor(theme.drawn(TRAIN)))
        painter.fillRect(train + GAP, 0, whole - train, HEIGHT, QColor(theme.drawn(TEST)))
