"""The choices of the filter by cause, of an evaluation to compare with, and what they leave, as Browsing has them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.results.search_methods import USUAL, title_of, way_of
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.style.icons import icon
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label, plain_tip

COMPARE = "Compare with…"
COMPARE_TIP = (
    "Which queries were won or lost compared with another evaluation, another run on the same images, "
    "or another search method"
)


class FailureFilter(QWidget):
    """Draws the filters of `browsing` and passes the user's choices to it. `causes` is placed by who makes this."""

    mistakes_asked = Signal()
    left_out_asked = Signal(str)  # a tag
    search_asked = Signal()  # by the method that is compared with, or to cancel that

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self.browsing = browsing
        self._drawn: object = None  # what can be compared with, as it is in the chooser
        self._build()
        self.draw()
        self.causes.activated.connect(self._choose_cause)
        self.compare.activated.connect(self._choose_comparison)
        self.mistakes.clicked.connect(self.mistakes_asked)
        self.narrowed.clicked.connect(self._drop_pair)
        self.left_out.clicked.connect(self._ask_left_out)
        self.search.clicked.connect(self.search_asked)

    def _build(self) -> None:
        self.causes = _chooser("Cause of failure", "Only failed queries with this suspected cause")
        self.compare = _chooser("Evaluation to compare with", COMPARE_TIP)
        self.mistakes = button("Confusions", "squares-four", "quiet")
        self.mistakes.setToolTip("Which classes are mistaken for which, and which samples are hubs")
        self.differences = label("", "caption", wrap=True)
        self.differences.hide()
        self.search_said = label("", "caption", wrap=True)
        self.search_said.hide()
        self.search = button("", "magnifying-glass")
        self.search.hide()
        self.narrowed = button("", "x", "quiet")
        self.narrowed.setToolTip("List the queries of all confusions again")
        self.narrowed.hide()
        self.left_out = button("MAP@R if left out", "minus-circle", "quiet")
        self.left_out.setToolTip("What MAP@R would be without these samples; nothing is changed")
        self.left_out.hide()
        self.left_out_said = label("", "caption", wrap=True)
        self.left_out_said.hide()
        in_column(
            in_row((self.compare, 1), self.mistakes, spacing=8),
            self.search_said,
            (self.search, Qt.AlignmentFlag.AlignLeft),
            self.differences,
            (self.left_out, Qt.AlignmentFlag.AlignLeft),
            self.left_out_said,
            (self.narrowed, Qt.AlignmentFlag.AlignLeft),
            on=self,
            spacing=8,
        )

    def draw(self) -> None:
        """Take over choices, numbers and what is chosen from the model."""
        filters = self.browsing.filters
        self._draw_causes()
        self._draw_comparison()
        self.differences.setText(filters.differences())
        self.differences.setVisible(filters.changes is not None)
        self.narrowed.setText(filters.pair_title().replace("&", "&&"))  # else Qt takes it for the mark of a key
        self.narrowed.setVisible(filters.pair is not None)
        self._offer_left_out()

    def show_search(self, words: str, action: str, *, goes_on: bool = False) -> None:
        """Say what a search by the method takes, or that it goes on, with what the button does; empty for nothing."""
        self.search.setIcon(icon("x" if goes_on else "magnifying-glass"))
        self.search_said.setText(words)
        self.search.setText(action)
        self.search_said.setVisible(bool(words))
        self.search.setVisible(bool(action))

    def show_left_out(self, sentence: str) -> None:
        """Say what MAP@R would be without the samples of the chosen tag; empty for nothing."""
        self.left_out_said.setText(sentence)
        self.left_out_said.setVisible(bool(sentence))

    def _draw_causes(self) -> None:
        self.causes.clear()
        for number, group in enumerate(self.browsing.filters.options()):
            if number:
                self.causes.insertSeparator(self.causes.count())
            for option in group:
                self.causes.addItem(option.title, option.key)
                self.causes.setItemData(self.causes.count() - 1, option.tip, Qt.ItemDataRole.ToolTipRole)
        key = self.browsing.filters.key
        self.causes.setCurrentIndex(0 if key is None else self.causes.findData(key))

    def _draw_comparison(self) -> None:
        own, others = self.browsing.comparison.choices()
        before, method = self.browsing.comparison.before, self.browsing.comparison.method
        state = (own, others, before, method, self.browsing.shown is None)
        if state == self._drawn:  # the user may be choosing
            return
        self._drawn = state
        self.compare.clear()
        self.compare.addItem(COMPARE, None)
        for title, evaluation_id in own:
            self.compare.addItem(title, evaluation_id)
        if own and others:
            self.compare.insertSeparator(self.compare.count())
        for title, evaluation_id in others:
            self.compare.addItem(title, evaluation_id)
        if self.browsing.shown is not None:
            if own or others:
                self.compare.insertSeparator(self.compare.count())
            for name in dict.fromkeys((*USUAL, *([] if method is None else [method]))):
                self.compare.addItem(f"By {title_of(name)}", name)
                way = way_of(name)
                self.compare.setItemData(self.compare.count() - 1, way and way.tip, Qt.ItemDataRole.ToolTipRole)
        chosen = method if before is None else before.id
        self.compare.setCurrentIndex(0 if chosen is None else max(0, self.compare.findData(chosen)))
        self.compare.setToolTip(COMPARE_TIP if chosen is None else plain_tip(self.compare.currentText()))
        self.compare.setEnabled(self.browsing.shown is not None)

    def _offer_left_out(self) -> None:
        offered = self.browsing.filters.tag is not None
        self.left_out.setVisible(offered)
        if not offered:
            self.show_left_out("")

    def _choose_cause(self) -> None:
        self.browsing.choose_filters(key=self.causes.currentData())
        self._offer_left_out()

    def _choose_comparison(self) -> None:
        chosen = self.compare.currentData()
        if isinstance(chosen, str):
            self.browsing.compare_by(chosen)
        else:
            self.browsing.compare_with(chosen)

    def _drop_pair(self) -> None:
        self.browsing.narrow(None)

    def _ask_left_out(self) -> None:
        self.left_out_asked.emit(self.browsing.filters.tag or "")


def _chooser(name: str, tip: str) -> QComboBox:
    box = ElidedBox()
    box.setAccessibleName(name)
    box.setToolTip(tip)
    box.setMinimumContentsLength(8)
    return box
