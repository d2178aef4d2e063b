"""The slim bar under the menus: the pages with icon and name, and at its end the run that is shown."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.style.icons import SIZE
from workbench.ui.style.words import epoch_at_work, work_word
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import BESIDE
from workbench.ui.widgets.evaluation.epoch_chooser import EpochChooser
from workbench.ui.widgets.labels import ElidedLabel

GAP = 4  # px that Qt leaves between the icon and the text of a button
END = 240  # px at 100% text that the shown run and its evaluation need


class Rail(QToolBar):
    """One checkable button per page, from the same actions as the View menu; without icons where it lacks room."""

    def __init__(self, session: Session, pages: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__("Pages", parent)
        self.setObjectName("rail")
        self.setMovable(False)
        self.setIconSize(QSize(SIZE + BESIDE, SIZE))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._session = session
        self._buttons = [self._button(action) for action in pages]
        for button in self._buttons:
            self.addWidget(button)
        self._dot = QLabel()
        self._dotted = ""  # the colour of the dot
        self.evaluation = EpochChooser(session)
        self.run = ElidedLabel("", "muted", Qt.TextElideMode.ElideMiddle)
        self.run.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.run.setAccessibleName("Shown run")
        self.addWidget(self._make_end())
        session.run_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.theme.changed.connect(self.refresh)
        self.refresh()

    def _make_end(self) -> QWidget:
        end = QWidget()
        end.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        in_row((self.run, 1), self._dot, self.evaluation, on=end, margins=(16, 0, 4, 0), spacing=8)
        return end

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setProperty("rail", "true")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave out the icons where the evaluation could not be read beside them."""
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonTextOnly
        wide = theme.text_px(END)
        for button in self._buttons:
            left_out = 0 if button.toolButtonStyle() is beside else SIZE + BESIDE + GAP
            wide += button.sizeHint().width() + left_out
        for button in self._buttons:
            button.setToolButtonStyle(beside if wide <= self.width() else alone)

    def refresh(self) -> None:
        """Name the shown run and its state."""
        self._fit()
        run = self._session.run()
        self._dot.setVisible(run is not None)
        if run is None:
            self.run.setText("No run selected")
            return
        if (colour := theme.run_colour(run.colour)) != self._dotted:
            self._dotted = colour
            dot = QPixmap(10, 10)
            dot.fill(colour)
            self._dot.setPixmap(dot)
        epoch = f", epoch {epoch_at_work(run)} / {run.epochs}" if run.status == "running" and run.epochs else ""
        word = work_word(run, self._session.control(run.id), self._session.follower.away)
        self.run.setText(f"{run.name}: {word.lower()}{epoch}")
