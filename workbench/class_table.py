"""The door to the geometry of classes, light to import: a table of an evaluation's classes, measured on a thread."""

from dataclasses import dataclass

import numpy as np

from workbench.files.spreadsheet import csv_text
from workbench.progress import Progress
from workbench.workspace import Workspace
from workbench.workspace.ranking import read_labels

TITLES = ("Class", "Images", "Covering radius", "Margin", "Crossed %", "Intra", "Inter", "Nearest class", "For %")


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class; NaN and an empty name where there is nothing to measure. See evaluation.class_geometry."""

    label: int
    name: str
    count: int
    radius: float
    margin: float
    crossed: float  # in 0..1
    intra: float
    inter: float
    confused: str
    confused_share: float  # in 0..1

    def cells(self) -> tuple[str | int | float, ...]:
        """In the order of TITLES; shares in percent."""
        return (
            self.name, self.count, self.radius, self.margin, 100 * self.crossed, self.intra, self.inter, self.confused,
            100 * self.confused_share,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClassTable:
    """All classes of an evaluation, those with the least margin first."""

    evaluation: int
    metric: str  # "cosine" or "l2"
    by_proxies: bool  # margins are those to class proxies, not to class means
    rows: tuple[ClassRow, ...]

    def csv(self) -> bytes:
        """All digits; a number that is not there is an empty cell."""
        rows = [["" if cell != cell else cell for cell in row.cells()] for row in self.rows]
        return csv_text(list(TITLES), rows).encode()


def measure(workspace: Workspace, evaluation_id: int, progress: Progress) -> ClassTable:
    """Measure the classes of an evaluation; seconds for 60,000 embeddings.

    Raises:
        Problem: embeddings or labels that are missing, damaged or not finite. Cancelled: by `progress`.
    """
    from workbench.evaluation.class_geometry import class_shapes  # brings torch with its package

    evaluation = workspace.evaluation(evaluation_id)
    run = workspace.run(evaluation.run_id)
    names = () if run.dataset_id is None else workspace.dataset(run.dataset_id).class_names
    found = class_shapes(
        workspace.vectors(evaluation_id), read_labels(workspace, evaluation_id), workspace.proxies(evaluation_id),
        evaluation.distance, progress,
    )  # fmt: skip

    def named(label: int) -> str:
        return "" if label < 0 else names[label] if label < len(names) else str(label)

    rows = [
        ClassRow(
            label, named(label), int(found.counts[place]), float(found.radius[place]), float(found.margin[place]),
            float(found.crossed[place]), float(found.intra[place]), float(found.inter[place]),
            named(int(found.confused[place])), float(found.confused_share[place]),
        )
        for place, label in enumerate(found.labels.tolist())
    ]  # fmt: skip
    order = np.argsort(found.margin, kind="stable").tolist()
    return ClassTable(evaluation_id, evaluation.distance, found.by_proxies, tuple(rows[place] for place in order))
