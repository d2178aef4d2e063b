"""The Train page: the shown run, live while it works and as it was afterwards."""

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.comparing.smoothing import AT_FIRST
from workbench.control import Control
from workbench.problem import Problem
from workbench.running.trained_network import checkpoints
from workbench.ui.pages.train.anatomy import AnatomyPanel
from workbench.ui.pages.train.curves import Curves
from workbench.ui.pages.train.epochs import EpochTable
from workbench.ui.pages.train.header import RunHeader, TroubleBanner
from workbench.ui.pages.train.method import MethodPanel
from workbench.ui.run_config import offer_settings
from workbench.ui.session import Session
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.smoothing_slider import SmoothingSlider
from workbench.workspace.rows import Run

ROW_PX = 24
TABLE_SHARE, CURVES_SHARE = 1, 4
NOT_YET, NEVER = "No values yet", "This run has no values of this"  # in a plot without any


class TrainPage(QStackedWidget):
    """Follows `session.run_id`. Curves come from the follower, the header from the run's row."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._build()
        self._connect()
        self._show_run(session.run_id)
        self._load_stored()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "No run is shown",
            "The curves of a run stand here while it trains and afterwards. Choose one in the list, or set one up.",
            "Set up a run",
        )
        self.header = RunHeader()
        self.banner = TroubleBanner()
        self.curves, self.anatomy, self.method = Curves(), AnatomyPanel(), MethodPanel()
        self.views = QTabWidget()
        self.views.setDocumentMode(True)
        self.views.tabBar().setAccessibleName("Views of the run")
        self.views.addTab(self.curves, "Curves")
        self.views.addTab(self.anatomy, "Anatomy")
        self.views.addTab(self.method, "Method")
        self.views.setTabToolTip(2, "Pictures that only this method has: weights, prototypes, distances, projections")
        self.smoother = SmoothingSlider(AT_FIRST)
        self.views.setCornerWidget(self.smoother)
        self._smooth(AT_FIRST)
        self.views.setTabToolTip(1, "What the loss does to the embeddings: PCE, parts of Table 2, mutual information")
        self.model = EpochTable(self.curves.accuracy_at)
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName("Metrics of each evaluated epoch, newest first")
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setToolTip("Double-click shows that epoch on the other pages")
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setMinimumSectionSize(60)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.setMinimumHeight(3 * ROW_PX)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setHandleWidth(8)
        split.addWidget(self.views)
        split.addWidget(self.table)
        split.setStretchFactor(0, CURVES_SHARE)
        split.setStretchFactor(1, TABLE_SHARE)
        split.setCollapsible(0, False)
        split.setSizes([CURVES_SHARE * 120, TABLE_SHARE * 120])
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.header)
        column.addWidget(self.banner)
        column.addWidget(split, 1)
        self.addWidget(self.hint)
        self.addWidget(content)

    def _connect(self) -> None:
        self.hint.pressed.connect(self._go_to_setup)
        self.smoother.chosen.connect(self._smooth)
        self.header.pause_pressed.connect(self._pause)
        self.header.stop_pressed.connect(self._stop)
        self.header.end_pressed.connect(self._end)
        self.header.resume_pressed.connect(self._resume)
        self.header.edit_pressed.connect(self._edit_settings)
        self.header.page_chosen.connect(self.session.show_page)
        self.banner.go_on.connect(self._go_on)
        self.banner.stop_and_keep.connect(self._stop_and_keep)
        self.banner.discard.connect(self._end)
        self.curves.failed.connect(self.session.notify)
        self.anatomy.failed.connect(self.session.notify)
        self.table.doubleClicked.connect(self._show_epoch)
        self.session.run_changed.connect(self._show_run)
        self.session.scalars_arrived.connect(self.curves.add)
        self.session.scalars_arrived.connect(self.anatomy.add)
        self.session.charts_changed.connect(self._show_charts)
        self.method.step_chosen.connect(self._show_charts_of)
        self.session.runs_changed.connect(self._refresh)
        self.session.evaluations_changed.connect(self._show_evaluations)

    def _smooth(self, weight: float) -> None:
        for plot in (*self.curves.plots, *self.anatomy.plots):
            plot.set_smoothing(weight)

    # What is shown

    def _show_run(self, run_id: int | None) -> None:
        """Another run: empty plots; the follower tells its points from the first one on."""
        self.curves.clear()
        self.anatomy.clear()
        self._show_charts()
        self.setCurrentIndex(0 if run_id is None else 1)
        self._show_evaluations()
        self._refresh()

    def _load_stored(self) -> None:
        """The points that the follower told before this page was made; what it tells again replaces them."""
        run_id, workspace = self.session.run_id, self.session.workspace
        if run_id is None:
            return
        for name in workspace.scalar_names(run_id):
            steps, values = workspace.scalars(run_id, name)
            self.curves.add_curve(name, steps, values)
            self.anatomy.add_curve(name, steps, values)
        self._show_evaluations()

    def _refresh(self) -> None:
        run = self._run()
        if run is None:
            return
        control = self.session.control(run.id)
        has_checkpoint = not run.live and bool(checkpoints(self.session.workspace, run.id))
        self.header.show_run(run, control, has_checkpoint)
        waits = run.status == "waiting" and (control is None or control.paused)
        self.banner.show_reason(run.problem if waits else "", control is not None)
        self.curves.show_trouble(run)
        for plot in (*self.curves.plots, *self.anatomy.plots):
            plot.say_when_empty(NOT_YET if run.live else NEVER)

    def _show_evaluations(self) -> None:
        run_id = self.session.run_id
        found = [] if run_id is None else self.session.workspace.evaluations(run_id)
        self.curves.show_evaluations(found)
        self.model.show(found)
        if found:
            first = self.model.index(0, 0)
            self.table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)

    def _show_charts(self) -> None:
        run_id = self.session.run_id
        self.method.show_steps([] if run_id is None else self.session.workspace.chart_steps(run_id))

    def _show_charts_of(self, step: int) -> None:
        if self.session.run_id is not None:
            self.method.show_charts(self.session.workspace.charts(self.session.run_id, step))

    def _run(self) -> Run | None:
        try:
            return self.session.run()
        except Problem:  # another program deleted it; the list says so
            return None

    # What the person does

    def _control(self) -> Control | None:
        return None if self.session.run_id is None else self.session.control(self.session.run_id)

    def _pause(self) -> None:
        control = self._control()
        if control is None:
            return
        if control.paused:
            control.resume()
        else:
            control.pause()
        self._refresh()

    def _stop(self) -> None:
        control = self._control()
        if control is not None:
            control.stop()
            self._refresh()

    def _go_on(self) -> None:
        control = self._control()
        if control is not None:
            control.resume()
            self._refresh()

    def _stop_and_keep(self) -> None:
        control = self._control()
        if control is not None:
            control.interrupt()  # the rest of the epoch would only train on what went wrong
            self._refresh()

    def _end(self) -> None:
        if self.session.run_id is not None:
            self.session.end_asked.emit(self.session.run_id)

    def _edit_settings(self) -> None:
        run = self._run()
        if run is None:
            return
        try:
            offer_settings(self.session, run)
        except Problem as problem:
            self.session.notify(problem)

    def _resume(self) -> None:
        run = self._run()
        if run is None:
            return
        try:
            self.session.resume_run(run.id)
        except Problem as problem:
            self.session.notify(problem)

    def _show_epoch(self, index: object) -> None:
        row = self.table.currentIndex().row()
        if row >= 0:
            self.session.show_evaluation(self.model.evaluation(row).id)

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")
