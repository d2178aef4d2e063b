"""The tiles at the top of a report: the best scores, what they were measured on, and their cost."""

from collections.abc import Sequence
from math import isfinite, nan

from workbench.comparing import comparison_text as words
from workbench.comparing.difference.baseline import against_baseline, comparable, difference
from workbench.comparing.difference.forest import forest_of
from workbench.comparing.grouping.tested import fold_of_run
from workbench.comparing.measures import Summary, is_share, trained_to_the_end
from workbench.comparing.overview import Overview
from workbench.metric_names import metric_name
from workbench.numerals import percentage
from workbench.progress import duration
from workbench.reports.content.run_content import Content
from workbench.reports.figures.group_figures import apart
from workbench.reports.writing.blocks import Tile

SCORES = (("MAP@R", "MAP@R"), ("recall@1", "R@1"))


def tiles_of_run(content: Content) -> tuple[Tile, ...]:
    """Scores of the shown epoch with their intervals over queries, number of queries, epochs, and time.

    A number that is not known has no tile.
    """
    run, shown = content.run, content.shown
    tiles = []
    if shown is not None:
        for name, title in SCORES:
            if name in shown.metrics:
                low, high = (shown.metrics.get(f"{name}/{end}", nan) for end in ("low", "high"))
                known = isfinite(low) and isfinite(high) and low < high  # equal where all queries are alike
                note = f"95% interval {100 * low:.1f} to {100 * high:.1f}" if known else "on the test set"
                chosen = content.is_best and not content.config.imported
                best = "Best " if chosen and name == "MAP@R" else ""
                tiles.append(Tile(f"{best}{title}", percentage(shown.metrics[name]), note))
        queries = shown.metrics.get("queries", nan)
        if isfinite(queries):
            tiles.append(Tile("Queries", f"{queries:,.0f}", f"by {shown.distance}"))
    if not content.config.imported and not run.curves_of:
        of_scores = "best at" if content.is_best else "scores of"
        reached = f"{of_scores} epoch {shown.epoch}" if shown is not None else run.status
        tiles.append(Tile("Epochs", f"{run.epoch:,} of {run.epochs:,}", reached))
    if run.seconds:
        tiles.append(Tile("Time", duration(run.seconds), "of work"))
    return tuple(tiles)


def tiles_of_groups(compared: Overview) -> tuple[Tile, ...]:
    """The group with the greatest mean, its lead over the next, how many runs were compared, and the time of one.

    It is called the best where more is better and each other group is worse at 5% after Holm's correction, else the
    highest. Groups that ended early are not ranked with those that trained to their end.

    Of groups on several data sets or test sets only their number and that of the runs.
    """
    known = [summary for summary in compared.summaries if isfinite(summary.interval.mean)]
    if not known:
        return ()
    counted = Tile("Runs", f"{sum(len(summary.values) for summary in known):,}", words.at_title(compared.at))
    data = {images for summary in known for images in summary.images}
    if len(data) > 1:  # scores of different images have no order
        return Tile("Groups", f"{len(known):,}", f"on {len(data):,} data sets"), counted
    if any(not comparable(known[0], summary) for summary in known):
        return Tile("Groups", f"{len(known):,}", "on several test sets"), counted
    ranked = sorted(trained_to_the_end(known, compared.at), key=lambda summary: -summary.interval.mean)
    best, metric = ranked[0], compared.metric
    led = _leads(compared, best)
    unit, word = "%" if is_share(metric) else "", "Best" if led and is_share(metric) else "Highest"
    names = apart([summary.group.title for summary in ranked])
    seeds = f"{best.interval.n} {'seed' if best.interval.n == 1 else 'seeds'}"
    tiles = [
        Tile(f"{word} of {len(ranked):,} {'group' if len(ranked) == 1 else 'groups'}", names[0], seeds),
        Tile(metric_name(metric), f"{words.number(best.interval.mean, metric)}{unit}", _spread(best.spread, metric)),
    ]
    if len(ranked) > 1:
        tiles.append(_lead(best, ranked[1], metric, names[1], led))
    tiles.append(counted)
    if best.seconds is not None:
        tiles.append(Tile("Time of a run", duration(best.seconds), f"mean of the {word.lower()} group"))
    return tuple(tiles)


def _leads(compared: Overview, best: Summary) -> bool:
    """Whether all other groups with the metric are worse; the highest of many is so by chance, hence the correction."""
    forest = forest_of(against_baseline(compared, best.group, [compared.metric]))
    tests = [row.tests[0] for row in forest.rows if row.tests[0].seeds[1]]
    return all(test.differs and test.difference.mean < 0 for test in tests)


def _lead(best: Summary, second: Summary, metric: str, over: str, led: bool) -> Tile:
    """The difference from the next group, as in the table of differences: over the seeds and folds that both have."""
    lead = difference(second, best)
    value, undecided = words.number(lead.mean, metric, signed=True), "" if led else ", no winner"
    unit = "points " if is_share(metric) else ""
    ours, theirs = (
        {(run.seed, fold_of_run(run)) for run in summary.group.runs if run.id in summary.values}
        for summary in (best, second)
    )
    if ours == theirs or not ours & theirs:
        return Tile("Lead", value, f"{unit}over {over}{undecided}")
    alike = "folds" if best.by_seed.keys() == second.by_seed.keys() else "seeds"
    return Tile("Difference", value, f"{unit}from {over}, same {alike}{undecided}")


def headline(content: Content, compared: Overview | None, sections: Sequence[str]) -> tuple[Tile, ...]:
    """The tiles of a report: of its groups where it holds their results, of its run where it holds the summary."""
    if compared is not None and "groups" in sections:
        return tiles_of_groups(compared)
    return tiles_of_run(content) if "summary" in sections else ()


def _spread(spread: float | None, metric: str) -> str:
    return "one seed" if spread is None else f"± {words.number(spread, metric)} over seeds (SD)"
