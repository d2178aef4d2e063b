"""The section of a report on how similar the embeddings of each two groups are, and what runs find together."""

from math import isfinite

from workbench.comparing import comparison_text as words
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.queries.replacing import Replacing
from workbench.comparing.queries.similarity import MOST_GROUPS, Place, Similarity
from workbench.comparing.queries.together import Together
from workbench.comparing.queries.unread import unread_words
from workbench.comparing.replacing_text import HEAD as REPLACED
from workbench.comparing.replacing_text import MEANING as OF_REPLACING
from workbench.comparing.replacing_text import replacing_notes, replacing_rows
from workbench.comparing.together_text import HEAD as ENSEMBLES
from workbench.comparing.together_text import MEANING, together_notes, together_rows
from workbench.numerals import percentage
from workbench.reports.writing.blocks import NO_VALUE, Block, Plot, Table, heading, said

MOST_ROWS = 24  # pairs that are listed; more are those that are most and least alike
CAPTION = "Similarity of embeddings: means over the pairs of runs of two groups. Columns are numbered like the rows."
HEAD = ("Group", "Other group", "CKA", "Same neighbours", "Pairs of runs")


def similarity_blocks(of_groups: Similarity | str | None, groups: int) -> list[Block]:
    """A picture of all pairs, a table and what its numbers are; or the reason why there is none.

    Args:
        of_groups: a sentence where nothing could be compared.
        groups: all of the report, of which the first are compared.
    """
    if not isinstance(of_groups, Similarity):
        return [said(of_groups or "", muted=True)] if of_groups else []
    pairs = sorted(place for place in of_groups.cells if place[0] <= place[1])
    shown, which = pairs, "All pairs of groups that were tested on the same images."
    if len(pairs) > MOST_ROWS:
        ranked = sorted(
            (place for place in pairs if place[0] != place[1] and isfinite(of_groups.cells[place].cka)),
            key=lambda place: -of_groups.cells[place].cka,
        )
        half = MOST_ROWS // 2
        shown = ranked if len(ranked) <= MOST_ROWS else [*ranked[:half], *ranked[-half:]]
        if len(shown) < len(ranked):
            which = f"The {half} most similar pairs of groups by CKA, and the {half} least similar ones."
    table = Table("similarity", which, HEAD, _rows(of_groups, shown), frozenset({2, 3, 4}))
    first = words.FIRST_ALONE if groups > MOST_GROUPS else ""
    sentences = (
        _among_seeds(of_groups) if len(shown) < len(pairs) else "",
        words.cka_meaning(of_groups),
        words.neighbours_meaning(of_groups),
        words.seeds_beside(of_groups),
        words.in_no_cell(of_groups.left_out),
        unread_words(of_groups.unread),
        first,
    )
    return [Plot("similarity", CAPTION), table, *(said(sentence) for sentence in sentences if sentence)]


def together_blocks(of_runs: Together | str | None) -> list[Block]:
    """A table of what each run finds alone and with others, and its notes; or the reason why there is none."""
    if not isinstance(of_runs, Together):
        return [said(of_runs, muted=True)] if of_runs else []
    rows = tuple(tuple(row) for row in together_rows(of_runs))
    table = Table("together", MEANING, ENSEMBLES, rows, frozenset(range(1, len(ENSEMBLES))))
    return [heading("Runs together"), table, *(said(note) for note in together_notes(of_runs))]


def replacing_blocks(of_runs: Replacing | str | None) -> list[Block]:
    """A table of what each run finds in the gallery of another, and its notes; or the reason why there is none."""
    if not isinstance(of_runs, Replacing):
        return [said(of_runs, muted=True)] if of_runs else []
    rows = tuple(tuple(row) for row in replacing_rows(of_runs))
    table = Table("replaced", OF_REPLACING, REPLACED, rows, frozenset(range(1, len(REPLACED))))
    return [heading("One run in place of another"), table, *(said(note) for note in replacing_notes(of_runs))]


def _among_seeds(of_groups: Similarity) -> str:
    """How similar runs of one group are, of all groups; empty where no group has two that can be compared."""
    known = [
        similar.cka for place, similar in of_groups.cells.items() if place[0] == place[1] and isfinite(similar.cka)
    ]
    return f"Runs of one group with other seeds: CKA {min(known):z.3f} to {max(known):z.3f}." if known else ""


def _rows(of_groups: Similarity, places: list[Place]) -> tuple[tuple[str, ...], ...]:
    names = unlike_parts(list(of_groups.titles))
    rows = []
    for first, second in places:
        similar = of_groups.cells[first, second]
        cka = f"{similar.cka:z.3f}" if isfinite(similar.cka) else NO_VALUE
        near = percentage(similar.neighbours) if isfinite(similar.neighbours) else NO_VALUE
        other = "other seeds of it" if first == second else names[second]
        rows.append((names[first], other, cka, near, str(similar.pairs)))
    return tuple(rows)
