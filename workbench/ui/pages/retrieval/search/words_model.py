"""Search the shown run by words, apart from its widgets: whether this is possible, the searches and their results."""

from collections.abc import Callable

from workbench.config import RunConfig
from workbench.jobs.newest import Threads
from workbench.progress import Progress
from workbench.running.search.text_search import TextAnswer, refusal, search_texts
from workbench.workspace import Workspace

SHOWN = 48  # neighbours
MOST_LINES = 100
NO_RUN = "No run selected."


class WordSearch:
    """Lines of words, each searched by itself, and which of their answers is on screen.

    Args:
        threads: the session.
        show: puts an answer on screen.
        tell: called after each change.
    """

    def __init__(self, threads: Threads, show: Callable[[TextAnswer], None], tell: Callable[[], None]) -> None:
        self._threads, self._show, self._tell = threads, show, tell
        self._run: tuple[Workspace, int] | None = None
        self._awaited: object | None = None  # the search whose answer is to come; none before it is heard any more
        self.why_not = NO_RUN  # a sentence; empty if words can be compared
        self.answers: list[TextAnswer] = []
        self.at = 0  # the answer on screen
        self.searching = False

    def show_run(self, workspace: Workspace, run_id: int | None) -> None:
        """Take another run, or none; the answers of the one before go."""
        run = None if run_id is None else (workspace, run_id)
        if run == self._run:
            return
        self._run, self.answers, self.searching, self.why_not = run, [], False, NO_RUN
        self._awaited = None
        if run is not None:
            self.why_not = "Reading the run…"
            self._threads.run_in_thread("Read a config", _why_not_of(run), self._take_why(run), quiet=True)
        self._tell()

    def search(self, text: str) -> None:
        """Search by each line that is not empty, up to MOST_LINES; the first answer is shown."""
        lines = [line.strip() for line in text.splitlines() if line.strip()][:MOST_LINES]
        if not lines or self._run is None or self.why_not or self.searching:
            return
        workspace, run_id = self._run
        self.searching, search = True, object()
        self._awaited = search

        def work(progress: Progress) -> list[TextAnswer]:
            return search_texts(workspace, run_id, lines, SHOWN, progress=progress)

        def take(answers: list[TextAnswer]) -> None:
            if search is self._awaited:
                self.searching, self.answers = False, answers
                self.choose(0)

        def refused(problem: Exception) -> None:
            if search is self._awaited:
                self._threads.notify(str(problem))
                end()

        def end() -> None:
            """After a search without an answer, if it is still awaited."""
            if search is self._awaited:
                self.searching = False
                self._tell()

        self._threads.run_in_thread("Search by words", work, take, refused, cancelled=end)
        self._tell()

    def choose(self, at: int) -> None:
        """Show the answer to another line."""
        if 0 <= at < len(self.answers):
            self.at = at
            self._show(self.answers[at])
        self._tell()

    def _take_why(self, run: tuple[Workspace, int]) -> Callable[[str], None]:
        def take(why: str) -> None:
            if run == self._run:
                self.why_not = why
                self._tell()

        return take


def _why_not_of(run: tuple[Workspace, int]) -> Callable[[Progress], str]:
    def work(progress: Progress) -> str:
        workspace, run_id = run
        why = refusal(RunConfig.recorded(workspace.run(run_id).config))
        return f"This run cannot be searched by words: {why}" if why else ""

    return work
