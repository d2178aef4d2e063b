"""Brings explanations to the page: what is worked out on threads goes to the list, the query and the dialog."""

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.failed_queries import Changes, ConfusedPair, FailedQueries
from workbench.problem import Problem
from workbench.ui.pages.retrieval.causes import before_first_hit, changed, sentence
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
        self._before: Evaluation | None = None  # that it is compared with
        self._query: Query | None = None
        self._near: list[Neighbour] = []  # all that are stored of the query
        self._shown = 0  # of them
        self.source = FailureSource(session, session)  # work may end after the page
        self.dialog: MistakesDialog | None = None
        self.source.ready.connect(self._ready)
        self.source.gave_up.connect(self._gave_up)
        self.source.compared.connect(self._compared)
        self.source.missed.connect(self._missed)
        filters.compare_chosen.connect(self._compare)
        filters.mistakes_asked.connect(self.open_dialog)
        session.evaluations_changed.connect(self._list_evaluations)

    def show_evaluation(self, evaluation: Evaluation) -> None:
        """Explain another evaluation; the comparison stays where its evaluation is of the same run."""
        self._evaluation = evaluation
        before = self._before
        if before is not None and (before.run_id != evaluation.run_id or before.id == evaluation.id):
            self._before = None
        self._filters.drop_changes()
        self._list_evaluations()
        self._filters.show_failures(None)
        if self.dialog is not None:
            self.dialog.show_failures(None)
        self.source.show(evaluation)
        if self._before is not None:
            self.source.compare(self._before.id, evaluation.id)

    def show_query(self, query: Query, near: list[Neighbour], shown: int) -> None:
        """Explain another query, of whose stored neighbours so many are shown."""
        self._query, self._near = query, near
        self._shown = min(shown, len(near))
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
        if self._before is None:
            return ""
        try:
            before = self._session.workspace.query(self._before.id, query.sample_id)
        except Problem:  # that evaluation is of another test half
            return ""
        word = "the untrained network" if self._before.epoch == 0 else word_for(self._before)
        return changed(before.first_hit, query.first_hit, word)

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

    def _list_evaluations(self) -> None:
        now = self._evaluation
        if now is None:
            return
        every = self._session.workspace.evaluations(now.run_id)
        others = [(word_for(each), each.id) for each in every if each.id != now.id and each.distance == now.distance]
        self._filters.show_evaluations(others, None if self._before is None else self._before.id)

    def _compare(self, evaluation_id: int | None) -> None:
        self._before = None if evaluation_id is None else self._session.workspace.evaluation(evaluation_id)
        self._filters.drop_changes()
        if self._before is not None and self._evaluation is not None:
            self.source.compare(self._before.id, self._evaluation.id)
        self._explain()

    def _compared(self, before: int, found: Changes) -> None:
        if self._before is not None and self._before.id == before:
            self._filters.show_changes(word_for(self._before), found.won, found.lost, found.right, found.wrong)


def word_for(evaluation: Evaluation) -> str:
    """ "epoch 3", or "untrained" for the evaluation before the first."""
    return "untrained" if evaluation.epoch == 0 else f"epoch {evaluation.epoch}"
