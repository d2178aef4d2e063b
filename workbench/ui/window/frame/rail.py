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
        self._end = self._make_end()
        self.addWidget(self._end)
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
        """Leave out the icons where the evaluation could not be read beside them, and else the names of the pages.

        Behind the arrow of a full tool bar neither keys nor a screen reader would find the evaluation.
        """
        beside, named = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonTextOnly
        end, icons, wide = theme.text_px(END), (SIZE + BESIDE + GAP) * len(self._buttons), 0
        for button in self._buttons:
            style = button.toolButtonStyle()
            wide += button.sizeHint().width() + (SIZE + BESIDE + GAP if style is named else 0)
            wide += GAP + _text_px(button) if style is Qt.ToolButtonStyle.ToolButtonIconOnly else 0
        fitting = beside if wide + end <= self.width() else named
        if wide - icons + self._least_end() > self.width():
            fitting = Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._buttons:
            button.setToolButtonStyle(fitting)

    def _least_end(self) -> int:
        """Px that the end needs at least, with the room between all parts."""
        needed = self._end.minimumSizeHint().width()
        if (layout := self.layout()) is not None:
            margins = layout.contentsMargins()
            needed += layout.spacing() * len(self._buttons) + margins.left() + margins.right()
        return needed

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


def _text_px(button: QToolButton) -> int:
    """Px of a button's text with the room at its sides, as Qt lays it out."""
    metrics = button.fontMetrics()
    text = metrics.size(Qt.TextFlag.TextShowMnemonic, button.text()).width()
    return text + 2 * metrics.horizontalAdvance(" ")
