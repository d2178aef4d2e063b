"""Search in a search-only gallery, without widgets."""

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import Any, Protocol

from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.ui.style.words import counted, short_time

Plain = dict[str, Any]
Take = Callable[[Plain], None]
SHOWN = (10, 48, 100)  # neighbours; recall is measured for each
USUAL = 48
EXACT_ROWS_A_SECOND = 1_500_000  # embeddings of 128 dimensions, on two cores: for a rough estimate only
BUILT_ROWS_A_SECOND = 15_000


class Change(Enum):
    """What has changed in the model."""

    FACTS = auto()  # another gallery, or a new index
    WORK = auto()  # building or searching has begun or ended
    ANSWER = auto()  # other neighbours


class Work(Protocol):
    """A request that can be cancelled."""

    def cancel(self) -> None:
        """Cancel the request; its answer is dropped."""


class Processes(Protocol):
    """What the model needs from the window; callbacks run on the window's thread."""

    def describe(self, workspace: str, run_id: int, done: Take, failed: Callable[[Problem], None]) -> object:
        """Read the facts of a run's gallery, and start the process that searches it."""

    def ask(self, op: str, fields: Plain, done: Take, failed: Callable[[Problem], None]) -> object:
        """Send a request that is answered at once."""

    def work(
        self, title: str, op: str, fields: Plain, done: Take, failed: Callable[[Problem], None],
        cancelled: Callable[[], None],
    ) -> Work:  # fmt: skip
        """Send a request that takes long, with a line in the Activity panel; one of the three callbacks is called."""

    def notify(self, what: Problem | str) -> None:
        """Show a text in the message bar."""


class GallerySearch:
    """The gallery of the shown run, its index, and the neighbours of one row.

    Args:
        processes: search and build.
        tell: called after every change, with its kind.
    """

    def __init__(self, processes: Processes, tell: Callable[[Change], None]) -> None:
        self._processes, self._tell = processes, tell
        self._run: int | None = None
        self.facts: Plain | None = None  # the description of the gallery (searching.request); None before it is known
        self.answer: Plain | None = None  # the neighbours (searching.request); None without any
        self.row, self.k = 0, USUAL
        self._build: Work | None = None
        self._exact: Work | None = None
        self._asked: object | None = None  # the newest request

    # What is shown

    @property
    def has_index(self) -> bool:
        """Whether queries use an index."""
        return self.facts is not None and self.facts["index"] is not None

    @property
    def building(self) -> bool:
        """Whether the index is being built."""
        return self._build is not None

    @property
    def searching(self) -> bool:
        """Whether a search is in progress."""
        return self._asked is not None or self._exact is not None

    @property
    def searching_exactly(self) -> bool:
        """Whether an exact search is in progress, which compares a row with all embeddings."""
        return self._exact is not None

    @property
    def head(self) -> str:
        """One line about the gallery; empty before it is known."""
        if self.facts is None:
            return ""
        distance = {"cosine": "cosine similarity", "l2": "minus the distance"}[self.facts["distance"]]
        return (
            f"{counted(self.facts['count'], 'embedding')} of {self.facts['dim']} dimensions ({self.facts['kind']}), "
            f"compared by {distance}"
        )

    @property
    def quality(self) -> str:
        """Sentences about the index: its measured recall, or what a search without an index costs."""
        if self.facts is None:
            return ""
        if (index := self.facts["index"]) is not None:
            recall = next(recall for recall in index["recalls"] if recall["k"] == self.k)
            low, mean, high = (percentage(recall[name], 2) for name in ("low", "mean", "high"))
            return (
                f"Through an index: of the exact {self.k} nearest it finds {mean} (95% interval {low} to {high}, "
                f"measured on {index['queries']:,} drawn rows)."
            )
        numbers = self.facts["count"] * self.facts["dim"] / 128
        why = f"{self.facts['why']} " if self.facts["why"] else ""
        seconds = short_time(max(1.0, numbers / EXACT_ROWS_A_SECOND))
        building = short_time(max(1.0, numbers / BUILT_ROWS_A_SECOND))
        return (
            f"{why}There is no index: each search compares with all embeddings, about {seconds}. "
            f"An index takes about {building} to build; its recall is then measured and shown here."
        )

    @property
    def said(self) -> str:
        """How the shown neighbours were found; empty without any."""
        if self.answer is None:
            return ""
        how = "compared with all" if self.answer["exact"] else "through the index"
        words = [f"Row {self.answer['row'] + 1:,}, {how} in {short_time(self.answer['seconds'])}."]
        if self.answer["class_name"]:
            right = sum(self.answer["right"])
            words.append(f"{right} of the {len(self.answer['rows'])} are of its class, {self.answer['class_name']}.")
        if (missed := self.answer["missed"]) is not None:
            words.append(f"The index misses {missed or 'none'} of these {len(self.answer['rows'])}.")
        return " ".join(words)

    # What the user does

    def show(self, run_id: int | None, workspace: str = "") -> None:
        """Show the gallery of a run, or none; requests about another run are dropped."""
        if run_id == self._run:
            return
        for work in (self._build, self._exact):
            if work is not None:
                work.cancel()
        self._run, self._workspace = run_id, workspace
        self.facts = self.answer = self._build = self._exact = self._asked = None
        self.row = 0
        if run_id is not None:
            self._processes.describe(workspace, run_id, partial(self._take_facts, run_id), self._processes.notify)
        self._tell(Change.FACTS)

    def build(self) -> None:
        """Build the index, or build it again, in the background."""
        if self._build is None and self._run is not None:
            self._build = self._processes.work(
                "Build the index", "build", self._fields(), partial(self._built, self._run), self._not_built,
                partial(self._not_built, None),
            )  # fmt: skip
            self._tell(Change.WORK)

    def cancel_build(self) -> None:
        """Cancel building; an existing index stays."""
        if self._build is not None:
            self._build.cancel()

    def cancel_search(self) -> None:
        """Cancel an exact search."""
        if self._exact is not None:
            self._exact.cancel()

    def choose_k(self, k: int) -> None:
        """Show this many neighbours, one of SHOWN."""
        self.k = k
        self._tell(Change.FACTS)
        if self.answer is not None and (self.has_index or not self.answer["exact"]):
            self.search(self.row)

    def search(self, row: int, *, exact: bool = False) -> None:
        """Show the neighbours of a row. `exact`, or a gallery without an index: compare the row with all embeddings."""
        if self._run is None or self.facts is None or not 0 <= row < self.facts["count"]:
            return
        self.row = row
        fields = {**self._fields(), "row": row, "k": self.k, "exact": exact or not self.has_index}
        if self._exact is not None:
            self._exact.cancel()
        asked = self._asked = object()
        if fields["exact"]:
            self._asked = None
            self._exact = self._processes.work(
                "Compare with all", "search", fields, partial(self._take_exact, self._run), self._no_exact,
                partial(self._no_exact, None),
            )  # fmt: skip
        else:
            self._processes.ask("search", fields, partial(self._take, asked), partial(self._refused, asked))
        self._tell(Change.WORK)

    def _fields(self) -> Plain:
        return {"workspace": self._workspace, "run": self._run}

    def _take_facts(self, run_id: int, facts: Plain) -> None:
        if run_id == self._run:
            self.facts = facts
            self._tell(Change.FACTS)

    def _built(self, run_id: int, facts: Plain) -> None:
        self._build = None
        self._take_facts(run_id, facts)
        self._tell(Change.WORK)

    def _not_built(self, problem: Problem | None) -> None:
        self._build = None
        if problem is not None:
            self._processes.notify(problem)
        self._tell(Change.WORK)

    def _take_exact(self, run_id: int, answer: Plain) -> None:
        self._exact = None
        if run_id == self._run:
            self.answer = answer
            self._tell(Change.ANSWER)
        self._tell(Change.WORK)

    def _no_exact(self, problem: Problem | None) -> None:
        self._exact = None
        if problem is not None:
            self._processes.notify(problem)
        self._tell(Change.WORK)

    def _take(self, asked: object, answer: Plain) -> None:
        if asked is self._asked:
            self._asked, self.answer = None, answer
            self._tell(Change.ANSWER)

    def _refused(self, asked: object, problem: Problem) -> None:
        if asked is self._asked:
            self._asked = None
            self._processes.notify(problem)
            self._tell(Change.WORK)
