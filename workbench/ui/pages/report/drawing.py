"""One request to the process that draws reports, with its line in the Activity panel."""

from collections.abc import Callable
from typing import Any

from workbench.problem import Problem
from workbench.ui.session import Session

Answer = dict[str, Any]


class Drawing:
    """Asks at once; exactly one of `done`, `failed` and `cancelled` follows on the window's thread.

    Args:
        session: whose workspace is reported.
        title: in the Activity panel.
        op: "preview" or "write".
        fields: of the request, without the workspace.
        done: called with the answer.
        failed: called with the Problem.
        cancelled: called after the person cancelled.
    """

    def __init__(
        self,
        session: Session,
        title: str,
        op: str,
        fields: Answer,
        done: Callable[[Answer], None],
        failed: Callable[[Problem], None],
        cancelled: Callable[[], None],
    ) -> None:
        self._done, self._failed, self._cancelled = done, failed, cancelled
        self._item = session.activity.add(title, self.cancel)
        try:
            self._request = session.drawing.request(
                op,
                {"workspace": str(session.workspace.path), **fields},
                lambda answer: self._item.progress(answer["done"], answer["total"], answer["text"]),
                self._finish,
                self._fail,
            )
        except Problem as problem:
            self._fail(problem)

    def cancel(self) -> None:
        """Discard it."""
        self._request.cancel()
        self._item.cancelled()
        self._cancelled()

    def _finish(self, answer: Answer) -> None:
        self._item.finish()
        self._done(answer)

    def _fail(self, problem: Problem) -> None:
        self._item.fail(str(problem))
        self._failed(problem)
