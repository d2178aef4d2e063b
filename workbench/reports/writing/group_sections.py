"""The sections of a report about several runs, as blocks, in the words of the Compare page."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.comparing import comparison_text as words
from workbench.comparing.difference.forest import Forest, against_the_first, corrected_tests, verdict_among
from workbench.comparing.grouping.groups import Group, unlike_parts
from workbench.comparing.grouping.setting_titles import setting_with_unit, title_with_unit, value_title
from workbench.comparing.grouping.settings import all_fields
from workbench.comparing.queries.pairing import Comparison
from workbench.comparing.statistics.intervals import FEWEST_SEEDS
from workbench.entries import catalog as catalogs
from workbench.metric_names import metric_name
from workbench.numerals import numbers_in_words
from workbench.reports.content.group_content import GroupContent
from workbench.reports.content.provenance import command_of, facts_of
from workbench.reports.figures.drawing import Drawing
from workbench.reports.figures.group_figures import MOST_CURVES, MOST_MEANS, drawn_curves
from workbench.reports.writing.blocks import NO_VALUE, Block, Plot, Table, heading, said
from workbench.reports.writing.fair_blocks import fair_blocks
from workbench.reports.writing.importance_blocks import importance_blocks
from workbench.reports.writing.published_blocks import published_blocks
from workbench.reports.writing.similarity_blocks import replacing_blocks, similarity_blocks, together_blocks
from workbench.results.size_differences import ComparedBySize, compared_rows, compared_titles
from workbench.workspace.rows import Run
from workbench.workspace.run_names import network_tested, short_names

NO_CURVES = "Tests on other images and imports have one evaluation each, and so no curve over epochs."
UNMEASURED = "None of these runs has an evaluation yet."
ACROSS = 4  # groups beside each other in one table
MOST_SET = 24  # groups whose settings are listed


def group_blocks(section: str, content: GroupContent, drawn: dict[str, Drawing]) -> list[Block]:
    """The blocks of one of GROUP_SECTIONS; a sentence where it would be empty. Of sweeps there is none without them."""
    compared = content.overview
    match section:
        case "guards":
            warnings: list[Block] = [said(sentence) for sentence in compared.guards]
            return warnings or [said("No reason is known why this comparison would be unfair.")]
        case "changed-settings":
            if len(compared.groups) < 2:
                return [said("There is one group of runs, so no settings differ.", muted=True)]
            if not compared.differences:
                return [said(words.SAME_SETTINGS, muted=True)]
            named = {row.field: row.values for row in compared.differences}
            caption = "Settings in which the groups differ"
            if len(compared.groups) > ACROSS:
                return _in_words("changed-settings", f"{caption}.", compared.groups, named)
            return _across("changed-settings", caption, compared.groups, named)
        case "all-settings":
            names = all_fields([group.settings for group in compared.groups])
            every = {name: [group.settings.get(name) for group in compared.groups] for name in names}
            return _across("all-settings", "Every setting", compared.groups, every)
        case "fair":
            return fair_blocks(content.fair)
        case "importance":
            return importance_blocks(content.sweeps, content.more_sweeps)
        case "runs":
            return _runs(content)
        case "provenance":
            return _provenance(content.runs)
    if not compared.metrics:
        return [said(UNMEASURED, muted=True)]
    match section:
        case "groups":
            return _groups(content, drawn)
        case "group-curves":
            return _curves(content, drawn)
        case "differences":
            return _differences(content)
        case "similarity":
            similar, joint = (
                similarity_blocks(content.similarity, len(compared.groups)),
                together_blocks(content.together),
            )
            return [*similar, *joint, *replacing_blocks(content.replaced)]
        case _:
            return _published(content)


def _where(content: GroupContent) -> str:
    return f"{words.metric_title(content.overview.metric)}, {words.at_title(content.overview.at)}"


def _groups(content: GroupContent, drawn: dict[str, Drawing]) -> list[Block]:
    compared = content.overview
    head = ("Group", "Mean", "SD", "95% over seeds", "n", "Seconds", "MB")
    rows = tuple(
        (
            summary.group.title, words.number(summary.interval.mean, compared.metric),
            words.number(summary.spread, compared.metric),
            words.over_seeds(summary.interval, compared.metric), str(summary.interval.n), *words.cost(summary),
        )
        for summary in compared.summaries
    )  # fmt: skip
    legend = (
        "n counts seeds; SD is the standard deviation over them; the interval is Student's t, from "
        f"{FEWEST_SEEDS} seeds on. Seconds of work are a mean over runs, MB (1,000,000 bytes) the most that one took."
    )
    blocks: list[Block] = [
        Table("groups", f"{_where(content)}.", head, rows, frozenset(range(1, len(head)))),
        said(legend, muted=True),
    ]
    if "group-means" in drawn:
        caption = f"{_where(content)}: mean with 95% interval over seeds (from {FEWEST_SEEDS} on); dots are seeds."
        blocks.append(Plot("group-means", caption))
        shown = sum(bool(summary.values) for summary in compared.summaries)
        if shown > MOST_MEANS:
            blocks.append(said(f"The first {MOST_MEANS} of {shown:,} groups are drawn.", muted=True))
    return blocks


def _curves(content: GroupContent, drawn: dict[str, Drawing]) -> list[Block]:
    points = sum(group.trained_nothing for group in content.overview.groups)
    if "group-curves" not in drawn:
        without = NO_CURVES if points else f"No run has {metric_name(content.overview.metric)} over epochs."
        return [said(without, muted=True)]
    caption = (
        f"{words.metric_title(content.overview.metric)}: each run (thin), mean (bold), 95% interval over seeds (band)."
    )
    blocks: list[Block] = [Plot("group-curves", caption)]
    if points:
        blocks.append(said(f"{NO_CURVES} Groups without a curve: {points:,}.", muted=True))
    shown = len(drawn_curves(content.overview))
    if shown > MOST_CURVES:
        blocks.append(
            said(f"The first {MOST_CURVES} of {shown:,} groups are drawn; group-curves.csv has them.", muted=True)
        )
    return blocks


def _differences(content: GroupContent) -> list[Block]:
    if len(content.overview.groups) < 2:
        return [said("There is one group of runs: nothing to compare it with.", muted=True)]
    blocks: list[Block] = []
    first, names = content.overview.groups[0], _short(content.overview.groups)
    short = {group.title: name for group, name in zip(content.overview.groups, names, strict=True)}
    tests = corrected_tests(content.overview, first, content.overview.metric)
    for number, pair in enumerate(content.pairs, start=1):
        if isinstance(pair, Comparison):
            title = f"{short[pair.second.title]} minus {short[pair.first.title]}"
            blocks += _pair(tests, pair, number, title)
            caption = f"{metric_name(pair.metric)} by class size: {title}."
            blocks += _by_size(content.by_size.get(pair.second.title), number, caption)
        else:
            blocks += [heading(f"{short[pair[0].title]} minus {short[first.title]}"), said(pair[1])]
    if content.unpaired:
        blocks.append(
            said(f"{content.unpaired:,} more groups were not compared with the first: choose fewer.", muted=True)
        )
    if corrected := against_the_first(content.overview):
        blocks += [heading(f"All groups against {short[first.title]}"), *(said(sentence) for sentence in corrected)]
    return blocks


def _pair(tests: Forest, pair: Comparison, number: int, title: str) -> list[Block]:
    metric = pair.metric
    head = ("Seed", "Runs", "First", "Second", "Difference", "95%", "n")
    rows = [
        (
            f"{seed.seed}, fold {seed.fold}" if seed.fold else str(seed.seed), f"{seed.first_run}, {seed.second_run}",
            words.number(seed.first, metric), words.number(seed.second, metric),
            words.number(seed.over_queries.mean, metric, signed=True),
            words.limits(seed.over_queries, metric, signed=True),
            f"{seed.over_queries.n:,} queries" if seed.over_queries.n else NO_VALUE,
        )
        for seed in pair.seeds
    ]  # fmt: skip
    total = pair.over_seeds
    seeds = f"{total.n} {'seed' if total.n == 1 else 'seeds'}"
    mean, limits = words.number(total.mean, metric, signed=True), words.over_seeds(total, metric, signed=True)
    last = ("All seeds", "", "", "", mean, limits, seeds)
    caption = (
        f"{words.metric_title(metric)}: {title}; within a seed over queries (bootstrap), in the last row over seeds."
    )
    sentences = [verdict_among(tests, pair), *pair.notes, words.queries_told(pair)]
    return [
        heading(title),
        Table(f"difference-{number}", caption, head, (*rows, last), frozenset(range(2, 7)), frozenset({len(rows)})),
        *(said(sentence) for sentence in sentences if sentence),
    ]


def _by_size(by_size: ComparedBySize | str | None, number: int, caption: str) -> list[Block]:
    """A table of a difference by class size, with its sentences; nothing where all classes have the same size."""
    if by_size is None or isinstance(by_size, str):
        return [said(by_size)] if by_size else []
    if not by_size.rows:
        return []
    head, rows = compared_titles(by_size), tuple(compared_rows(by_size))
    sentences = (said(sentence, muted=True) for sentence in by_size.sentences)
    return [Table(f"class-size-difference-{number}", caption, head, rows, frozenset(range(1, 7))), *sentences]


def _across(key: str, caption: str, groups: Sequence[Group], fields: Mapping[str, Sequence[Any]]) -> list[Block]:
    """Groups as columns, a few in each table; settings and their values are named as in the form."""
    known, chosen = catalogs.current(), [group.settings for group in groups]
    named = [
        (title_with_unit(field, chosen, known), [value_title(field, value, known) or NO_VALUE for value in values])
        for field, values in fields.items()
    ]
    shown, names = min(len(groups), MOST_SET), _short(groups)
    blocks: list[Block] = []
    for start in range(0, shown, ACROSS):
        part = groups[start : min(start + ACROSS, shown)]
        rows = tuple((name, *values[start : start + len(part)]) for name, values in named)
        head = ("Setting", *names[start : start + len(part)])
        which = "." if shown <= ACROSS else f": groups {start + 1} to {start + len(part)}."
        blocks.append(Table(f"{key}-{start // ACROSS + 1}", caption + which, head, rows))
    return [*blocks, *_unlisted(len(groups) - shown)]


def _in_words(key: str, caption: str, groups: Sequence[Group], fields: Mapping[str, Sequence[Any]]) -> list[Block]:
    """A row for each group, with the settings that it has."""
    known, chosen = catalogs.current(), [group.settings for group in groups]
    rows = tuple(
        (
            name,
            "; ".join(
                setting_with_unit(field, values[at], chosen, known)
                for field, values in fields.items()
                if values[at] is not None
            ),
        )
        for at, name in enumerate(_short(groups)[:MOST_SET])
    )
    return [Table(f"{key}-1", caption, ("Group", "Settings"), rows), *_unlisted(len(groups) - len(rows))]


def _unlisted(more: int) -> list[Block]:
    return [said(f"{more:,} more groups are not listed: choose fewer.", muted=True)] if more else []


def _short(groups: Sequence[Group]) -> list[str]:
    """The titles of groups beside each other, without what all have in common."""
    return unlike_parts([group.title for group in groups])


def _published(content: GroupContent) -> list[Block]:
    if not content.published:
        return [said("None of the papers' tables has these data sets under these protocols.", muted=True)]
    blocks: list[Block] = []
    for number, paper in enumerate(content.published, start=1):
        own = [
            (f"{row.group.title} (here, n = {row.seeds})", short_names(catalogs.current(), row.group.runs[0])[1],
             str(row.group.settings.get("embedding.dim") or NO_VALUE), *map(words.points, row.values))
            for row in paper.rows
        ]  # fmt: skip
        blocks += published_blocks(
            f"group-published-{number}", paper.table, "means over seeds of the groups", own, paper.experiments,
            paper.differences,
        )  # fmt: skip
    return blocks


def _runs(content: GroupContent) -> list[Block]:
    compared = content.overview
    rows = tuple(
        (
            str(run.id), group.title, str(run.seed), run.status, _epochs(run),
            str(at.epoch) if (at := compared.measured[run.id].at(compared.at)) is not None else NO_VALUE,
            words.number(compared.measured[run.id].value(compared.metric, compared.at), compared.metric),
        )
        for group in compared.groups
        for run in group.runs
    )  # fmt: skip
    head = ("Run", "Group", "Seed", "Status", "Epochs", "Taken at", words.metric_title(compared.metric))
    return [Table("runs", f"The runs; {_where(content)}.", head, rows, frozenset({0, 2, 4, 5, 6}))]


def _epochs(run: Run) -> str:
    """The epochs that a run has trained; of a test the network that was tested."""
    return f"{run.epoch} of {run.epochs}" if run.tested is None else network_tested(run)


def _provenance(runs: Sequence[Run]) -> list[Block]:
    """Facts that all runs share once, the others run by run, and the commands."""
    facts = {run.id: facts_of(run) for run in runs}
    names = list(dict.fromkeys(name for run_facts in facts.values() for name in run_facts))
    values = {name: {run_facts.get(name, NO_VALUE) for run_facts in facts.values()} for name in names}
    shared = tuple((name, next(iter(shown))) for name, shown in values.items() if len(shown) == 1)
    blocks: list[Block] = []
    if shared:
        blocks.append(Table("shared-facts", "What all runs share.", ("Fact", "Value"), shared))
    apart = [name for name in names if len(values[name]) > 1]
    if apart:
        having: dict[tuple[str, str], list[int]] = {}
        for name in apart:
            for run in runs:
                having.setdefault((name, facts[run.id].get(name, NO_VALUE)), []).append(run.id)
        rows = tuple((*fact, numbers_in_words(sorted(numbers))) for fact, numbers in having.items())
        blocks.append(Table("unlike-facts", "What differs between the runs.", ("Fact", "Value", "Runs"), rows))
    commands = tuple((str(run.id), str(run.seed), command_of(run)) for run in runs)
    blocks.append(
        Table("commands", "One command for each run; the config files are in the bundle of the report.",
              ("Run", "Seed", "Command"), commands, frozenset({0, 1}))
    )  # fmt: skip
    return blocks
