"""`workbench deploy` and `workbench robustness`: what a run would keep in use.

deploy: recall, bytes and time of embeddings stored compressed or in an index; robustness: scores of changed queries.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from workbench import files
from workbench.commands.arguments import FILE, FOLDER, NUMBER, device_option, epoch_option, workspace_option
from workbench.commands.terminal import one_line, printable, show_json, told
from workbench.deploying.kinds import BASELINE, KNOWN
from workbench.numerals import minus, percentage
from workbench.results.few_shot import few_shot_sentence
from workbench.results.open_set import open_set_facts, open_set_sentence
from workbench.results.stored import MAY_BE_0, difference_words, fitted_sentence
from workbench.robustness.kinds import NAMES
from workbench.robustness.table import as_csv, head_sentence, table_lines
from workbench.workspace import Workspace
from workbench.workspace.measured.deployments import read_deployment
from workbench.workspace.measured.robustness import checked_robustness
from workbench.workspace.paths import default_workspace
from workbench.workspace.rows import Evaluation

OPEN_RULES = (("nearest", "by_nearest"), ("mean", "by_mean"))
SEARCHED = f"{BASELINE}+"  # how the names of search methods begin


@click.command("deploy", short_help="Measure a run as it would be deployed.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@epoch_option("that is measured")
@click.option(
    "--store", "stores", multiple=True, metavar="NAME",
    help=f"How to store or search the embeddings; may be given several times: {', '.join(KNOWN)}. N is a number of "
    "dimensions (pca, first), bytes (pq, ivfpq) or neighbours (aqe, dba, candidates). +aqe is query expansion, +dba an "
    "augmented gallery, +reciprocal k-reciprocal re-ranking, and +candidates the same among the N nearest images only. "
    "By default those that suit the embeddings.",
)  # fmt: skip
@click.option(
    "--false-accepts", "rate", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.001,
    show_default=True, help="Share of pairs from different classes that may count as the same.",
)  # fmt: skip
@click.option(
    "--export", "out", type=FOLDER, default=None, metavar="FOLDER",
    help="Also write the store (one --store) as a faiss file with a note into this folder.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def deploy(
    run_id: int, folder: Path | None, epoch: str | int, stores: tuple[str, ...], rate: float, out: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Measure run RUN (its number in `workbench list runs`) as it would be deployed.

    Each store is searched exhaustively, an index in its own way: recall and MAP@R with 95% intervals over queries,
    the difference from float32, bytes per image, and milliseconds per query on one thread. What is computed once for
    the gallery, such as an index or its augmentation, is not part of the milliseconds.
    """
    from workbench.deploying.request import deployment, export

    if out is not None and len(stores) != 1:
        raise click.UsageError("--export writes one store: name it by --store.")
    with Workspace(folder or default_workspace()) as workspace:
        evaluation = evaluation_of(workspace, run_id, epoch)
        if damaged := read_deployment(workspace, evaluation.id)[1]:
            click.echo(damaged, err=True)
        with told() as progress:
            measured = deployment(workspace, evaluation.id, stores, rate, progress)
            written = [] if out is None else export(workspace, evaluation.id, stores[0], out, rate, progress)
    if as_json:
        show_json(measured)
    else:
        click.echo(as_text(run_id, evaluation.epoch, measured))
    for path in written:
        click.echo(path, err=as_json)


@click.command("robustness", short_help="Measure a run with changed query images.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@epoch_option("that is measured")
@click.option(
    "--change", "changes", multiple=True, metavar="NAME",
    help=f"Change of the query images; may be given several times: {', '.join(NAMES)}. By default all.",
)  # fmt: skip
@click.option(
    "--queries", type=click.IntRange(1, 100_000), default=2_000, show_default=True,
    help="If there are more queries, this many are drawn. Another number replaces what was measured before.",
)  # fmt: skip
@device_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option(
    "--csv", "csv_file", type=FILE, default=None, metavar="FILE",
    help="Also write all numbers to this CSV file.",
)  # fmt: skip
def robustness(
    run_id: int, folder: Path | None, epoch: str | int, changes: tuple[str, ...], queries: int, device: str,
    as_json: bool, csv_file: Path | None,
) -> None:  # fmt: skip
    """Measure the retrieval of run RUN with changed query images: as JPEG, blurred, darker, rotated and so on.

    Each change has three to five strengths. The gallery keeps its stored embeddings, and the image of a query is left
    out of its own neighbours. The checkpoint of the evaluation is needed. Each change is stored as soon as it is
    measured: after Ctrl+C the same command continues with the others.
    """
    from workbench.robustness.request import robustness as measure

    with Workspace(folder or default_workspace()) as workspace:
        evaluation = evaluation_of(workspace, run_id, epoch)
        if damaged := checked_robustness(workspace, evaluation.id)[1]:
            click.echo(damaged, err=True)
        with told() as progress:
            measured = measure(workspace, evaluation.id, changes, queries, device, progress)
    if csv_file is not None:
        with files.named_file(csv_file) as file:
            file.write(as_csv(measured).encode())
        click.echo(csv_file, err=as_json)
    if as_json:
        show_json({"run": run_id, **measured})
    else:
        head = f"Run {run_id}, epoch {measured['epoch']}: {head_sentence(measured)}"
        click.echo(printable("\n".join([head, "", *table_lines(measured), "", f"change: in points. {MAY_BE_0}"])))


def evaluation_of(workspace: Workspace, run_id: int, epoch: str | int) -> Evaluation:
    """An evaluation of a run: "best" as the window marks it, "last", or of an epoch. Problem when there is none.

    Prints on the error output what of the run's evaluations is damaged, so that another one may be the best.
    """
    from workbench.exchange.source import source_of

    source = source_of(workspace, run_id, epoch)
    for remark in source.remarks:
        click.echo(one_line(remark), err=True)
    return source.evaluated


def as_text(run_id: int, epoch: int, measured: dict[str, Any]) -> str:
    """The measurement as a table and sentences."""
    of_all = "" if measured["queries"] == measured["queries_there"] else f" of {measured['queries_there']:,}"
    lines = [
        f"Run {run_id}, epoch {epoch}: {measured['queries']:,}{of_all} queries, "
        f"{measured['gallery']:,} images searched, {measured['dim']} dimensions. "
        f"{fitted_sentence(measured['fitted_on'])}",
        "",
        f"{'store':16} {'bytes':>8} {'ms':>8} {'MAP@R %':>8} {'95%':>13} {'change':>8} {'R@1 %':>7} {'10 kept':>8}",
    ]
    for store in measured["stores"]:
        if store["refused"]:
            lines.append(f"{store['title']:16} not measured: {store['refused']}")
            continue
        at, difference = store["metrics"], store["difference"]
        less = difference_words(100 * difference[0], difference[1] > 0 or difference[2] < 0)
        less = "–" if store is measured["stores"][0] else less
        lines.append(
            f"{store['title']:16} {store['bytes']:8,.0f} {store['ms']:8.3f} {100 * at['MAP@R']:8.2f} "
            f"{100 * at['MAP@R/low']:6.2f}-{100 * at['MAP@R/high']:<6.2f} {less:>8} "
            f"{100 * at['recall@1']:7.2f} {percentage(store['kept']):>8}"
        )
    limit = measured["limit"]
    low, high = limit["similarity_range"]
    between = minus(f"{limit['similarity']:.4f} ({low:.4f} to {high:.4f})")
    accepted = " to ".join(percentage(end, 2) for end in limit["accepts_range"])
    lines += [
        "",
        f"change: of MAP@R from float32, in points. {MAY_BE_0}",
        *(
            f"{store['title']}: {store['detail']}."
            for store in measured["stores"]
            if store["name"].startswith(SEARCHED)
        ),
        f"Same or different at {100 * limit['wanted']:g}% false accepts: threshold {between}, "
        f"accepts {percentage(limit['accepts'], 2)} ({accepted}) of {limit['same_pairs']:,} "
        f"pairs of one class. Equal error {percentage(limit['equal_error'], 2)}.",
        "",
        *_new_classes(measured["new_classes"]),
        "",
        *_open_set(measured["open_set"]),
    ]
    return "\n".join(lines)


def _new_classes(new: dict[str, Any]) -> list[str]:
    """The accuracy with few images stored of each class, as a table and sentences."""
    said = few_shot_sentence(new)
    if not new["points"]:
        return [said]
    lines = [said, "", f"{'stored':>6} {'by mean %':>10} {'95%':>13} {'by nearest %':>14} {'95%':>13}"]
    for point in new["points"]:
        mean, nearest = point["by_mean"], point["by_nearest"]
        lines.append(
            f"{point['images']:6} {100 * mean[0]:10.2f} {_range(mean)} {100 * nearest[0]:14.2f} {_range(nearest)}"
        )
    for one in new["episodes"]:
        said = f"{percentage(one['accuracy'], 2)} ± {100 * one['half_width']:.2f}"
        lines.append(f"{one['ways']}-way {one['shots']}-shot: {said}")
    return lines


def _open_set(measured: dict[str, Any]) -> list[str]:
    """What is identified when half of the classes is unknown, as sentences and a table."""
    lines, points = [open_set_facts(measured)], measured["points"]
    if not points:
        return lines
    if points[0]["by_mean"]["rates"]:
        lines += [open_set_sentence(measured, point["images"]) for point in points]
        lines += ["", f"{'stored':>6} {'by':7} {'FPIR %':>6} {'DIR %':>8} {'95%':>13} {'threshold':>10} {'95%':>18}"]
    for point in points:
        for by, rule in OPEN_RULES:
            for at in point[rule]["rates"]:
                threshold, low, high = at["threshold"]
                between = minus(f"{low:.4f} to {high:.4f}")
                lines.append(
                    f"{_stored(point):>6} {by:7} {100 * at['fpir']:6g} {100 * at['dir'][0]:8.2f} {_range(at['dir'])} "
                    f"{minus(f'{threshold:.4f}'):>10} {between:>18}"
                )
    heads = "".join(f" {head:>14} {'95%':>13}" for head in ("OSCR area %", "AUROC %", "all accepted %"))
    lines += ["", f"{'stored':>6} {'by':7}{heads}"]
    for point in points:
        for by, rule in OPEN_RULES:
            spreads = (point[rule][key] for key in ("oscr", "auroc", "closed"))
            numbers = "".join(f" {100 * spread[0]:14.2f} {_range(spread)}" for spread in spreads)
            lines.append(f"{_stored(point):>6} {by:7}{numbers}")
    return lines


def _stored(point: dict[str, Any]) -> str:
    return "all" if point["images"] is None else str(point["images"])


def _range(spread: Sequence[float]) -> str:
    return f"{100 * spread[1]:6.2f}-{100 * spread[2]:<6.2f}"
