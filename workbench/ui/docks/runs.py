"""The Runs dock: search, every run of the workspace, its context menu, ticks to compare, and the trash."""

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QStackedWidget,
    QWidget,
)

from workbench.ui.actions.run_actions import RunActions
from workbench.ui.docks.arrange_menu import ArrangeButton
from workbench.ui.docks.dock import Dock
from workbench.ui.docks.run_row import PAD, RunRow, box_of, score_width
from workbench.ui.docks.run_sizes import RunSizes
from workbench.ui.docks.setting_groups import SettingGroups
from workbench.ui.docks.trash_size import TrashSize
from workbench.ui.models.run_list import COLUMNS, FOLD_ROLE, RUN_ROLE, SOME, Arrangement, RunList
from workbench.ui.models.run_words import CONDITIONS, OF_SIZE, WORDS
from workbench.ui.state.session import Session
from workbench.ui.style.icons import icon
from workbench.ui.style.words import counted, own_keys
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Run

WIDTH, NARROWEST = 260, 220  # px at 100% text
WIDEST, WIDE_FROM, SHARE = 360, 1440, 0.1  # px: from a window of this width on the list has a share of what is more
TO_LIST = (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)  # from the search
NO_MATCH = "The search or the filter leaves out every run."
_SELECT = QItemSelectionModel.SelectionFlag


def first_width(window_px: int) -> int:
    """Px of the dock until the user drags its edge: it grows with a wide window, since names are longer than it."""
    return min(WIDEST, WIDTH + max(0, round(SHARE * (window_px - WIDE_FROM))))


class RunsDock(Dock):
    """The dock with the list of runs. Choosing a row shows that run on every page."""

    def __init__(self, session: Session, actions: RunActions, parent: QWidget | None = None) -> None:
        super().__init__("runs", "Runs", parent)
        self._session, self._actions = session, actions
        self.model = RunList(session.ticks, self)
        self.search = QLineEdit(placeholderText="Search name, loss, tag, state", clearButtonEnabled=True)
        self.search.setAccessibleName("Search runs")
        self.search.setToolTip(f"{WORDS}, or conditions: {CONDITIONS}, {OF_SIZE}")
        self.list = QListView()
        self.rows = RunRow(self.list)
        self.arrange = ArrangeButton(session.preferences)
        self._groups = SettingGroups(session, self.model, self.arrange, self._show_groups, self)
        self.compare, self.untick = button("Compare", "scales", "primary"), icon_button("x", "Untick all")
        self.all = QCheckBox()
        self._stale = False  # the list is to be read again when the name that is typed is given
        self._ticked_last: int | None = None  # the run or group from which a click with Shift extends
        self.trash = button("Trash", "trash", "quiet")
        self.restore = button("Restore", "arrow-counter-clockwise", "quiet")
        self.restore.setToolTip("Restore the selected run from the trash")
        self.trash_size = TrashSize(session, self)
        self.sizes = RunSizes(session, self.model, self)
        self._columns: list[QLabel] = []
        self._empty = EmptyHint("No runs yet", "The runs of this workspace appear here, with state and scores.")
        self._no_trash = EmptyHint("The trash is empty", "Runs that you move to the trash appear here.")
        self._no_match = EmptyHint("No run matches", NO_MATCH, "Show all runs")
        self._stack = QStackedWidget()
        self._build()
        self.search.textChanged.connect(self._search)
        for changed in (self.list.selectionModel().currentChanged, self.list.selectionModel().selectionChanged):
            changed.connect(self._chosen)  # the mouse makes a row the current one first, the keys select it first
        self.list.clicked.connect(self._unfold)
        self.list.activated.connect(self._unfold)
        self.list.customContextMenuRequested.connect(self._menu)
        for watched in (self.list, self.list.viewport(), self.search):
            watched.installEventFilter(self)
        self.rows.control_of = session.control
        session.ticks.changed.connect(self._show_ticks)
        self.all.clicked.connect(self._tick_all)
        actions.tick_all.triggered.connect(self._tick_all)
        self.model.renamed.connect(actions.give_name)
        self.rows.closeEditor.connect(self._end_edit)
        self.arrange.changed.connect(self._arrange)
        self.compare.clicked.connect(actions.compare.trigger)
        self.untick.clicked.connect(actions.untick_all.trigger)
        self.trash.clicked.connect(actions.trash.show.toggle)
        actions.rename_asked.connect(self._edit_name)
        self.list.verticalScrollBar().rangeChanged.connect(self._align_head)
        self.restore.clicked.connect(actions.trash.restore.trigger)
        actions.trash.restore.changed.connect(self._offer_restore)
        self._no_match.pressed.connect(self._show_all)
        actions.trash.show.toggled.connect(self._show_trash)
        self.trash_size.changed.connect(self._name_trash)
        self.sizes.changed.connect(self._take_sizes)
        session.workspace_changed.connect(self._forget_ticked)
        session.runs_changed.connect(self.refresh)
        session.catalog_changed.connect(self.refresh)
        session.run_changed.connect(self._mark)
        session.theme.changed.connect(self._fit_text)
        self.refresh()
        self._show_ticks()
        self._arrange(self.arrange.arrangement)
        self._offer_restore()

    def _build(self) -> None:
        self.list.setModel(self.model)
        self.list.setItemDelegate(self.rows)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
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
        self.all.setAccessibleName("Tick all runs shown")
        self.all.setToolTip(own_keys("Tick all runs shown, to compare them (Ctrl+A in the list)"))
        head.addWidget(self.all)
        self.title = label("Best, % ↑", "caption")
        head.addWidget(self.title, 1)
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.search, 1)
        top.addWidget(self.arrange)
        self.ticks = QWidget()
        ticks = QHBoxLayout(self.ticks)
        ticks.setContentsMargins(0, 0, 0, 0)
        ticks.addWidget(self.compare, 1)
        ticks.addWidget(self.untick)
        self.trash.setCheckable(True)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._no_trash)
        self._stack.addWidget(self._no_match)
        self.body.addLayout(top)
        self.body.addLayout(head)
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self.ticks)
        for below in (self.restore, self.trash):
            self.body.addWidget(below, 0, Qt.AlignmentFlag.AlignLeft)
        self.restore.hide()

    def _arrange(self, arrangement: Arrangement) -> None:
        """Sort, group and filter the list, and show the chosen columns."""
        self.model.arrange(arrangement)
        self._groups.refresh()
        self.sizes.refresh(anew=True)
        self._show_rows()
        self._show_ticks()
        self.rows.columns = arrangement.columns
        for column in self._columns:
            self._head.removeWidget(column)
            column.deleteLater()
        self._columns = [label(COLUMNS[name][0], "caption") for name in arrangement.columns]
        for column in self._columns:
            column.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._head.addWidget(column)
        self._fit_text()
        self._mark(self._session.run_id)
        self.list.viewport().update()

    def _show_groups(self) -> None:
        """The rows were grouped anew: the shown run is marked where it is now."""
        self._show_ticks()
        self._mark(self._session.run_id)

    def _show_ticks(self) -> None:
        ticked = len(self.model.ticked)
        self.ticks.setVisible(ticked > 0 and self.model.can_tick)
        self.compare.setText(f"Compare {counted(ticked, 'run')}")
        self.all.setVisible(self.model.can_tick and self.model.rowCount() > 0)
        self.all.setTristate(self.model.all_ticked == SOME)
        self.all.setCheckState(self.model.all_ticked)

    def _tick_all(self) -> None:
        self.model.tick_all()
        self._show_ticks()

    def _edit_name(self, run_id: int) -> None:
        """Let the user write another name of a run in its row."""
        if self.model.row_of(run_id) < 0:
            self.search.clear()
            run = self._session.run(run_id)
            if run is not None and run.experiment_id is not None:
                self.model.unfold(run.experiment_id, on=True)
        if (row := self.model.row_of(run_id)) >= 0:
            self.show()
            self._mark(run_id)
            self.list.setFocus()
            self.list.scrollTo(self.model.index(row))
            self.list.edit(self.model.index(row))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the list: Space ticks, Ctrl+A ticks all, Delete moves to the trash, Ctrl+Z takes back.

        In the search Down and Enter go to the list, and Escape clears it; once it is empty, it goes to the list, too.
        A press on a box, or one with Ctrl anywhere in a row, ticks and opens nothing; with Shift all rows from the one
        that was ticked last.
        """
        if isinstance(event, QMouseEvent) and watched is self.list.viewport() and self._on_tick(event):
            if event.type() == QEvent.Type.MouseButtonPress:
                self._tick_at(event)
            return event.type() != QEvent.Type.MouseMove
        if isinstance(event, QKeyEvent) and watched is self.search:
            return self._leave_search(event)
        if isinstance(event, QKeyEvent) and watched is self.list:
            undo, every = map(event.matches, (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.SelectAll))
            if event.type() == QEvent.Type.ShortcutOverride and (undo or every):
                event.accept()  # else it is the page's
                return True
            if event.type() == QEvent.Type.KeyPress and every:
                self._tick_all()
                return True
            if event.type() == QEvent.Type.KeyPress:
                return self._press(Qt.Key(event.key()), undo)
        return super().eventFilter(watched, event)

    def _leave_search(self, event: QKeyEvent) -> bool:
        """Whether a key of the search is done with."""
        clears = event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and clears:
            event.accept()  # else it is the page's
            return True
        if event.type() != QEvent.Type.KeyPress or not (clears or event.key() in TO_LIST):
            return False
        if clears and self.search.text():
            self.search.clear()
        elif self.model.rowCount():
            shown, selection = self._session.run_id, self.list.selectionModel()
            self.list.setFocus()
            if not clears and self.model.row_of(shown) < 0 and not self.model.folded_over(shown):  # it does not match
                selection.setCurrentIndex(self.model.index(0), _SELECT.ClearAndSelect)
        return True

    def _tick_at(self, event: QMouseEvent) -> None:
        row, several = self.list.indexAt(event.position().toPoint()).row(), Qt.KeyboardModifier.ShiftModifier
        last = self.model.row_of(self._ticked_last)  # not where it was: newer runs move it
        self.model.tick(row, last if last >= 0 and event.modifiers() & several else None)
        self._ticked_last = self.model.index(row).data(RUN_ROLE).id

    def _forget_ticked(self) -> None:
        """In another workspace the numbers are those of other runs: none is the one ticked last, or is being named."""
        self._ticked_last = None
        self.model.show([])

    def _on_tick(self, event: QMouseEvent) -> bool:
        at = event.position().toPoint()
        index = self.list.indexAt(at)
        if not index.isValid() or event.button() != Qt.MouseButton.LeftButton or not self.model.can_tick:
            return False
        row, direction = self.list.visualRect(index), self.list.layoutDirection()
        box = box_of(row, index.data(FOLD_ROLE), direction).adjusted(-4, -4, 4, 4)
        return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier) or box.contains(at)

    def _press(self, key: Qt.Key, undo: bool) -> bool:
        if undo:
            self._actions.undo_stack.undo()
        elif key == Qt.Key.Key_Space and self.list.currentIndex().isValid():
            self.model.tick(self.list.currentIndex().row())
        elif key == Qt.Key.Key_Delete:
            self._actions.trash.ask()
        else:
            return False
        return True

    def _fit_text(self) -> None:
        """Take the widths of the text size."""
        for column in self._columns:
            column.setFixedWidth(score_width(self.font()))
        self.widget().setMinimumWidth(self._session.theme.px(NARROWEST))

    def _align_head(self) -> None:
        bar = self.list.verticalScrollBar()
        self._head.setContentsMargins(PAD, 0, PAD + (bar.sizeHint().width() if bar.maximum() else 0), 0)

    def _end_edit(self) -> None:
        """Show what came while a name was typed, once the field of the name is gone."""
        if self._stale:
            QTimer.singleShot(0, self, self.refresh)

    def refresh(self) -> None:
        """Read the runs again and keep the shown one chosen; not while a name is typed, which a new run would end."""
        self._stale = self.list.state() == QAbstractItemView.State.EditingState
        if self._stale:
            return
        trash = self._actions.trash.show.isChecked()
        self.model.can_tick, self.model.known = not trash, self._session.catalog
        self.rows.known, self.rows.away = self._session.catalog, self._session.follower.away
        self._take(trash)
        self.model.take_sizes(self.sizes.bytes)
        self._groups.refresh()
        self.sizes.refresh()
        self._show_ticks()
        self.title.setText("Trash: best, % ↑" if trash else "Best, % ↑")
        self._name_trash()
        self.trash.setChecked(trash)
        self._show_rows()
        self._mark(self._session.run_id)
        self.list.viewport().update()  # a run that is being ended is the same row with other words

    def _show_rows(self) -> None:
        """Show the list, or why it has no row."""
        trash = self._actions.trash.show.isChecked()
        there = self._session.trashed_runs() if trash else self._session.runs()
        empty: QWidget = self._no_match if there else self._no_trash if trash else self._empty
        if self.model.rowCount():
            empty = self.list
        elif empty is self._no_match:
            self._no_match.say(f"{NO_MATCH}{self.model.why_unmet()}")
        self._stack.setCurrentWidget(empty)

    def _show_all(self) -> None:
        """Clear the search and the filter."""
        self.search.clear()
        self.arrange.show_all()
        self.list.setFocus()

    def _show_trash(self, trash: bool) -> None:
        self.trash.setIcon(icon("arrow-left" if trash else "trash"))
        self.restore.setVisible(trash)
        self.refresh()

    def _offer_restore(self) -> None:
        self.restore.setEnabled(self._actions.trash.restore.isEnabled())

    def _name_trash(self) -> None:
        """Say how many runs are in the trash, and their size once it is known; in the trash, how to leave it."""
        if self._actions.trash.show.isChecked():
            self.trash.setText("Back to the runs")
            return
        count = len(self._session.trashed_runs())
        parts = ["Trash", f"{count:,}" if count else "", self.trash_size.words if count else ""]
        self.trash.setText(", ".join(filter(None, parts)))

    def _take(self, trash: bool) -> None:
        if trash:
            self.model.show(self._session.trashed_runs())
            return
        runs = self._session.runs()
        self.model.show(runs, self._session.experiments() if any(run.experiment_id for run in runs) else None)

    def _take_sizes(self) -> None:
        """Sort and search by the sizes that have been read; not while a name is typed, as in `refresh`."""
        if self.list.state() == QAbstractItemView.State.EditingState:
            self._stale = True
            return
        self.model.take_sizes(self.sizes.bytes)
        self._show_rows()
        self._show_groups()

    def _mark(self, run_id: int | None) -> None:
        """Mark the shown run, or the folded group that hides it; the keyboard stays at a row that only folds."""
        if (over := self.model.folded_over(run_id)) != self.rows.over_shown:
            self.rows.over_shown = over
            self.list.viewport().update()
        row, selection, whole = self.model.row_of(run_id), self.list.selectionModel(), _SELECT.ClearAndSelect
        index, at = self.model.index(row), selection.currentIndex()
        if at.row() == row and (row < 0 or selection.isSelected(index)):
            return
        folding = at.isValid() and at.data(RUN_ROLE).id < 0 and self.list.hasFocus()
        selection.blockSignals(True)
        if row < 0:
            (selection.clearSelection if folding else selection.clear)()
        elif folding:
            selection.select(index, whole)
        else:
            selection.setCurrentIndex(index, whole)
        selection.blockSignals(False)
        self.list.viewport().update()

    def ask_search(self) -> None:
        """Show the list, ready for a search to be typed."""
        self.show()
        self.search.setFocus()
        self.search.selectAll()

    def _search(self, text: str) -> None:
        self.model.search(text)
        self.sizes.refresh(anew=True)
        self._show_rows()
        self._show_ticks()
        self._mark(self._session.run_id)

    def _chosen(self) -> None:
        current = self.list.currentIndex()
        run: Run | None = current.data(RUN_ROLE) if current.isValid() else None
        if run is None or run.id < 0:
            return
        # A list that gets the focus has its first row as the current one, which nobody chose.
        if self._session.run_id is None or self.list.selectionModel().isSelected(current):
            self._session.show_run(run.id)

    def _unfold(self, index: QModelIndex) -> None:
        run: Run = index.data(RUN_ROLE)
        if run.id < 0:
            self.model.unfold(-run.id)
            selection = self.list.selectionModel()
            selection.setCurrentIndex(self.model.index(self.model.row_of(run.id)), _SELECT.NoUpdate)
            self._mark(self._session.run_id)

    def _menu(self, point: QPoint) -> None:
        self._actions.refresh()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self._actions.of_list:
            menu.addAction(action)
        menu.popup(self.list.viewport().mapToGlobal(point))
