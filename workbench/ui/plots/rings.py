"""Rings with letters where two curves of a plot cross, for sentences that refer to them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QFont

from workbench.ui.style import theme

DIAMETER, EDGE = 13, 2  # px at 100% text
BESIDE, ABOVE = -0.5, 1.15  # of a letter's width and height: how far it is from the middle of its ring
NEAR_END = 0.9  # of the width of the plot, from which on a letter is left of its ring


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where two curves cross, or come together.

    Attributes:
        letter: "A".
        first, second: names of the series; both of the left axis.
        before, after: the stored x values between which they cross; the same where they come together there.
        wrong: whether what begins or ends there is wrong.
    """

    letter: str
    first: str
    second: str
    before: float
    after: float
    wrong: bool


@dataclass(frozen=True, slots=True)
class Ring:
    """A crossing as it is drawn: its place on the bottom axis and the height on the scale of the left one."""

    letter: str
    x: float
    y: float
    wrong: bool


def crossing_place(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Where two straight lines cross, from their heights at both ends: the share of the way, 0 to 1, and the height.

    Lines that do not cross between the ends are answered with the middle of the first.
    """
    gap = second[0] - first[0], second[1] - first[1]
    share = gap[0] / (gap[0] - gap[1]) if gap[0] * gap[1] < 0 else 0.5
    return share, first[0] + share * (first[1] - first[0])


class Rings:
    """The rings of a plot; their items are made when there are any."""

    def __init__(self, item: pg.PlotItem) -> None:
        self._item = item
        self._circles: pg.ScatterPlotItem | None = None
        self._letters: list[pg.TextItem] = []
        self._rings: list[Ring] = []
        self._font = QFont()

    def style(self, font: QFont) -> None:
        """Take the colours of the theme, and the size of text from the plot's font."""
        self._font = theme.caption_font(font)
        self._font.setBold(True)
        self._draw()

    def show(self, rings: list[Ring]) -> None:
        """Draw these and no others, in the range that the plot shows now."""
        if rings or self._rings:
            self._rings = rings
            self._draw()

    def _draw(self) -> None:
        if self._circles is None:
            if not self._rings:
                return
            self._circles = pg.ScatterPlotItem(pxMode=True, brush=None)
            self._circles.setZValue(2)
            self._item.addItem(self._circles, ignoreBounds=True)
            self._item.vb.sigXRangeChanged.connect(self._place_letters)
        colours = [theme.current().wrong if ring.wrong else theme.current().text for ring in self._rings]
        self._circles.setData(
            x=np.array([ring.x for ring in self._rings]),
            y=np.array([ring.y for ring in self._rings]),
            size=theme.text_px(DIAMETER),
            pen=[pg.mkPen(colour, width=EDGE) for colour in colours],
        )
        while len(self._letters) < len(self._rings):
            letter = pg.TextItem()
            letter.setZValue(2)
            self._item.addItem(letter, ignoreBounds=True)
            self._letters.append(letter)
        for index, letter in enumerate(self._letters):
            letter.setVisible(index < len(self._rings))
            if index < len(self._rings):
                letter.setText(self._rings[index].letter, color=colours[index])
                letter.setFont(self._font)
        self._place_letters()

    def _place_letters(self, *_range: object) -> None:
        low, high = self._item.vb.viewRange()[0]
        for letter, ring in zip(self._letters, self._rings, strict=False):
            left = high > low and (ring.x - low) / (high - low) > NEAR_END
            letter.setAnchor((1 - BESIDE if left else BESIDE, ABOVE))
            letter.setPos(ring.x, ring.y)
