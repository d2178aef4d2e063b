"""Has the method of search that is compared with search by the queries, and keeps the choice of each run."""

import json
from functools import partial

import numpy as np
from PySide6.QtCore import QObject

from workbench.problem import Problem
from workbench.results.search_methods import AT_ONCE, cost_words, seconds, title_of
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.queries.failure_filter import FailureFilter
from workbench.ui.preferences import Preferences
from workbench.ui.state.concern import of_page
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.workspace import Workspace

SERVER = "workbench.deploying.server"
KEY = "retrieval/methods"
MOST_KEPT = 50  # runs
LONGEST = 1000  # letters of a name or a path
Asked = tuple[Workspace, int, str]  # evaluation, method


class MethodSearch(QObject):
    """Begins at once what takes some seconds, and asks before what takes longer. A process of its own does it."""

    def __init__(self, session: Session, browsing: Browsing, filters: FailureFilter) -> None:
        super().__init__(filters)
        self._session, self._browsing, self._filters = session, browsing, filters
        self.works: dict[Asked, ProcessWork] = {}  # that go on
        self._ended_without: set[Asked] = set()  # failed or cancelled: begun again only if the person asks
        browsing.methods = read_methods(session.preferences)
        self._kept = dict(browsing.methods)
        filters.search_asked.connect(self.toggle)

    @property
    def _asked(self) -> Asked | None:
        method, shown = self._browsing.comparison.method, self._browsing.shown
        if method is None or shown is None or not self._browsing.unsearched:
            return None
        return self._session.workspace, shown.evaluation.id, method

    def draw(self) -> None:
        """Say what a search takes, or begin it; nothing where the lists are there."""
        if self._browsing.methods != self._kept:
            self._kept = dict(self._browsing.methods)
            keep_methods(self._session.preferences, self._kept)
        asked = self._asked
        if asked is None:
            self._filters.show_search("", "")
        elif asked in self.works:
            words = f"{title_of(asked[2])} searches with the queries; Activity shows the progress."
            self._filters.show_search(words, "Cancel", goes_on=True)
        else:
            gallery, queries = self._sizes()
            if seconds(asked[2], gallery, queries) <= AT_ONCE and asked not in self._ended_without:
                self._begin(asked)
            else:
                self._filters.show_search(cost_words(asked[2], gallery, queries), f"Search by {title_of(asked[2])}")

    def _sizes(self) -> tuple[int, int]:
        """Images that are searched, and queries that have something to find."""
        shown = self._browsing.shown
        return (0, 0) if shown is None else (shown.gallery, int(np.count_nonzero(shown.queries.r)))

    def toggle(self) -> None:
        """Begin the search that is offered, or cancel the one that goes on."""
        asked = self._asked
        if asked is None:
            return
        if asked in self.works:
            self.works[asked].cancel()
        else:
            self._begin(asked)

    def _begin(self, asked: Asked) -> None:
        _, evaluation_id, method = asked
        self.works[asked] = work = ProcessWork(
            self._session, process_of(self._session, SERVER), f"Search by {title_of(method)}", "queries",
            {"evaluation": evaluation_id, "method": method}, partial(self._done, asked),
            partial(self._failed, asked, self._session.run_id), partial(self._over, asked), ends_process=True,
        )  # fmt: skip
        if work.over:  # its process cannot be started
            self.works.pop(asked, None)
        self.draw()

    def _done(self, asked: Asked, _answer: object) -> None:
        self.works.pop(asked, None)
        if asked == self._asked:
            self._browsing.read_lists()

    def _failed(self, asked: Asked, run_id: int | None, problem: Problem) -> None:
        self._session.notify(problem, of_page("retrieval", run_id))
        self._over(asked)

    def _over(self, asked: Asked) -> None:
        """It ended without lists."""
        self.works.pop(asked, None)
        self._ended_without.add(asked)
        self.draw()


def read_methods(preferences: Preferences) -> dict[str, str]:
    """The method of each run by its number and workspace; empty where they cannot be read."""
    try:
        kept = json.loads(preferences.text(KEY, "{}"))
    except ValueError:
        return {}
    pairs = kept.items() if isinstance(kept, dict) else []
    return {key: name for key, name in pairs if isinstance(name, str) and len(key) < LONGEST and title_of(name) != name}


def keep_methods(preferences: Preferences, methods: dict[str, str]) -> None:
    """Store the methods of the last MOST_KEPT runs."""
    preferences.set_text(KEY, json.dumps(dict(list(methods.items())[-MOST_KEPT:])))
