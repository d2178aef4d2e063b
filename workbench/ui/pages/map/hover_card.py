"""The card beside a hovered point: its picture, class, scores, and what it is coloured by."""

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import percent

DELAY = 125  # ms
SIDE = 128  # px
GAP = 16  # px between point and card
PLACE = "hover card"


class HoverCard(QFrame):
    """Appears a moment after the point is hovered, beside it and never over it."""

    def __init__(self, loader: PictureLoader, parent: QWidget, colours: PointColours) -> None:
        super().__init__(parent)
        self._loader, self._canvas, self._colours = loader, parent, colours
        self.sample: int | None = None
        self._at = QPointF()
        self.setProperty("card", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.picture = label("", "caption", wrap=True)
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
        self.sample = None
        if data is None or row is None or at is None:
            return
        self.sample, self._at = int(data.ids[row]), at
        ap = float(data.ap[row])
        score = f"AP {percent(ap)} %\n" if ap == ap else ""
        share = np.nan if data.kept is None else float(data.kept[row])
        kept = "" if np.isnan(share) else f"\n{percent(share, 0)} % of its true neighbours are near it here"
        value = self._colours.value(data, row)
        coloured = f"\n{value}" if value else ""
        self.words.setText(f"{data.class_name(int(data.labels[row]))}\n{score}{data.verdict(row)}{kept}{coloured}")
        self._loader.request(PLACE, [self.sample], SIDE)
        self._timer.start()

    def _appear(self) -> None:
        self._fill(set())
        self.adjustSize()
        self.move(*beside(self._at, self.size(), self._canvas.size()))
        self.raise_()
        self.show()

    def _fill(self, _: set[int]) -> None:
        if self.sample is not None:
            fill_picture(self.picture, self._loader, self.sample, SIDE)


def fill_picture(place: QLabel, loader: PictureLoader, sample: int, size: int) -> None:
    """The picture, the sentence of why there is none, or an ellipsis while it is loading."""
    found = loader.pixmap(sample, size)
    if found is not None:
        place.setPixmap(found)
    else:
        place.setText(loader.absent(sample) or "…")


def beside(at: QPointF, card: QSize, area: QSize) -> tuple[int, int]:
    """Top left corner of a card in `area`: right of the point, else left, else above or below, and never over it."""
    x, y = at.x() + GAP, at.y() - card.height() / 2
    if x + card.width() > area.width():
        x = at.x() - GAP - card.width()
    if x < 0:  # no room at either side
        x = at.x() - card.width() / 2
        y = at.y() + GAP if at.y() + GAP + card.height() <= area.height() else at.y() - GAP - card.height()
        return round(min(max(0.0, x), area.width() - card.width())), round(y)
    return round(x), round(min(max(0.0, y), max(0.0, area.height() - card.height())))
