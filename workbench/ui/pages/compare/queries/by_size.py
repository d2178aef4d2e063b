"""The Class size tab: the difference of two groups for rare and frequent classes, paired over classes."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from workbench.comparing.queries.overlap import PairOfRuns
from workbench.comparing.queries.pairing import Comparison
from workbench.jobs.newest import Newest
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.size_differences import ComparedBySize, compared_by_size, compared_rows
from workbench.ui.pages.compare.style.word_table import WordTable, fit_columns, table_view
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label

NO_QUERIES = "The compared metric has no values of single queries, so classes cannot be compared. Choose MAP@R or R@1."
CANCELLED = "Comparing the classes was cancelled. Another choice of groups compares them again."
TITLES = ("Group", "Images", "Classes", "Baseline %", "Other %", "Δ points", "95%")
READING = "Comparing the classes…"


class SizeDifferences(QWidget):
    """Compares the classes of two groups on a thread once it is visible."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._reading = session, Newest(session)
        self.compared: ComparedBySize | None = None
        self.words, self.beside = label("", wrap=True), label("", "muted", wrap=True)
        self.model = WordTable(self)
        self.table = table_view(self.model, "Differences by class size")
        in_column(self.words, (self.table, 1), self.beside, 0, on=self, margins=8)
        self.say("")

    def show_pair(self, comparison: Comparison, paired: Sequence[PairOfRuns]) -> None:
        """Compare the classes of other groups; of the pairs of runs the first gives the sizes."""
        queries = comparison.queries
        if queries is None or not paired:
            self.say(NO_QUERIES)
            return
        self.say(READING)
        workspace, evaluations = self._session.workspace, (paired[0].first, paired[0].second)

        def work(progress: Progress) -> ComparedBySize:
            return compared_by_size(workspace, evaluations, queries.sample_ids, queries.first, queries.second, progress)

        cancelled = partial(self.say, CANCELLED)
        self._reading.ask(
            "Compare by class size", work, partial(self._show, comparison), self._fail, cancelled=cancelled
        )

    def say(self, text: str) -> None:
        """Show a sentence in place of the table."""
        self._reading.cancel()
        self.compared = None
        self.words.setText(text)
        self.beside.setText("")
        self.table.hide()

    def _show(self, comparison: Comparison, compared: ComparedBySize) -> None:
        self.compared = compared
        title = metric_name(comparison.metric)
        what = f"{title}: “{comparison.second.title}” minus “{comparison.first.title}”."
        self.words.setText(f"{what} {compared.sentences[0]}")
        self.beside.setText("\n".join(compared.sentences[1:]))
        self.model.show(TITLES, compared_rows(compared))
        self.table.setVisible(bool(compared.rows))
        fit_columns(self.table)

    def _fail(self, problem: Problem) -> None:
        self.say(str(problem))
