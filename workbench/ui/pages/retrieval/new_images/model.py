"""What the view New images shows: the suggestions, the answers, which rows are listed. No widgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.labelling.keeping import Labelling
from workbench.labelling.request import Suggestion

ALL, NAMED, GROUPED, ALONE, ANSWERED = "all", "named", "grouped", "alone", "answered"
Answers = dict[str, str | None]  # class by path; None: the suggestion stands


@dataclass(frozen=True, slots=True)
class Row:
    """One image in the list."""

    image: Suggestion
    label: str  # the answer, else the suggested class; empty: no class
    answered: bool


LISTED: dict[str, Callable[[Row], bool]] = {
    ALL: lambda row: True,
    NAMED: lambda row: bool(row.label),
    GROUPED: lambda row: not row.label and row.image.group > 0,
    ALONE: lambda row: not row.label and row.image.group == 0,
    ANSWERED: lambda row: row.answered,
}


class LabellingModel:
    """The labelling of one folder.

    Attributes:
        labelling: what is shown; None while there is nothing.
        listed: which rows are shown, one of LISTED.
    """

    def __init__(self) -> None:
        self.labelling: Labelling | None = None
        self.listed = ALL
        self._history: list[Answers] = []  # what undoes each step
        self._rows: list[Row] | None = None  # until the answers change: to sort ten thousand takes a while

    def show(self, labelling: Labelling | None) -> None:
        """Another labelling, or none; what was done to the one before cannot be undone any more."""
        self.labelling, self._history, self._rows = labelling, [], None

    @property
    def rows(self) -> list[Row]:
        """All rows: those with a class first, the least sure of each at the end; then the groups, the largest first."""
        if self.labelling is None:
            return []
        if self._rows is None:
            answers = self.labelling.answers
            rows = [
                Row(image, answers.get(image.path, image.label), image.path in answers)
                for image in self.labelling.suggested.images
            ]
            self._rows = sorted(rows, key=_in_order)
        return self._rows

    def shown(self) -> list[Row]:
        """The rows that are listed."""
        return list(filter(LISTED[self.listed], self.rows))

    def counts(self) -> dict[str, int]:
        """How many rows each choice would list."""
        rows = self.rows
        return {name: sum(map(holds, rows)) for name, holds in LISTED.items()}

    def group_of(self, path: str) -> list[str]:
        """The paths of the group of an image that has no class; the image alone if it has none."""
        rows = self.rows
        group = next((row.image.group for row in rows if row.image.path == path and not row.label), 0)
        return [row.image.path for row in rows if group and row.image.group == group and not row.label] or [path]

    def answer(self, paths: Sequence[str], label: str) -> bool:
        """Give images a class, or none with an empty one; whether anything has changed."""
        if self.labelling is None or not paths:
            return False
        answers = self.labelling.answers
        before: Answers = {path: answers.get(path) for path in paths}
        if all(had == label for had in before.values()):
            return False
        self._history.append(before)
        self._rows = None
        answers.update(dict.fromkeys(paths, label))
        return True

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._history)

    def undo(self) -> list[str]:
        """Take back the last step; the paths of its images."""
        if self.labelling is None or not self._history:
            return []
        before, self._rows = self._history.pop(), None
        for path, label in before.items():
            if label is None:
                self.labelling.answers.pop(path, None)
            else:
                self.labelling.answers[path] = label
        return list(before)


def _in_order(row: Row) -> tuple[bool, str, int, float]:
    alone = row.image.group == 0
    return not row.label, row.label, 0 if row.label else row.image.group + (1 << 40) * alone, -row.image.similarity
