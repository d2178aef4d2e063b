"""Steps on the map that can be undone: of the selection, and of the groups that are hidden. No Qt."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Selecting:
    """From one selection to another.

    Args:
        before, after: sample ids [k] int64.
    """

    before: np.ndarray
    after: np.ndarray

    @property
    def words(self) -> str:
        """The name of the step in the Edit menu."""
        count = len(self.after)
        return f"selecting {count:,} image{'s' * (count != 1)}" if count else "clearing the selection"


@dataclass(frozen=True, slots=True)
class Hiding:
    """From some hidden groups to others.

    Args:
        colouring: whose groups they are.
        before, after: names of the hidden groups.
        group: the name of the group that was clicked.
        alone: whether the step shows the group alone, or all groups again.
        words: the name of the step in the Edit menu.
    """

    colouring: str
    before: frozenset[str]
    after: frozenset[str]
    group: str
    alone: bool
    words: str

    def merged(self, later: "Hiding") -> "Hiding | None":
        """This step and the next as one, or None if they are separate.

        A double-click makes two steps: its first click toggles the group, then the group is shown alone.
        """
        if self.alone or not later.alone or (self.colouring, self.group) != (later.colouring, later.group):
            return None
        return replace(later, before=self.before)


Step = Selecting | Hiding
