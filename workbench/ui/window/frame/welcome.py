"""The three cards over the Set up page while a workspace has no run: where a new user begins."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout

from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import IconLabel, label, plain_tip, restyle

TOP = Qt.AlignmentFlag.AlignTop
LEFT, BETWEEN, RIGHT = 16, 16, 4  # px beside the cards
BESIDE = 38  # px around the icon and the button of a card
ONE_FOLDER_PER_CLASS = "A folder with one folder per class"


class StartCard(QFrame):
    """An icon, a heading, one sentence, one button; where that has no room, the button alone, with a `short` word."""

    pressed = Signal()

    def __init__(self, icon_name: str, title: str, sentence: str, verb: str, short: str, primary: bool = False) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._verb, self._short = verb, short
        self._low = self._bare = False
        self.picture, self.title = IconLabel(icon_name, "accent", 24), label(title, "strong", wrap=True)
        self.button = button(verb, kind="primary" if primary else "")
        self.button.setAccessibleName(verb)
        self.button.clicked.connect(self.pressed)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.title)
        self.sentence = label(sentence, "muted", wrap=True)
        words.addWidget(self.sentence)
        words.addStretch(1)
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addStretch(1)
        words.addLayout(row)
        line = in_row(self.picture, on=self, margins=12, spacing=12)
        line.setAlignment(self.picture, TOP)
        line.addLayout(words, 1)

    def set_low(self, low: bool) -> None:
        """Hide the sentence, which is then in the button's tooltip."""
        self._low = low
        self._arrange()

    def needed(self) -> int:
        """Px of width that icon and button take."""
        frame, text = self.button.sizeHint().width(), self.button.fontMetrics().horizontalAdvance
        return frame - text(self.button.text()) + text(self._verb) + self.picture.sizeHint().width() + BESIDE

    def set_bare(self, bare: bool) -> None:
        """Show the button alone."""
        self._bare = bare
        self._arrange()

    def _arrange(self) -> None:
        self.picture.setVisible(not self._bare)
        self.title.setVisible(not self._bare)
        self.sentence.setVisible(not self._bare and not self._low)
        self.button.setText(self._short if self._bare else self._verb)
        self.button.setToolTip(plain_tip(self.sentence.text()) if self._bare or self._low else "")


class DropCard(StartCard):
    """A card that takes a folder or archive dropped on it."""

    dropped = Signal(object)  # Path

    def __init__(self, icon_name: str, title: str, sentence: str, verb: str, short: str) -> None:
        super().__init__(icon_name, title, sentence, verb, short)
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

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.sample = StartCard(
            "rocket-launch", "Try the sample (no downloads)",
            "Trains a small network on the digits that come with Workbench, in about a minute on a laptop.",
            "Train the sample", "Sample", primary=True,
        )  # fmt: skip
        self.images = DropCard(
            "image",
            "Use my images",
            "Drop a folder or archive here that holds one folder per class.",
            "Choose a folder…",
            "Images…",
        )
        self.open = StartCard(
            "folder-open", "Open a workspace", "Shows the runs of another workspace.", "Open…", "Open…"
        )
        self._close = icon_button("x", "Hide these cards")
        row = QHBoxLayout(self)
        row.setContentsMargins(LEFT, 12, RIGHT, 12)
        row.setSpacing(BETWEEN)
        self._cards = (self.sample, self.images, self.open)
        for card in self._cards:
            row.addWidget(card, 1)
        row.addWidget(self._close)
        row.setAlignment(self._close, TOP)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.sample.pressed.connect(self.sample_asked)
        self.images.pressed.connect(self._choose_images)
        self.images.dropped.connect(self.images_offered)
        self.open.pressed.connect(self.workspace_asked)
        self._close.clicked.connect(self.dismissed)

    def set_compact(self, compact: bool) -> None:
        """Hide the sentences when the window is low."""
        for card in self._cards:
            card.set_low(compact)
        self._keep_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_cards"):
            self._fit()

    def _fit(self) -> None:
        """Show the buttons alone if they have no room beside the icons."""
        around = LEFT + RIGHT + len(self._cards) * BETWEEN + self._close.sizeHint().width()
        bare = sum(card.needed() for card in self._cards) > self.width() - around
        for card in self._cards:
            card.set_bare(bare)
        self._keep_height()

    def _keep_height(self) -> None:
        """At least the height of the wrapped text at this width."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(max(0, layout.totalHeightForWidth(self.width())))  # buttons alone have none

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
