"""Which queries are listed: of one cause of failure, of one confusion, won or lost, with a tag."""

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from workbench.results.explanations import ConfusedPair, FailedQueries
from workbench.ui.pages.retrieval.causes import TIPS, TITLES
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, plain_tip

TAG = "tag:"  # before a tag, among the keys of the filter
ANY, COMPARE = "Any cause of failure", "Compare with…"
COMPARE_TIP = "Which queries were won or lost since another evaluation, or against another run on the same images"


class FailureFilter(QWidget):
    """Filters beside those of the list; `samples` are the ids that pass."""

    changed = Signal()  # other queries are to be listed
    chosen = Signal()  # after it, where the person said so
    compare_chosen = Signal(object)  # evaluation id, or None for no comparison
    mistakes_asked = Signal()
    left_out_asked = Signal(str)  # a tag

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sets: dict[str, np.ndarray] = {}  # sample ids by cause, "won" and "lost"
        self._tags: dict[str, np.ndarray] = {}  # sample ids by tag
        self._found: FailedQueries | None = None
        self._pair: ConfusedPair | None = None
        self._compared_with: object = None  # that the chooser shows
        self._build()
        self._fill_causes()
        self.causes.activated.connect(self.changed)
        self.causes.activated.connect(self.chosen)
        self.compare.activated.connect(self._choose_comparison)
        self.mistakes.clicked.connect(self.mistakes_asked)
        self.narrowed.clicked.connect(self._drop_pair)
        self.left_out.clicked.connect(self._ask_left_out)
        self.changed.connect(self._offer_left_out)

    def _build(self) -> None:
        self.causes = _chooser("Cause of failure", "Only failed queries with this suspected cause")
        self.compare = _chooser("Evaluation to compare with", COMPARE_TIP)
        self.mistakes = button("Confusions", "squares-four", "quiet")
        self.mistakes.setToolTip("Which class is taken for which, and which samples are hubs")
        self.differences = label("", "caption", wrap=True)
        self.differences.hide()
        self.narrowed = button("", "x", "quiet")
        self.narrowed.setToolTip("List the queries of all confusions again")
        self.narrowed.hide()
        self.left_out = button("MAP@R if left out", "minus-circle", "quiet")
        self.left_out.setToolTip("What MAP@R would be without these samples; nothing is changed")
        self.left_out.hide()
        self.left_out_said = label("", "caption", wrap=True)
        self.left_out_said.hide()
        beside = QHBoxLayout()
        beside.setSpacing(8)
        beside.addWidget(self.compare, 1)
        beside.addWidget(self.mistakes)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        rows.addWidget(self.causes)
        rows.addLayout(beside)
        rows.addWidget(self.differences)
        rows.addWidget(self.left_out, 0, Qt.AlignmentFlag.AlignLeft)
        rows.addWidget(self.left_out_said)
        rows.addWidget(self.narrowed, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def samples(self) -> np.ndarray | None:
        """Sample ids [m] int64 that are listed; None for all."""
        key = self.causes.currentData() or ""
        found = self._tags.get(key.removeprefix(TAG)) if key.startswith(TAG) else self._sets.get(key)
        of_pair = self._of_pair()
        if found is None or of_pair is None:
            return of_pair if found is None else found
        return np.intersect1d(found, of_pair)

    def show_failures(self, found: FailedQueries | None) -> None:
        """Count the causes of another evaluation; None while they are worked out, when all queries are listed."""
        self._found = found
        changes = {key: ids for key, ids in self._sets.items() if key in ("won", "lost") and found is not None}
        self._sets = {cause: found.of_cause(cause) for cause in found.counts} if found is not None else {}
        self._sets |= changes
        self._show_pair()
        self._fill_causes()
        self.changed.emit()

    def show_changes(self, title: str, won: np.ndarray, lost: np.ndarray, right: int, wrong: int) -> None:
        """What changed since an evaluation, called `title`: sample ids, and how many are right or wrong in both."""
        self._sets |= {"won": won, "lost": lost}
        self.differences.setText(
            f"{title}: {len(won):,} won, {len(lost):,} lost, {right:,} right in both, {wrong:,} wrong in both"
        )
        self.differences.show()
        self._fill_causes()
        self.changed.emit()

    def drop_changes(self) -> None:
        """Compare no more."""
        before = len(self._sets)
        self._sets.pop("won", None)
        self._sets.pop("lost", None)
        self.differences.hide()
        self._fill_causes()
        if len(self._sets) != before:
            self.changed.emit()

    def show_tags(self, tags: dict[str, np.ndarray]) -> None:
        """Sample ids by tag, of the shown data set."""
        before, self._tags = self.causes.currentData() or "", tags
        self._fill_causes()
        if before.startswith(TAG):
            self.changed.emit()

    def show_left_out(self, sentence: str) -> None:
        """What MAP@R would be without the samples of the chosen tag; empty for nothing."""
        self.left_out_said.setText(sentence)
        self.left_out_said.setVisible(bool(sentence))

    def show_evaluations(self, own: list[tuple[str, int]], others: list[tuple[str, int]], chosen: int | None) -> None:
        """Fill the evaluations, as (title, id), that the shown one can be compared with: of its run, of others."""
        if (own, others, chosen) == self._compared_with:  # the person may be choosing
            return
        self._compared_with = (list(own), list(others), chosen)
        self.compare.clear()
        self.compare.addItem(COMPARE, None)
        for title, evaluation_id in own:
            self.compare.addItem(title, evaluation_id)
        if own and others:
            self.compare.insertSeparator(self.compare.count())
        for title, evaluation_id in others:
            self.compare.addItem(title, evaluation_id)
        self.compare.setCurrentIndex(max(0, self.compare.findData(chosen)) if chosen is not None else 0)
        self.compare.setToolTip(plain_tip(self.compare.currentText()) if chosen is not None else COMPARE_TIP)
        self.compare.setEnabled(bool(own or others))

    def narrow(self, pair: ConfusedPair) -> None:
        """List the queries of one confusion."""
        self._pair = pair
        self._show_pair()
        self.changed.emit()
        self.chosen.emit()

    def _fill_causes(self) -> None:
        """Counts are those of the evaluation; the chosen cause stays chosen while it is known or worked out."""
        before = self.causes.currentData()
        self.causes.clear()
        self.causes.addItem(ANY, None)
        for cause, title in TITLES.items():
            count = f" ({len(self._sets[cause]):,})" if cause in self._sets else ""
            self.causes.addItem(f"{title}{count}", cause)
            self.causes.setItemData(self.causes.count() - 1, TIPS[cause], Qt.ItemDataRole.ToolTipRole)
        if "won" in self._sets:
            self.causes.insertSeparator(self.causes.count())
            for key, title in (("won", "Won: wrong before, right now"), ("lost", "Lost: right before, wrong now")):
                self.causes.addItem(f"{title} ({len(self._sets[key]):,})", key)
        if self._tags:
            self.causes.insertSeparator(self.causes.count())
            for tag, ids in self._tags.items():
                self.causes.addItem(f"Tagged “{tag}” ({len(ids):,})", f"{TAG}{tag}")
        self.causes.setCurrentIndex(max(0, self.causes.findData(before)) if before is not None else 0)

    def _of_pair(self) -> np.ndarray | None:
        if self._pair is None or self._found is None:
            return None
        return self._found.of_pair(self._pair.label, self._pair.taken_label)

    def _show_pair(self) -> None:
        self.narrowed.setVisible(self._pair is not None)
        if self._pair is not None:
            ids = self._of_pair()
            count = "" if ids is None else f" ({len(ids):,})"
            words = f"“{self._pair.class_name}” taken for “{self._pair.taken_for}”{count}"
            self.narrowed.setText(words.replace("&", "&&"))  # else Qt takes it for the mark of a key

    def _offer_left_out(self) -> None:
        chosen = (self.causes.currentData() or "").startswith(TAG)
        self.left_out.setVisible(chosen)
        if not chosen:
            self.show_left_out("")

    def _ask_left_out(self) -> None:
        self.left_out_asked.emit((self.causes.currentData() or "").removeprefix(TAG))

    def _drop_pair(self) -> None:
        self._pair = None
        self._show_pair()
        self.changed.emit()

    def _choose_comparison(self) -> None:
        self.compare_chosen.emit(self.compare.currentData())


def _chooser(name: str, tip: str) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    made.setToolTip(tip)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(8)
    return made
