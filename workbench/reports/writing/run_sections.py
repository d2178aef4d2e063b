"""The sections of a report about one run, as blocks."""

from collections.abc import Sequence

import numpy as np

from workbench.comparing.comparison_text import points
from workbench.comparing.grouping.setting_titles import title_with_unit, value_title
from workbench.entries import catalog as catalogs
from workbench.metric_names import metric_name
from workbench.reports.content.run_content import ClassRow, Content, MetricRow, Setting, percent
from workbench.reports.writing.attribute_blocks import attribute_blocks
from workbench.reports.writing.blocks import NO_VALUE, Block, Cards, Plot, Table, said
from workbench.reports.writing.deployed_blocks import deployment_blocks, robustness_blocks
from workbench.reports.writing.published_blocks import published_blocks
from workbench.results.by_class_size import rows_of, titles_of
from workbench.results.network_scores import UNLIKE_IMAGES
from workbench.workspace.run_names import short_names

EXTREMES = 10  # classes at either end
SETTING_HEAD = ("Part", "Field", "Value")
LEFT_OUT = 20  # images by name
CAPTIONS = {
    "ce-spce": "CE and SPCE on the same fixed training images, in evaluation mode.",
    "retrieval": "Retrieval metrics on the test set at each evaluation.",
    "loss": "Loss of every batch (faint), its exponential mean (bold), and the learning rate.",
    "other-curves": "Curves as the other program wrote them, without smoothing.",
}


def section_blocks(section: str, content: Content) -> list[Block]:
    """The blocks of one of RUN_SECTIONS; a sentence where it would be empty."""
    match section:
        case "summary":
            return [said(sentence) for sentence in content.summary]
        case "settings":
            return _settings(content)
        case "curves":
            return [Plot(name, caption) for name, caption in CAPTIONS.items() if _drawn(name, content)] or [
                said(content.run.has_no("curves"), muted=True)
            ]
        case "metrics":
            return _metrics(content)
        case "classes":
            return _classes(content)
        case "published":
            return _published(content)
        case "map" if content.map is not None:
            return [Plot("map", f"Each point is a test image; stars are class vectors. {content.map.caption}.")]
        case "queries" if content.worst:
            return [
                Cards("worst", "Lowest average precision", tuple(content.worst)),
                Cards("best", "Highest average precision", tuple(content.finest)),
                said(_similarities(content), muted=True),
            ]
        case "deployment" if content.shown is not None:
            return deployment_blocks(content)
        case "robustness" if content.shown is not None:
            return robustness_blocks(content)
        case "environment":
            return _environment(content)
    return [said(content.run.has_no("evaluation"), muted=True)]


def _similarities(content: Content) -> str:
    """What the numbers of the neighbours are."""
    kinds = {"l2": "minus the L2 distance", "hyperbolic": "minus the hyperbolic distance"}
    kind = "the cosine" if content.shown is None else kinds.get(content.shown.distance, "the cosine")
    return f"The number beside a mark is {kind} to the query."


def _drawn(name: str, content: Content) -> bool:
    if name == "other-curves":
        return bool(content.other_curves)
    return {"ce-spce": "probe/spce", "retrieval": "test/MAP@R", "loss": "batch/loss"}[name] in content.curves


def _settings(content: Content) -> list[Block]:
    rows, trained = _setting_rows(content.settings, changed=True), _setting_rows(content.trained_with, changed=True)
    if not rows:
        return [said("Every setting has its default; the appendix lists them.", muted=True)]
    caption = "Settings that differ from their default; the appendix lists the others."
    blocks: list[Block] = [Table("settings", caption, SETTING_HEAD, rows)]
    if trained:
        caption = f"Settings of run {content.run.tested}, which trained the network, that differ from their default."
        blocks.append(Table("trained-with", caption, SETTING_HEAD, trained))
    return blocks


def default_settings(content: Content) -> Table | None:
    """The settings that have their default values, for the end of a report; None if there are none."""
    rows = _setting_rows(content.settings, changed=False)
    return Table("default-settings", "Settings at their defaults.", SETTING_HEAD, rows) if rows else None


def _setting_rows(settings: Sequence[Setting], *, changed: bool) -> tuple[tuple[str, str, str], ...]:
    """Part, field and value, as the form calls them."""
    known = catalogs.current()
    chosen = {f"{setting.section}.{setting.name}": setting.value for setting in settings}
    rows = []
    for setting in settings:
        if setting.changed == changed:
            path = setting.name if setting.section == "run" else f"{setting.section}.{setting.name}"
            part, _, field = title_with_unit(path, [chosen], known).partition(": ")
            row = ("Run", part) if setting.section == "run" else (part, field or "Name")
            rows.append((*row, value_title(path, setting.value, known) or NO_VALUE))
    return tuple(rows)


def _metrics(content: Content) -> list[Block]:
    shown, last = content.shown, content.last
    if shown is None or last is None:
        return [said(content.run.has_no("evaluation"), muted=True)]
    of_shown = f"Best (epoch {shown.epoch})" if content.is_best else f"Epoch {shown.epoch}"
    head: tuple[str, ...] = ("Metric ↑", of_shown, "95% interval over queries", f"Last (epoch {last.epoch})")
    rows: tuple[tuple[str, ...], ...] = tuple(
        (metric_name(row.name), percent(row.shown), _interval(row), percent(row.last)) for row in content.metrics
    )
    of_what = "on the test set"
    if content.config.imported:  # measured once: there is neither a best nor a last epoch
        tested = content.run.tested is not None
        head, rows = (head[0], "Tested" if tested else "Imported", head[2]), tuple(row[:3] for row in rows)
        of_what = "among the images of the test" if tested else "among what was imported"
    queries, left_out = shown.metrics.get("queries", 0), shown.metrics.get("queries/left_out", 0)
    counts = (
        f"{queries:,.0f} queries, {left_out:,.0f} left out because no other image searched is of their class; "
        f"distance: {shown.distance}. The intervals are over queries of one run, not over seeds."
    )
    if any(row.low == row.high for row in content.metrics):
        counts += " There is none where all queries have the same value."
    counts += f" {content.chosen}" if content.is_best and content.chosen else ""
    return [
        Table("metrics", f"{content.title}: retrieval {of_what}.", head, rows, frozenset(range(1, len(head)))),
        said(counts, muted=True),
        *_tests(content),
    ]


def _tests(content: Content) -> list[Block]:
    """A table of the run's networks on its own test set and on other images; none without tests."""
    if not content.tests:
        return []
    source = content.run.id if content.run.tested is None else content.run.tested
    head = ("Run", "Images", "Epoch", "Queries", "MAP@R", "95% interval over queries", "R@1")
    rows = []
    for score in content.tests:
        metrics = score.evaluation.metrics
        low, high = (metrics.get(f"MAP@R/{end}", np.nan) for end in ("low", "high"))
        rows.append(
            (
                str(score.run_id), score.images, str(score.epoch), f"{metrics.get('queries', 0):,.0f}",
                percent(metrics.get("MAP@R", np.nan)),
                f"{percent(low)} to {percent(high)}" if low < high else NO_VALUE,
                percent(metrics.get("recall@1", np.nan)),
            )
        )  # fmt: skip
    caption = f"The network of run {source} on its own test set and on other images."
    return [Table("tests", caption, head, tuple(rows), frozenset({0, 2, 3, 4, 5, 6})), said(UNLIKE_IMAGES, muted=True)]


def _interval(row: MetricRow) -> str:
    """A dash too where all queries are alike: what is drawn from them never varies, which is no certainty."""
    return f"{percent(row.low)} to {percent(row.high)}" if row.low < row.high else NO_VALUE


def _classes(content: Content) -> list[Block]:
    if not content.classes:
        return [said(content.run.has_no("evaluation"), muted=True)]
    if len(content.classes) <= 2 * EXTREMES:
        return [
            _class_table("classes", "Class", content.classes, "All classes, by increasing MAP@R."),
            *_beside(content),
        ]
    low, high = content.classes[:EXTREMES], content.classes[::-1][:EXTREMES]
    return [
        _class_table("lowest-classes", "Lowest MAP@R", low, f"The {EXTREMES} classes with the lowest MAP@R."),
        _class_table("highest-classes", "Highest MAP@R", high, f"The {EXTREMES} classes with the highest MAP@R."),
        said(f"{len(content.classes):,} classes in all; classes.csv lists all of them.", muted=True),
        *_beside(content),
    ]


def _beside(content: Content) -> list[Block]:
    """What stands below the classes: their groups by size, the scores of tags, and those across attributes."""
    return [*_by_size(content), *_tags(content), *attribute_blocks(content.across)]


def _by_size(content: Content) -> list[Block]:
    """A table of the groups of classes by size; sentences alone where all classes have the same size."""
    by_size = content.by_size
    if by_size is None:
        return []
    sentences: list[Block] = [said(sentence, muted=True) for sentence in by_size.sentences]
    if not by_size.groups:
        return sentences
    caption = "Rare and frequent classes: scores by class size."
    table = Table("class-sizes", caption, titles_of(by_size), tuple(rows_of(by_size)), frozenset(range(2, 8)))
    return [table, *sentences]


def _tags(content: Content) -> list[Block]:
    """A table of the scores for the images of each tag; none without tags."""
    if not content.tags:
        return []
    head = ("Tag", "Images", "Queries", "MAP@R", "95% interval over queries", "R@1")
    rows = tuple(
        (
            entry.tag, f"{entry.images:,}", f"{entry.queries:,}", percent(entry.map_at_r),
            f"{percent(entry.low)} to {percent(entry.high)}" if entry.low < entry.high else NO_VALUE,
            percent(entry.recall),
        )
        for entry in content.tags
    )  # fmt: skip
    caption = "Images of each tag as queries, searched among all images."
    return [Table("tags", caption, head, rows, frozenset({1, 2, 3, 4, 5}))]


def _class_table(key: str, title: str, rows: list[ClassRow], caption: str) -> Table:
    cells = tuple((row.name, f"{row.queries:,}", percent(row.map_at_r), percent(row.recall_at_1)) for row in rows)
    head = (title, "Queries", "MAP@R", "R@1")
    return Table(key, caption, head, cells, frozenset({1, 2, 3}))


def _published(content: Content) -> list[Block]:
    if not content.published:
        return [said("None of the papers' tables has this data set under this protocol.", muted=True)]
    blocks: list[Block] = []
    for number, paper in enumerate(content.published, start=1):
        dim = str(content.config.embedding.dim or NO_VALUE)
        own = (
            f"This run ({content.run.loss})",
            short_names(catalogs.current(), content.run)[1],
            dim,
            *map(points, paper.own),
        )
        blocks += published_blocks(
            f"published-{number}", paper.table, "this run", [own], paper.experiment, paper.differences
        )
    return blocks


def _environment(content: Content) -> list[Block]:
    blocks: list[Block] = [
        Table("environment", "Where the run was made.", ("Fact", "Value"), tuple(content.environment)),
        said(f"To repeat: {content.command} (the config is in the bundle of a report, and in the run's folder)"),
    ]
    if content.left_out:
        named = "; ".join(f"{path} {reason}" for path, reason in content.left_out[:LEFT_OUT])
        rest = len(content.left_out) - LEFT_OUT
        blocks.append(said(f"Images left out: {named}{f'; and {rest} more' if rest > 0 else ''}.", muted=True))
    return blocks
