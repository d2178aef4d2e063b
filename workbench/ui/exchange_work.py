"""One export or import on its way: done by a process of its own."""

from collections.abc import Callable
from functools import partial

from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.ui.analysis import AnalysisClient
from workbench.ui.process_work import Answer, ProcessWork
from workbench.ui.session import Session


class ExchangeWork(ProcessWork):
    """The process ends with its work, because torch would keep its memory; the session's end ends it, too.

    Args:
        session, title, op ("export" or "import"), fields, done, failed, cancelled: as ProcessWork takes them.
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
        client = AnalysisClient(session, partial(AnalysisProcess, module="workbench.exchange.server"))
        super().__init__(session, client, title, op, fields, done, failed, cancelled)

    def _finish(self, answer: Answer) -> None:
        self._client.request("quit", {})
        super()._finish(answer)

    def _fail(self, problem: Problem) -> None:
        self._client.close()
        super()._fail(problem)
