"""Search with an image of one's own: decode, embed with the best checkpoint, compare with every test embedding."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from workbench.datasets.images import BadImage, load
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import trained_network
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour

SHOWN = 48  # neighbours
Source = Path | np.ndarray  # a file, or a picture uint8 [h, w, 3]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search brings back."""

    evaluation: Evaluation  # that the image was compared with: the one of the checkpoint
    picture: np.ndarray  # uint8 [h, w, 3]
    name: str
    neighbours: list[Neighbour]  # `right` has no meaning: nobody knows the class


def from_file(path: Path) -> np.ndarray:
    """The picture in a file, uint8 [h, w, 3]. Raises Problem when it cannot be read."""
    try:
        return load(path)
    except BadImage as reason:
        raise Problem(f"{path.name} {reason}.", kept="Nothing was changed.", todo="Choose another image.") from None


def from_image(image: QImage) -> np.ndarray:
    """A pasted or dropped picture, uint8 [h, w, 3]. Raises Problem when there is none."""
    if image.isNull():
        raise Problem("The clipboard holds no image.", todo="Copy one first, or open a file.")
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()


def dropped(data: QMimeData) -> Path | QImage | None:
    """The one image file, or the picture itself, that is being dragged; None for anything else."""
    urls = data.urls()
    if len(urls) == 1 and urls[0].isLocalFile() and Path(urls[0].toLocalFile()).is_file():
        return Path(urls[0].toLocalFile())
    return QImage(data.imageData()) if data.hasImage() else None


def of_best_checkpoint(workspace: Workspace, run_id: int) -> Evaluation:
    """The evaluation made with the best checkpoint's weights: embeddings of other epochs lie in another space.

    Raises:
        Problem: no checkpoint, or no evaluation of it.
    """
    path = trained_network.best_checkpoint(workspace, run_id)
    sql = "select step from artefacts where run_id = ? and kind = 'checkpoint' and path = ?"
    with closing(workspace.reader()) as db:
        row = db.execute(sql, (run_id, path.name)).fetchone()
    found = [each for each in workspace.evaluations(run_id) if row is not None and each.step == row[0]]
    if not found:
        raise Problem(
            "There is no evaluation of this run's best checkpoint to compare with.", todo="Resume the run for an epoch."
        )
    return found[-1]


def search(workspace: Workspace, run_id: int, source: Source, name: str) -> Callable[[Progress], Found]:
    """The work of one search, for a thread."""

    def work(progress: Progress) -> Found:
        progress("Reading your image", 0, 3)
        picture = from_file(source) if isinstance(source, Path) else source
        progress("Embedding your image", 1, 3)
        query = trained_network.embed_images(workspace, run_id, [picture])[0]
        progress("Comparing", 2, 3)
        evaluation = of_best_checkpoint(workspace, run_id)
        ids, labels, embeddings = workspace.embeddings(evaluation.id)
        data = workspace.dataset(workspace.run(run_id).dataset_id or 0)
        scores = similarities(query, np.asarray(embeddings), evaluation.distance)
        order = np.lexsort((ids, -scores))[:SHOWN]  # ties by sample id
        near = [
            Neighbour(rank, int(ids[row]), float(scores[row]), False, label := int(labels[row]), data.class_name(label))
            for rank, row in enumerate(order, start=1)
        ]
        return Found(evaluation, picture, name, near)

    return work


def similarities(query: np.ndarray, embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Cosine, or minus the Euclidean distance, of one query [d] to embeddings [n, d]."""
    if distance == "l2":
        apart: np.ndarray = -np.linalg.norm(embeddings - query, axis=1)
        return apart
    lengths = np.linalg.norm(embeddings, axis=1) * np.linalg.norm(query)
    cosines: np.ndarray = embeddings @ query / np.maximum(lengths, 1e-12)
    return cosines
