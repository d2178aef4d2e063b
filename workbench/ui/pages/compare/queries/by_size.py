"""The Class size tab: the difference of two groups for rare and frequent classes, paired over classes."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.comparing.queries.overlap import PairOfRuns
from workbench.comparing.queries.pairing import Comparison
from workbench.jobs.newest import Newest
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.size_differences import ComparedBySize, compared_by_size, compared_rows, compared_titles
from workbench.ui.pages.compare.style.word_table import ROW_PX, WordTable, fit_columns, table_view
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.table_actions import TableActions

NO_QUERIES = "The compared metric has no values of single queries, so classes cannot be compared. Choose MAP@R or R@1."
CANCELLED = "Comparing the classes was cancelled. Open the tab again to compare them."
Asked = tuple[Comparison, Sequence[PairOfRuns]]
LEAST_ROWS = 5  # the head, three groups, and a bar to scroll sideways
FILLS = 1000  # stretch of the table, beside which that of the room below it is nothing
READING = "Comparing the classes…"


class SizeDifferences(QWidget):
    """Compares the classes of two groups on a thread once it is visible."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._reading = session, Newest(session)
        self.compared: ComparedBySize | None = None
        self._asked: Asked | None = None
        self._cancelled: Asked | None = None  # what is compared when the tab is shown again
        self.words, self.beside = label("", wrap=True), label("", "muted", wrap=True)
        self.model = WordTable(self)
        self.table = table_view(self.model, "Differences by class size")
        TableActions(session.fulfil, self.table, "class-sizes.csv")
        content = QWidget()
        in_column(self.words, (self.table, FILLS), self.beside, 1, on=content, margins=8)
        in_column(ScrolledDown(content), on=self)
        self._need_rows()
        self.say("")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "table"):
            self._need_rows()

    def _need_rows(self) -> None:
        self.table.setMinimumHeight(theme.text_px(LEAST_ROWS * ROW_PX))

    def show_pair(self, comparison: Comparison, paired: Sequence[PairOfRuns]) -> None:
        """Compare the classes of other groups; of the pairs of runs the first gives the sizes."""
        queries = comparison.queries
        if queries is None or not paired:
            self.say(NO_QUERIES)
            return
        self.say(READING)
        self._asked = comparison, paired
        workspace, evaluations = self._session.workspace, (paired[0].first, paired[0].second)

        def work(progress: Progress) -> ComparedBySize:
            return compared_by_size(workspace, evaluations, queries.sample_ids, queries.first, queries.second, progress)

        shown = partial(self._show, comparison)
        self._reading.ask("Compare by class size", work, shown, self._fail, cancelled=self._tell_cancelled)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._cancelled is not None:
            self.show_pair(*self._cancelled)

    def _tell_cancelled(self) -> None:
        asked = self._asked
        self.say(CANCELLED)
        self._cancelled = asked

    def say(self, text: str) -> None:
        """Show a sentence in place of the table."""
        self._reading.cancel()
        self.compared = self._asked = self._cancelled = None
        self.words.setText(text)
        self.beside.setText("")
        self.table.hide()

    def _show(self, comparison: Comparison, compared: ComparedBySize) -> None:
        self.compared = compared
        title = metric_name(comparison.metric)
        what = f"{title}: “{comparison.second.title}” minus “{comparison.first.title}”."
        self.words.setText(f"{what} {compared.sentences[0]}")
        self.beside.setText("\n".join(compared.sentences[1:]))
        self.model.show(compared_titles(compared, "Baseline", "Other"), compared_rows(compared))
        self.table.setVisible(bool(compared.rows))
        fit_columns(self.table)

    def _fail(self, problem: Problem) -> None:
        self.say(str(problem))
