"""The state of the Label triage view without Qt: the queue, the current suspect, answers and their undo."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import monotonic

import numpy as np

from workbench.results.label_overlay import Precision, Triage, precision, precision_path
from workbench.results.triage import Suspect, ranked_by_class
from workbench.workspace.choices.label_decisions import DECISIONS, RELABEL, Decision

ALL, TODO, DONE = "all", "to do", "done"
SHOWN = 6  # neighbours of each of the two classes
PACED, LEAST_PACED = 20, 3  # times between answers that the pace is taken from: the newest, and the fewest
BREAK = 300.0  # seconds; a longer time between two answers is none of answering


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and the state before it, for undo."""

    sample_id: int
    before: Decision | None
    after: Decision
    moment: float  # of the model's clock, s


class TriageModel:
    """Steps through a queue of suspects and keeps the decisions; the caller stores them.

    Args:
        clock: gives seconds, from any start.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self.triage: Triage | None = None
        self.filter = ALL
        self.at = 0  # row of the current suspect in `listed`
        self.history: list[Answer] = []
        self.changed_elsewhere = 0  # answers that `take_decisions` has taken out of the history, the last time

    def show(self, triage: Triage | None) -> None:
        """Show another queue; its first suspect without an answer becomes the current one."""
        self.triage, self.history, self.at = triage, [], 0
        rows = [row for row, one in enumerate(self.listed) if self.decision(one) is None]
        self.at = rows[0] if rows else 0

    @property
    def listed(self) -> list[Suspect]:
        """The suspects that pass the filter."""
        if self.triage is None:
            return []
        wanted = {ALL: (True, False), TODO: (False,), DONE: (True,)}[self.filter]
        return [one for one in self.triage.suspects if (self.decision(one) is not None) in wanted]

    @property
    def current(self) -> Suspect | None:
        """The current suspect; None in an empty list."""
        listed = self.listed
        return listed[self.at] if 0 <= self.at < len(listed) else None

    def decision(self, suspect: Suspect) -> Decision | None:
        """The decision about a suspect; None without one."""
        return None if self.triage is None else self.triage.decisions.get(suspect.sample_id)

    def choose_filter(self, name: str) -> None:
        """List all suspects, those to do or those done; the current suspect stays current if it is listed."""
        current = self.current
        self.filter = name
        listed = self.listed
        self.at = listed.index(current) if current in listed else 0

    def step(self, by: int) -> None:
        """Move by this many suspects, but not beyond the ends of the list."""
        self.at = max(0, min(len(self.listed) - 1, self.at + by))

    def look_at(self, row: int) -> None:
        """Make the suspect in this row of the list the current one."""
        if 0 <= row < len(self.listed):
            self.at = row

    def look_for(self, sample_id: int) -> bool:
        """Make the suspect of this image the current one; whether it is listed."""
        row = next((row for row, one in enumerate(self.listed) if one.sample_id == sample_id), -1)
        self.look_at(row)
        return row >= 0

    def answer(self, word: str, label: int | None = None) -> Decision | None:
        """Decide about the current suspect and move to the next; None without one.

        Args:
            word: one of DECISIONS.
            label: the new label; by default the suggested one.
        """
        suspect = self.current
        if suspect is None or self.triage is None or word not in DECISIONS:
            return None
        new = (suspect.suggested if label is None else label) if word == RELABEL else None
        decision = Decision(suspect.sample_id, word, new)
        before = self.triage.decisions.pop(suspect.sample_id, None)  # the new one is the last that was made
        self.history.append(Answer(suspect.sample_id, before, decision, self._clock()))
        self.triage.decisions[suspect.sample_id] = decision
        self.step(1 if self.filter == ALL else 0)
        return decision

    def take_decisions(self, decisions: dict[int, Decision]) -> bool:
        """Take the decisions as they are stored now; whether another window has changed any.

        The current suspect stays if it is listed. An answer that was changed there is not undone here any more.
        """
        if self.triage is None or decisions == self.triage.decisions:
            return False
        current, at = self.current, self.at
        self.triage.decisions.clear()
        self.triage.decisions.update(decisions)
        mine = {answer.sample_id: answer.after for answer in self.history}  # the last of each sample
        self.history = [old for old in self.history if decisions.get(old.sample_id) == mine[old.sample_id]]
        self.changed_elsewhere = len(mine) - len({old.sample_id for old in self.history})
        listed = self.listed
        self.at = listed.index(current) if current in listed else max(0, min(len(listed) - 1, at))
        return True

    def undo(self) -> Answer | None:
        """Undo the last answer and make its suspect the current one; None if there is no answer."""
        if not self.history or self.triage is None:
            return None
        last = self.history.pop()
        if last.before is None:
            self.triage.decisions.pop(last.sample_id, None)
        else:
            self.triage.decisions[last.sample_id] = last.before
        numbers = [one.sample_id for one in self.listed]
        self.at = numbers.index(last.sample_id) if last.sample_id in numbers else 0
        return last

    def counts(self) -> dict[str, int]:
        """Suspects by answer, and "to do"."""
        suspects = [] if self.triage is None else self.triage.suspects
        answers = Counter(decision.decision for one in suspects if (decision := self.decision(one)) is not None)
        done = {word: answers[word] for word in DECISIONS}
        return {**done, TODO: len(suspects) - sum(done.values())}

    def judged(self) -> Precision:
        """The precision of the queue so far: how many of the decided suspects had a wrong label."""
        return precision([], {}) if self.triage is None else precision(self.triage.suspects, self.triage.decisions)

    def judged_so_far(self) -> list[Precision]:
        """The precision of the queue after each answer that was not unsure."""
        return [] if self.triage is None else precision_path(self.triage.suspects, self.triage.decisions)

    def seconds_left(self) -> float | None:
        """How long the suspects to do will take at the pace of the last answers; None where it is not known.

        The pace is the median time between two answers, without breaks.
        """
        times = [later.moment - earlier.moment for earlier, later in pairwise(self.history[-PACED - 1 :])]
        times = [seconds for seconds in times if seconds <= BREAK]
        to_do = self.counts()[TODO]
        return to_do * median(times) if to_do and len(times) >= LEAST_PACED else None

    def ranks(self) -> dict[int, np.ndarray]:
        """The ranks [m], from 1, in the stored neighbours, by label: of the suggested class and of its own."""
        suspect, triage = self.current, self.triage
        if suspect is None or triage is None:
            return {}
        row = int((triage.stored.sample_ids == suspect.sample_id).argmax())
        of_near = triage.stored.labels[triage.stored.near[row]]
        return {label: np.flatnonzero(of_near == label) + 1 for label in (suspect.suggested, suspect.label)}

    def neighbours(self) -> dict[int, list[tuple[int, int]]]:
        """The (rank, sample id) of the nearest stored neighbours, by label: the suggested class and its own.

        A near-copy in the training set comes first, with rank 0.
        """
        suspect, triage = self.current, self.triage
        if suspect is None or triage is None:
            return {}
        row = int((triage.stored.sample_ids == suspect.sample_id).argmax())
        ranked = ranked_by_class(triage.stored, row, list(dict.fromkeys((suspect.suggested, suspect.label))), SHOWN)
        ids = triage.stored.sample_ids
        near = {label: [(rank, int(ids[at])) for rank, at in places] for label, places in ranked.items()}
        if suspect.across and suspect.other is not None:
            near[suspect.suggested] = [(0, suspect.other), *near[suspect.suggested][: SHOWN - 1]]
        return near
