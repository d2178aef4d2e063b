"""The card beside a hovered point: its picture, class and scores."""

from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from workbench.ui.pages.map.map_data import MapData
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import percent

DELAY = 125  # ms
SIDE = 128  # px
GAP = 14  # px between point and card


class HoverCard(QFrame):
    """Appears a moment after the point is hovered, beside it and never over it."""

    def __init__(self, loader: PictureLoader, parent: QWidget) -> None:
        super().__init__(parent)
        self._loader, self._canvas = loader, parent
        self._sample: int | None = None
        self._at = QPointF()
        self.setProperty("card", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.picture = QLabel()
        self.picture.setFixedSize(SIDE, SIDE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = label("", "caption", wrap=True)
        self.words.setFixedWidth(SIDE)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        column.addWidget(self.picture)
        column.addWidget(self.words)
        self._timer = QTimer(self, singleShot=True, interval=DELAY)
        self._timer.timeout.connect(self._appear)
        self._loader.ready.connect(self._fill)
        self.hide()

    def hover(self, data: MapData | None, row: int | None, at: QPointF | None) -> None:
        """Prepare for a point, or go away."""
        self.hide()
        self._timer.stop()
        if data is None or row is None or at is None:
            self._sample = None
            return
        self._sample, self._at = int(data.ids[row]), at
        name = data.class_names[data.labels[row]] if data.labels[row] < len(data.class_names) else str(data.labels[row])
        sign = "✓ first neighbour right" if data.right[row] else "✗ first neighbour wrong"
        self.words.setText(f"{name}\nAP {percent(float(data.ap[row]))} %\n{sign}")
        self._loader.request([self._sample], SIDE)
        self._timer.start()

    def _appear(self) -> None:
        self._fill()
        self.adjustSize()
        area = self._canvas.rect()
        x = self._at.x() + GAP
        if x + self.width() > area.width():
            x = self._at.x() - GAP - self.width()
        y = min(max(0.0, self._at.y() - self.height() / 2), area.height() - self.height())
        self.move(round(x), round(y))
        self.raise_()
        self.show()

    def _fill(self) -> None:
        if self._sample is None:
            return
        found = self._loader.pixmap(self._sample, SIDE)
        if found is not None:
            self.picture.setPixmap(found)
        else:
            self.picture.setText("missing" if self._loader.absent(self._sample) else "…")
