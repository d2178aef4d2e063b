"""The card beside a hovered point: its picture, class, scores, and the value that colours it."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame

from workbench.numerals import percentage
from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.images.image_menu import open_image_menu
from workbench.ui.widgets.images.pictures import PictureLoader, fill_picture
from workbench.ui.widgets.labels import label

DELAY = 125  # ms
SIDE = 128  # px
GAP = 16  # px between point and card
LINE_POINTS = 8  # points on each line that are tested to measure how much of it the card covers
PLACE = "hover card"


class HoverCard(QFrame):
    """Appears beside the hovered point after DELAY, and never covers it; a right click opens the menu of its image."""

    def __init__(self, loader: PictureLoader, canvas: MapCanvas, colours: PointColours) -> None:
        super().__init__(canvas)
        self._loader, self._canvas, self._colours = loader, canvas, colours
        self.sample: int | None = None
        self._at = QPointF()
        self.setProperty("card", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.picture = label("", "caption", wrap=True)
        self.picture.setFixedSize(SIDE, SIDE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = label("", "caption", wrap=True)
        self.words.setFixedWidth(SIDE)
        in_column(self.picture, self.words, on=self, margins=8, spacing=4)
        self._timer = QTimer(self, singleShot=True, interval=DELAY)
        self._timer.timeout.connect(self._appear)
        self._loader.ready.connect(self._fill)
        canvas.menu_asked.connect(self._open_menu)
        self.hide()

    def hover(self, data: MapData | None, row: int | None, at: QPointF | None) -> None:
        """Show the card of a point after a delay, or hide it."""
        self.hide()
        self._timer.stop()
        self.sample = None
        if data is None or row is None or at is None:
            return
        self.sample, self._at = int(data.ids[row]), at
        ap = float(data.ap[row])
        score = f"AP {percentage(ap)}\n" if ap == ap else ""
        share = np.nan if data.kept is None else float(data.kept[row])
        kept = "" if np.isnan(share) else f"\n{percentage(share, 0)} of its true neighbours are near it here"
        value = self._colours.value(data, row)
        coloured = f"\n{value}" if value else ""
        self.words.setText(f"{data.class_name(int(data.labels[row]))}\n{score}{data.verdict(row)}{kept}{coloured}")
        self._loader.request(PLACE, [self.sample], SIDE)
        self._timer.start()

    def _open_menu(self, row: int, at: QPointF) -> None:
        data = self._canvas.data
        if data is not None:
            sample = int(data.ids[row])
            self.hover(None, None, None)  # the card would stand above the menu
            open_image_menu(self._canvas, self._loader, lambda: sample, at.toPoint())

    def _appear(self) -> None:
        self._fill(set())
        self.adjustSize()
        self.move(*beside(self._at, self.size(), self._canvas.size(), self._lines()))
        self.raise_()
        self.show()

    def _lines(self) -> list[QPointF]:
        """Where the lines from the hovered point end."""
        return [self._canvas.place_of(row) for row in self._canvas.marks.links.tolist()]

    def _fill(self, _: set[int]) -> None:
        if self.sample is not None:
            fill_picture(self.picture, self._loader, self.sample, SIDE)


def beside(at: QPointF, card: QSize, area: QSize, ends: Sequence[QPointF] = ()) -> tuple[int, int]:
    """The top left corner of a card in `area` that does not cover the point.

    Of the places right, left, below and above, it is the one where the card covers the least of the lines from the
    point to `ends`, and the first of equal ones.
    """
    x, y = at.x(), at.y()
    wide, tall = card.width(), card.height()
    across = min(max(0.0, x - wide / 2), max(0.0, area.width() - wide))
    down = min(max(0.0, y - tall / 2), max(0.0, area.height() - tall))
    places = [(x + GAP, down), (x - GAP - wide, down), (across, y + GAP), (across, y - GAP - tall)]
    inside = [
        (left, top)
        for left, top in places
        if left >= 0 and top >= 0 and left + wide <= area.width() and top + tall <= area.height()
    ]
    if not inside:  # no space beside it: below, or above where it would stick out further
        low = y + GAP + tall <= area.height() or y < area.height() / 2
        inside = [(across, y + GAP if low else y - GAP - tall)]
    left, top = min(inside, key=lambda corner: covered(at, ends, QRectF(corner[0], corner[1], wide, tall)))
    return round(left), round(top)


def covered(start: QPointF, ends: Sequence[QPointF], box: QRectF) -> int:
    """How many points of the lines a box covers, of LINE_POINTS points on each line."""
    shares = [step / LINE_POINTS for step in range(1, LINE_POINTS + 1)]
    return sum(box.contains(start + (end - start) * share) for end in ends for share in shares)
