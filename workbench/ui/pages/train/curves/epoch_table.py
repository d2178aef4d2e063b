"""The evaluations of a run as a table: one row per epoch, the best one marked."""

import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from workbench.events import score_of
from workbench.metric_names import BY
from workbench.numerals import percentage, signed
from workbench.ui.style.words import NO_VALUE, percent
from workbench.ui.widgets.labels import plain_tip
from workbench.workspace.rows import Evaluation, recalls, wider_labels

Index = QModelIndex | QPersistentModelIndex
BEHIND = (  # behind the recalls
    "P@R", "MAP@R", "validation/MAP@R", "NMI", "classifier/top-1", "linear/top-1", "linear/top-5", "kNN",
    "l2/recall@1", "l2/MAP@R", "cosine/recall@1", "cosine/MAP@R",
)  # fmt: skip
USUAL = ("recall@1", "recall@2", "recall@4", "recall@8", "P@R", "MAP@R")
SHORT = {
    "validation/MAP@R": "Held-out", "classifier/top-1": "Classifier", "linear/top-1": "Linear", "linear/top-5": "Top-5",
}  # fmt: skip
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NO_CELL = QModelIndex()
MEANING = {
    "P@R": "Share of a query's R nearest neighbours that are of its class, which has R other images; mean over queries",
    "MAP@R": "Mean average precision at R: as P@R, with more weight on the first ranks",
    "validation/MAP@R": "MAP@R on images held out from training and test; it decides which epoch is the best",
    "NMI": "Normalised mutual information between the classes and an equal number of k-means clusters",
    "classifier/top-1": "Share of test images that the trained classifier classifies correctly",
    **{
        f"{name}/{metric}": f"{metric} by {words}, not by the distance of this run"
        for name, words in BY.items()
        for metric in ("recall@1", "MAP@R")
    },
    "linear/top-1": "Share of test images that a linear classifier on the frozen features classifies correctly",
    "linear/top-5": "Share of test images whose class is among the first five of that linear classifier",
    "kNN": "Share of test images that a vote of the 20 nearest training images by those features classifies correctly",
}


class EpochTable(QAbstractTableModel):
    """Newest epoch on top. `accuracy_at(step)` gives the training accuracy in %, or None."""

    def __init__(self, accuracy_at: Callable[[int], float | None]) -> None:
        super().__init__()
        self._accuracy_at = accuracy_at
        self._rows: list[Evaluation] = []
        self._best = -1
        self._metrics: tuple[str, ...] = USUAL
        self._short = False

    def shorten(self, on: bool) -> None:
        """Short titles and epochs, for a table without much room, or the usual ones."""
        self.beginResetModel()
        self._short = on
        self.endResetModel()

    def show(self, evaluations: list[Evaluation]) -> None:
        """All evaluations, oldest first. The best has the highest MAP@R (of what is held out, where there is any)."""
        self.beginResetModel()
        self._rows = evaluations[::-1]
        there = {name for evaluation in evaluations for name in evaluation.metrics}
        behind = (*(name for name in BEHIND if name in there), *wider_labels(evaluations))
        self._metrics = (*recalls(evaluations), *behind) if there else USUAL
        scores = [score_of(evaluation.metrics) for evaluation in self._rows]
        known = [score for score in scores if score is not None]
        last = len(scores) - 1
        self._best = last - scores[::-1].index(max(known)) if known else -1
        self.endResetModel()

    def best(self) -> Evaluation | None:
        """The best evaluation, as the table marks it."""
        return self._rows[self._best] if self._rows and self._best >= 0 else None

    def evaluation(self, row: int) -> Evaluation:
        """The evaluation in a row."""
        return self._rows[row]

    def rowCount(self, parent: Index = NO_CELL) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_CELL) -> int:
        return 0 if parent.isValid() else len(self._metrics) + 3

    def first_columns(self) -> list[int]:
        """The columns that matter most, the first one most: MAP@R, its change, recall at the first rank, P@R."""
        of = {name: column for column, name in enumerate(self._metrics, 1)}
        return [of[name] for name in ("MAP@R",) if name in of] + [
            len(self._metrics) + 1, *(of[name] for name in (*self._metrics[:1], "P@R") if name in of)
        ]  # fmt: skip

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, its alignment, and bold type for the best epoch."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT)
        if role == Qt.ItemDataRole.FontRole and index.row() == self._best:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._interval(index.row(), index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._title(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT)
        if role == Qt.ItemDataRole.ToolTipRole and orientation == Qt.Orientation.Horizontal:
            return self._meaning(section)
        return super().headerData(section, orientation, role)

    def _title(self, column: int) -> str:
        better = "" if self._short else " ↑"
        if not 1 <= column <= len(self._metrics):
            return {0: "Epoch", len(self._metrics) + 1: f"Δ{better}"}.get(column, f"Acc. %{better}")
        name = self._metrics[column - 1]
        shown = name.removeprefix("level/").replace("/", " ") if name.startswith("level/") else name
        return f"{SHORT.get(name, shown.replace('recall@', 'R@'))} %{better}"

    def _meaning(self, column: int) -> str:
        if column == 0:
            return "Epochs trained before the evaluation"
        if column == len(self._metrics) + 1:
            return "MAP@R minus that of the evaluation in the row below, in percentage points"
        if column > len(self._metrics):
            return "Share of the probe's images that the classifier classifies correctly"
        metric = self._metrics[column - 1]
        if metric.startswith("recall@"):
            return (
                f"Recall@k: share of queries with one of their class among the {metric.removeprefix('recall@')} nearest"
            )
        if metric.startswith("level/"):
            level, _, name = metric.removeprefix("level/").rpartition("/")
            return plain_tip(f"{name} where an image of the same label on level {level} counts as a match")
        return MEANING.get(metric, "")

    def _text(self, row: int, column: int) -> str:
        shown = self._rows[row]
        if column == 0:
            words = " (untrained)" if shown.epoch == 0 and not self._short else ""
            star = " ★" if self._short else " ★ best"
            return f"{shown.epoch}{words}" + (star if row == self._best else "")
        if column <= len(self._metrics):
            return percent(shown.metrics.get(self._metrics[column - 1]))
        if column == len(self._metrics) + 1:
            return self._change(row)
        accuracy = self._accuracy_at(shown.step)
        return percent(None if accuracy is None else accuracy / 100)

    def _change(self, row: int) -> str:
        """How much higher MAP@R is than in the row below, in percentage points; a dash where one of them is missing."""
        pair = [shown.metrics.get("MAP@R", math.nan) for shown in self._rows[row : row + 2]]
        gained = 100 * (pair[0] - pair[1]) if len(pair) == 2 else math.nan
        return signed(gained, ".1f") if math.isfinite(gained) else NO_VALUE

    def _interval(self, row: int, column: int) -> str | None:
        if not 1 <= column <= len(self._metrics):
            return None
        name, metrics = self._metrics[column - 1], self._rows[row].metrics
        low, high = metrics.get(f"{name}/low"), metrics.get(f"{name}/high")
        if low is None or high is None:
            return None
        if low == high:
            return "No interval: all queries have the same value"
        return f"95% over queries: {percentage(low)} to {percentage(high)}"
