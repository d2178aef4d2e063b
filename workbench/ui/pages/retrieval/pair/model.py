"""Which pair is shown, and the saliency of its two images, without widgets."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from workbench.jobs.newest import Newest, Threads
from workbench.problem import Problem
from workbench.running.search.image_search import OwnImage
from workbench.running.search.saliency import PairSaliency, pair_saliency
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour, Run

KEPT = 32  # pairs whose saliency is kept, to be seen again at once
BEHIND = -1  # rank of a neighbour that is not among those that the evaluation stored for the query
Key = tuple[int, object, int]  # evaluation, query, neighbour


class Window(Threads, Protocol):
    """The part of the session that the model needs."""

    @property
    def workspace(self) -> Workspace:
        """The open workspace."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """A query with the neighbours that can be shown beside it."""

    run_id: int
    evaluation_id: int
    distance: str  # of the evaluation
    query: OwnImage | int  # an own image, or a sample id
    title: str  # above its picture
    judged: bool  # whether the query's class is known
    near: list[Neighbour]  # best first, at least one; rank 0 (or BEHIND) and a similarity of NaN for what has no rank
    dataset: int | None = None  # of the images; None: that of the shown run
    source: str = ""  # the run and epoch, where they are to be named: "Run 3: Birds, epoch 12"


def source_of(run: Run | None, shown: Evaluation) -> str:
    """The run and epoch of a pair: "Run 3: Birds, epoch 12"."""
    named = f"Run {shown.run_id}" if run is None else f"Run {shown.run_id}: {run.name}"
    return f"{named}, epoch {shown.epoch}" if shown.epoch else f"{named}, untrained"


class PairModel:
    """The query and one of its neighbours. Used on the window's thread.

    Args:
        tell: called when something has changed.
    """

    def __init__(self, window: Window, tell: Callable[[], None]) -> None:
        self._window, self._tell = window, tell
        self._work = Newest(window)
        self._kept: dict[Key, PairSaliency] = {}
        self.ranking: Ranking | None = None
        self.position = 0  # of the neighbour in the ranking
        self.wanted = False  # whether saliency is to be shown
        self.problem: Problem | None = None  # why it cannot be

    @property
    def neighbour(self) -> Neighbour | None:
        """The neighbour that is shown."""
        return None if self.ranking is None else self.ranking.near[self.position]

    @property
    def working(self) -> bool:
        """Whether saliency is being computed."""
        return self._work.busy

    @property
    def saliency(self) -> PairSaliency | None:
        """That of the shown pair, if it is wanted and known."""
        return self._kept.get(self._key()) if self.wanted and self.ranking is not None else None

    def show(self, ranking: Ranking | None, sample_id: int | None = None) -> None:
        """Show a query beside a neighbour, by default the first; None shows no pair."""
        self.ranking, self.position = ranking, 0
        if ranking is not None and sample_id is not None:
            places = [place for place, near in enumerate(ranking.near) if near.sample_id == sample_id]
            self.position = places[0] if places else 0
        self._look()

    def step(self, by: int) -> None:
        """Show another neighbour; at either end nothing happens."""
        if self.ranking is not None and 0 <= self.position + by < len(self.ranking.near):
            self.position += by
            self._look()

    def want(self, wanted: bool) -> None:
        """Compute saliency for the shown pair and for the next ones, or stop doing so."""
        if wanted != self.wanted:
            self.wanted = wanted
            self._look()

    def forget(self) -> None:
        """Drop what was computed: another workspace is open, in which ids mean other images."""
        self._kept.clear()
        self.show(None)

    def _key(self) -> Key:
        assert self.ranking is not None
        return self.ranking.evaluation_id, self.ranking.query, self.ranking.near[self.position].sample_id

    def _look(self) -> None:
        """Begin what the shown pair lacks."""
        self._work.cancel()
        self.problem = None
        if self.wanted and self.ranking is not None and self.saliency is None:
            key, query = self._key(), self.ranking.query
            work = partial(pair_saliency, self._window.workspace, self.ranking.run_id, key[0], query, key[2])
            self._work.ask(
                "Which parts make two images similar", lambda progress: work(progress=progress),
                partial(self._take, key), self._refuse, cancelled=self._cancelled,
            )  # fmt: skip
        self._tell()

    def _take(self, key: Key, saliency: PairSaliency) -> None:
        self._kept[key] = saliency
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        self._tell()

    def _refuse(self, problem: Problem) -> None:
        self.problem = problem
        self._tell()

    def _cancelled(self) -> None:
        self.wanted = False
        self._tell()
