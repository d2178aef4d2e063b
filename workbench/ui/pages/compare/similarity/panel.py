"""The Similarity tab: how similar the embeddings of each two groups are, and what runs find together."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.comparing.comparison_text import (
    FIRST_ALONE,
    cka_meaning,
    in_no_cell,
    neighbours_meaning,
    seeds_beside,
)
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.overview import Overview
from workbench.comparing.queries.replacing import replacing
from workbench.comparing.queries.similarity import MOST_GROUPS, Similarity, similarity
from workbench.comparing.queries.together import together
from workbench.comparing.queries.unread import unread_words
from workbench.comparing.replacing_text import HEAD as REPLACED
from workbench.comparing.replacing_text import MEANING as OF_REPLACING
from workbench.comparing.replacing_text import replacing_columns, replacing_notes, replacing_rows
from workbench.comparing.together_text import HEAD as ENSEMBLES
from workbench.comparing.together_text import MEANING as OF_ENSEMBLES
from workbench.comparing.together_text import together_columns, together_notes, together_rows
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.compare.similarity.matrix import CKA, NEIGHBOURS, SimilarityPlot
from workbench.ui.pages.compare.similarity.searched_runs import Question, SearchedRuns
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

READING = "Reading embeddings…"
CANCELLED = "Comparing the embeddings was cancelled. Open the tab again to compare them."
TOGETHER, REPLACE = "together", "replace"
QUESTIONS = {
    TOGETHER: Question(
        "Search with runs together", "R@1 and MAP@R of each run alone, of pairs and of all together", "together.csv",
        OF_ENSEMBLES, ENSEMBLES, together, together_rows, together_notes, together_columns,
    ),
    REPLACE: Question(
        "Search with one run in place of another", "R@1 of one run in place of another", "replace.csv",
        OF_REPLACING, REPLACED, replacing, replacing_rows, replacing_notes, replacing_columns,
    ),
}  # fmt: skip


class SimilarityPanel(QWidget):
    """Reads the embeddings of the ticked runs on a thread, when it is opened."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._overview: Overview | None = None
        self._reading = Newest(session)
        self._refused = ""  # why there is no similarity, where the other questions may have answers
        self.similarity: Similarity | None = None
        choices = (CKA, "CKA"), (NEIGHBOURS, "Same neighbours"), (TOGETHER, "Together"), (REPLACE, "Replace")
        self.value = Segments("Similarity by", choices)
        self.value.set_value(CKA)
        self.value.buttons[TOGETHER].setToolTip("What runs find with their embeddings side by side, as one embedding")
        self.value.buttons[REPLACE].setToolTip("What a new run finds in the gallery of an old one")
        self.words, self.notes = label("", wrap=True), label("", "muted", wrap=True)
        self.plot = SimilarityPlot()
        self._scrolled = Scrolled(self.plot)
        self.searched = {value: SearchedRuns(session, question) for value, question in QUESTIONS.items()}
        head = in_row((self.words, 1), self.value, spacing=8)
        in_column(
            head,
            (self._scrolled, 1),
            self.notes,
            *((view, 1) for view in self.searched.values()),
            0,
            on=self,
            margins=8,
        )
        self.value.chosen.connect(self._draw)
        self.plot.wished.connect(self.wished)
        self._say("")

    def show_overview(self, overview: Overview) -> None:
        """Compare the groups of this overview, on a thread; of the one that is shown the answers are drawn again."""
        if overview is self._overview and self.similarity is not None:
            self._draw()  # in other colours
            return
        self._overview = overview
        for view in self.searched.values():
            view.show_overview(overview)
        self._compare(overview)

    def _compare(self, overview: Overview) -> None:
        self._say(READING)
        workspace = self._session.workspace

        def work(progress: Progress) -> Similarity:
            return similarity(workspace, overview, progress)

        self._reading.ask("Compare embeddings", work, self._show, self._fail, cancelled=self._tell_cancelled)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        left_out = self.similarity is not None and self.similarity.unread
        if self._overview is not None and (self._refused or left_out):  # a file may be put back meanwhile
            self._compare(self._overview)

    def _say(self, text: str) -> None:
        """Show a sentence in place of the picture."""
        self._reading.cancel()
        self.similarity, self._refused = None, ""
        self.words.setText(text)
        for part in (self._scrolled, self.value, self.notes, *self.searched.values()):
            part.hide()

    def _show(self, of_groups: Similarity) -> None:
        self.similarity = of_groups
        self.value.show()
        self._draw()

    def _refuse(self, why: str) -> None:
        """Say why nothing is drawn. The searches do not need it, and are still offered."""
        self._say(why)
        self._refused = why
        self.value.show()
        self._draw()

    def _tell_cancelled(self) -> None:
        self._refuse(CANCELLED)

    def _fail(self, problem: Problem) -> None:
        self._refuse(str(problem))

    def _draw(self) -> None:
        of_groups = self.similarity
        if self._overview is None or (of_groups is None and not self._refused):
            return
        chosen = self.value.value()
        for part in (self._scrolled, self.notes):
            part.setVisible(of_groups is not None and chosen not in self.searched)
        for value, view in self.searched.items():
            view.setVisible(chosen == value)
        if chosen in self.searched:
            self.words.setText(QUESTIONS[chosen].name)
            return
        if of_groups is None:
            self.words.setText(self._refused)
            return
        self.words.setText(cka_meaning(of_groups) if chosen == CKA else neighbours_meaning(of_groups))
        self.plot.show_similarity(of_groups, unlike_parts(list(of_groups.titles)), chosen)
        first = FIRST_ALONE if len(self._overview.groups) > MOST_GROUPS else ""
        left_out = in_no_cell(of_groups.left_out), unread_words(of_groups.unread)
        self.notes.setText(" ".join(filter(None, (seeds_beside(of_groups), *left_out, first))))
