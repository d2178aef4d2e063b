"""What the view New images shows: the suggestions, the answers, which rows are listed. No widgets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.labelling.keeping import Changes, Labelling
from workbench.labelling.request import Suggestion
from workbench.labelling.table import GROUPS, group_key, typical_key

ALL, NAMED, GROUPED, ALONE, ANSWERED = "all", "named", "grouped", "alone", "answered"


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


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A change of answers that is to be stored."""

    before: Changes  # what the answers to these images were
    after: Changes


class LabellingModel:
    """The labelling of one folder. An answer is shown at once, and not any more if it cannot be stored.

    Attributes:
        labelling: what is shown; None while there is nothing.
        listed: which rows are shown, one of LISTED.
        order: GROUPS or TYPICAL.
    """

    def __init__(self) -> None:
        self.labelling: Labelling | None = None
        self.listed, self.order = ALL, GROUPS
        self._history: list[Step] = []  # that can be undone
        self._kept: dict[str, str] = {}  # the answers that are known to be stored
        self._waiting: list[Step] = []  # that are being stored
        self._rows: list[Row] | None = None  # until the answers change: to sort ten thousand takes a while

    def show(self, labelling: Labelling | None) -> None:
        """Another labelling, or none; what was done to the one before cannot be undone any more."""
        self.labelling, self._history, self._waiting, self._rows = labelling, [], [], None
        self._kept = {} if labelling is None else dict(labelling.answers)

    def arrange(self, order: str) -> None:
        """List the images in this order, GROUPS or TYPICAL."""
        self.order, self._rows = order, None

    @property
    def rows(self) -> list[Row]:
        """All rows in the order.

        GROUPS: those with a class first, the least sure of each at the end; then the groups, the largest first, and
        the most typical image of each. TYPICAL: those without a class and without an answer first.
        """
        if self.labelling is None:
            return []
        if self._rows is None:
            answers = self.labelling.answers
            rows = [
                Row(image, answers.get(image.path, image.label), image.path in answers)
                for image in self.labelling.suggested.images
            ]
            self._rows = sorted(rows, key=_in_groups if self.order == GROUPS else _typical_first)
        return self._rows

    def shown(self) -> list[Row]:
        """The rows that are listed."""
        return list(filter(LISTED[self.listed], self.rows))

    def counts(self) -> dict[str, int]:
        """How many rows each choice would list."""
        rows = self.rows
        return {name: sum(map(holds, rows)) for name, holds in LISTED.items()}

    def group_of(self, path: str) -> list[str]:
        """The paths of the group of an image that has no class, without those that have an answer, but with it."""
        rows = self.rows
        group = next((row.image.group for row in rows if row.image.path == path and not row.label), 0)
        return [
            row.image.path for row in rows
            if row.image.path == path or (group and row.image.group == group and not row.label and not row.answered)
        ]  # fmt: skip

    def answer(self, paths: Sequence[str], label: str) -> Step | None:
        """Give images a class, or none with an empty one; what is to be stored, None if nothing has changed."""
        if self.labelling is None or not paths:
            return None
        before: Changes = {path: self.labelling.answers.get(path) for path in paths}
        if all(had == label for had in before.values()):
            return None
        step = Step(before, dict.fromkeys(paths, label))
        self._history.append(step)
        self._wait_for(step)
        return step

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._history)

    def undo(self) -> Step | None:
        """Take back the last step; what is to be stored, None without a step."""
        if not self._history:
            return None
        undone = self._history.pop()
        step = Step(undone.after, undone.before)
        self._wait_for(step)
        return step

    def stored(self, step: Step, answers: Mapping[str, str]) -> bool:
        """A step is stored, and these are all stored answers; whether others are shown now than before."""
        self._kept = dict(answers)
        return self._settle(step)

    def not_stored(self, step: Step) -> bool:
        """A step could not be stored: its images have the stored answers again; whether others are shown now."""
        self._history = [done for done in self._history if done is not step]
        return self._settle(step)

    def _wait_for(self, step: Step) -> None:
        self._waiting.append(step)
        self._show_answers()

    def _settle(self, step: Step) -> bool:
        """Whether other answers are shown; a step of a list that is not shown any more changes nothing."""
        before = None if self.labelling is None else self.labelling.answers
        self._waiting = [waiting for waiting in self._waiting if waiting is not step]
        self._show_answers()
        return self.labelling is not None and self.labelling.answers != before

    def _show_answers(self) -> None:
        """Show the stored answers, with those that are being stored."""
        if self.labelling is not None:
            answers: dict[str, str | None] = {**self._kept}
            for step in self._waiting:
                answers.update(step.after)
            there = {path: label for path, label in answers.items() if label is not None}
            self.labelling, self._rows = replace(self.labelling, answers=there), None


def _in_groups(row: Row) -> tuple[bool, str, int, int, float]:
    return group_key(row.image, row.label)


def _typical_first(row: Row) -> tuple[bool, bool, int, str, float]:
    named, place, label, sureness = typical_key(row.image, row.label)
    return named, row.answered, place, label, sureness
