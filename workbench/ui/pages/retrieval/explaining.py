"""Brings explanations to the page: what is worked out on threads goes to the list, the query and the dialog."""

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.results.explanations import ConfusedPair, FailedQueries
from workbench.results.mistakes import Changes
from workbench.ui.pages.retrieval.causes import before_first_hit, changed, sentence
from workbench.ui.pages.retrieval.comparing_with import ComparingWith
from workbench.ui.pages.retrieval.failure_filter import FailureFilter
from workbench.ui.pages.retrieval.failure_source import FailureSource
from workbench.ui.pages.retrieval.mistakes_dialog import MistakesDialog
from workbench.ui.pages.retrieval.result import Result
from workbench.ui.session import Session
from workbench.ui.widgets.pictures import shared_loader
from workbench.workspace.rows import Evaluation, Neighbour, Query


class Explaining(QObject):
    """Follows the evaluation and the query that the page shows."""

    sample_chosen = Signal(object)  # sample id, in the dialog

    def __init__(self, session: Session, filters: FailureFilter, result: Result, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._filters, self._result = session, filters, result
        self._evaluation: Evaluation | None = None
        self.other = ComparingWith(session, filters, result.other, self)
        self._query: Query | None = None
        self._near: list[Neighbour] = []  # all that are stored of the query
        self._shown = 0  # of them
        self._elsewhere: Query | None = None  # the query in the evaluation compared with
        self.source = FailureSource(session, session)  # work may end after the page
        self.dialog: MistakesDialog | None = None
        self.source.ready.connect(self._ready)
        self.source.gave_up.connect(self._gave_up)
        self.source.compared.connect(self._compared)
        self.source.missed.connect(self._missed)
        self.other.changed.connect(self._compare)
        filters.mistakes_asked.connect(self.open_dialog)

    def show_evaluation(self, evaluation: Evaluation) -> None:
        """Explain another evaluation; the comparison stays while the run is the same."""
        self._evaluation = evaluation
        self.other.show_evaluation(evaluation)
        self._filters.drop_changes()
        self._filters.show_failures(None)
        if self.dialog is not None:
            self.dialog.show_failures(None)
        self.source.show(evaluation)
        if self.other.before is not None:
            self.source.compare(self.other.before.id, evaluation.id)

    def show_query(self, query: Query, near: list[Neighbour], shown: int) -> None:
        """Explain another query, of whose stored neighbours so many are shown."""
        self._query, self._near = query, near
        self._shown = min(shown, len(near))
        self._elsewhere = self.other.show_query(query, near[:shown])
        self._explain()

    def forget_query(self) -> None:
        """An image of one's own is shown: there is nothing to explain."""
        self._query = None

    def open_dialog(self) -> None:
        """Show confusions and hubs in a window of their own."""
        if self.dialog is None:
            self.dialog = MistakesDialog(shared_loader(self._session), self._filters)
            self.dialog.pair_chosen.connect(self._narrow)
            self.dialog.sample_chosen.connect(self.sample_chosen)
        self.dialog.show()
        self.dialog.raise_()
        QTimer.singleShot(0, self, self._fill_dialog)  # its window and ten thousands of rows are two steps

    def _fill_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.show_failures(self.source.found, self.source.working)

    def _explain(self) -> None:
        """Say what is known by now of the query."""
        query, found = self._query, self.source.found
        if query is None:
            return
        sentences = [before_first_hit(self._near, query.first_hit)]
        if found is None:
            sentences += ["The cause is being worked out…"] if query.first_hit > 1 and self.source.working else []
        elif (about := found.about(query.sample_id)) is not None:
            sentences.append(sentence(about))
        sentences.append(self._change(query))
        self._result.show_explanation(" ".join(filter(None, sentences)))
        if found is not None and query.r:
            self.source.look_for_missed(query.sample_id, self._shown)
        else:
            self._result.show_missed([], 0, 0)

    def _change(self, query: Query) -> str:
        there = self._elsewhere
        return "" if there is None else changed(there.first_hit, query.first_hit, self.other.word)

    def _ready(self, found: FailedQueries) -> None:
        self._filters.show_failures(found)
        self._fill_dialog()
        self._explain()

    def _gave_up(self) -> None:
        self._fill_dialog()
        self._explain()

    def _missed(self, sample_id: int, near: list[Neighbour], total: int) -> None:
        if self._query is not None and self._query.sample_id == sample_id:
            self._result.show_missed(near, total, self._shown)

    def _narrow(self, pair: ConfusedPair) -> None:
        self._filters.narrow(pair)

    def _compare(self) -> None:
        self._filters.drop_changes()
        before = self.other.before
        if before is not None and self._evaluation is not None:
            self.source.compare(before.id, self._evaluation.id)
        if self._query is not None:
            self._elsewhere = self.other.show_query(self._query, self._near[: self._shown])
        self._explain()

    def _compared(self, before: int, found: Changes) -> None:
        if self.other.before is not None and self.other.before.id == before:
            self._filters.show_changes(self.other.title, found.won, found.lost, found.right, found.wrong)
