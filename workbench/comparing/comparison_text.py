"""Numbers of a comparison in words, the same on the page and on the command line; and the tables as Markdown."""

from collections.abc import Sequence
from math import isfinite

from workbench.comparing.grouping.setting_titles import title_with_unit, value_title
from workbench.comparing.measures import At, Summary, is_share
from workbench.comparing.overview import Overview
from workbench.comparing.queries.pairing import Comparison
from workbench.comparing.queries.similarity import MOST_GROUPS, MOST_RUNS, Similarity
from workbench.comparing.queries.unread import unread_words
from workbench.comparing.statistics.intervals import FEWEST_SEEDS, Interval
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.numerals import megabytes, minus, percentage, words_of
from workbench.numerals import signed as with_sign
from workbench.problem import Problem

NO_VALUE = "–"
NOT_ENOUGH = "not enough seeds"
MOST_NAMED = 3  # groups that are left out
SEEDS_BESIDE = (
    "A group compared with itself shows how similar its seeds are: two groups that are as similar as that differ no "
    "more than seeds do."
)
NO_SEEDS_BESIDE = (
    "No group has two runs of different seeds with the same test images, so it is not known how similar two seeds are."
)
FIRST_ALONE = f"The first {MOST_GROUPS} groups and {MOST_RUNS} runs of each are compared."
SAME_SETTINGS = "Only seed, fold and additional measurements differ."


def metric_title(metric: str) -> str:
    """ "MAP@R % ↑" and "R@1 % ↑" for shares, else the name alone."""
    name = metric_name(metric)
    return f"{name} % ↑" if is_share(metric) else name


def at_title(at: At) -> str:
    """ "best epoch of each run", "last epoch of each run", "epoch 5"."""
    return f"{at} epoch of each run" if isinstance(at, str) else f"epoch {at}"


def seed_title(seed: int, fold: int) -> str:
    """ "seed 0", "seed 0, fold 2"."""
    return f"seed {seed}, fold {fold}" if fold else f"seed {seed}"


def number(value: float | None, metric: str, signed: bool = False) -> str:
    """A value of the metric, shares in percent with two decimals; a dash for none, and no sign before a zero."""
    if value is None or not isfinite(value):
        return NO_VALUE
    shown, form = (100 * value, ".2f") if is_share(metric) else (value, ".4g")
    return with_sign(shown, form) if signed else f"{shown:z{form}}"


def points(value: float) -> str:
    """A number of percent as a paper prints it, "81.2"; a dash for not-a-number, "∞" for an infinite one."""
    return f"{value:.2f}".removesuffix("0") if isfinite(value) else words_of(value)


def limits(interval: Interval, metric: str, signed: bool = False) -> str:
    """ "[94.1, 97.3]"; a dash where there are no limits."""
    if not interval.known:
        return NO_VALUE
    return f"[{number(interval.low, metric, signed)}, {number(interval.high, metric, signed)}]"


def over_seeds(interval: Interval, metric: str, signed: bool = False) -> str:
    """Limits over seeds, or that there are not enough of them."""
    if interval.n == 0:
        return NO_VALUE
    return NOT_ENOUGH if interval.n < FEWEST_SEEDS else limits(interval, metric, signed)


def cost(summary: Summary) -> tuple[str, str]:
    """Seconds and megabytes; dashes where they are not known."""
    seconds = NO_VALUE if summary.seconds is None else f"{summary.seconds:,.1f}"
    return seconds, NO_VALUE if summary.memory is None else megabytes(summary.memory)


def metrics_table(overview: Overview) -> str:
    """One row for each group, as Markdown."""
    title = metric_title(overview.metric)
    head = ["group", "runs", "seeds n", f"{title}, mean", "spread", "95% over seeds", "seconds", "peak memory MB"]
    rows = []
    for summary in overview.summaries:
        numbers = ", ".join(str(run.id) for run in summary.group.runs)
        rows.append(
            [
                summary.group.title,
                numbers,
                str(summary.interval.n),
                minus(number(summary.interval.mean, overview.metric)),
                number(summary.spread, overview.metric),
                minus(over_seeds(summary.interval, overview.metric)),
                *cost(summary),
            ]
        )
    return markdown_table(head, rows)


def differences_table(overview: Overview, known: Catalog) -> str:
    """One row for each setting in which the groups differ, as Markdown; a sentence where there is none.

    Args:
        known: the catalog, for the names that the window has of the settings and their values.
    """
    if not overview.differences:
        return SAME_SETTINGS
    head = ["setting", *(group.title for group in overview.groups)]
    chosen = [group.settings for group in overview.groups]
    rows = [
        [title_with_unit(row.field, chosen, known), *(value_title(row.field, value, known) for value in row.values)]
        for row in overview.differences
    ]
    return markdown_table(head, rows)


def cka_meaning(of_groups: Similarity) -> str:
    """What CKA is, and of how many images, in a sentence."""
    drawn = (
        f"{of_groups.drawn:,} of the {of_groups.images:,}"
        if of_groups.drawn < of_groups.images
        else f"the {of_groups.images:,}"
    )
    return (
        f"Linear CKA of the embeddings of {drawn} test images (Kornblith et al., 2019): 1 for the same embedding up to "
        "rotation and scale, about 0 for unrelated ones."
    )


def neighbours_meaning(of_groups: Similarity) -> str:
    """What the share of neighbours is, and what it is by chance."""
    chance = percentage(min(1.0, of_groups.k / max(1, of_groups.images - 1)))
    return (
        f"Share of the {of_groups.k:,} nearest neighbours of a query that are the same in both, in percent. By "
        f"chance it is {chance}."
    )


def seeds_beside(of_groups: Similarity) -> str:
    """What the groups are to be measured by."""
    return SEEDS_BESIDE if any(first == second for first, second in of_groups.cells) else NO_SEEDS_BESIDE


def in_no_cell(titles: Sequence[str]) -> str:
    """Which groups have no similarity, and why; empty without any."""
    if not titles:
        return ""
    named = ", ".join(f"“{title}”" for title in titles[:MOST_NAMED])
    more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
    return f"Left out, as they were tested on other images or kept no embeddings: {named}{more}."


def similarity_lines(of_groups: Similarity | Problem) -> list[str]:
    """A row for each pair of groups, as Markdown, and what the numbers are; or why there is none."""
    if isinstance(of_groups, Problem):
        return [str(of_groups)]
    rows = [
        [
            of_groups.titles[first], of_groups.titles[second],
            f"{similar.cka:.3f}" if isfinite(similar.cka) else NO_VALUE,
            percentage(similar.neighbours) if isfinite(similar.neighbours) else NO_VALUE, str(similar.pairs),
        ]
        for (first, second), similar in sorted(of_groups.cells.items()) if first <= second
    ]  # fmt: skip
    sentences = (
        cka_meaning(of_groups),
        neighbours_meaning(of_groups),
        seeds_beside(of_groups),
        in_no_cell(of_groups.left_out),
        unread_words(of_groups.unread),
    )
    table = markdown_table(["group", "other group", "CKA", "same neighbours", "pairs n"], rows)
    return [table, "", *(f"- {sentence}" for sentence in sentences if sentence)]


def comparison_table(comparison: Comparison) -> str:
    """One row for each seed and one over all, as Markdown."""
    metric = comparison.metric
    unit = ", points" if is_share(metric) else ""
    head = ["seed", comparison.first.title, comparison.second.title, f"difference{unit}", "95%", "n"]
    rows = []
    for pair in comparison.seeds:
        seed = f"{pair.seed}, fold {pair.fold}" if pair.fold else str(pair.seed)
        queries = f"{pair.over_queries.n:,} queries" if pair.over_queries.n else NO_VALUE
        rows.append(
            [
                f"{seed} (runs {pair.first_run}, {pair.second_run})",
                minus(number(pair.first, metric)),
                minus(number(pair.second, metric)),
                minus(number(pair.over_queries.mean, metric, signed=True)),
                minus(limits(pair.over_queries, metric, signed=True)),
                queries,
            ]
        )
    total = comparison.over_seeds
    seeds = f"{total.n} {'seed' if total.n == 1 else 'seeds'}"
    middle, over = number(total.mean, metric, signed=True), over_seeds(total, metric, signed=True)
    rows.append(["all seeds", "", "", minus(middle), minus(over), seeds])
    return markdown_table(head, rows)


def queries_told(comparison: Comparison, second: str = "") -> str:
    """How many queries win and lose, in words; empty if the metric has no values of queries.

    Args:
        second: what the second group is called; by default its title.
    """
    if comparison.queries is None:
        return ""
    better, equal, worse = comparison.queries.count()
    return f"Queries: {better:,} better in “{second or comparison.second.title}”, {worse:,} worse, {equal:,} equal."


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A head and rows of as many cells as Markdown."""
    safe = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in safe]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])
