"""The list of runs to tick, grouped by config: a tick on a group takes all its seeds."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.comparing.groups import Group
from workbench.ui.pages.compare.group_styles import SWATCH, styles, swatch
from workbench.ui.pages.compare.model import CompareModel
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.words import SEARCH_RUNS, percent, state_word
from workbench.workspace.rows import Run, counting

WIDTH, SCORE_PX = 252, 74  # px
ID_ROLE = Qt.ItemDataRole.UserRole + 1  # run id of a row; None for a group of several runs
TEXT_ROLE = ID_ROLE + 1  # words that the search looks through
TICKED, EMPTY = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class RunChooser(QWidget):
    """Left side of the page: shows and changes the model's ticks. `changed` is emitted when other runs are ticked."""

    changed = Signal()

    def __init__(self, model: CompareModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._building = False
        self._build()
        self.search.textChanged.connect(self._filter)
        self.tree.itemChanged.connect(self._item_changed)
        self.clear.clicked.connect(self._clear)

    def _build(self) -> None:
        self.setFixedWidth(WIDTH)
        self.search = QLineEdit(placeholderText=SEARCH_RUNS, clearButtonEnabled=True)
        self.search.setAccessibleName("Search runs to compare")
        self.tree = QTreeWidget()
        self.tree.setColumnCount(2)
        self.tree.setHeaderLabels(["Runs by config", "MAP@R %"])
        self.tree.setToolTip("A group is the runs of one config; their seeds and folds are its members")
        self.tree.setAccessibleName("Runs to compare, by config")
        self.tree.setUniformRowHeights(True)
        self.tree.setIconSize(QSize(*SWATCH))
        self.tree.setIndentation(12)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, SCORE_PX)
        self.count = label("", "caption", wrap=True)
        self.clear = button("Untick all", kind="quiet")
        in_column(self.search, (self.tree, 1), in_row((self.count, 1), self.clear), on=self, spacing=8)

    def show_groups(self, groups: Sequence[Group]) -> None:
        """Show other groups or scores, newest groups on top; ticks and unfolded groups stay."""
        gone, unfolded = self._model.take_groups(groups), self._unfolded()
        self._building = True
        self.tree.clear()
        for group, style in reversed(list(zip(groups, styles([group.colour for group in groups]), strict=True))):
            self.tree.addTopLevelItem(self._row(group, swatch(style)))
        self._building = False
        for item in self._tops():
            item.setExpanded(item.data(0, TEXT_ROLE) in unfolded)
        self._filter(self.search.text())
        self._show_count()
        if gone:
            self.changed.emit()

    def _row(self, group: Group, icon: QIcon) -> QTreeWidgetItem:
        several = len(group.runs) > 1
        words = f"{len(group.runs)} runs" if several else f"Run {group.runs[0].id}, {_state(group.runs[0])}"
        item = QTreeWidgetItem([group.title, percent(_mean(group.runs))])
        item.setIcon(0, icon)
        item.setToolTip(0, plain_tip(f"{group.title}\n{words}"))
        searched = [
            group.title,
            *(f"{run.name} {run.loss} {run.backbone} {run.dataset} {_state(run)}" for run in group.runs),
        ]
        item.setData(0, TEXT_ROLE, " ".join(searched).casefold())
        self._dress(item, None if several else group.runs[0].id)
        if several:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsAutoTristate)
            for run in group.runs:
                child = QTreeWidgetItem(
                    [f"Run {run.id}, seed {run.seed}{_unfinished(run)}", percent(run.best.get("MAP@R"))]
                )
                child.setToolTip(0, plain_tip(f"{run.name}\n{_state(run)}"))
                item.addChild(child)
                self._dress(child, run.id)
        return item

    def _dress(self, item: QTreeWidgetItem, run_id: int | None) -> None:
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setData(0, ID_ROLE, run_id)
        item.setCheckState(0, TICKED if run_id in self._model.ticked else EMPTY)

    def tick(self, runs: Iterable[int]) -> None:
        """Also tick these runs, with the others of their groups."""
        if self._model.tick_groups(runs):
            self._show_ticks()
            self.changed.emit()

    def _items(self) -> list[QTreeWidgetItem]:
        return [item for top in self._tops() for item in (top, *_children(top))]

    def _tops(self) -> list[QTreeWidgetItem]:
        """Rows of groups, and of runs that are a group by themselves."""
        return _children(self.tree.invisibleRootItem())

    def _unfolded(self) -> set[str]:
        return {item.data(0, TEXT_ROLE) for item in self._items() if item.isExpanded()}

    def _item_changed(self, _item: QTreeWidgetItem, column: int) -> None:
        if self._building or column != 0:
            return
        rows = ((item.data(0, ID_ROLE), item.checkState(0)) for item in self._items())
        self._model.ticked = {run_id for run_id, state in rows if run_id is not None and state == TICKED}
        self._show_count()
        self.changed.emit()

    def _clear(self) -> None:
        self._model.ticked = set()
        self._show_ticks()
        self.changed.emit()

    def _show_ticks(self) -> None:
        self._building = True
        for item in self._items():
            run_id = item.data(0, ID_ROLE)
            if run_id is not None:
                item.setCheckState(0, TICKED if run_id in self._model.ticked else EMPTY)
        self._building = False
        self._show_count()

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for item in self._tops():
            item.setHidden(not all(word in item.data(0, TEXT_ROLE) for word in words))

    def _show_count(self) -> None:
        self.count.setText(self._model.count_text)
        self.clear.setEnabled(bool(self._model.ticked))


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    children = (item.child(row) for row in range(item.childCount()))
    return [child for child in children if child is not None]


def _state(run: Run) -> str:
    return state_word(run.status) if run.status == "done" else f"{state_word(run.status)}, {run.epoch} / {run.epochs}"


def _unfinished(run: Run) -> str:
    return "" if run.status == "done" else f", {_state(run)}"


def _mean(runs: Sequence[Run]) -> float | None:
    scores = [run.best["MAP@R"] for run in counting(runs) if "MAP@R" in run.best]
    return fmean(scores) if scores else None
