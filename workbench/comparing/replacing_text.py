"""Whether one run may replace another, in words and as rows: the same in the window, a terminal and a report."""

from collections.abc import Callable
from typing import Any

from workbench.comparing.comparison_text import NO_VALUE, limits, markdown_table, number
from workbench.comparing.fairness.shared_epochs import runs_named
from workbench.comparing.queries.replacing import METRIC, Crossed, Replaced, Replacing
from workbench.comparing.queries.unread import unread_words
from workbench.comparing.together_text import left_out_words, short_titles
from workbench.names import inside_sentence
from workbench.numerals import minus, percentage
from workbench.problem import Problem

CHANGE = "Change [95%], points"
HEAD = ("Old → new", "Old R@1 %", "New R@1 %", "As they are %", CHANGE, "Rotated %", CHANGE)
MEANING = (
    "R@1 when a new run embeds the queries and the gallery stays that of an old run (Shen et al., 2020). A change is "
    "from the old run alone, with its 95% interval over the same queries."
)
ROTATED = (
    "Rotated: by the rotation that brings the new embeddings nearest to the old ones (orthogonal Procrustes). It is "
    "fitted on images of one half of the classes and used for the queries of the other half."
)
MOST_NAMED = 6  # pairs of runs in one sentence


def replacing_rows(of_runs: Replacing) -> list[list[str]]:
    """A row for each old and new run under HEAD; dashes for what cannot be searched."""
    return [
        [
            pair_title(pair),
            *(minus(number(value, METRIC)) for value in (pair.old_alone, pair.new_alone)),
            *_cells(pair.as_they_are),
            *_cells(pair.rotated),
        ]
        for pair in of_runs.pairs
    ]


def pair_title(pair: Replaced) -> str:
    """ "1 → 3": run 3 in place of run 1."""
    return f"{pair.old} → {pair.new}"


def replacing_notes(of_runs: Replacing) -> list[str]:
    """Of which queries the numbers are, what can be replaced, what is chance, and what is left out."""
    sentences = [
        _runs(of_runs),
        ROTATED,
        _without_loss(of_runs),
        _by_chance(of_runs),
        _sizes(of_runs),
        *_distances(of_runs),
        _not_searched(of_runs),
        left_out_words(of_runs.left_out),
        unread_words(of_runs.unread),
    ]
    return [sentence for sentence in sentences if sentence]


def replacing_lines(of_runs: Replacing | Problem) -> list[str]:
    """The rows as Markdown, and the notes; or why there are none."""
    if isinstance(of_runs, Problem):
        return [str(of_runs)]
    head = [*map(inside_sentence, HEAD)]
    notes = (MEANING, *replacing_notes(of_runs))
    return [markdown_table(head, replacing_rows(of_runs)), "", *(f"- {note}" for note in notes)]


def replacing_columns(of_runs: Replacing) -> tuple[list[str], list[list[Any]]]:
    """Head and rows for a file, with all digits: fractions, the limits of changes; None for what is not known."""
    head = ["old_run", "new_run", "old_group", "new_group", "old_recall@1", "new_recall@1"]
    for kind in ("as_they_are", "rotated"):
        head += [f"{kind}{part}" for part in ("", "_change", "_change_low_95", "_change_high_95", "_above_chance")]
    rows = list[list[Any]]()
    for pair in of_runs.pairs:
        titles = of_runs.titles[pair.old], of_runs.titles[pair.new]
        row: list[Any] = [pair.old, pair.new, *titles, pair.old_alone, pair.new_alone]
        for crossed in (pair.as_they_are, pair.rotated):
            row += [None] * 5 if crossed is None else _plain(crossed)
        rows.append(row)
    return head, rows


def _plain(crossed: Crossed) -> list[Any]:
    change = crossed.change
    return [crossed.value, change.mean, change.low, change.high, "yes" if crossed.above_chance else "no"]


def _cells(crossed: Crossed | None) -> tuple[str, str]:
    if crossed is None:
        return NO_VALUE, NO_VALUE
    change = f"{number(crossed.change.mean, METRIC, signed=True)} {limits(crossed.change, METRIC, signed=True)}"
    return minus(number(crossed.value, METRIC)), minus(change)


def _runs(of_runs: Replacing) -> str:
    """The runs by name, and how many queries were searched."""
    titles, named = short_titles(of_runs.titles), []
    for runs, (searched, count) in zip(of_runs.sets, of_runs.queries, strict=True):
        which = f"{searched:,} of {count:,} queries" if searched < count else f"all {count:,} queries"
        named.append(f"{', '.join(f'{run} {titles[run]}' for run in runs)} ({which})")
    return f"Runs that were tested on the same images: {'; '.join(named)}."


def _without_loss(of_runs: Replacing) -> str:
    """Which new runs find no less in the gallery of the old one than that run itself did."""

    def holds(crossed: Crossed | None) -> bool:
        return crossed is not None and crossed.change.known and crossed.change.high >= 0

    as_they_are, rotated = (_pairs(of_runs, kind, holds) for kind in (_as_they_are, _rotated))
    if not as_they_are and not rotated:
        return "No new run can replace an old one without a loss, unless the gallery is embedded again."
    parts = [f"{words} {named}" for words, named in (("as they are", as_they_are), ("rotated", rotated)) if named]
    return f"Without a clear loss, as the interval of the change does not lie below zero: {'; '.join(parts)}."


def _by_chance(of_runs: Replacing) -> str:
    """Which are no better than a neighbour drawn at random."""

    def holds(crossed: Crossed | None) -> bool:
        return crossed is not None and not crossed.above_chance

    as_they_are, rotated = (_pairs(of_runs, kind, holds) for kind in (_as_they_are, _rotated))
    parts = [f"{words} {named}" for words, named in (("as they are", as_they_are), ("rotated", rotated)) if named]
    chance = ", ".join(dict.fromkeys(percentage(value) for value in of_runs.chance))
    return f"No better than chance ({chance}), judged over classes: {'; '.join(parts)}." if parts else ""


def _sizes(of_runs: Replacing) -> str:
    apart = _pairs(of_runs, _as_they_are, lambda crossed: crossed is None, searched=True)
    return f"Of different embedding sizes, so that they can only be compared rotated: {apart}." if apart else ""


def _distances(of_runs: Replacing) -> list[str]:
    """Of each set with runs by several distances, which of them do not search each other's gallery."""
    return [
        "Not searched in each other's gallery, as they are searched by different distances: "
        f"{' and '.join(map(runs_named, parts))}."
        for parts in of_runs.by_distance if len(parts) > 1
    ]  # fmt: skip


def _not_searched(of_runs: Replacing) -> str:
    without = [pair for pair in of_runs.pairs if pair.as_they_are is None and pair.rotated is None]
    named = _named([pair_title(pair) for pair in without])
    return f"Not searched, as there are too few classes or too little free memory: {named}." if named else ""


def _as_they_are(pair: Replaced) -> Crossed | None:
    return pair.as_they_are


def _rotated(pair: Replaced) -> Crossed | None:
    return pair.rotated


def _pairs(
    of_runs: Replacing,
    kind: Callable[[Replaced], Crossed | None],
    holds: Callable[[Crossed | None], bool],
    *,
    searched: bool = False,
) -> str:
    pairs = (pair for pair in of_runs.pairs if not searched or pair.rotated is not None)
    return _named([pair_title(pair) for pair in pairs if holds(kind(pair))])


def _named(titles: list[str]) -> str:
    more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
    return f"{', '.join(titles[:MOST_NAMED])}{more}"
