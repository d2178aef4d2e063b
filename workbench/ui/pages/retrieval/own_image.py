"""Search with an image of one's own: decode, embed with the best checkpoint, compare with every test embedding."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

from workbench import experiment
from workbench.datasets.images import BadImage, load
from workbench.problem import Problem
from workbench.ui.tasks import Progress
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour

SHOWN = 48  # neighbours
KINDS = {"cosine": "cosine similarity", "l2": "minus the distance"}


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    picture: np.ndarray  # uint8 [h, w, 3]
    name: str
    neighbours: list[Neighbour]  # `right` has no meaning: nobody knows the class
    kind: str  # of similarity, in words


def from_file(path: Path) -> np.ndarray:
    """The picture in a file, uint8 [h, w, 3]. Raises Problem when it cannot be read."""
    try:
        return load(path)
    except BadImage as reason:
        raise Problem(f"{path.name} {reason}.", kept="Nothing was changed.", todo="Choose another image.") from None


def from_clipboard(image: QImage) -> np.ndarray:
    """A pasted picture, uint8 [h, w, 3]. Raises Problem when the clipboard holds none."""
    if image.isNull():
        raise Problem("The clipboard holds no image.", todo="Copy one first, or open a file.")
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()


def search(workspace: Workspace, run_id: int, picture: np.ndarray, name: str) -> Callable[[Progress], Found]:
    """The work of one search, for a thread: compared in the space of the checkpoint that embeds it."""

    def work(progress: Progress) -> Found:
        progress("Embedding your image", 0, 2)
        query = experiment.embed_images(workspace, run_id, [picture])[0]
        progress("Comparing", 1, 2)
        evaluation = of_best_checkpoint(workspace, run_id)
        ids, labels, embeddings = workspace.embeddings(evaluation.id)
        names = workspace.dataset(workspace.run(run_id).dataset_id or 0).class_names
        scores = similarities(query, np.asarray(embeddings), evaluation.distance)
        order = np.lexsort((ids, -scores))[:SHOWN]  # ties by sample id
        near = [
            Neighbour(rank, int(ids[row]), float(scores[row]), True, int(labels[row]), names[labels[row]])
            for rank, row in enumerate(order, start=1)
        ]
        return Found(picture, name, near, KINDS[evaluation.distance])

    return work


def of_best_checkpoint(workspace: Workspace, run_id: int) -> Evaluation:
    """The evaluation at which the best checkpoint was written. Raises Problem before the first trained epoch."""
    trained = [each for each in workspace.evaluations(run_id) if each.epoch > 0]
    if not trained:
        raise Problem("This run has not been evaluated after training.", todo="Wait for its first epoch.")
    return max(trained, key=lambda each: each.metrics.get("MAP@R", -1.0))


def similarities(query: np.ndarray, embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Cosine, or minus the Euclidean distance, of one query [d] to embeddings [n, d]."""
    if distance == "l2":
        apart: np.ndarray = -np.linalg.norm(embeddings - query, axis=1)
        return apart
    lengths = np.linalg.norm(embeddings, axis=1) * np.linalg.norm(query)
    cosines: np.ndarray = embeddings @ query / np.maximum(lengths, 1e-12)
    return cosines
