"""What a report draws of how similar embeddings are: a square for each two groups, by CKA and by shared neighbours."""

from functools import partial
from math import isfinite, nan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workbench.comparing.queries.similarity import Similarity
from workbench.reports.figures.drawing import FULL, Drawing
from workbench.reports.figures.group_figures import BESIDE, LINE_IN, named_apart

WRITTEN = 8  # groups up to which each cell has its number: beyond it the numbers would overlap
SHADE = 0.6  # of the scale, from which a number is white


def similarity_drawings(of_groups: Similarity | str | None) -> dict[str, Drawing]:
    """The drawing "similarity", where the embeddings were compared; its table has all pairs of groups."""
    if not isinstance(of_groups, Similarity):
        return {}
    names = [f"{number} {name}" for number, name in enumerate(named_apart(of_groups.titles, BESIDE), start=1)]
    row = max(0.2, LINE_IN * max(name.count("\n") + 1 for name in names))
    height = 0.9 + row * len(names)
    return {"similarity": Drawing(partial(_paint, of_groups, names), FULL, height, _table(of_groups))}


def _paint(of_groups: Similarity, names: list[str], host: Figure) -> None:
    left, right = host.subplots(1, 2, sharey=True)
    values = {place: (similar.cka, 100 * similar.neighbours) for place, similar in of_groups.cells.items()}
    for axes, column, title, most, form in ((left, 0, "CKA", 1, ".2f"), (right, 1, "Same neighbours, %", 100, ".0f")):
        table = np.full((len(names), len(names)), nan)
        for place, pair in values.items():
            table[place] = pair[column]
        host.colorbar(_square(axes, table, most, form), ax=axes)
        axes.set(title=title)
    left.set_yticks(range(len(names)), names)


def _square(axes: Axes, table: np.ndarray, most: float, form: str) -> AxesImage:
    """A cell for each two groups [n, n], from 0 to `most`; white where two were not compared."""
    count = len(table)
    image = axes.imshow(
        np.ma.masked_invalid(table), cmap="Blues", vmin=0, vmax=most, aspect="auto", interpolation="nearest"
    )
    axes.set_xticks(range(count), [str(number) for number in range(1, count + 1)])
    axes.grid(visible=False)
    if count <= WRITTEN:
        for (row, column), value in np.ndenumerate(table):
            if isfinite(value):
                colour = "white" if value > SHADE * most else "black"
                axes.text(column, row, f"{value:z{form}}", ha="center", va="center", color=colour, fontsize=7)
    return image


def _table(of_groups: Similarity) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = [
        [of_groups.titles[first], of_groups.titles[second], similar.cka, similar.neighbours, similar.pairs]
        for (first, second), similar in sorted(of_groups.cells.items())
        if first <= second
    ]
    return ["group", "other_group", "cka", "same_neighbours", "pairs_of_runs"], rows
