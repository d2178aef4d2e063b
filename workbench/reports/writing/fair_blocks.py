"""The fair comparisons of a workspace as blocks of a report, in the words and numbers of the Compare page."""

from collections.abc import Sequence

from workbench.fair.table import HEAD, MEANING, Comparison, conditions, rows_of, title_of, verdicts
from workbench.reports.figures.critical_difference import critical_difference
from workbench.reports.figures.drawing import Drawing
from workbench.reports.writing.blocks import Block, Plot, Table, heading, said

NONE = "This workspace holds no fair comparison; `workbench benchmark fair` makes one."
PICTURE = "Mean ranks over seeds with their intervals; bars join methods of which no pair differs."


def fair_drawings(comparisons: Sequence[Comparison]) -> dict[str, Drawing]:
    """The critical-difference picture of each comparison, by name: "fair-ranks-1" and so on."""
    return {
        _picture(number): critical_difference(comparison.placed, comparison.groups, title_of(comparison))
        for number, comparison in enumerate(comparisons, start=1)
    }


def fair_blocks(comparisons: Sequence[Comparison]) -> list[Block]:
    """Each comparison with its conditions, ranking and what of it may be chance; a sentence where there is none."""
    if not comparisons:
        return [said(NONE, muted=True)]
    blocks: list[Block] = []
    for number, comparison in enumerate(comparisons, start=1):
        if len(comparisons) > 1:
            blocks.append(heading(title_of(comparison)))
        rows = tuple(tuple(row) for row in rows_of(comparison))
        caption, numbers = "Methods tuned with the same budget, by mean MAP@R.", frozenset(range(1, len(HEAD)))
        blocks += [
            said(conditions(comparison)),
            Table(f"fair-{number}", caption, HEAD, rows, numbers),
            Plot(_picture(number), PICTURE),
            *(said(sentence.removeprefix("- ")) for sentence in verdicts(comparison)),
        ]
    return [*blocks, said(MEANING, muted=True)]


def _picture(number: int) -> str:
    return f"fair-ranks-{number}"
