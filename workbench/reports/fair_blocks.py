"""The fair comparisons of a workspace as blocks of a report, in the words and numbers of the Compare page."""

from collections.abc import Sequence

from workbench.fair.table import HEAD, MEANING, Comparison, conditions, rows_of, title_of, verdicts
from workbench.reports.blocks import Block, Table, heading, said

NONE = "This workspace holds no fair comparison; `workbench benchmark fair` makes one."


def fair_blocks(comparisons: Sequence[Comparison]) -> list[Block]:
    """Each comparison with its conditions, ranking and what of it may be chance; a sentence where there is none."""
    if not comparisons:
        return [said(NONE, muted=True)]
    blocks: list[Block] = []
    for number, comparison in enumerate(comparisons, start=1):
        if len(comparisons) > 1:
            blocks.append(heading(title_of(comparison)))
        rows = tuple(tuple(row) for row in rows_of(comparison))
        caption, numbers = "Methods that were tuned alike, by mean MAP@R.", frozenset(range(1, len(HEAD)))
        blocks += [
            said(conditions(comparison)),
            Table(f"fair-{number}", caption, HEAD, rows, numbers),
            *(said(sentence.removeprefix("- ")) for sentence in verdicts(comparison)),
        ]
    return [*blocks, said(MEANING, muted=True)]
