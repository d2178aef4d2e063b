"""`workbench search` and `pair`: the test images nearest to the user's own, and what makes two images similar."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench import files
from workbench.commands.arguments import FILE, NUMBER, TEXT, epoch, epoch_option, workspace_option
from workbench.commands.terminal import printable, show_json, told
from workbench.files.spreadsheet import csv_text
from workbench.numerals import minus, percentage
from workbench.problem import UnknownName
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

if TYPE_CHECKING:
    from workbench.running.search.image_search import Answer, Epoch
    from workbench.running.search.text_search import TextAnswer

    AnyAnswer = Answer | TextAnswer

COLUMNS = ("rank", "similarity", "class", "sample_id", "path")
KINDS = {"cosine": "cosine similarity", "l2": "minus the distance", "hyperbolic": "minus the hyperbolic distance"}
Row = tuple[int, float, str, int, str]  # in the order of COLUMNS


@click.command("search", short_help="Search a run's test set with images or words.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@click.argument("images", metavar="[IMAGE...]", type=click.Path(path_type=Path), nargs=-1)
@workspace_option
@click.option(
    "--text", "texts", type=TEXT, multiple=True, metavar="WORDS",
    help="Search by words instead of images; may be given several times. For runs of a CLIP tower that was "
    "not trained.",
)  # fmt: skip
@click.option(
    "--class-names", "sentence", type=TEXT, metavar="SENTENCE", default=None,
    help='Search for each class by its name in a sentence such as "a photo of a {}", and print how well that finds it.',
)  # fmt: skip
@click.option(
    "--epoch", type=epoch, metavar="EPOCH", default=None,
    help="Network to search with: best, last, or the number of an epoch. A run keeps those of its best (the "
    "default) and its last epoch.",
)  # fmt: skip
@click.option(
    "--evaluation",
    type=NUMBER,
    metavar="ID",
    default=None,
    help="The same by the id of one of the run's evaluations.",
)
@click.option("--k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours of each image.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--csv", "csv_file", type=FILE, default=None, metavar="FILE",
    help="Write all neighbours to this CSV file instead of printing tables.",
)  # fmt: skip
def search_run(
    run_id: int,
    images: tuple[Path, ...],
    folder: Path | None,
    texts: tuple[str, ...],
    sentence: str | None,
    epoch: "Epoch | None",
    evaluation: int | None,
    k: int,
    as_json: bool,
    csv_file: Path | None,
) -> None:
    """Search run RUN (its number in `workbench list runs`) with images or words: the nearest of its test set.

    The images are embedded with a checkpoint of the run, on the CPU, and compared with every embedding of the
    evaluation of that checkpoint.
    """
    from workbench.running.search.image_search import BEST, OwnImage, search
    from workbench.running.search.text_scores import text_scores
    from workbench.running.search.text_search import search_texts

    if bool(images) + bool(texts) + (sentence is not None) != 1:
        raise click.UsageError("Name images, or words with --text.")
    if not images and epoch is not None:
        raise click.UsageError("Words are compared with a tower that no epoch changed: leave --epoch out.")
    if epoch is not None and evaluation is not None:
        raise click.UsageError("--epoch and --evaluation name the same thing: give one of them.")
    with Workspace(folder or default_workspace()) as workspace:
        if sentence is not None:
            click.echo(_scores(text_scores(workspace, run_id, sentence, evaluation), as_json))
            return
        answers: Sequence[AnyAnswer]
        if texts:
            answers = search_texts(workspace, run_id, texts, k, evaluation)
        else:
            own = [OwnImage(str(image), image) for image in images]
            answers = search(workspace, run_id, own, k, BEST if epoch is None else epoch, evaluation)
        rows = _rows(workspace, run_id, answers)
    if csv_file is not None:
        with files.named_file(csv_file) as file:
            file.write(as_csv(answers, rows).encode())
        click.echo(csv_file, err=as_json)
    if as_json:
        click.echo(as_plain_json(run_id, answers, rows))
    elif csv_file is None:
        click.echo(printable(as_tables(run_id, answers, rows)))


@click.command("pair", short_help="Show which parts of two images make them similar.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@click.argument("query", metavar="QUERY", type=TEXT)
@click.argument("neighbour", metavar="NEIGHBOUR", type=TEXT)
@workspace_option
@click.option(
    "--png", "png_file", type=FILE, default=None, metavar="FILE",
    help="Write both images, with the colours of their saliency, to this file.",
)  # fmt: skip
@epoch_option("whose network compares the images")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def pair(
    run_id: int, query: str, neighbour: str, folder: Path | None, png_file: Path | None, epoch: "Epoch", as_json: bool
) -> None:
    """Compare two images by the network of run RUN, as Pair does on the Retrieval page.

    QUERY and NEIGHBOUR are images of the run's data set, by their path as `workbench search` and the Retrieval page
    show it, or by their sample_id in an exported table. QUERY may also be an image file of your own.

    Parts of each image are covered in turn. In the picture a part is orange where the similarity falls without it,
    and blue where it rises.
    """
    from PIL import Image

    from workbench.running.search.image_search import OwnImage
    from workbench.running.search.saliency import pair_saliency
    from workbench.running.search.saliency_picture import pair_picture

    with Workspace(folder or default_workspace()) as workspace:
        ids = _sample_ids(workspace, run_id)
        of_data = query in ids or query.isdecimal()
        asked = _sample_id(ids, run_id, query) if of_data else OwnImage(query, Path(query))
        nearest = _sample_id(ids, run_id, neighbour)
        with told() as progress:
            compared = pair_saliency(workspace, run_id, None, asked, nearest, progress, epoch)
    if png_file is not None:
        with files.named_file(png_file) as file:
            Image.fromarray(pair_picture(compared)).save(file, "PNG")
    parts = {"query": compared.query, "neighbour": compared.neighbour}
    changes = {name: {"fall": float(part.heat.max()), "rise": -float(part.heat.min())} for name, part in parts.items()}
    if as_json:
        about = {"run": run_id, "epoch": compared.epoch, "distance": compared.distance}
        show_json({**about, "similarity": compared.similarity, **changes})
    else:
        click.echo(f"{KINDS[compared.distance]} {minus(f'{compared.similarity:.4f}')}, epoch {compared.epoch}")
        for name, change in changes.items():
            fall, rise = (max(0.0, change[way]) for way in ("fall", "rise"))
            click.echo(f"{name}: without a part it falls by up to {fall:.4f}, and rises by up to {rise:.4f}")
    if png_file is not None:
        click.echo(png_file, err=as_json)


def _sample_ids(workspace: Workspace, run_id: int) -> dict[str, int]:
    """The id of each sample of a run's data set, by its path and by itself as text; of a path, the path wins."""
    dataset = workspace.run(run_id).dataset_id
    if dataset is None:
        return {}
    samples = workspace.samples(dataset)
    ids = samples.ids.tolist()
    return {**{str(number): number for number in ids}, **dict(zip(samples.paths, ids, strict=True))}


def _sample_id(ids: dict[str, int], run_id: int, name: str) -> int:
    if name not in ids:
        raise UnknownName(
            f"The data set of run {run_id} has no image {name!r}.",
            todo="`workbench search RUN IMAGE` prints the paths of images, with --json also their sample_id.",
        )
    return ids[name]


def _scores(metrics: dict[str, float], as_json: bool) -> str:
    """Metrics over classes, as lines with 95% intervals or as JSON."""
    if as_json:
        return json.dumps(metrics, indent=2)
    names = [name for name in metrics if name.startswith(("recall@", "MAP@R")) and not name.endswith(("/low", "/high"))]
    lines = [
        f"{name.replace('recall@', 'R@'):6} {percentage(metrics[name], 2):>7} "
        f"({percentage(metrics[f'{name}/low'], 2)} to "
        f"{percentage(metrics[f'{name}/high'], 2)})"
        for name in names
    ]
    return "\n".join([f"{metrics['queries']:,.0f} classes searched by name, 95% over classes:", *lines])


def asked_with(answers: "Sequence[AnyAnswer]") -> str:
    """What the answers are answers to: "image" or "text"."""
    return "image" if hasattr(answers[0], "picture") else "text"


def as_tables(run_id: int, answers: "Sequence[AnyAnswer]", rows: Sequence[Sequence[Row]]) -> str:
    """All answers as lines of text, with an empty line between two of them."""
    return "\n\n".join(as_table(run_id, answer, near) for answer, near in zip(answers, rows, strict=True))


def as_table(run_id: int, answer: "AnyAnswer", rows: Sequence[Row]) -> str:
    """One answer as lines of text."""
    kind = KINDS[answer.evaluation.distance]
    width = max([len("class"), *(len(name) for _, _, name, _, _ in rows)])
    lines = [f"{answer.name}: nearest by {kind}, epoch {answer.evaluation.epoch} of run {run_id}"]
    if tower := getattr(answer, "tower", ""):
        lines.append(f"words embedded by {tower}")
    lines.append(f"{'rank':>6}  {'similarity':>10}  {'class':{width}}  path")
    lines += [f"{rank:>6,}  {score:>10.4f}  {name:{width}}  {path}" for rank, score, name, _, path in rows]
    return "\n".join("".join(sign if sign.isprintable() else " " for sign in line) for line in lines)


def as_csv(answers: "Sequence[AnyAnswer]", rows: Sequence[Sequence[Row]]) -> str:
    """All answers as CSV: a row for each neighbour of each image."""
    pairs = zip(answers, rows, strict=True)
    return csv_text(
        [asked_with(answers), *COLUMNS], [[answer.name, *row] for answer, answer_rows in pairs for row in answer_rows]
    )


def as_plain_json(run_id: int, answers: "Sequence[AnyAnswer]", rows: Sequence[Sequence[Row]]) -> str:
    """All answers as JSON, with the evaluation that they were compared with."""
    evaluation = answers[0].evaluation
    results = [
        {asked_with(answers): answer.name, "neighbours": [dict(zip(COLUMNS, row, strict=True)) for row in answer_rows]}
        for answer, answer_rows in zip(answers, rows, strict=True)
    ]
    head = {"run": run_id, "evaluation": evaluation.id, "epoch": evaluation.epoch, "distance": evaluation.distance}
    tower = getattr(answers[0], "tower", "")
    return json.dumps({**head, **({"words_by": tower} if tower else {}), "results": results}, indent=2)


def _rows(workspace: Workspace, run_id: int, answers: "Sequence[AnyAnswer]") -> list[list[Row]]:
    """The neighbours of every answer with their paths in the data set."""
    samples = workspace.samples(workspace.run(run_id).dataset_id)
    paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    return [
        [
            (near.rank, near.similarity, near.class_name, near.sample_id, paths.get(near.sample_id, ""))
            for near in answer.neighbours
        ]
        for answer in answers
    ]
