"""The three cards over the Set up page while a workspace has no run: where a new user begins."""

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import IconLabel, label, restyle

TOP = Qt.AlignmentFlag.AlignTop
ONE_FOLDER_PER_CLASS = "A folder with one folder per class"


class StartCard(QFrame):
    """An icon, a heading, one sentence, one button."""

    pressed = Signal()

    def __init__(self, icon_name: str, title: str, sentence: str, verb: str, primary: bool = False) -> None:
        super().__init__()
        self.setProperty("card", "true")
        picture = IconLabel(icon_name, "accent", 24)
        self.button = button(verb, kind="primary" if primary else "")
        self.button.clicked.connect(self.pressed)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(label(title, "strong", wrap=True))
        self.sentence = label(sentence, "muted", wrap=True)
        words.addWidget(self.sentence)
        words.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addStretch(1)
        words.addLayout(row)
        line = in_row(picture, on=self, margins=12, spacing=12)
        line.setAlignment(picture, TOP)
        line.addLayout(words, 1)


class DropCard(StartCard):
    """A card that takes a folder or archive dropped on it."""

    dropped = Signal(object)  # Path

    def __init__(self, icon_name: str, title: str, sentence: str, verb: str) -> None:
        super().__init__(icon_name, title, sentence, verb)
        self.setAcceptDrops(True)
        self._frame("true")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_path(event.mimeData()) is not None:
            event.acceptProposedAction()
            self._frame("hot")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._frame("true")

    def dropEvent(self, event: QDropEvent) -> None:
        self._frame("true")
        path = dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.dropped.emit(path)

    def _frame(self, state: str) -> None:
        self.setProperty("drop", state)
        restyle(self)


class Welcome(QFrame):
    """Signals the user's choice; its cross hides it permanently."""

    sample_asked = Signal()
    images_offered = Signal(object)  # Path: a folder or archive of images
    workspace_asked = Signal()
    dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.sample = StartCard(
            "rocket-launch", "Try the sample (1 minute, no downloads)",
            "Trains a small network on the digits that come with Workbench.", "Train the sample", primary=True,
        )  # fmt: skip
        self.images = DropCard(
            "image",
            "Use my images",
            "Drop a folder or archive here that holds one folder per class.",
            "Choose a folder…",
        )
        self.open = StartCard("folder-open", "Open a workspace", "Shows the runs of another workspace.", "Open…")
        close = icon_button("x", "Hide these cards")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 4, 12)
        row.setSpacing(16)
        for card in (self.sample, self.images, self.open):
            row.addWidget(card, 1)
        row.addWidget(close)
        row.setAlignment(close, TOP)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.sample.pressed.connect(self.sample_asked)
        self.images.pressed.connect(self._choose_images)
        self.images.dropped.connect(self.images_offered)
        self.open.pressed.connect(self.workspace_asked)
        close.clicked.connect(self.dismissed)

    def set_compact(self, compact: bool) -> None:
        """Hide the sentences when the window is low."""
        for card in (self.sample, self.images, self.open):
            card.sentence.setVisible(not compact)
            card.button.setToolTip(card.sentence.text() if compact else "")
        self._keep_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_height()

    def _keep_height(self) -> None:
        """At least the height of the wrapped text at this width."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    def _choose_images(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, ONE_FOLDER_PER_CLASS)
        if chosen:
            self.images_offered.emit(Path(chosen))


def dropped_path(data: QMimeData) -> Path | None:
    """The first local file or folder of a drop, or None."""
    for url in data.urls():
        if url.isLocalFile():
            return Path(url.toLocalFile())
    return None
