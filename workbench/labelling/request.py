"""The request to suggest classes, which the window and the command line share."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.datasets.images.loader import BadImage, display_name, on_disk
from workbench.datasets.images.scan import find_images
from workbench.files import typed_path
from workbench.jobs.threads import in_threads
from workbench.labelling.groups import GROUPING, Cut, cut_of, groups
from workbench.labelling.nearest import Threshold, labelled, nearest, threshold
from workbench.labelling.typical import typical_first
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.stored import read_stored
from workbench.workspace import Workspace
from workbench.workspace.training_sizes import shares_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.running.trained_network import Trained

AT_ONCE = 32  # images that are embedded together
USUAL_FPIR = 0.01


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What is suggested for one image."""

    path: str  # relative to the folder, as `images.display_name` shows it
    label: str  # the suggested class; empty: of no known class
    group: int  # of images without a class that are alike, from 1, the largest first; 0: alone, or not grouped
    similarity: float  # to the nearest labelled image: cosine, else minus the distance
    nearest_class: str
    nearest: int  # sample id of that image
    second_class: str  # the nearest other class
    second_similarity: float
    place: int = 0  # of an image without a class in the order in which to label, from 1; 0: it is in none


@dataclass(frozen=True, slots=True)
class Suggested:
    """The suggestions for a folder."""

    run: int
    evaluation: int
    epoch: int
    distance: str
    folder: str
    labelled: int  # images that the new ones were compared with
    classes: int  # of these
    threshold: Threshold
    worst_class: str  # of `threshold.worst`; empty without one
    cut: Cut | None  # at which images without a class were grouped; None where they were not
    images: list[Suggestion]  # in the order of their paths
    left_out: list[tuple[str, str]]  # path and reason of what could not be read
    shares_classes: bool = False  # whether the network was trained on classes that the threshold is measured with


def suggest(
    workspace: Workspace, evaluation_id: int, folder: Path | str, fpir: float = USUAL_FPIR, device: str = "auto",
    progress: Progress = quiet,
) -> Suggested:  # fmt: skip
    """Suggest a class, or none, for each image in a folder and below it, by the labelled images of an evaluation.

    Images that are given no class are grouped, each group may be a new class, and ordered: the image that is to be
    labelled first is the most typical one. Nothing is stored.

    Args:
        folder: with images; the names of its folders mean nothing.
        fpir: the wanted share of images of unknown classes that are given a class all the same, more than 0 and less
            than 1; the threshold is measured with the labelled images.
        device: as in a config: auto, cpu, cuda, cuda:1, mps.

    Raises:
        Problem: the network of the evaluation is not here (see `image_search.search`), which is said first; no image
            in the folder can be read, too few labelled images.
        Cancelled: by `progress`.
    """
    from workbench.running.search.image_search import check_network, kept_network

    shown = workspace.evaluation(evaluation_id)
    check_network(workspace, shown.run_id, shown.epoch)
    root, left_out = typed_path(folder).absolute(), list[tuple[str, str]]()
    if display_name(root) != str(root):  # its name is not UTF-8, as JSON is
        raise Problem(
            f"The name of {display_name(root)} cannot be kept.", kept="Nothing was labelled.", todo="Rename it."
        )
    if not root.is_dir():
        raise Problem(f"{root} is no folder.", kept="Nothing was labelled.", todo="Choose a folder of images.")
    run = workspace.run(shown.run_id)
    progress("Loading the network", 0, 0)
    network, evaluation = kept_network(workspace, run.id, evaluation_id=evaluation_id)
    network.move_to(device)
    paths = find_images(root, left_out, progress)
    stored = read_stored(workspace, evaluation.id)
    among = labelled(stored)
    limit = threshold(stored, among, fpir, progress)
    rows, vectors = _embedded(network, root, paths, left_out, progress)
    if not rows:
        reason = f" {left_out[0][0]} {left_out[0][1]}." if left_out else ""
        raise Problem(f"No image in {root} can be read.{reason}", kept="Nothing was labelled.", todo="Choose another.")
    if vectors.shape[1] != stored.embeddings.shape[1]:
        raise Problem(
            f"The network's embeddings have {vectors.shape[1]:,} numbers, those of the evaluation "
            f"{stored.embeddings.shape[1]:,}.", kept="Nothing was labelled.", todo="Choose another run.",
        )  # fmt: skip
    by = nearest(vectors, np.full(len(rows), -1), among, progress)
    sure = by.similarity >= limit.similarity
    unsure = np.flatnonzero(~sure)
    group, place, cut = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64), None
    if len(unsure):
        place[unsure] = typical_first(vectors[unsure], stored.distance, by.similarity[unsure], progress)
    if len(unsure) > 1:
        progress(GROUPING, 0, 0)
        cut = cut_of(stored)
        group[unsure] = groups(vectors[unsure], stored.distance, cut, progress)
    name = network.dataset.class_name
    images = [
        Suggestion(
            paths[row], name(int(by.label[at])) if sure[at] else "", int(group[at]), float(by.similarity[at]),
            name(int(by.label[at])), int(stored.sample_ids[by.row[at]]), name(int(by.second_label[at])),
            float(by.second_similarity[at]), int(place[at]),
        )
        for at, row in enumerate(rows)
    ]  # fmt: skip
    return Suggested(
        run.id, evaluation.id, evaluation.epoch, stored.distance, str(root), len(among.rows), len(among.labels), limit,
        "" if limit.worst is None else name(limit.worst[0]), cut, images, left_out,
        bool(shares_classes(workspace, run.id)),
    )  # fmt: skip


def _embedded(
    network: "Trained", root: Path, paths: "Sequence[str]", left_out: list[tuple[str, str]], progress: Progress
) -> tuple[list[int], np.ndarray]:
    """The rows that could be read, and their embeddings [m, d]; `left_out` gets the others."""

    def prepare(start: int) -> tuple[list[int], list[np.ndarray], list[tuple[str, str]]]:
        rows, squares, unread = list[int](), list[np.ndarray](), list[tuple[str, str]]()
        for row in range(start, min(start + AT_ONCE, len(paths))):
            try:
                image = network.prepared.read(Path(on_disk(root, paths[row])))
            except BadImage as reason:
                unread.append((paths[row], str(reason)))
                continue
            rows.append(row)
            squares.append(network.prepared.square(image))
        return rows, squares, unread

    kept, vectors = list[int](), list[np.ndarray]()
    with closing(in_threads(prepare, range(0, len(paths), AT_ONCE))) as batches:
        for done, (rows, squares, unread) in enumerate(batches):
            progress("Embedding the images", done * AT_ONCE, len(paths))
            left_out += unread
            if rows:
                kept += rows
                vectors.append(network.embed_inputs(network.inputs_of(np.stack(squares))))
    embedded = np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)
    if not np.isfinite(embedded).all():
        raise Problem("The network gives embeddings that are not finite.", todo="Choose another run.")
    return kept, embedded
