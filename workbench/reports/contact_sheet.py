"""Queries with their neighbours as one figure: a row each, tick or cross on every neighbour."""

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes  # noqa: TID253 - only figures.py and pdf.py import this file
from matplotlib.patches import Rectangle  # noqa: TID253 - only figures.py and pdf.py import this file

from workbench.reports.content import QueryCard, percent
from workbench.reports.print_style import BLACK, MUTED, RIGHT, WRONG, shortened

GAP = 0.2  # of a column, between the query and its neighbours
WORDS = 0.38  # of a column, for the two lines over an image
SIDE = 0.92  # of a column
SIZE = 5.5  # points
SMALL = 64  # px: smaller images are shown pixel by pixel


def sheet(cards: list[QueryCard], width: float) -> tuple[float, Callable[[Axes], None]]:
    """The height in inches of the sheet at that width, and how to paint it on axes that fill it.

    One set of axes for all images: dozens of small ones take seconds to lay out.
    """
    columns = 1 + GAP + max(len(card.neighbours) for card in cards)
    column = width / max(columns, 6.0)  # few neighbours do not make huge images
    return column * (1 + WORDS) * len(cards), partial(_paint, cards, column, width)


def _paint(cards: list[QueryCard], column: float, width: float, axes: Axes) -> None:
    axes.set_axis_off()
    for row, card in enumerate(cards):
        top = row * (1 + WORDS)
        said = f"first hit {card.query.first_hit:,}" if card.query.first_hit else "no hit"
        name = card.query.class_name
        _image(axes, (0.0, top), card.image, (f"AP {percent(card.query.ap)}, {said}", name), BLACK, column)
        for place, (near, image) in enumerate(card.neighbours):
            colour, sign = (RIGHT, "✓") if near.right else (WRONG, "✗")
            words = (f"{sign} {near.similarity:.3f}", near.class_name)
            _image(axes, (1 + GAP + place, top), image, words, colour, column)
    axes.set(xlim=(0, width / column), ylim=(len(cards) * (1 + WORDS), 0), aspect="auto")


def _image(
    axes: Axes, at: tuple[float, float], image: np.ndarray | None, words: tuple[str, str], colour: str, column: float
) -> None:
    left, top = at[0] + (1 - SIDE) / 2, at[1] + WORDS
    room = column * (1 + GAP if at[0] == 0 else 0.98)
    for line, (text, of) in enumerate(zip(words, (colour, BLACK), strict=True)):
        axes.text(
            left, top - 0.06 - (1 - line) * 0.15, shortened(text, room, SIZE), fontsize=SIZE, color=of, va="baseline"
        )
    if image is None:
        axes.text(left + SIDE / 2, top + SIDE / 2, "missing", ha="center", va="center", fontsize=SIZE, color=MUTED)
    else:
        shown = "nearest" if image.shape[1] < SMALL else "antialiased"
        axes.imshow(image, interpolation=shown, extent=(left, left + SIDE, top + SIDE, top), aspect="auto")
    axes.add_patch(Rectangle((left, top), SIDE, SIDE, fill=False, edgecolor=colour, linewidth=1.0))
