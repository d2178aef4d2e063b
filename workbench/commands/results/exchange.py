"""`workbench export`, `import` and `test`: runs out; embeddings and curves of other programs, and other images, in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from workbench.commands.arguments import FOLDER, NUMBER, TEXT, device_option, epoch_option, typed, workspace_option
from workbench.commands.results.columns import Column, table_lines, terminal_width
from workbench.commands.terminal import one_line, show_lines, told
from workbench.entries import catalog as catalogs
from workbench.events import RunState
from workbench.exchange.formats import FORMATS, export_run
from workbench.exchange.imported.curve_import import holds_curves, import_curves
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.exchange.imported.importing import import_embeddings
from workbench.exchange.source import BEST, IMAGE_SIZE, LARGEST_SIZE, LEAST_SIZE, Epoch
from workbench.numerals import percentage
from workbench.results.network_scores import NetworkScore, network_scores
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace
from workbench.workspace.rows import Run

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
FORMAT_HELP = "May be given several times. " + "; ".join(f"{key}: {known.help}" for key, known in FORMATS.items()) + "."

TESTS = (
    Column("run", numbers=True), Column("images", narrowest=16), Column("epoch", numbers=True),
    Column("queries", numbers=True), Column("MAP@R", numbers=True), Column("R@1", numbers=True),
)  # fmt: skip


@click.command("export", short_help="Write a run as files for other programs.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@click.option(
    "--format", "formats", multiple=True, type=click.Choice(list(FORMATS)), default=("config", "csv", "npy"),
    show_default=True, help=FORMAT_HELP,
)  # fmt: skip
@epoch_option("whose embeddings are written")
@click.option(
    "--out", type=FOLDER, default=None,
    help="Folder; by default `export` in the run's folder.",
)  # fmt: skip
def export(run_id: int, folder: Path | None, formats: tuple[str, ...], epoch: Epoch, out: Path | None) -> None:
    """Write run RUN (its number in `workbench list runs`) as files for other programs."""
    with Workspace(folder or default_workspace()) as workspace:
        run = workspace.run(run_id)
        target = out or workspace.file(run_id, "export")
        with told() as progress:
            remarks: list[str] = []
            paths = export_run(workspace, run_id, formats, target, progress, epoch, remarks.append)
        for path in paths:
            click.echo(path)
        for sentence in remarks:
            click.echo(sentence, err=True)
        if run.live:
            click.echo(f"Run {run_id} has not ended ({run.status}): its present state was exported.", err=True)


@click.command("import", short_help="Import embeddings or curves of models trained elsewhere as runs.")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@workspace_option
@click.option(
    "--labels", type=click.Path(path_type=Path, exists=True), default=None,
    help=".npy of whole numbers or text, or a table with a column label and, perhaps, path; not needed when the "
    "file of embeddings has them: a table with a column label, or .npz with an array labels.",
)  # fmt: skip
@click.option(
    "--images", type=click.Path(path_type=Path, exists=True), default=None,
    help="Folder from which the column path starts, or .npy of uint8 [n, height, width(, 3)].",
)  # fmt: skip
@click.option(
    "--name", type=TEXT, default="",
    help="Name of the run; by default that of the file. Of several runs, the first part of each name.",
)  # fmt: skip
@click.option(
    "--distance", type=click.Choice(["cosine", "l2"]), default="cosine", show_default=True,
    help="How two embeddings are compared.",
)  # fmt: skip
@click.option(
    "--image-size", type=click.IntRange(LEAST_SIZE, LARGEST_SIZE), default=IMAGE_SIZE, show_default=True,
    help="Side of the squares in which images of a folder are shown, px.",
)  # fmt: skip
@click.option(
    "--search-only", is_flag=True,
    help="No metrics, map or images: the embeddings (.npy) are only searched, exactly or through an index. For "
    "millions of rows.",
)  # fmt: skip
def import_run(
    source: Path, folder: Path | None, labels: Path | None, images: Path | None, name: str,
    distance: Literal["cosine", "l2"], image_size: int, search_only: bool,
) -> None:  # fmt: skip
    """Import SOURCE as runs: embeddings or curves of models trained elsewhere.

    Embeddings are .npy, .npz, .csv, .tsv or .parquet; a row is a sample. A .npz file has the arrays embeddings, labels
    and, perhaps, paths. The run has a data set, all retrieval metrics and stored neighbours, so it can be mapped,
    browsed and reported.

    Curves are event files of TensorBoard, or .csv with a column step or epoch, such as a chart that W&B exported or
    Lightning's metrics.csv. SOURCE is one such file, or a folder with one run or with many in folders below it.
    Imported again, only new points are added.
    """
    of_embeddings = labels is not None or search_only or images is not None
    if source.is_dir() or (not of_embeddings and holds_curves(source)):
        if of_embeddings:
            raise click.UsageError("A folder of curves takes no --labels, --images or --search-only.")
        _import_curves(source, folder, name)
        return
    with Workspace(folder or default_workspace(), create=True) as workspace:
        if search_only:
            if images is not None:
                raise click.UsageError("--search-only takes no images.")
            with told() as progress:
                run_id = import_gallery(workspace, source, labels, name, distance, progress)
            click.echo(f"Run {run_id} done. `{typed(workspace.path, 'index', str(run_id))}` makes its search fast.")
            return
        with told() as progress:
            run_id = import_embeddings(workspace, source, labels, images, name, distance, image_size, progress)
        run = workspace.run(run_id)
        click.echo(_scores(run))
        for path, reason in run.environment["data"]["left_out"]:
            click.echo(one_line(f"Left out: {path} {reason}."), err=True)


@click.command("test", short_help="Test the network of a run, or of several, on other images, as new runs.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@click.argument("images", metavar="[IMAGES]", type=click.Path(path_type=Path, exists=True), required=False)
@workspace_option
@click.option(
    "--also", type=NUMBER, multiple=True, metavar="RUN",
    help="Also test this run's network, as a separate run. May be given several times.",
)  # fmt: skip
@click.option(
    "--all-seeds", is_flag=True, help="Also test all finished runs that differ from RUN only in seed, fold or name."
)  # fmt: skip
@click.option(
    "--name", type=TEXT, default="",
    help="Name of the new run; by default those of the run and the images. Of several, the first part of each name.",
)  # fmt: skip
@epoch_option("whose network embeds the images")
@device_option
def test(
    run_id: int, images: Path | None, folder: Path | None, also: tuple[int, ...], all_seeds: bool, name: str,
    epoch: Epoch, device: str,
) -> None:  # fmt: skip
    """Embed IMAGES with the network of run RUN; the result is a new run, and nothing is trained.

    IMAGES is a folder with a folder for each class, an archive of one, or a CSV list with the columns path and label.
    Each image queries all others. The new run has the metrics of RUN, a map and everything else of an evaluation.
    Without IMAGES nothing is embedded: the command lists the tests of RUN, beside the scores of its own test set.

    Tests of runs that differ only in seed or fold are one group of `workbench compare`, with mean and interval.
    """
    from workbench.exchange.imported.other_images import evaluate_all

    if images is None and (name or epoch != BEST or device != "auto"):
        raise click.UsageError("--name, --epoch and --device are those of a test: name its images, too.")
    if images is None and (also or all_seeds):
        raise click.UsageError("--also and --all-seeds name what is tested: name the images, too.")
    with Workspace(folder or default_workspace()) as workspace:
        if images is None:
            rows = [_of_test(score) for score in network_scores(workspace, run_id)]
            show_lines(table_lines(TESTS, rows, terminal_width()), f"Run {run_id} was not tested on other images.")
            return
        runs = [run_id, *also, *(_other_seeds(workspace, run_id) if all_seeds else [])]
        with told() as progress:
            tests = evaluate_all(workspace, runs, images, name, epoch, device, progress)
        for tested in tests:
            click.echo(_scores(workspace.run(tested.run_id)))
        for sentence in dict.fromkeys(sentence for tested in tests for sentence in tested.remarks):
            click.echo(one_line(sentence), err=True)
        if len(tests) > 1:
            command = typed(workspace.path, "compare", *(str(tested.run_id) for tested in tests))
            click.echo(f"`{command}` shows their mean and interval over seeds.")


def _other_seeds(workspace: Workspace, run_id: int) -> list[int]:
    """The finished runs of the group of this run, oldest first."""
    from workbench.comparing.grouping.groups import group_of
    from workbench.comparing.grouping.tested import is_readable

    known = catalogs.current()
    readable = [run for run in workspace.runs() if run.id == run_id or is_readable(run, known)]
    return [run.id for run in group_of(run_id, readable, known) if run.status == RunState.DONE]


def _scores(run: Run) -> str:
    """The sentence on an imported run that is done."""
    scores = f"MAP@R {percentage(run.best['MAP@R'], 2)}, R@1 {percentage(run.best['recall@1'], 2)}"
    return f"Run {run.id} done. {scores} over {run.best['queries']:,.0f} queries."


def _of_test(score: NetworkScore) -> list[str]:
    """The cells of TESTS of one test."""
    metrics = score.evaluation.metrics
    shares = [percentage(metrics.get(name), 2) for name in ("MAP@R", "recall@1")]
    queries = f"{metrics.get('queries', 0):,.0f}"
    return [str(score.run_id), one_line(score.images), str(score.epoch), queries, *shares]


def _import_curves(source: Path, folder: Path | None, name: str) -> None:
    with Workspace(folder or default_workspace(), create=True) as workspace:
        with told() as progress:
            imported, remarks = import_curves(workspace, source, name, progress)
        for run in imported:
            click.echo(one_line(run.words))
        for sentence in remarks:
            click.echo(one_line(sentence), err=True)
