"""Where the bars of the classes stand: right of the neighbours where there is room, else above the list of queries."""

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from workbench.ui.pages.retrieval.class_bars import WIDTH, ClassBars
from workbench.ui.pages.retrieval.query_list import QueryList
from workbench.ui.session import Session

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
        self._soon = QTimer(self, singleShot=True, interval=0)  # no widget moves while Qt lays others out
        self._soon.timeout.connect(self.place)
        content.installEventFilter(self)
        switch.toggled.connect(self._toggled)
        self.place()

    def place(self) -> None:
        """Put the bars where there is room at this width and size of text."""
        theme = self._session.theme
        wide = self._content.width() >= self._queries.width() + theme.side(WIDTH) + theme.side(CENTRE)
        if wide != self._wide:
            self._wide = wide
            row = self._content.layout()
            assert isinstance(row, QBoxLayout)
            self._bars.stand_alone(wide)
            if wide:
                row.addWidget(self._bars)
            else:
                self._queries.show_above(self._bars)
            shown = self._session.preferences.flag(self._key, default=wide)
            self._switch.setChecked(shown)
            self._bars.setVisible(shown)
        self._bars.fit_text(theme)

    @property
    def _key(self) -> str:
        return AT_THE_RIGHT if self._wide else IN_THE_LIST

    def _toggled(self, shown: bool) -> None:
        self._bars.setVisible(shown)
        self._session.preferences.set_flag(self._key, shown)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the content."""
        if watched is self._content and event.type() == QEvent.Type.Resize:
            self._soon.start()
        return super().eventFilter(watched, event)
