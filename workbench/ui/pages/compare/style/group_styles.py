"""How a group looks in every plot of the page: a colour (its oldest run's, if free), a line style and a symbol."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import lcm

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPixmapCache

from workbench.colours import told_apart
from workbench.comparing.grouping.groups import unlike_parts
from workbench.ui.style.theme import RUN_COLOURS, drawn, run_colour

STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
SYMBOLS = ("o", "s", "t", "d", "star", "x")  # of pyqtgraph
TURN = lcm(len(STYLES), len(SYMBOLS))  # after this many groups, pairs of line style and symbol repeat
LONGEST, HEAD = 30, 10  # characters of a title in a legend, and how many of them stand before the ellipsis
SWATCH = (18, 10)  # px
STROKE = 2  # px: of a wider stroke only one dash would have room


@dataclass(frozen=True, slots=True)
class GroupStyle:
    """A group's colour, line style and symbol: groups never differ by colour alone."""

    colour: str  # "#RRGGBB"
    pen: Qt.PenStyle
    symbol: str


def styles(colours: Sequence[int]) -> list[GroupStyle]:
    """One style for each stored colour index; `told_apart` chooses the colours.

    Every pass through the palette takes the next line style. A group whose stroke an earlier one has takes the next
    stroke of its colour that is free, then the next symbol: tables and legends show the stroke alone.
    """
    used: set[GroupStyle] = set()
    strokes: set[tuple[str, Qt.PenStyle]] = set()
    all_used: set[str] = set()  # colours for which all styles and symbols are used
    chosen = []
    for index, shown in zip(colours, told_apart(colours), strict=True):
        colour = run_colour(shown)
        looks = _looks(colour, index // len(RUN_COLOURS) % TURN)
        style = looks[0]
        if colour not in all_used:
            unlike = [look for look in looks if look not in used]
            style = next((look for look in unlike if (colour, look.pen) not in strokes), (*unlike, style)[0])
            if len(unlike) <= 1:
                all_used.add(colour)
        used.add(style)
        strokes.add((colour, style.pen))
        chosen.append(style)
    return chosen


@cache
def _looks(colour: str, turn: int) -> tuple[GroupStyle, ...]:
    """Every pair of line style and symbol in a colour, from the turn's on."""
    return tuple(
        GroupStyle(colour, STYLES[(turn + step) % len(STYLES)], SYMBOLS[(turn + step + step // TURN) % len(SYMBOLS)])
        for step in range(len(STYLES) * len(SYMBOLS))
    )


def swatch(style: GroupStyle) -> QIcon:
    """A stroke in the style's colour and line style. It is cached: a thousand groups share a few colours and styles."""
    colour = drawn(style.colour)
    key, pixmap = f"swatch {colour} {style.pen.name}", QPixmap()
    if not QPixmapCache.find(key, pixmap):
        pixmap = QPixmap(*SWATCH)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setPen(QPen(QColor(colour), STROKE, style.pen))
        painter.drawLine(0, SWATCH[1] // 2, SWATCH[0], SWATCH[1] // 2)
        painter.end()
        QPixmapCache.insert(key, pixmap)
    return QIcon(pixmap)


def short_title(title: str) -> str:
    """A title for a legend; a long one is shortened in the middle, because titles differ at both ends."""
    return title if len(title) <= LONGEST else f"{title[:HEAD].rstrip()}…{title[HEAD + 1 - LONGEST :].lstrip()}"


def legend_titles(titles: list[str]) -> list[str]:
    """Titles of all groups for a legend, without what they have in common.

    Long ones are shortened in the middle, unless two would then be the same.
    """
    parts = unlike_parts(titles)
    short = [short_title(part) for part in parts]
    return [words if short.count(words) == 1 else part for words, part in zip(short, parts, strict=True)]
