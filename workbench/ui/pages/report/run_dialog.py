"""The dialog in which the runs of a comparison are ticked."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget

from workbench.entries.catalog import Catalog
from workbench.ui.style.words import SEARCH_RUNS, state_word
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Run
from workbench.workspace.run_names import name_with_seed, names_of

ID_ROLE = Qt.ItemDataRole.UserRole
TICKED, EMPTY = Qt.CheckState.Checked, Qt.CheckState.Unchecked
WIDTH, HEIGHT = 560, 480  # px


class RunDialog(MainButtonDialog):
    """Runs to tick, newest first; `chosen` are their numbers once it is accepted."""

    def __init__(
        self, runs: Sequence[Run], ticked: Sequence[int], known: Catalog, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Runs of the report")
        self.setMinimumSize(WIDTH, HEIGHT)
        self.search = QLineEdit(placeholderText=SEARCH_RUNS, clearButtonEnabled=True)
        self.search.setAccessibleName("Search runs")
        self.list = QListWidget()
        self.list.setAccessibleName("Runs of the report; tick to include")
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for run in runs:
            data, _, loss = names_of(known, run)
            words = f"{run.id}   {name_with_seed(run)}: {loss}, {data}, {state_word(run.status)}"
            item = QListWidgetItem(words, self.list)
            item.setData(ID_ROLE, run.id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(TICKED if run.id in ticked else EMPTY)
        self.count = label("", "caption")
        self.all, self.none = button("Tick all shown", kind="quiet"), button("Untick all", kind="quiet")
        self.cancel, self.take = button("Cancel"), button("Use these runs", kind="primary")
        self.main = self.take
        below, foot = QHBoxLayout(), QHBoxLayout()
        below.addWidget(self.count, 1)
        foot.addStretch(1)
        for row, widgets in ((below, (self.all, self.none)), (foot, (self.cancel, self.take))):
            for widget in widgets:
                row.addWidget(widget)
        in_column(
            label("Runs of one config with different seeds become one group.", "muted"),
            self.search,
            (self.list, 1),
            below,
            foot,
            on=self,
            margins=16,
            spacing=8,
        )
        self.search.textChanged.connect(self._filter)
        self.list.itemChanged.connect(self._tell)
        self.all.clicked.connect(self._tick_shown)
        self.none.clicked.connect(self._untick)
        self.cancel.clicked.connect(self.reject)
        self.take.clicked.connect(self.accept)
        self._tell()

    @property
    def chosen(self) -> list[int]:
        """Numbers of the ticked runs, rising."""
        return sorted(int(item.data(ID_ROLE)) for item in self._items() if item.checkState() == TICKED)

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for item in self._items():
            item.setHidden(not all(word in item.text().casefold() for word in words))

    def _tick_shown(self) -> None:
        for item in self._items():
            if not item.isHidden():
                item.setCheckState(TICKED)

    def _untick(self) -> None:
        for item in self._items():
            item.setCheckState(EMPTY)

    def _tell(self) -> None:
        self.count.setText(f"{len(self.chosen):,} of {self.list.count():,} runs ticked")
        self.take.setEnabled(bool(self.chosen))
