"""A table of what runs find with the embeddings of each other: searched on a thread when the user asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.comparing.overview import Overview
from workbench.files.spreadsheet import csv_text
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.compare.style.word_table import ROW_PX, WordTable, fit_columns, table_view
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.capped_text import CappedText
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace import Workspace

LEAST_ROWS = 5  # of the table with its head; where they have no room the tab scrolls
NOTES_LINES = 9  # below the table; beyond them they scroll
AT_ONCE = 5_000  # queries up to which it is searched as soon as it is shown
SEARCHING = "Searching…"
CANCELLED = "The search was cancelled."
LEFT_OUT = "The text below the table names the runs that are left out. Once their files are back, search again."
MINUTES = "These runs have up to {:,} queries, so the search takes minutes. It shows its progress and can be cancelled."
Columns = tuple[list[str], list[list[Any]]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for, and how the answer becomes a table."""

    task: str  # its line in the Activity panel
    name: str  # of the table, above it and for screen readers
    file: str  # proposed for the table
    meaning: str  # what the numbers are, below the table
    head: Sequence[str]
    measure: Callable[[Workspace, Overview, Progress], Any]  # on a thread; raises Problem
    rows: Callable[[Any], list[list[str]]]  # below the head, as they are shown
    notes: Callable[[Any], list[str]]
    columns: Callable[[Any], Columns]  # for a file


class SearchedRuns(QWidget):
    """The table of a question and what its numbers are; a button where that takes minutes or runs are left out."""

    def __init__(self, session: Session, question: Question) -> None:
        super().__init__()
        self._session, self.question = session, question
        self._overview: Overview | None = None
        self._reading = Newest(session)
        self.answer: Any = None
        self.words = label("", "muted", wrap=True)
        self.start = button("Search", "magnifying-glass")
        self.model = WordTable()
        self.view = table_view(self.model, question.name)
        self.notes = CappedText("muted", NOTES_LINES)
        self.notes.said.setAccessibleName(f"{question.name}: what the numbers are")
        actions = TableActions(session.fulfil, self.view, question.file, content=self._csv)
        self.copy, self.save = actions.icons()
        self._content = QWidget()
        foot = in_row((self.notes, 1), self.copy, self.save, spacing=8)
        in_column((self.view, 1), foot, 0, on=self._content)
        self._scrolled = ScrolledDown(self._content)
        in_column(in_row((self.words, 1), self.start, spacing=8), (self._scrolled, 1), 0, on=self)
        self._need_rows()
        self.start.clicked.connect(self._search)
        self._say("")

    def show_overview(self, overview: Overview) -> None:
        """Search these runs as soon as the table is shown; where that takes minutes, when the button is pressed."""
        self._overview = overview
        queries = _most_queries(overview)
        self._say(MINUTES.format(queries) if queries > AT_ONCE else "", ask=queries > AT_ONCE)
        self._search_if_shown()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_scrolled"):
            self._need_rows()

    def _need_rows(self) -> None:
        self.view.setMinimumHeight(theme.text_px(LEAST_ROWS * ROW_PX))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._search_if_shown()

    def _search_if_shown(self) -> None:
        waits = self.answer is None and not self._reading.busy and not self.words.text()
        if waits and self.isVisible() and self._overview is not None:
            self._search()

    def _search(self) -> None:
        overview, workspace, question = self._overview, self._session.workspace, self.question
        if overview is None:
            return
        self._say(SEARCHING)

        def work(progress: Progress) -> Any:
            return question.measure(workspace, overview, progress)

        self._reading.ask(question.task, work, self._show, self._fail, cancelled=self._tell_cancelled)

    def _say(self, text: str, *, ask: bool = False) -> None:
        """Show a sentence in place of the table, with or without the button."""
        self._reading.cancel()
        self.answer = None
        self.words.setText(text)
        self._arrange(ask)

    def _arrange(self, ask: bool) -> None:
        self.words.setVisible(self.answer is None or ask)
        self.start.setVisible(ask)
        self._scrolled.setVisible(self.answer is not None)

    def _show(self, answer: Any) -> None:
        self.answer = answer
        self.model.show(self.question.head, self.question.rows(answer))
        self.notes.set_text("\n".join((self.question.meaning, *self.question.notes(answer))))
        self.words.setText(LEFT_OUT if answer.unread else "")
        self._arrange(bool(answer.unread))
        fit_columns(self.view)

    def _tell_cancelled(self) -> None:
        self._say(CANCELLED, ask=True)

    def _fail(self, problem: Problem) -> None:
        self._say(str(problem), ask=True)  # a file may be put back meanwhile

    def _csv(self) -> Content:
        return partial(csv_text, *self.question.columns(self.answer))


def _most_queries(overview: Overview) -> int:
    evaluations = (measured.at(overview.at) for measured in overview.measured.values())
    return max((int(at.metrics.get("queries", 0)) for at in evaluations if at is not None), default=0)
