"""`workbench triage` and `label`: images whose labels are suspect, and classes for images without labels."""

from dataclasses import asdict
from pathlib import Path

import click

from workbench import files
from workbench.commands.arguments import FILE, NUMBER, device_option, epoch_option, workspace_option
from workbench.commands.results.deploy import evaluation_of
from workbench.commands.terminal import one_line, printable, show_json, told
from workbench.labelling.request import USUAL_FPIR, suggest
from workbench.labelling.table import ORDERS, as_csv, groups_sentence, in_order, threshold_sentence
from workbench.numerals import minus, percentage
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace


@click.command("triage", short_help="List the images of a run whose labels are suspect.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@epoch_option("that is shown")
@click.option(
    "--over", "least", type=click.FloatRange(0, 1), default=None,
    help="Suspicion from which a label is listed; 0.6 by default.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Lines printed.")
@click.option("--export", "out", type=FILE, default=None, metavar="FILE", help="Write all decisions as CSV.")
@click.option("--import", "read", type=FILE, default=None, metavar="FILE", help="First store the decisions of a CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole queue as JSON.")
def triage(
    run_id: int, folder: Path | None, epoch: str | int, least: float | None, most: int, out: Path | None,
    read: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """List the images of run RUN whose labels are suspect, most certain first, with the decisions about them.

    Decisions are made in the window or imported. They are stored in the workspace; no image is changed.
    A run trains with them by training.label_decisions=FILE, and is scored with them by
    evaluation.label_decisions=FILE.
    """
    from workbench.results.label_overlay import export_decisions, import_decisions, precision, read_triage
    from workbench.results.triage import LEAST, doubt

    with Workspace(folder or default_workspace()) as workspace:
        evaluation = evaluation_of(workspace, run_id, epoch)
        dataset_id = workspace.run(run_id).dataset_id or 0
        if read is not None:
            stored, unknown = import_decisions(workspace, dataset_id, read)
            click.echo(f"Decisions stored: {stored:,}; about images of another data set: {unknown:,}.", err=True)
        triage = read_triage(workspace, evaluation.id, LEAST if least is None else least)
        dataset, samples = workspace.dataset(triage.dataset_id), workspace.samples(triage.dataset_id)
        paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
        if out is not None:
            count = export_decisions(workspace, triage.dataset_id, out)
            click.echo(f"Decisions written to {out}: {count:,}.", err=True)
    rows = [
        asdict(suspect) | {
            "path": paths.get(suspect.sample_id, ""),
            "decision": decided.decision if (decided := triage.decisions.get(suspect.sample_id)) else "",
        }
        for suspect in triage.suspects
    ]  # fmt: skip
    if as_json:
        show_json(rows)
        return
    click.echo(f"{len(rows):,} suspects in epoch {evaluation.epoch} of run {run_id}:")
    if sentence := doubt(len(rows), len(triage.stored.sample_ids)):
        click.echo(sentence, err=True)
    for row in rows[:most]:
        names = f"{dataset.class_name(row['label'])} -> {dataset.class_name(row['suggested'])}?"
        votes = f"{row['votes']} of {row['voters']} neighbours"
        line = f"{row['suspicion']:.2f}  {row['kind']:9}  {names:30}  {votes:19}  {row['decision']:8} {row['path']}"
        if row["across"]:
            line += f"  near-copy of {paths.get(row['other'], '')} in the training set"
        click.echo(one_line(line.rstrip()))
    judged = precision(triage.suspects, triage.decisions)
    if judged.answered:
        wrong = "1 was a wrong label" if judged.right == 1 else f"{judged.right:,} were wrong labels"
        click.echo(
            f"Of {judged.answered:,} answered, {wrong}: "
            f"{percentage(judged.right / judged.answered, 0)} "
            f"(95%: {percentage(judged.low, 0)} to {percentage(judged.high, 0)})."
        )


@click.command("label", short_help="Suggest a class, or none, for images without labels.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@click.argument("images", metavar="FOLDER", type=click.Path(path_type=Path))
@workspace_option
@epoch_option("whose images and network are used")
@click.option(
    "--false-positives", "fpir", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=USUAL_FPIR,
    show_default=True, help="Share of images of unknown classes that may be given a class (FPIR).",
)  # fmt: skip
@click.option(
    "--order", type=click.Choice(ORDERS), default=ORDERS[0], show_default=True,
    help="By path; groups: those with a class, then the groups, the largest first; typical: first the images without a "
    "class, each next one the nearest labelled image of as many others as possible (facility location).",
)  # fmt: skip
@click.option("--most", type=click.IntRange(0), default=20, show_default=True, help="Lines printed.")
@device_option
@click.option("--json", "as_json", is_flag=True, help="Print all suggestions as JSON.")
@click.option(
    "--csv", "csv_file", type=FILE, default=None, metavar="FILE",
    help="Write all suggestions to this CSV list.",
)  # fmt: skip
def label(
    run_id: int, images: Path, folder: Path | None, epoch: str | int, fpir: float, order: str, most: int, device: str,
    as_json: bool, csv_file: Path | None,
) -> None:  # fmt: skip
    """Suggest a class for each image in FOLDER by the network of run RUN, or none.

    An image gets the class of the nearest image of the run's test set if it is similar enough. Images without a class
    are put into groups of similar images, each of which may be a new class. To compare with all of your labelled
    images, first test the run on them: `workbench test RUN IMAGES`, and name the new run.

    If you label only some of the images without a class, label the first ones of --order typical.

    The CSV list has the columns path and label: correct it, and train with it as a data set.
    """
    with Workspace(folder or default_workspace()) as workspace:
        evaluation = evaluation_of(workspace, run_id, epoch)
        with told() as progress:
            suggested = in_order(suggest(workspace, evaluation.id, images, fpir, device, progress), order)
        samples = workspace.samples(workspace.run(run_id).dataset_id)
    names = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    for path, reason in suggested.left_out[:most]:
        click.echo(one_line(f"{path} {reason}"), err=True)
    if len(suggested.left_out) > most:
        click.echo(f"{len(suggested.left_out) - most:,} more could not be read.", err=True)
    if csv_file is not None:
        with files.named_file(csv_file) as file:
            file.write(as_csv(suggested, names).encode())
        click.echo(csv_file, err=as_json)
    if as_json:
        show_json(asdict(suggested))
        return
    lines = [threshold_sentence(suggested), groups_sentence(suggested)]
    if csv_file is None and most:
        lines += ["", f"{'similarity':>10}  {'class':24}  {'nearest class':24}  path"]
        for image in suggested.images[:most]:
            named = image.label or (f"none, group {image.group}" if image.group else "none")
            similar = minus(f"{image.similarity:.4f}")
            lines.append(one_line(f"{similar:>10}  {named:24}  {image.nearest_class:24}  {image.path}"))
        if len(suggested.images) > most:
            lines.append(f"{len(suggested.images) - most:,} more: write all with --csv FILE.")
    click.echo(printable("\n".join(lines)))
