"""The Train page: the shown run, live while it works and as it was afterwards."""

from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.charts import Chart
from workbench.comparing.smoothing import AT_FIRST
from workbench.problem import Problem
from workbench.ui.icons import icon
from workbench.ui.pages.train.anatomy import AnatomyPanel
from workbench.ui.pages.train.axis import EPOCH, KINDS, SECONDS, STEP, TIME, TITLES, StepAxis
from workbench.ui.pages.train.curves import Curves
from workbench.ui.pages.train.epochs import EpochTable
from workbench.ui.pages.train.findings import Findings
from workbench.ui.pages.train.geometry import GeometryPanel
from workbench.ui.pages.train.header import RunHeader, TroubleBanner
from workbench.ui.pages.train.machine_lines import MachineLines
from workbench.ui.pages.train.method import MethodPanel
from workbench.ui.pages.train.plot_grid import by_name
from workbench.ui.pages.train.reading import NEEDED, read_curves
from workbench.ui.pages.train.system import SystemPanel
from workbench.ui.pages.train.tiles import Tiles
from workbench.ui.run_config import offer_settings
from workbench.ui.session import Session
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.plot import CurvePlot
from workbench.ui.widgets.segments import Segments
from workbench.ui.widgets.smoothing_slider import SmoothingSlider
from workbench.ui.words import counted
from workbench.workspace.rows import Evaluation

ROW_PX = 24
FINDINGS_PX = 236  # at 100% text
WITH_FINDINGS = 940  # px of the page from which the sentences are next to the plots
WITH_CAPTION = 800  # px of the plots at 100% text from which "Smoothing" has room beside the tabs
WITHOUT = 760  # px of the page at 100% text, below which the sentences are gone
READ_AFTER = 300  # ms after the last news
AXIS = "train/axis"  # what the curves stand over
NO_TIMES, NO_EPOCHS = "This run stored no times", "The length of an epoch is not known"
TABLE_ROWS, UNFOLDED = 5, "train/table"  # rows of the table of epochs with its head; whether it is unfolded
NOT_YET, NEVER = "No values yet", "This run has no values for this chart"  # in a plot without any


class TrainPage(QStackedWidget):
    """Follows `session.run_id`. Curves come from the follower, the header from the run's row."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._evaluations: list[Evaluation] = []
        self._reading = QTimer(self, singleShot=True, interval=READ_AFTER)
        self._reading.timeout.connect(self._read_curves)
        self._build()
        self._connect()
        self._fit_text()
        self._show_run(session.run_id)
        session.follower.tell_again()  # the points that it sent before this page was made

    def _build(self) -> None:
        self.hint = EmptyHint(
            "No run selected",
            "The curves of a run appear here while it trains and afterwards. Choose one in the list, or set one up.",
            "Set up a run",
        )
        self.header = RunHeader()
        self.banner = TroubleBanner()
        self.tiles = Tiles()
        self.curves, self.anatomy, self.method = Curves(), AnatomyPanel(), MethodPanel()
        self.system = SystemPanel(MachineLines(self.session))
        self.views = QTabWidget()
        self.views.setDocumentMode(True)
        self.views.tabBar().setAccessibleName("Views of the run")
        self.geometry_panel = GeometryPanel(self.session)
        for view, title, tip in (
            (self.curves, "Curves", "Losses, retrieval metrics, learning rate and accuracy"),
            (
                self.anatomy,
                "Anatomy",
                "What the loss does to the embeddings: PCE, parts of Table 2, mutual information",
            ),
            (
                self.method,
                "Method",
                "Charts of this method alone: class vectors, weights, prototypes, distances",
            ),
            (self.geometry_panel, "Geometry", "How the embeddings change over the epochs, with warnings"),
            (self.system, "System", "Where the time of a step goes, and what bounds the run"),
        ):
            self.views.setTabToolTip(self.views.addTab(view, title), tip)
        self._build_corner()
        self._build_table()
        self.findings = Findings()
        above = QWidget()
        beside = QHBoxLayout(above)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(12)
        beside.addWidget(self.views, 1)
        beside.addWidget(self.findings)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        for part in (self.header, self.banner, self.tiles, self.geometry_panel.tiles):
            column.addWidget(part)
        column.addWidget(above, 1)
        column.addWidget(self.unfold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.table)
        self.addWidget(self.hint)
        self.addWidget(content)
        self.table.hide()
        self.unfold.setChecked(self.session.preferences.flag(UNFOLDED))

    def _build_corner(self) -> None:
        """What all curves have in common: how strongly they are smoothed, and what they stand over."""
        self.smoother = SmoothingSlider(AT_FIRST)
        self.step_axis = StepAxis()
        self.axis = Segments("Axis", [(kind, TITLES[kind]) for kind in KINDS])
        chosen = self.session.preferences.text(AXIS, STEP)
        self.axis.set_value(chosen if chosen in KINDS else STEP)
        corner = QWidget()
        in_row(self.smoother, self.axis, on=corner, spacing=4)
        self.views.setCornerWidget(corner)
        self._smooth(AT_FIRST)

    def _build_table(self) -> None:
        """The table of epochs, folded to one line until somebody asks for it."""
        self.unfold = button("Evaluations", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.unfold.toggled.connect(self._fold_or_unfold)
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
        self.table.setFixedHeight(TABLE_ROWS * ROW_PX)

    def _fold_or_unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.table.setVisible(on)
        self.session.preferences.set_flag(UNFOLDED, on)

    def _connect(self) -> None:
        self.hint.pressed.connect(self._go_to_setup)
        self.smoother.chosen.connect(self._smooth)
        self.axis.chosen.connect(self._choose_axis)
        self.system.made.connect(self._take_chart)
        self.views.currentChanged.connect(self._fit_text)
        self.geometry_panel.changed.connect(self._fit_text)
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
        self.system.failed.connect(self.session.notify)
        self.table.doubleClicked.connect(self._show_epoch)
        self.session.run_changed.connect(self._show_run)
        self.session.theme.changed.connect(self._fit_text)
        self.session.scalars_arrived.connect(self._add_times)
        self.session.scalars_arrived.connect(self.curves.add)
        self.session.scalars_arrived.connect(self.anatomy.add)
        self.session.scalars_arrived.connect(self.system.add)
        self.session.scalars_arrived.connect(self._reading.start)
        self.session.charts_changed.connect(self._show_charts)
        self.method.step_chosen.connect(self._show_charts_of)
        self.session.runs_changed.connect(self._refresh)
        self.session.evaluations_changed.connect(self._show_evaluations)

    def _fit_text(self) -> None:
        """Take the width of the text size; a narrow page has no room for the sentences."""
        size = self.session.theme
        self.findings.setFixedWidth(size.side(FINDINGS_PX))
        with_findings = self.width() >= max(WITH_FINDINGS, size.px(WITHOUT))
        room = self.width() - (self.findings.width() if with_findings else 0)  # on every tab alike
        self.smoother.caption.setVisible(room >= size.px(WITH_CAPTION))
        self.findings.setVisible(with_findings and self.views.currentWidget() is not self.system)
        of_geometry = self.views.currentWidget() is self.geometry_panel and self.geometry_panel.watched is not None
        self.tiles.setVisible(not of_geometry)
        self.geometry_panel.tiles.setVisible(of_geometry)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _read_curves(self) -> None:
        """Show what the curves say now."""
        every = {
            name: curve for plot in (*self.curves.plots, *self.anatomy.plots) for name, curve in plot.curves.items()
        }
        known = {name: (every[name].steps, every[name].values) for name in NEEDED if name in every}
        known["anatomy/lambda"] = self.anatomy.lambdas
        scores = [
            (evaluation.epoch, evaluation.metrics["MAP@R"])
            for evaluation in self._evaluations
            if "MAP@R" in evaluation.metrics
        ]
        self.findings.show_sentences(read_curves(known, scores))
        self.tiles.show_loss(self.curves.batch.curves["batch/loss"].values)
        self.system.refresh()
        self._show_axis()

    def _smooth(self, weight: float) -> None:
        for plot in self._plots:
            plot.set_smoothing(weight)

    @property
    def _plots(self) -> tuple[CurvePlot, ...]:
        return (*self.curves.plots, *self.anatomy.plots, *self.system.plots)

    def _take_chart(self, plot: CurvePlot) -> None:
        """A chart of the System tab is new: it is like the others."""
        plot.set_smoothing(self.smoother.weight)
        self._stand_over(plot)

    def _choose_axis(self, kind: str) -> None:
        self.session.preferences.set_text(AXIS, kind)
        self._show_axis()

    def _add_times(self, points: list[tuple[str, int, float]]) -> None:
        for _, steps, seconds in by_name(points, {SECONDS}):
            self.step_axis.add_times(steps, seconds)

    def _show_axis(self) -> None:
        """Have every curve stand over what was chosen, as far as the run has it."""
        self.axis.allow(EPOCH, self.step_axis.has(EPOCH), NO_EPOCHS)
        self.axis.allow(TIME, self.step_axis.has(TIME), NO_TIMES)
        for plot in self._plots:
            self._stand_over(plot)

    def _stand_over(self, plot: CurvePlot) -> None:
        plot.stand_over(*self.step_axis.of(self.axis.value(), plot.counts))

    # What is shown

    def _show_run(self, run_id: int | None) -> None:
        """Another run: empty the plots; the follower sends its points from the first one."""
        self.curves.clear()
        self.anatomy.clear()
        self.system.clear()
        self.step_axis.clear()
        self._show_axis()
        self._show_charts()
        self._reading.start()
        self.setCurrentIndex(0 if run_id is None else 1)
        self._show_evaluations()
        self._refresh()

    def _refresh(self) -> None:
        run = self.session.run()
        if run is None:
            return
        control = self.session.control(run.id)
        self.header.show_run(run, control, self.session.can_resume())
        self.tiles.show_run(run)
        self.system.show_run(run)
        self.step_axis.steps_per_epoch = run.total / run.epochs if run.total and run.epochs else 0.0
        self._offer_method(run.live)
        waits = run.status == "waiting" and (control is None or control.paused)
        self.banner.show_reason(run.problem if waits else "", control is not None)
        self.curves.show_trouble(run)
        for plot in self._plots:
            plot.say_when_empty(NOT_YET if run.live else NEVER)

    def _show_evaluations(self) -> None:
        evaluations = self._evaluations = self.session.evaluations()
        self.curves.show_evaluations(evaluations)
        self.model.show(evaluations)
        best = self.model.best()
        self.tiles.show_evaluations(evaluations, best)
        said = f", best epoch {best.epoch}" if best is not None else ""
        self.unfold.setText(f"{counted(len(evaluations), 'evaluation')}{said}" if evaluations else "No evaluations yet")
        for grid in (self.curves.grid, self.anatomy.grid):
            grid.show_best(*((None, None) if best is None else (best.epoch, best.step)))
        self.system.show_best(None if best is None else best.step)
        self._reading.start()
        if evaluations:
            first = self.model.index(0, 0)
            self.table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)

    def _show_charts(self) -> None:
        self.method.show_steps(self.session.chart_steps())
        run = self.session.run()
        self._offer_method(run is not None and run.live)

    def _offer_method(self, live: bool) -> None:
        """The tab is there while pictures may come, and where there are some."""
        unread = self.session.follower.followed.run_id != self.session.run_id
        self.views.setTabVisible(self.views.indexOf(self.method), live or unread or self.method.step is not None)

    def _show_charts_of(self, step: int) -> None:
        run_id, workspace = self.session.run_id, self.session.workspace
        if run_id is None:
            return

        def show(charts: list[Chart]) -> None:
            if (self.session.run_id, self.method.step) == (run_id, step):  # unless another is looked at since
                self.method.show_charts(charts)

        self.session.read(lambda: workspace.charts(run_id, step), show)

    # What the person does

    def _pause(self) -> None:
        self.session.toggle_pause()
        self._refresh()

    def _stop(self) -> None:
        control = self.session.shown_control()
        if control is not None:
            control.stop()
            self._refresh()

    def _go_on(self) -> None:
        control = self.session.shown_control()
        if control is not None:
            control.resume()
            self._refresh()

    def _stop_and_keep(self) -> None:
        control = self.session.shown_control()
        if control is not None:
            control.interrupt()  # the rest of the epoch would only train on what went wrong
            self._refresh()

    def _end(self) -> None:
        if self.session.run_id is not None:
            self.session.end_asked.emit(self.session.run_id)

    def _edit_settings(self) -> None:
        run = self.session.run()
        if run is None:
            return
        try:
            offer_settings(self.session, run)
        except Problem as problem:
            self.session.notify(problem)

    def _resume(self) -> None:
        run = self.session.run()
        if run is None:
            return
        self.session.resume_run(run.id)

    def _show_epoch(self, index: object) -> None:
        row = self.table.currentIndex().row()
        if row >= 0:
            self.session.show_evaluation(self.model.evaluation(row).id)

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")
