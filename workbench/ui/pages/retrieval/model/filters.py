"""Which queries are listed: failures, a class, a cause of failure, a similarity, a confusion, a tag, ..."""

from dataclasses import dataclass, field

import numpy as np

from workbench.names import visible
from workbench.numerals import minus
from workbench.results.explanations import ConfusedPair, FailedQueries
from workbench.results.mistakes import Changes
from workbench.results.search_methods import ByMethod
from workbench.ui.pages.retrieval.model.cause_names import TIPS, TITLES
from workbench.ui.pages.retrieval.model.similarities import Range, Similarities
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.workspace.rows import Queries

TAG = "tag:"  # before a tag, among the keys of options
WON, LOST = "won", "lost"
ANY = "Any cause"
BY_METHOD = {WON: "Won: right only by the method", LOST: "Lost: wrong only by the method"}
CHANGED = {WON: "Won: wrong before, right now", LOST: "Lost: right before, wrong now"}


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of the filter by cause; its key is None for all queries."""

    key: str | None
    title: str
    tip: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ClassGroup:
    """Classes of similar size, whose queries are listed."""

    group: str  # its title: "Few"
    size: str  # the images of its classes: "5 to 19 training images"
    labels: np.ndarray  # [m] int64, rising

    @property
    def title(self) -> str:
        """The group and its size: "Few: 5 to 19 training images"."""
        return f"{self.group}: {self.size}"


@dataclass(frozen=True, slots=True, eq=False)
class CellQueries:
    """The queries of a cell of an attribute's matrix."""

    title: str  # "camera: front among rear"
    sample_ids: np.ndarray  # [m] int64


@dataclass(slots=True, eq=False)
class Filters:
    """What the user has chosen, and what is known by now of the choices. A query is listed if it passes all."""

    failures_only: bool = False
    label: int | None = None  # of the only class that is listed
    key: str | None = None  # of the chosen option: a cause, WON, LOST, or TAG and a tag
    pair: ConfusedPair | None = None
    group: ClassGroup | None = None  # of classes by size; those of a run are the same in all its evaluations
    cell: CellQueries | None = None  # of an attribute's matrix, of this evaluation
    similarity: Range | None = None  # of the nearest neighbour
    selection: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # sample ids; narrows from two on
    explained: FailedQueries | None = None  # of the shown evaluation, once it is worked out
    similarities: Similarities | None = None  # of the shown evaluation, once they are read
    changes: Changes | None = None  # since the evaluation compared with
    compared_with: str = ""  # the head of a sentence: "Since epoch 3"
    by_method: ByMethod | None = None  # instead of an evaluation: a method of search that is compared with
    tags: dict[str, np.ndarray] = field(default_factory=dict)  # sample ids by tag, of the data set

    @property
    def tag(self) -> str | None:
        """The tag whose queries are listed."""
        return self.key.removeprefix(TAG) if self.key is not None and self.key.startswith(TAG) else None

    @property
    def narrowed_by_selection(self) -> bool:
        """Whether only selected samples are listed: one selected sample is the shown query and no filter."""
        return len(self.selection) > 1

    def keep_class(self, labels: list[int], names: list[str], before: str | None) -> None:
        """Keep the chosen class in another evaluation, by its name, where it occurs; else list all classes."""
        self.label = labels[names.index(before)] if before in names else None

    def options(self) -> list[list[Option]]:
        """Groups of choices, with the number of queries of each where it is known."""
        counts = self.explained.counts if self.explained is not None else {}
        causes = [Option(cause, _counted(title, counts.get(cause)), TIPS[cause]) for cause, title in TITLES.items()]
        groups = [[Option(None, ANY), *causes]]
        if self.changes is not None:
            numbers = {WON: len(self.changes.won), LOST: len(self.changes.lost)}
            titles = CHANGED if self.by_method is None else BY_METHOD
            groups.append([Option(key, _counted(title, numbers[key])) for key, title in titles.items()])
        if self.tags:
            tagged = self.tags.items()
            groups.append([Option(TAG + tag, _counted(f"Tagged “{visible(tag)}”", len(ids))) for tag, ids in tagged])
        return groups

    def drop_missing(self) -> None:
        """List all queries where the chosen option does not exist any more."""
        if self.key not in {option.key for group in self.options() for option in group}:
            self.key = None

    def differences(self) -> str:
        """What changed since the evaluation compared with, in numbers; empty while nothing is compared."""
        changes = self.changes
        if changes is None:
            return ""
        if self.by_method is not None:
            return self.by_method.sentence()
        return (
            f"{self.compared_with}: {len(changes.won):,} won, {len(changes.lost):,} lost, "
            f"{changes.right:,} right in both, {changes.wrong:,} wrong in both"
        )

    def pair_title(self) -> str:
        """The confusion whose queries are listed, with their number where it is known; empty for none."""
        if self.pair is None:
            return ""
        ids = self._of_pair()
        return _counted(
            f"“{self.pair.class_name}” taken for “{self.pair.taken_for}”", None if ids is None else len(ids)
        )

    def similarity_title(self) -> str:
        """The range of similarities whose queries are listed; empty for none."""
        return "" if self.similarity is None else minus("similarity {:.3f} to {:.3f}".format(*self.similarity))

    def passing(self, queries: Queries, rows: SampleRows) -> np.ndarray:
        """Which queries [n] bool pass. Choices whose queries are not known yet let all pass.

        Args:
            rows: of the queries by their sample ids.
        """
        passes = np.ones(len(queries.sample_ids), bool)
        if self.failures_only:
            passes &= queries.first_hit > 1
        if self.label is not None:
            passes &= queries.labels == self.label
        if self.group is not None:
            at = np.minimum(np.searchsorted(self.group.labels, queries.labels), len(self.group.labels) - 1)
            passes &= self.group.labels[at] == queries.labels
        if self.similarity is not None and self.similarities is not None:
            passes &= self.similarities.within(self.similarity)
        of_cell = None if self.cell is None else self.cell.sample_ids
        selected = self.selection if self.narrowed_by_selection else None
        for ids in (self._of_key(), self._of_pair(), of_cell, selected):
            if ids is not None:
                passes &= rows.among(ids)
        return passes

    def _of_key(self) -> np.ndarray | None:
        """Sample ids of the chosen option; None for all, or while they are being worked out."""
        if self.key is None:
            return None
        if self.tag is not None:
            return self.tags.get(self.tag)
        if self.key in CHANGED:
            return None if self.changes is None else (self.changes.won if self.key == WON else self.changes.lost)
        return None if self.explained is None else self.explained.of_cause(self.key)

    def _of_pair(self) -> np.ndarray | None:
        if self.pair is None or self.explained is None:
            return None
        return self.explained.of_pair(self.pair.label, self.pair.taken_label)


def _counted(title: str, count: int | None) -> str:
    return title if count is None else f"{title} ({count:,})"
