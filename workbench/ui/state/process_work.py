"""One request to another process, with its line in the Activity panel and Cancel."""

from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.jobs import AnalysisProcess
from workbench.jobs.serving import CAN_PEEK
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.session import Session
from workbench.workspace import Workspace

Answer = dict[str, Any]


class ProcessWork:
    """Sends the request at once; exactly one of `done`, `failed` and `cancelled` follows on the window's thread.

    Args:
        session: whose workspace it is about.
        client: of the process that does it.
        title: in the Activity panel.
        op: what is asked.
        fields: of the request, without the workspace.
        done: called with the answer. failed: called with the Problem. cancelled: called after the user cancelled,
            which the Activity panel says by itself.
        ends_process: the process does this alone and ends with it; torch, once loaded, would keep its memory.
        takes_back: a cancelled process takes back what it has stored: it ends by itself, where it can hear the cancel.
            Elsewhere it is killed, and the runs that it left half stored are deleted.

    Attributes:
        item: its line in the Activity panel.
    """

    def __init__(
        self,
        session: Session,
        client: AnalysisClient,
        title: str,
        op: str,
        fields: Answer,
        done: Callable[[Answer], None],
        failed: Callable[[Problem], None],
        cancelled: Callable[[], None] = lambda: None,
        *,
        ends_process: bool = False,
        takes_back: bool = False,
    ) -> None:
        self._done, self._failed, self._cancelled = done, failed, cancelled
        self.over = False
        self._client, self._ends_process = client, ends_process
        self._ends_by_itself, self._is_taken_back = takes_back and CAN_PEEK, takes_back
        self._session, self._workspace = session, session.workspace
        self._newest = max((run.id for run in (*session.runs(), *session.trashed_runs())), default=0)
        self.item = session.activity.add(title, self.cancel)
        asked = {"workspace": str(session.workspace.path), **fields}
        try:
            self._request = client.request(op, asked, self._progress, self._finish, self._fail)
        except Problem as problem:
            self._fail(problem)

    def cancel(self) -> None:
        """Cancel the request; `cancelled` is called. Nothing happens when it has ended."""
        if self.over:  # its line in the Activity panel may be older than its end
            return
        if self._ends_by_itself:
            self._client.end()
        else:
            self._request.cancel()
        self._end()
        if self._is_taken_back and not self._ends_by_itself:
            work = partial(_remove_half, self._workspace, self._newest)
            self._session.run_in_thread("Remove what was half stored", work, quiet=True)
        self.item.cancelled()
        self._cancelled()

    def _progress(self, answer: Answer) -> None:
        self.item.progress(answer["done"], answer["total"], answer["text"])

    def _finish(self, answer: Answer) -> None:
        self._end()
        self.item.finish()
        self._done(answer)

    def _fail(self, problem: Problem) -> None:
        self._end()
        self.item.fail(str(problem))
        self._failed(problem)

    def _end(self) -> None:
        self.over = True
        if self._ends_process:
            self._client.end()


def _remove_half(workspace: Workspace, after: int, _progress: Progress) -> None:
    from workbench.exchange.imported.unfinished import remove_unfinished  # late: the window is shown first

    remove_unfinished(workspace, after)


def process_of(session: Session, module: str) -> AnalysisClient:
    """A new process that runs a server module; it ends with the session at the latest."""
    return AnalysisClient(session, partial(AnalysisProcess, module=module))
