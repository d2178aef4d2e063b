"""The current suspect in Label triage: its picture, the evidence against its label, and the buttons to answer."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from workbench.ui.pages.retrieval.triage.answer_button import AnswerButton
from workbench.ui.pages.retrieval.triage.class_ranks import ClassRanks
from workbench.ui.pages.retrieval.triage.model import SHOWN, TriageModel
from workbench.ui.pages.retrieval.triage.words import claim, evidence
from workbench.ui.state.session import Session
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.flow import EvenFlow, in_lines
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.workspace.choices.label_decisions import DROP, KEEP, RELABEL, UNSURE

NEAR_PX, LARGE_PX = (180, 140, 100, 80, 60), 150  # sides of a neighbour, of which the largest that fits is taken
GAP = 6  # px between two neighbours
NEAR, LARGE = "triage-near", "triage-near-large"  # names of these requests to the loader
PAIR_TIP = "The suspect and its nearest images of both classes, enlarged, side by side (P)"
RIGHT, SUSPECTED = "label is right", "as suspected"  # second lines of the buttons
RELABEL_TIP = "“Relabel as” lists all classes."
NOTHING = (
    "No label of this evaluation is suspect: the neighbours of every image agree with its class. Lower the "
    "threshold above the list to see weaker suspicions."
)


class ClickedPicture(QLabel):
    """A picture that can be clicked."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("Click to show it beside the suspect, enlarged.")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class SuspectCard(Card):
    """Draws the current suspect of the model; the panel connects its buttons.

    Args:
        loader: of pictures; `draw_pictures` shows those that it has loaded.
    """

    pair_asked = Signal(object)  # sample id of the neighbour to show beside the suspect; None: the first

    def __init__(
        self, session: Session, model: TriageModel, loader: PictureLoader, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent=parent)
        self._session, self._model, self._loader = session, model, loader
        self._near_ids: list[list[int]] = [[], []]
        self._side = NEAR_PX[-1]
        self.picture = QLabel()
        self.picture.setFixedSize(LARGE_PX, LARGE_PX)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        offer_image_menu(self.picture, loader, lambda: None if model.current is None else model.current.sample_id)
        self.title = ElidedLabel("", "section", Qt.TextElideMode.ElideMiddle)
        self.claim, self.words = label("", "strong", wrap=True), label("", "muted", wrap=True)
        self.new_class = ElidedBox()
        self.new_class.setAccessibleName("Class that the image is relabelled to")
        self.new_class.setMinimumContentsLength(4)
        self.map, self.queries = button("Show in map", "map-trifold"), button("Show as query", "magnifying-glass")
        self.pair = button("Pair", "columns")
        self.pair.setToolTip(own_keys(PAIR_TIP))
        self.pair.clicked.connect(self.ask_pair)
        self.answers = {
            KEEP: AnswerButton("K", "Keep", RIGHT), RELABEL: AnswerButton("R", "Relabel", SUSPECTED, "primary"),
            DROP: AnswerButton("D", "Drop", "cannot be used"), UNSURE: AnswerButton("U", "Unsure", "ask again later"),
        }  # fmt: skip
        self.answers[DROP].say("Drop", "cannot be used", "New runs that use the answers leave the image out.")
        self.answers[UNSURE].say("Unsure", "ask again later", "Counts neither as a right nor as a wrong label.")
        self.near_titles = [label("", "strong", wrap=True) for _ in range(2)]
        self.near = [[ClickedPicture() for _ in range(SHOWN)] for _ in range(2)]
        for at, pictures in enumerate(self.near):
            for place, picture in enumerate(pictures):
                picture.clicked.connect(partial(self._ask_near_pair, at, place))
        self._size_near()
        self.ranks = ClassRanks()
        relabelling = in_row(caption("Relabel as", self.new_class), (self.new_class, 1))
        text = in_column(self.title, self.claim, 1, relabelling)
        self.body.addLayout(in_row(self.picture, (text, 1), spacing=16))
        self.body.addWidget(self.words)
        answers = EvenFlow()
        for answer in self.answers.values():
            answers.addWidget(answer)
        self.body.addLayout(answers)
        self.body.addLayout(in_lines(self.map, self.queries, self.pair))
        for title, pictures in zip(self.near_titles, self.near, strict=True):
            self.body.addWidget(title)
            self.body.addLayout(in_lines(*pictures, spacing=GAP))
        self.body.addWidget(self.ranks)
        self.body.addStretch(1)
        self.new_class.currentIndexChanged.connect(self._say_answers)

    def offer_classes(self) -> None:
        """Offer the classes of the evaluation as the new label."""
        triage = self._model.triage
        self.new_class.clear()
        for number in [] if triage is None else sorted(set(triage.stored.labels.tolist())):
            self.new_class.addItem(self._session.class_name(number), number)
        names = [self.new_class.itemText(at) for at in range(self.new_class.count())]
        self.answers[RELABEL].need_room(f"Relabel to {max(names, key=len, default='')}")

    def draw(self) -> None:
        """Draw the current suspect, or that nothing is listed."""
        suspect, triage = self._model.current, self._model.triage
        for widget in (*self.answers.values(), self.map, self.queries, self.pair):
            widget.setEnabled(suspect is not None)
        if suspect is None:
            self.title.setText("Nothing is listed")
            self.claim.setText("")
            self.words.setText(NOTHING if triage is not None and not triage.suspects else "")
            self.picture.clear()
        else:
            own, new = self._session.class_name(suspect.label), self._session.class_name(suspect.suggested)
            self.title.setText(f"{own}, suspect {self._model.at + 1:,} of {len(self._model.listed):,}")
            self.claim.setText(claim(suspect, own, new))
            self.words.setText(evidence(suspect, own, new))
            self.new_class.setCurrentIndex(self.new_class.findData(suspect.suggested))
        self._say_answers()
        self._draw_near()
        self._draw_ranks()
        if suspect is not None:
            self._loader.request(LARGE, [suspect.sample_id], LARGE_PX)
        self._ask_near()
        self.draw_pictures()

    def ask_pair(self) -> None:
        """Ask for the suspect beside its nearest image of the suggested class."""
        self.pair_asked.emit(None)

    def _ask_near_pair(self, at: int, place: int) -> None:
        self.pair_asked.emit(self._near_ids[at][place])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.contentsRect().width() - self.body.contentsMargins().left() - self.body.contentsMargins().right()
        side = next((side for side in NEAR_PX if SHOWN * (side + GAP) - GAP <= room), NEAR_PX[-1])
        if side != self._side:
            self._side = side
            self._size_near()
            self._ask_near()
            self.draw_pictures()

    def _size_near(self) -> None:
        for picture in (*self.near[0], *self.near[1]):
            picture.setFixedSize(self._side, self._side)

    def _ask_near(self) -> None:
        numbers = [number for row in self._near_ids for number in row]
        if numbers:
            self._loader.request(NEAR, numbers, self._side)

    def _say_answers(self) -> None:
        """Name the classes on the buttons: the one that stays, and the chosen new one."""
        suspect = self._model.current
        own = "" if suspect is None else f" {self._session.class_name(suspect.label)}"
        new = "" if suspect is None else f" to {self.new_class.currentText()}"
        chosen = suspect is not None and self.new_class.currentData() != suspect.suggested
        self.answers[KEEP].say(f"Keep{own}", RIGHT)
        self.answers[RELABEL].say(f"Relabel{new}", "as chosen" if chosen else SUSPECTED, RELABEL_TIP)

    def _draw_ranks(self) -> None:
        triage = self._model.triage
        searched = 0 if triage is None else triage.stored.near.shape[1]
        ranks = self._model.ranks().items()
        self.ranks.show_ranks([(self._session.class_name(label), places) for label, places in ranks], searched)

    def _draw_near(self) -> None:
        self._near_ids = [[], []]
        near = list(self._model.neighbours().items())[:2]
        for at, (number, ranked) in enumerate(near):
            self._near_ids[at] = [sample_id for _, sample_id in ranked]
            words = ["first the one in the training set" if rank == 0 else str(rank) for rank, _ in ranked]
            ranks = ", ".join(words) or "none among the stored neighbours"
            word = "rank" if len(ranked) == 1 else "ranks"
            self.near_titles[at].setText(f"Nearest labelled {self._session.class_name(number)}: {word} {ranks}")
        for at, title in enumerate(self.near_titles):
            title.setVisible(at < len(near))

    def draw_pictures(self) -> None:
        """Show the pictures that have been loaded."""
        suspect = self._model.current
        large = None if suspect is None else self._loader.pixmap(suspect.sample_id, LARGE_PX)
        self.picture.setPixmap(large or QPixmap())
        for ids, pictures in zip(self._near_ids, self.near, strict=True):
            for at, picture in enumerate(pictures):
                pixmap = self._loader.pixmap(ids[at], self._side) if at < len(ids) else None
                picture.setPixmap(pixmap or QPixmap())
                picture.setVisible(at < len(ids))
