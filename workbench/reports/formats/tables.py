"""The tables of a report as CSV, without cells that a spreadsheet would run as formulas."""

from dataclasses import astuple
from typing import Any

from workbench.comparing.queries.replacing import Replacing
from workbench.comparing.queries.together import Together
from workbench.comparing.replacing_text import replacing_columns
from workbench.comparing.together_text import together_columns
from workbench.files.spreadsheet import csv_text
from workbench.reports.content.run_content import Content
from workbench.reports.document import Made
from workbench.results.by_attribute import as_csv as across_csv
from workbench.results.by_class_size import as_csv
from workbench.results.size_differences import SIZE_COLUMNS, ComparedBySize, size_rows
from workbench.workspace import Workspace
from workbench.workspace.measured import evaluations

TAGS = ("tag", "images", "queries", "recall_at_1", "map_at_r", "map_at_r_low_95", "map_at_r_high_95")  # as in Slice

STORES = ["store", "bytes", "ms", "map_at_r", "map_at_r_low_95", "map_at_r_high_95", "difference", "difference_low_95"]
STORES += ["difference_high_95", "recall_at_1", "kept_of_10", "not_measured_because"]
TESTS = ["run", "images", "epoch", "queries", "map_at_r", "map_at_r_low_95", "map_at_r_high_95", "recall_at_1"]


def csv_tables(report: Made, workspace: Workspace) -> dict[str, str]:
    """CSV texts by name: metrics, scalars, classes, settings and queries of the first run, groups of several."""
    tables = {} if report.content.sections == () and report.groups is not None else _of_run(report.content, workspace)
    behind = {f"figures/{name}.csv": csv_text(*drawn.table) for name, drawn in report.document.drawings.items()}
    return tables | behind | _of_groups(report)


def _of_run(content: Content, workspace: Workspace) -> dict[str, str]:
    run_id = content.run.id
    scalars = [
        [name, step, value]
        for name in workspace.scalar_names(run_id)
        for step, value in zip(*(column.tolist() for column in workspace.scalars(run_id, name)), strict=True)
    ]
    metrics = [[row.name, row.shown, row.low, row.high, row.last] for row in content.metrics]
    shown = "best" if content.shown is None or content.is_best else f"epoch_{content.shown.epoch}"
    head = ["section", "field", "value", "changed_from_default"]
    settings, trained_with = (
        [[setting.section, setting.name, setting.value, "yes" if setting.changed else "no"] for setting in of_run]
        for of_run in (content.settings, content.trained_with)
    )
    return {
        "metrics.csv": csv_text(["metric", shown, f"{shown}_low_95", f"{shown}_high_95", "last"], metrics),
        "scalars.csv": csv_text(["name", "step", "value"], scalars),
        "classes.csv": csv_text(
            ["class", "queries", "map_at_r", "recall_at_1"],
            [[row.name, row.queries, row.map_at_r, row.recall_at_1] for row in content.classes],
        ),
        **({"class-sizes.csv": as_csv(content.by_size)} if content.by_size is not None else {}),
        **({"tags.csv": csv_text(list(TAGS), list(map(list, map(astuple, content.tags))))} if content.tags else {}),
        **(
            {"across-values.csv": across_csv(*content.across.measured)}
            if content.across and content.across.measured
            else {}
        ),
        **({"tests.csv": csv_text(TESTS, _tests(content))} if content.tests else {}),
        **({"stores.csv": csv_text(STORES, _stores(content))} if content.deployment is not None else {}),
        "settings.csv": csv_text(head, settings),
        **({"trained-with.csv": csv_text(head, trained_with)} if trained_with else {}),
        "queries.csv": csv_text(
            ["sample_id", "path", "class", "ap", "first_hit", "r", "right"], _queries(content, workspace)
        ),
    }


def _of_groups(report: Made) -> dict[str, str]:
    """groups.csv, group-runs.csv, and what was asked for: together.csv, replace.csv, class-size-differences.csv.

    All in full precision; groups.csv and group-runs.csv have all metrics at the place asked for.
    """
    if report.groups is None:
        return {}
    compared = report.groups.overview
    groups: list[list[Any]] = []
    runs: list[list[Any]] = []
    for summary in compared.summaries:
        over = summary.interval
        low, high = (over.low, over.high) if over.known else (None, None)
        mean = over.mean if over.n else None
        figures = [over.n, mean, summary.spread, low, high, summary.seconds, summary.memory]
        unfinished = " ".join(str(run.id) for run in summary.group.runs if run.status != "done")
        groups.append([summary.group.title, compared.metric, *figures, unfinished])
        for run in summary.group.runs:
            at = compared.measured[run.id].at(compared.at)
            metrics = {} if at is None else at.metrics
            epoch = None if at is None else at.epoch
            known = [run.id, summary.group.title, run.seed, run.status, epoch]
            runs += [[*known, name, value] for name, value in metrics.items()] or [[*known, "", ""]]
    head = ["group", "metric", "seeds", "mean", "standard_deviation", "low_95", "high_95", "seconds", "memory_bytes"]
    head.append("unfinished_runs")
    joint, replaced = report.groups.together, report.groups.replaced
    by_size = size_rows({title: of for title, of in report.groups.by_size.items() if isinstance(of, ComparedBySize)})
    return {
        "groups.csv": csv_text(head, groups),
        "group-runs.csv": csv_text(["run", "group", "seed", "status", "epoch", "metric", "value"], runs),
        **({"together.csv": csv_text(*together_columns(joint))} if isinstance(joint, Together) else {}),
        **({"replace.csv": csv_text(*replacing_columns(replaced))} if isinstance(replaced, Replacing) else {}),
        **({"class-size-differences.csv": csv_text(list(SIZE_COLUMNS), by_size)} if by_size else {}),
    }


def _tests(content: Content) -> list[list[Any]]:
    names = ("queries", "MAP@R", "MAP@R/low", "MAP@R/high", "recall@1")
    return [
        [score.run_id, score.images, score.epoch, *(score.evaluation.metrics.get(name) for name in names)]
        for score in content.tests
    ]


def _stores(content: Content) -> list[list[Any]]:
    """Every store of the deployment; one that was refused has its reason."""
    rows = []
    for store in [] if content.deployment is None else content.deployment["stores"]:
        scores = [store["metrics"].get(name) for name in ("MAP@R", "MAP@R/low", "MAP@R/high")]
        less, recall = store["difference"], store["metrics"].get("recall@1")
        rows.append(
            [store["name"], store["bytes"], store["ms"], *scores, *less, recall, store["kept"], store["refused"]]
        )
    return rows


def _queries(content: Content, workspace: Workspace) -> list[list[Any]]:
    if content.shown is None:
        return []
    with workspace.reading() as db:
        return evaluations.query_table(db, content.shown.id)
