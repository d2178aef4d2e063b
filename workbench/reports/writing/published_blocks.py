"""A paper's table with our own rows below it, as blocks."""

from collections.abc import Iterable, Sequence

from workbench.comparing.comparison_text import points
from workbench.comparing.published.published_tables import RECOGNISED, ExperimentRow
from workbench.comparing.published.published_tables import Table as PublishedTable
from workbench.metric_names import metric_name
from workbench.reports.writing.blocks import NO_VALUE, Block, Table, heading, said


def published_blocks(
    key: str,
    table: PublishedTable,
    beside: str,
    own: Iterable[tuple[str, ...]],
    experiments: Iterable[ExperimentRow],
    differences: Sequence[str],
) -> list[Block]:
    """A heading, the source, the table with our rows in bold, and a sentence for each difference in protocol.

    Args:
        key: names the table in LaTeX; unique in a document.
        table: the paper's.
        beside: what the caption says that our rows are, such as "this run".
        own: our rows as text: method, backbone, dimension, then a number in percent for each metric of the table.
        experiments: rows of finished experiments, set below `own`.
        differences: what our runs and the table do not share.
    """
    head = ("Method", "Backbone", "d", *(f"{metric_name(name)} %" for name in table.metrics))
    papers = [
        (row.method, row.backbone or NO_VALUE, str(row.dim or NO_VALUE), *map(points, row.values)) for row in table.rows
    ]
    ours = [
        *own,
        *(
            (f"{row.title} (here, n = {row.n})", row.backbone, str(row.dim or NO_VALUE), *map(points, row.values))
            for row in experiments
        ),
    ]
    caption = f"{table.dataset}: {table.title} ({table.paper}, {table.source}) beside {beside}."
    strong = frozenset(range(len(papers), len(papers) + len(ours)))
    return [
        heading(table.title),
        said(f"{table.paper}, {table.source}. {RECOGNISED}", muted=True),
        Table(key, caption, head, (*papers, *ours), frozenset(range(2, len(head))), strong),
        *(said(sentence, muted=True) for sentence in differences),
    ]
