"""What a panel measures of an evaluation in a separate process: one at a time, also while another one is shown."""

from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.problem import Problem
from workbench.ui.state.concern import of_page
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.workspace import Workspace

Evaluation = tuple[Workspace, int | None]


class EvaluationWork:
    """Starts the work of one panel, and knows of which evaluation it is.

    Args:
        session: of the window.
        server: the module of the process.
        page: of the panel, where its messages belong.
        busy: the sentence when other work is asked for meanwhile.

    Attributes:
        newest: the newest work, which may be over; None before the first.
    """

    def __init__(self, session: Session, server: str, page: str, busy: str) -> None:
        self._session, self._server, self._page, self._busy = session, server, page, busy
        self.newest: ProcessWork | None = None
        self._of: Evaluation | None = None

    @property
    def going_on(self) -> bool:
        """Whether something is being measured."""
        return self.newest is not None and not self.newest.over

    def measures(self, evaluation: Evaluation) -> bool:
        """Whether this evaluation is being measured."""
        return self.going_on and evaluation == self._of

    def cancel(self) -> None:
        """Cancel what is being measured, if anything is."""
        if self.newest is not None and not self.newest.over:
            self.newest.cancel()

    def leave_others(self, workspace: Workspace) -> None:
        """Cancel what is being measured in another workspace."""
        if self._of is not None and self._of[0] is not workspace:
            self.cancel()

    def is_free(self) -> bool:
        """Whether nothing is being measured; else the window says so."""
        if self.going_on:
            problem = Problem(self._busy, todo="Wait for it, or cancel it in Activity.")
            self._session.notify(problem, of_page(self._page, self._session.run_id))
        return not self.going_on

    def start(
        self, of: Evaluation, title: str, op: str, fields: dict[str, Any],
        done: Callable[[dict[str, Any]], None], not_done: Callable[[], None],
    ) -> None:  # fmt: skip
        """Ask for `op` of an evaluation; `is_free` must hold.

        Args:
            of: the evaluation, which has a number.
            title: in Activity.
            fields: of the request, beside workspace and evaluation.
            done: called with the answer. not_done: called after a failure, which the window then says, or a cancel.
        """
        self._of = of
        self.newest = ProcessWork(
            self._session, process_of(self._session, self._server), title, op, {"evaluation": of[1], **fields}, done,
            partial(self._failed, self._session.run_id, not_done), not_done, ends_process=True,
        )  # fmt: skip

    def _failed(self, run_id: int | None, not_done: Callable[[], None], problem: Problem) -> None:
        self._session.notify(problem, of_page(self._page, run_id))
        not_done()
