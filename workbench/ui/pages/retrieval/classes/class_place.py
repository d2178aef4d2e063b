"""The position of the class bars: right of the neighbours if there is space, else above the list of queries.

Above the list they share the height with the similarities. Where both do not fit, the one that was open before folds.
"""

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from workbench.ui.pages.retrieval.classes.class_bars import WIDTH, ClassBars
from workbench.ui.pages.retrieval.queries.query_list import QueryList
from workbench.ui.state.session import Session

CENTRE = 560  # px at 100% text that query and neighbours need beside both columns
AT_THE_RIGHT, IN_THE_LIST = "retrieval/classes", "retrieval/classes-in-list"  # in the preferences: whether shown there


class ClassPlace(QObject):
    """Moves the bars when the width changes, and remembers for both places whether the user wants them there.

    Args:
        switch: the checkable button that shows and hides them.
        content: holds the queries, what is beside them, and the bars, in one row.
    """

    def __init__(
        self, session: Session, bars: ClassBars, queries: QueryList, switch: QPushButton, content: QWidget
    ) -> None:
        super().__init__(content)
        self._session, self._bars, self._queries, self._switch = session, bars, queries, switch
        self._content = content
        self._wide: bool | None = None
        self._bars_last = False  # whether the bars were opened after the similarities
        self._soon = QTimer(self, singleShot=True, interval=0)  # no widget moves while Qt lays others out
        self._soon.timeout.connect(self.place)
        content.installEventFilter(self)
        queries.installEventFilter(self)
        switch.toggled.connect(self._toggled)
        queries.similarity.unfold.toggled.connect(self._unfolded)
        self.place()

    def place(self) -> None:
        """Put the bars where there is space at this width and size of text."""
        theme, page = self._session.theme, self._content.width()
        self._queries.fit_room(theme, page)
        wide = page >= self._queries.width() + theme.side(WIDTH) + theme.side(CENTRE)
        if wide != self._wide:
            self._wide = wide
            row = self._content.layout()
            assert isinstance(row, QBoxLayout)
            self._bars.stand_alone(wide)
            self._bars.tighten(False)
            if wide:
                row.addWidget(self._bars)
            else:
                self._queries.show_above(self._bars)
            shown = self._session.preferences.flag(self._key, default=wide)
            self._switch.setChecked(shown)
            self._show(shown)
        self._bars.fit_text(theme, page)
        if not self._wide:
            self._fold()

    def _fold(self) -> None:
        """Close the similarities or the bars above the list, whichever was open before, where both do not fit.

        Bars that do not fit alone are shown with one row.
        """
        unfold = self._queries.similarity.unfold
        fits = self._queries.spare >= self._bars.saved
        if self._switch.isChecked() and unfold.isChecked() and not fits:
            (unfold if self._bars_last else self._switch).setChecked(False)
        self._bars.tighten(self._switch.isChecked() and not unfold.isChecked() and not fits)

    def _show(self, shown: bool) -> None:
        """Show the bars or not; confusions have a button above the list where they have no bars."""
        self._bars.setVisible(shown)
        self._queries.why.mistakes.setVisible(not (shown and self._wide))

    @property
    def _key(self) -> str:
        return AT_THE_RIGHT if self._wide else IN_THE_LIST

    def _toggled(self, shown: bool) -> None:
        self._bars_last = shown
        self._show(shown)
        self._session.preferences.set_flag(self._key, shown)

    def _unfolded(self, shown: bool) -> None:
        self._bars_last = not shown

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the content and the height that the parts of the list need."""
        resized = watched is self._content and event.type() == QEvent.Type.Resize
        if resized or (watched is self._queries and event.type() == QEvent.Type.LayoutRequest):
            self._soon.start()
        return super().eventFilter(watched, event)
