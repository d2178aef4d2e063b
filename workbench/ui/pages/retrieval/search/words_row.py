"""A few lines of words that the shown run is searched by, or the reason why it cannot be."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from workbench.running.search.text_search import TextAnswer
from workbench.ui.pages.retrieval.search.words_model import WordSearch
from workbench.ui.state.session import Session
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label

LINES = 3  # of text that are seen at once


class WordsRow(QWidget):
    """Draws a WordSearch; hidden until it is asked for."""

    def __init__(self, session: Session, show: Callable[[TextAnswer], None]) -> None:
        super().__init__()
        self.session = session
        self.model = WordSearch(session, show, self._draw)
        self.text = QPlainTextEdit(placeholderText="A red car seen from the front\nOne search per line")
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(own_keys("Words to search by: one search per line, Ctrl+Enter searches"))
        self.text.installEventFilter(self)
        self.go = button("Search", "magnifying-glass", "primary")
        self.answers = ElidedBox()
        self.answers.setAccessibleName("Line whose images are shown")
        self.hint = label("", "muted", wrap=True)
        side = in_column(self.go, 1, spacing=8)
        in_column(self.hint, in_row((self.text, 1), side, spacing=8), self.answers, on=self, spacing=8)
        self.go.clicked.connect(self._search)
        self.answers.activated.connect(self.model.choose)
        session.run_changed.connect(self._take_run)
        session.workspace_changed.connect(self._take_run)
        session.theme.changed.connect(self._fit_text)
        self._fit_text()
        self._draw()
        self.hide()

    def open(self, wanted: bool) -> None:
        """Show the row with the cursor in it, or hide it."""
        self.setVisible(wanted)
        if wanted:
            self.text.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._take_run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter searches."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._search()
                return True
        return super().eventFilter(watched, event)

    def _fit_text(self) -> None:
        self.text.setFixedHeight(LINES * self.fontMetrics().lineSpacing() + self.session.theme.px(14))

    def _take_run(self) -> None:
        if self.isVisible():
            self.model.show_run(self.session.workspace, self.session.run_id)

    def _search(self) -> None:
        self.model.search(self.text.toPlainText())

    def _draw(self) -> None:
        model = self.model
        self.hint.setText(model.why_not)
        self.hint.setVisible(bool(model.why_not))
        for part in (self.text, self.go):
            part.setVisible(not model.why_not)
        self.go.setEnabled(not model.searching)
        self.answers.setVisible(len(model.answers) > 1)
        if [answer.name for answer in model.answers] != [
            self.answers.itemText(at) for at in range(self.answers.count())
        ]:
            self.answers.clear()
            self.answers.addItems([answer.name for answer in model.answers])
        self.answers.setCurrentIndex(model.at if model.answers else -1)
