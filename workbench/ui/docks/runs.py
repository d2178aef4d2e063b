"""The Runs dock: search, every run of the workspace, its context menu, and the trash."""

from functools import partial

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QLineEdit, QListView, QMenu, QStackedWidget, QWidget

from workbench.ui.docks.dock import Dock
from workbench.ui.docks.run_row import PAD, RunRow, score_width
from workbench.ui.models.run_list import RUN_ROLE, RunList
from workbench.ui.run_actions import RunActions
from workbench.ui.session import Session
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Run

WIDTH, NARROWEST = 260, 220  # px at 100% text


class RunsDock(Dock):
    """Choosing a row shows that run everywhere."""

    def __init__(self, session: Session, actions: RunActions, parent: QWidget | None = None) -> None:
        super().__init__("runs", "Runs", parent)
        self._session, self._actions = session, actions
        self.model = RunList(self)
        self.search = QLineEdit(placeholderText="Search name, loss, tag, state", clearButtonEnabled=True)
        self.search.setAccessibleName("Search runs")
        self.list = QListView()
        self._empty = EmptyHint("No runs yet", "Every run of this workspace stands here with its state and scores.")
        self._no_trash = EmptyHint(
            "The trash is empty", "Runs that you move to the trash stand here.", "Back to the runs"
        )
        self._stack = QStackedWidget()
        self._build()
        self.search.textChanged.connect(self._search)
        self.list.selectionModel().currentChanged.connect(self._chosen)
        self.list.clicked.connect(self._unfold)
        self.list.activated.connect(self._unfold)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.verticalScrollBar().rangeChanged.connect(self._align_head)
        self._no_trash.pressed.connect(partial(actions.show_trash.setChecked, False))
        actions.show_trash.toggled.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.run_changed.connect(self._mark)
        session.theme.changed.connect(self._fit_text)
        self.refresh()

    def _build(self) -> None:
        self.list.setModel(self.model)
        self.list.setItemDelegate(RunRow(self.list))
        self.list.setAccessibleName("Runs")
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.addActions(self._actions.of_list)
        self._head = head = QHBoxLayout()
        self._align_head()
        head.setSpacing(0)
        self.title = label("Best, % ↑", "caption")
        head.addWidget(self.title, 1)
        self._columns = [label(name, "caption") for name in ("R@1", "MAP@R")]
        for column in self._columns:
            column.setAlignment(Qt.AlignmentFlag.AlignRight)
            head.addWidget(column)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._no_trash)
        self.body.addWidget(self.search)
        self.body.addLayout(head)
        self.body.addWidget(self._stack, 1)
        self._fit_text()

    def _fit_text(self) -> None:
        """Take the widths of the text size."""
        for column in self._columns:
            column.setFixedWidth(score_width(self.font()))
        self.widget().setMinimumWidth(self._session.theme.px(NARROWEST))

    def _align_head(self) -> None:
        bar = self.list.verticalScrollBar()
        self._head.setContentsMargins(PAD, 0, PAD + (bar.sizeHint().width() if bar.maximum() else 0), 0)

    def refresh(self) -> None:
        """Read the runs again and keep the shown one chosen."""
        trash = self._actions.show_trash.isChecked()
        self._take(trash)
        self.title.setText("Trash: best, % ↑" if trash else "Best, % ↑")
        self._stack.setCurrentIndex(0 if self.model.rowCount() or self.search.text() else 2 if trash else 1)
        self._mark(self._session.run_id)

    def _take(self, trash: bool) -> None:
        if trash:
            self.model.show(self._session.trashed_runs())
            return
        runs = self._session.runs()
        self.model.show(runs, self._session.experiments() if any(run.experiment_id for run in runs) else None)

    def _mark(self, run_id: int | None) -> None:
        row = self.model.row_of(run_id)
        selection = self.list.selectionModel()
        if selection.currentIndex().row() == row:
            return
        selection.blockSignals(True)
        if row < 0:
            selection.clear()
        else:
            selection.setCurrentIndex(self.model.index(row), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        selection.blockSignals(False)
        self.list.viewport().update()

    def _search(self, text: str) -> None:
        self.model.search(text)
        self._mark(self._session.run_id)

    def _chosen(self, current: QModelIndex) -> None:
        run: Run | None = current.data(RUN_ROLE) if current.isValid() else None
        if run is not None and run.id > 0:
            self._session.show_run(run.id)

    def _unfold(self, index: QModelIndex) -> None:
        run: Run = index.data(RUN_ROLE)
        if run.id < 0:
            self.model.unfold(-run.id)

    def _menu(self, point: QPoint) -> None:
        self._actions.refresh()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self._actions.of_list:
            menu.addAction(action)
        menu.popup(self.list.viewport().mapToGlobal(point))
