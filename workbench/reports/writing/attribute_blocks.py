"""Scores across the values of attributes as blocks: a matrix of each metric, and the scores without the own value."""

from workbench.names import visible
from workbench.reports.writing.blocks import Block, Table, said
from workbench.results.by_attribute import (
    HOW_TO_READ,
    METRICS,
    AllAttributes,
    ByAttribute,
    matrix_rows,
    points_words,
    scored_text,
)
from workbench.results.by_class_size import TITLES

MOST_WITH_CHANCE = 7  # columns of cells in which the score of chance has room, too
MOST_LETTERS = 60  # of names over the columns; where they are longer, numbers stand there and before the rows
OWN_HEAD = ("Queries", "Left out", "All matches %", "Other values %", "Difference")


def attribute_blocks(across: AllAttributes | None) -> list[Block]:
    """Of each attribute its tables and what they say; how to read them once, below all; nothing without attributes."""
    if across is None:
        return []
    blocks = [block for at, one in enumerate(across.measured, start=1) for block in _of_one(one, at)]
    if any(one.cells for one in across.measured):
        blocks += [said(sentence, muted=True) for sentence in HOW_TO_READ]
    if across.left_out:
        names = ", ".join(map(visible, across.left_out))
        words = f"Not searched across, because that takes longer: {names}. `workbench tags RUN --across` does it."
        blocks.append(said(words, muted=True))
    return blocks + [said(f"Not searched across attributes. {why}", muted=True) for why in across.refused]


def _of_one(measured: ByAttribute, number: int) -> list[Block]:
    tables = [
        table for metric in METRICS if measured.cells for table in (_matrix(measured, metric, number),
        _own(measured, metric, number))
    ]  # fmt: skip
    return [*tables, *(said(sentence, muted=True) for sentence in measured.facts)]


def _matrix(measured: ByAttribute, metric: str, number: int) -> Table:
    chance, titles = len(measured.titles) <= MOST_WITH_CHANCE, tuple(map(visible, measured.titles))
    rows = matrix_rows(measured, metric, chance=chance)
    if sum(map(len, titles)) > MOST_LETTERS:
        rows = [(f"{at}: {name}", *cells) for at, (name, *cells) in enumerate(rows, start=1)]
        titles = tuple(str(at) for at in range(1, len(titles) + 1))
    caption = (
        f"{TITLES[metric]} across {visible(measured.attribute)} in percent: rows are values of the query, columns "
        f"values of the searched images; chance {'in parentheses' if chance else 'is in across-values.csv'}."
    )
    numbers = frozenset(range(1, len(titles) + 1))
    return Table(f"across-{number}-{_key(metric)}", caption, (TITLES[metric], *titles), tuple(rows), numbers)


def _own(measured: ByAttribute, metric: str, number: int) -> Table:
    rows = tuple(
        (
            visible(row.title), f"{row.queries:,}", f"{row.left_out:,}",
            scored_text(row.usual, row.usual_chance, metric), scored_text(row.others, row.others_chance, metric),
            points_words(row.difference[metric]),
        )
        for row in measured.own
    )  # fmt: skip
    name = visible(measured.attribute)
    caption = (
        f"{TITLES[metric]} with and without matches of the query's own {name}; chance in parentheses, and the "
        "difference in points with its 95% interval."
    )
    return Table(f"own-{number}-{_key(metric)}", caption, (name, *OWN_HEAD), rows, frozenset(range(1, 6)))


def _key(metric: str) -> str:
    return TITLES[metric].lower().replace("@", "-")
