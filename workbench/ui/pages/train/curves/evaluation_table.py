"""The evaluations of a run: a card beside the curves, or a line below them that unfolds to the table."""

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, Signal
from PySide6.QtWidgets import QFrame, QMenu, QToolButton

from workbench.ui.pages.train.curves.epoch_table import EpochTable
from workbench.ui.pages.train.curves.wide_table import ROW_PX, WideTable
from workbench.ui.preferences import Preferences
from workbench.ui.style.icons import icon
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.tables.row_table import set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.rows import Evaluation

FULL_SIZE = "All metrics at full size"
WHAT_MENU = "Full size with all metrics, copy, save"
MOST = 99  # of 100 parts of the head that are left beside its words: the last is for a head without a count
UNFOLDED = "train/table"  # whether the table is unfolded


class EvaluationTable(QFrame):
    """The evaluations of a run, newest first: a card, or a line that folds them away.

    Args:
        accuracy_at: the training accuracy in % at a step, or None.
    """

    chosen = Signal(int)  # evaluation that was double-clicked
    full_size_asked = Signal()  # of the card
    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, preferences: Preferences, accuracy_at: Callable[[int], float | None]) -> None:
        super().__init__()
        self._preferences = preferences
        self.unfold = button("Evaluations", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.model = EpochTable(accuracy_at)
        self.table = WideTable(self.model, "Metrics of each evaluated epoch, newest first")
        self.table.setToolTip("Double-click or Enter shows that epoch on the other pages")
        set_row_height(self.table, ROW_PX)
        self.title, self.count = label("Evaluations", "strong"), ElidedLabel("", "caption")
        self._kept = self._measured = 0  # evaluations
        self._more = True
        self.menu = QMenu(self)
        self.menu.addAction(f"{FULL_SIZE}, and back", self.full_size_asked.emit)
        self.table_actions = TableActions(self.wished.emit, self.table, "evaluations.csv")
        self.menu.addActions([self.table_actions.copy, self.table_actions.save])
        self.more = icon_button("dots-three", "Menu of the evaluations")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self.menu)
        self.more.setToolTip(WHAT_MENU)
        head = in_row(self.unfold, self.title, (self.count, MOST), 1, self.more, spacing=8)
        self._column = in_column(head, (self.table, 1), on=self, spacing=4)
        self.table.left_out_changed.connect(self._tell_count)
        self.unfold.toggled.connect(self._fold_or_unfold)
        self.table.activated.connect(self._choose)
        self.unfold.setChecked(preferences.flag(UNFOLDED))
        self._take_form(False)

    def become_card(self, on: bool) -> None:
        """A card, which always shows the table, or a line, which is folded until somebody unfolds it."""
        if on != self.table.card:
            self._take_form(on)

    def _take_form(self, on: bool) -> None:
        self.setProperty("card", "true" if on else "false")
        self.style().polish(self)
        self._column.setContentsMargins(*((8, 4, 4, 8) if on else (0, 0, 0, 0)))
        for widget in (self.title, self.count, self.more):
            widget.setVisible(on)
        self.unfold.setVisible(not on)
        self.table.card = on
        self.table.setFrameShape(QFrame.Shape.NoFrame if on else QFrame.Shape.StyledPanel)
        self.table.setVisible(on or self.unfold.isChecked())
        self.model.shorten(on)

    def show_evaluations(self, evaluations: list[Evaluation], measured: int) -> Evaluation | None:
        """Show the stored evaluations of a run, oldest first, of so many; returns the best of them."""
        self.model.show(evaluations)
        best = self.model.best()
        self._kept, self._measured = len(evaluations), measured
        self._tell_count()
        if evaluations:
            first = self.model.index(0, 0)
            self.table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        return best

    def expect_more(self, on: bool) -> None:
        """Whether the run may still be evaluated: it has not ended, or can be resumed."""
        if on != self._more:
            self._more = on
            self._tell_count()

    def _tell_count(self) -> None:
        """How many evaluations there are, and of a card how many of their columns have room in it."""
        best, every, yet = self.model.best(), self.model.columnCount(), " yet" if self._more else ""
        said = f", best epoch {best.epoch}" if best is not None else ""
        of_all, kept = (f"{self._kept:,} of ", " kept") if self._kept < self._measured else ("", "")
        whole = f"{of_all}{counted(self._measured, 'evaluation')}{kept}{said}"
        self.unfold.setText(whole if self._kept else f"No evaluations{yet}")
        left_out = self.table.left_out if self._kept else []
        columns = f"; {every - len(left_out)} of {every} columns" if left_out else ""
        count = f"{of_all}{self._measured:,}{kept}" if self._kept else f"none{yet}"
        self.count.setText(f"{count}{columns}")
        no_room = f"; the card has no room for {', '.join(left_out)}" if left_out else ""
        self.more.setToolTip(plain_tip(f"{WHAT_MENU}{no_room}"))

    def _fold_or_unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.table.setVisible(on or self.table.card)
        self._preferences.set_flag(UNFOLDED, on)

    def _choose(self) -> None:
        row = self.table.currentIndex().row()
        if row >= 0:
            self.chosen.emit(self.model.evaluation(row).id)
