"""The critical-difference diagram of a ranking (after Demšar 2006): mean ranks, bars over methods that are alike."""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from workbench.fair.table import Placed
from workbench.reports.figures.drawing import FULL, Drawing

ROW = 0.2  # inches of a name
BAR = 0.12  # inches of a bar over alike methods
COLOUR = "#0072B2"


def critical_difference(placed: Sequence[Placed], groups: Sequence[tuple[int, int]], title: str) -> Drawing:
    """A line of ranks with a row for each method and a bar over each group of methods that no test separates.

    Args:
        placed: the methods, best first.
        groups: (first, last) places in `placed` of methods that are alike.
        title: over the picture.
    """
    rows = [[method.name, method.rank, method.low, method.high] for method in placed]
    height = 0.7 + ROW * len(placed) + BAR * len(groups)
    table = (["method", "mean_rank", "rank_low_95", "rank_high_95"], rows)
    return Drawing(partial(_paint, tuple(placed), tuple(groups), title), FULL, height, table)


def _paint(placed: tuple[Placed, ...], groups: tuple[tuple[int, int], ...], title: str, host: Figure) -> None:
    axes = host.add_subplot()
    for row, method in enumerate(placed):
        axes.plot([method.low, method.high], [row, row], color=COLOUR, linewidth=1.2, alpha=0.45)
        axes.plot([method.rank], [row], "o", color=COLOUR, markersize=4)
    step = BAR / ROW
    for bar, (first, last) in enumerate(groups):
        height = -1 - step * bar
        ends = [placed[first].rank, placed[last].rank]
        axes.plot(ends, [height, height], color="black", linewidth=2.5, solid_capstyle="butt")
    axes.set_yticks(range(len(placed)), [method.name for method in placed])
    axes.set(
        xlim=(0.5, len(placed) + 0.5), ylim=(len(placed) - 0.5, -1 - step * len(groups)), title=title,
        xlabel="Mean rank over seeds, 1 is best (line: 95% of the rank; bars: no pair differs after Holm)",
    )  # fmt: skip
