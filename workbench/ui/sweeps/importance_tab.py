"""The tab of the Sweeps panel that shows which parameter matters."""

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.problem import Problem
from workbench.sweeps.importance import from_answer, notes, results
from workbench.ui.state.background.analysis import AnalysisClient, Request
from workbench.ui.state.process_work import process_of
from workbench.ui.state.session import Session
from workbench.ui.sweeps.importance_plot import ImportancePlot
from workbench.ui.sweeps.panel_model import Look
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

COMPUTING = "Computing the importance of the parameters…"
SERVER = "workbench.sweeps.server"


class ImportanceTab(QWidget):
    """Has another process compute the shares of a sweep, again when another trial has ended."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._process: AnalysisClient | None = None
        self._request: Request | None = None
        self._sweep_id: int | None = None
        self._results: list[list[Any]] = []  # that are shown; the process may have read newer ones than the panel
        self.plot = ImportancePlot()
        self.plot.wished.connect(self.wished)
        self.words = label("", "muted", wrap=True)
        inside = QWidget()
        in_column((self.plot, 1), self.words, 0, on=inside, margins=8, spacing=8)
        in_column(Scrolled(inside), on=self)
        self.plot.setVisible(False)

    @property
    def computing(self) -> bool:
        """Whether shares are being computed."""
        return self._request is not None

    def show_sweep(self, shown: Look | None) -> None:
        """Show the shares of this sweep; nothing is computed while its results are as before."""
        number = None if shown is None else shown.sweep.id
        read = [] if shown is None else results(shown.trials)
        if (number, read) == (self._sweep_id, self._results) or (number == self._sweep_id and self.computing):
            return  # trials that end faster than their shares are computed wait for the next look
        if number != self._sweep_id:
            self._cancel()
            self.plot.setVisible(False)
            self.words.setText("" if shown is None else COMPUTING)
        self._sweep_id, self._results = number, read
        if shown is not None:
            self._ask(shown)

    def end(self) -> None:
        """End the process; what it computes now is computed again when it is shown."""
        if self.computing:
            self._sweep_id = None
        self._cancel()
        if self._process is not None:
            self._process.end()
            self._process = None

    def _ask(self, shown: Look) -> None:
        if self._process is None:
            self._process = process_of(self._session, SERVER)
        fields = {"workspace": str(self._session.workspace.path), "sweep": shown.sweep.id}
        try:
            self._request = self._process.request(
                "importance", fields, None, partial(self._take, shown), self._failed, owner=self
            )
        except Problem as problem:
            self._failed(problem)

    def _cancel(self) -> None:
        if self._request is not None:
            self._request.cancel()
            self._request = None

    def _take(self, shown: Look, answer: dict[str, Any]) -> None:
        self._request, self._results = None, answer["results"]
        measured = from_answer(answer)
        if measured.any_shares:
            self.plot.show_importance(measured, shown.titles)
        self.plot.setVisible(measured.any_shares)
        self.words.setText(" ".join(notes(measured, shown.titles)))

    def _failed(self, problem: Problem) -> None:
        self._request = None
        self.plot.setVisible(False)
        self.words.setText(str(problem))
