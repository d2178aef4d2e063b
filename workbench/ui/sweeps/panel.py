"""The Sweeps panel: every sweep with its state and time left, its queued runs, and its commands."""

from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QWidget,
)

from workbench.jobs.newest import Newest
from workbench.ui.state.report_offer import offer_report
from workbench.ui.state.session import Session
from workbench.ui.style.icons import icon
from workbench.ui.style.words import PAUSE, RESUME
from workbench.ui.sweeps.history_plot import TITLE as BEST_SO_FAR
from workbench.ui.sweeps.history_plot import BestSoFarPlot
from workbench.ui.sweeps.importance_plot import TITLE
from workbench.ui.sweeps.importance_tab import ImportanceTab
from workbench.ui.sweeps.numbered_table import NumberedTable
from workbench.ui.sweeps.panel_model import HEAD, Change, Look, SweepsModel, look
from workbench.ui.sweeps.trial_menu import TrialMenu
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label

WIDTH, HEIGHT, SEARCH = 1060, 600, 220  # px at 100% text
EVERY = 1000  # ms between two looks
CANCEL = "Cancel the sweep"
CONDITIONS = "state=failed, lr<0.01, seed=0, epoch<10, MAP@R>80 (%)"


class SweepsPanel(QDialog):
    """Reads the workspace once a second while it is open; commands reach the worker through the workspace."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sweeps")
        self._session = session
        self.model = SweepsModel()
        self._reading = Newest(session)
        self._timer = QTimer(self, interval=EVERY)
        self._build()
        self._connect()
        open_at(self, session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self._offer()

    def _build(self) -> None:
        self.sweeps, self.trials = NumberedTable("Sweeps"), NumberedTable("Queued runs of the sweep")
        self.words = label("", "muted", wrap=True)
        self.pause = button(PAUSE, "pause")
        self.retry = button("Retry", "arrow-counter-clockwise")
        self.retry.setToolTip("Put failed and cancelled runs back into the queue")
        self.cancel = button(f"{CANCEL}…", "x-circle", "danger")
        self.report = button("Report…", "file-text")
        self.compare = button("Compare", "scales", "primary")
        self.show_run = button("Show the run")
        self.up, self.down = button("Move up", "arrow-up"), button("Move down", "arrow-down")
        below = QWidget()
        self.tabs, self.importance = QTabWidget(), ImportanceTab(self._session)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.trials, "Runs")
        self.history = BestSoFarPlot()
        self.tabs.addTab(self.history, BEST_SO_FAR)
        self.tabs.addTab(self.importance, TITLE)
        self.menu = TrialMenu(self._session, lambda: self.model, self)
        self.more = icon_button("dots-three", "Order, settings and table of the runs")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self.menu)
        self.search = QLineEdit(placeholderText="Search settings, state", clearButtonEnabled=True)
        self.search.setAccessibleName("Search the runs of the sweep")
        self.search.setToolTip(f"Words of the runs’ settings, state or problem, or conditions: {CONDITIONS}")
        self.search.setFixedWidth(self._session.theme.px(SEARCH))
        beside = QWidget()
        in_row(self.search, self.more, on=beside, spacing=4)
        self.tabs.setCornerWidget(beside)
        head = self.trials.horizontalHeader()
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        head.setToolTip("Click to sort the runs by this column; click again to reverse the order")
        self.trials.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        in_column(self.words, (self.tabs, 1), on=below, margins=(0, 8, 0, 0), spacing=8)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("sweeps-panel")
        split.addWidget(self.sweeps)
        split.addWidget(below)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 5)
        split.setChildrenCollapsible(False)
        of_run = (self.up, self.down, self.show_run)
        foot = in_lines(self.pause, self.retry, self.cancel, *of_run, self.report, self.compare)
        whole = QWidget()
        in_column((split, 1), foot, on=whole, margins=16, spacing=12)
        self.stack = QStackedWidget()
        self.hint = EmptyHint(
            "No sweeps yet", "“Sweep…” beside Start on Set up trains a config with many settings.", "Go to Set up"
        )
        self.stack.addWidget(self.hint)
        self.stack.addWidget(whole)
        in_column(self.stack, on=self)

    def _connect(self) -> None:
        self._timer.timeout.connect(self.refresh)
        self.hint.pressed.connect(self._go_to_setup)
        self.sweeps.itemSelectionChanged.connect(self._sweep_chosen)
        self.trials.itemSelectionChanged.connect(self._trial_chosen)
        self.trials.itemDoubleClicked.connect(self._open_run)
        self.trials.horizontalHeader().sectionClicked.connect(self._order_by)
        self.trials.customContextMenuRequested.connect(self._open_menu)
        self.search.textChanged.connect(self._search)
        self.menu.best_first.connect(self._best_first)
        self.menu.in_line.connect(self._in_line)
        self.menu.best_chosen.connect(self._choose_best)
        self.menu.left.connect(self.hide)
        self.tabs.currentChanged.connect(self._show_importance)
        self.importance.wished.connect(self._session.fulfil)
        self.history.wished.connect(self._session.fulfil)
        self.history.chosen.connect(self._choose_setting)
        self.pause.clicked.connect(self._pause_or_resume)
        self.retry.clicked.connect(self._retry)
        self.cancel.clicked.connect(self._cancel)
        self.compare.clicked.connect(self._compare)
        self.report.clicked.connect(self._report)
        self.show_run.clicked.connect(self._open_run)
        self.up.clicked.connect(self._move_up)
        self.down.clicked.connect(self._move_down)
        self._session.workspace_changed.connect(self._forget)

    def _go_to_setup(self) -> None:
        self.close()
        self._session.show_page("setup")

    # What is shown

    def choose(self, number: int) -> None:
        """Show that sweep as soon as it is read."""
        self.model.choose_sweep(number)
        self.refresh()

    def refresh(self) -> None:
        """Read the sweeps on a thread, one reading at a time."""
        if not self._reading.busy:
            self._reading.ask("Sweeps", partial(look, self._session.workspace), self._take, self._failed, quiet=True)

    @property
    def reading(self) -> bool:
        """Whether the sweeps are being read."""
        return self._reading.busy

    def _take(self, looks: list[Look]) -> None:
        self.model.take(looks)
        self.stack.setCurrentIndex(1 if looks else 0)
        shown = self.model.shown
        self.sweeps.show_rows(HEAD, self.model.sweep_rows(), None if shown is None else shown.sweep.id)
        self._show_trials()

    def _failed(self, problem: Exception) -> None:
        self._timer.stop()
        self.words.setText(str(problem))

    def _forget(self) -> None:
        """Clear the panel, for another workspace, and read that one, also where the one before could not be read."""
        self._reading.cancel()
        self.model = SweepsModel()
        self.search.clear()
        self._take([])
        if self.isVisible():
            self._timer.start()
            self.refresh()

    def _sweep_chosen(self) -> None:
        self.model.choose_sweep(self.sweeps.chosen)
        self._show_trials()

    def _trial_chosen(self) -> None:
        self.model.choose_trial(self.trials.chosen)
        self._offer()

    def _show_trials(self, *, fits: bool = False) -> None:
        """Show the runs of the chosen sweep; `fits` as `NumberedTable.show_rows` takes it."""
        self.words.setText(self.model.words())
        trial = self.model.trial
        self.trials.show_rows(*self.model.trial_rows(), None if trial is None else trial.id, fits=fits)
        column, descending = self.model.order
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.trials.horizontalHeader().setSortIndicator(column, order)
        shown = self.model.shown
        self.history.show_values(*(((), "") if shown is None else (self.model.history(), shown.sweep.metric)))
        self._show_importance()
        self._offer()

    def _show_importance(self, *_: object) -> None:
        """Compute the importance where it is seen; without a sweep, as in another workspace, there is none."""
        self.search.setVisible(self.tabs.currentWidget() is self.trials)
        if self.model.shown is None or self.tabs.currentWidget() is self.importance:
            self.importance.show_sweep(self.model.shown)

    def _offer(self) -> None:
        """Enable the commands that apply now."""
        model = self.model
        if self.pause.text() != (wanted := PAUSE if model.working else RESUME):
            self.pause.setText(wanted)
            self.pause.setIcon(icon("pause" if model.working else "play"))
        self.pause.setEnabled(model.unfinished)
        self.cancel.setEnabled(model.unfinished)
        self.retry.setEnabled(model.has_failed_runs)
        for widget in (self.compare, self.report):
            widget.setEnabled(bool(self._judged_runs()))
        self.show_run.setEnabled(model.trial is not None and model.trial.run_id is not None)
        self.up.setEnabled(model.can_move(-1))
        self.down.setEnabled(model.can_move(1))

    def _judged_runs(self) -> list[int]:
        """The runs with a result that are not in the trash."""
        there = {run.id for run in self._session.runs()}
        return [number for number in self.model.judged_runs if number in there]

    def _order_by(self, column: int) -> None:
        self.model.order_by(column)
        self._ordered()

    def _search(self, text: str) -> None:
        self.model.search(text)
        self._show_trials()
        self.trials.scrollToTop()

    def _best_first(self) -> None:
        self.model.best_first()
        self._ordered()

    def _in_line(self) -> None:
        self.model.in_line()
        self._ordered()

    def _ordered(self) -> None:
        """Show the runs in another order, from the first one."""
        self._show_trials(fits=True)
        self.trials.scrollToTop()

    def _choose_best(self) -> None:
        if (best := self.model.best) is not None:
            self._choose_run(best.id)

    def _choose_setting(self, point: int) -> None:
        """Choose the first run of a setting."""
        runs = [trial.id for trial in self.model.shown.trials if trial.point == point] if self.model.shown else []
        if runs:
            self._choose_run(runs[0])

    def _choose_run(self, number: int) -> None:
        """Choose a run and bring it into view, also one that the search left out."""
        self.model.choose_trial(number)
        if self.model.trial is None:
            self.search.clear()
        self.tabs.setCurrentWidget(self.trials)
        self._show_trials()
        self.trials.scrollTo(self.trials.currentIndex())

    def _open_menu(self, place: QPoint) -> None:
        """Open the menu of the run below the pointer."""
        self.trials.selectRow(self.trials.rowAt(place.y()))
        self.menu.popup(self.trials.viewport().mapToGlobal(place))

    # What the user asks

    def _ask(self, change: Change | None) -> None:
        """Change the workspace on a thread, then read the sweeps again."""
        if change is not None:
            work = partial(change, self._session.workspace)
            self._session.change(work, self._changed)

    def _changed(self, _result: object) -> None:
        self.refresh()

    def _pause_or_resume(self) -> None:
        self._ask(self.model.pause_or_resume())

    def _retry(self) -> None:
        self._ask(self.model.retry())

    def _cancel(self) -> None:
        shown, cancel = self.model.shown, self.model.cancel()
        if shown is None or cancel is None:
            return
        box = QMessageBox(QMessageBox.Icon.NoIcon, CANCEL, f"Cancel sweep {shown.sweep.id}?", parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("Queued runs will not start. What was trained is kept.")
        sure = box.addButton(CANCEL, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole))
        sure.clicked.connect(partial(self._cancel_now, cancel))
        self._session.workspace_changed.connect(box.reject)  # there another sweep may have its number
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _cancel_now(self, cancel: Change, *_: object) -> None:
        self._ask(cancel)

    def _move_up(self) -> None:
        self._ask(self.model.move(-1))

    def _move_down(self) -> None:
        self._ask(self.model.move(1))

    def _compare(self) -> None:
        self._session.ticks.choose(self._judged_runs())
        self._session.show_page("compare")
        self.hide()

    def _report(self) -> None:
        offer_report(self._session, sorted(self._judged_runs()), self.model.report_metric, self.model.report_at)
        self.hide()

    def _open_run(self, *_: object) -> None:
        trial = self.model.trial
        if trial is not None and trial.run_id is not None:
            self._session.show_run(trial.run_id)
            self._session.show_page("train")
            self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self.importance.end()


def show_sweeps(session: Session, parent: QWidget | None, number: int | None = None) -> SweepsPanel:
    """Bring the window's one Sweeps panel to the front, with that sweep chosen."""
    window = parent.window() if parent is not None else None
    panel = window.findChild(SweepsPanel) if window is not None else None
    if panel is None:
        panel = SweepsPanel(session, window)
        session.part_made.emit(panel)
    panel.show()
    panel.raise_()
    if number is not None:
        panel.choose(number)
    return panel
