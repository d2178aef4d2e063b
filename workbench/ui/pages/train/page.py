"""The Train page: the shown run, live while it works and as it was afterwards."""

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QWidget

from workbench.charts import Chart
from workbench.config import OWN_LOOP
from workbench.problem import Problem
from workbench.ui.actions.run_config import offer_settings
from workbench.ui.pages.train.anatomy.panel import AnatomyPanel
from workbench.ui.pages.train.curves.curves import Curves
from workbench.ui.pages.train.findings.crossings import crossings
from workbench.ui.pages.train.findings.findings import Findings
from workbench.ui.pages.train.findings.reading import known_before, read_curves
from workbench.ui.pages.train.geometry.panel import GeometryPanel
from workbench.ui.pages.train.head.run_header import RunHeader
from workbench.ui.pages.train.head.tiles import Tiles
from workbench.ui.pages.train.head.trouble_banner import TroubleBanner
from workbench.ui.pages.train.method import MethodPanel
from workbench.ui.pages.train.other_curves import OtherCurves
from workbench.ui.pages.train.plots.curve_options import CurveOptions
from workbench.ui.pages.train.scores import ScoresPanel
from workbench.ui.pages.train.system.machine_lines import MachineLines
from workbench.ui.pages.train.system.panel import SystemPanel
from workbench.ui.plots.curve_plot import CurvePlot
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.card import EmptyHint
from workbench.workspace.rows import Evaluation, Run

FINDINGS_PX = 236  # at 100% text
WITH_FINDINGS = 940  # px of the page from which the sentences are next to the plots
WITH_CAPTION, WIDE = 780, 820  # px of the plots at 100% text with room for "Smoothing", and for a long slider
WITH_BESIDE = 840  # px of the plots at 100% text with room for "Beside" and its long box
ONE_MORE, WITH_OTHERS = 80, 930  # px of the tab of other curves, and of the plots with room for its whole title
WITH_NUMBER = 690  # px of the plots at 100% text with room for the number of the smoothing
OTHERS = ("Other", "Other curves")
WITHOUT = 760  # px of the page at 100% text, below which the sentences are gone
READ_AFTER = 300  # ms after the first news
NOT_YET, NEVER = "No values yet", "This run has no values for this chart"  # in a plot without any


class TrainPage(QStackedWidget):
    """Follows `session.run_id`. Curves come from the follower, the header from the run's row."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(parent)
        self.session = session
        self._evaluations: list[Evaluation] = []
        self._seen_live: int | None = None  # the shown run, once it was seen training
        self._stale = False  # whether the run's row changed while another page was shown
        self._unseen = False  # whether evaluations came meanwhile
        self._of_geometry = False  # whether the tiles are those of Geometry
        self._best: Evaluation | None = None
        self._before_scores: QWidget | None = None  # the tab to go back to from a run that trained nothing
        self._reading = QTimer(self, singleShot=True, interval=READ_AFTER)
        self._reading.timeout.connect(self._read_curves)
        self._catch_up = QTimer(self, singleShot=True, interval=0)  # a turn of its own, before the page is painted
        self._catch_up.timeout.connect(self._show_evaluations)
        self.making = begun(self._parts(), in_parts)

    def _parts(self) -> Parts:
        yield from self._build()
        self._connect()
        self._fit_text()
        self._show_run(self.session.run_id)
        self.session.follower.tell_again()  # the points that it sent before this page was made

    def _build(self) -> Parts:
        self.hint = EmptyHint(
            "No run selected",
            "The curves of a run appear here while it trains and afterwards. Choose one in the list, or set one up.",
            "Set up a run",
        )
        self.header = RunHeader()
        self.banner = TroubleBanner()
        self.tiles = Tiles()
        yield
        self.findings = Findings()
        self.views = QTabWidget()
        self.views.setObjectName("train-views")
        self.views.setDocumentMode(True)
        self.views.tabBar().setAccessibleName("Views of the run")
        self.geometry_panel = GeometryPanel(self.session)
        yield
        content = QWidget()  # each part goes to its place before it is filled: moved later, it would be styled again
        self.addWidget(self.hint)
        self.addWidget(content)
        in_column(
            self.header, self.banner, self.tiles, self.geometry_panel.tiles,
            (in_row((self.views, 1), self.findings, spacing=12), 1),
            on=content, margins=(16, 12, 16, 12), spacing=8,
        )  # fmt: skip
        self.curves = Curves(self.session.preferences, in_parts=True)
        self.anatomy = AnatomyPanel(self.session.preferences, in_parts=True)
        self.method = MethodPanel()
        self.system = SystemPanel(MachineLines(self.session))
        self.others = OtherCurves(lambda name: self.curves.shows(name) or name in self.anatomy.curves)
        self.scores = ScoresPanel(self.session)
        yield
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
                "Charts specific to this method: class vectors, weights, prototypes, distances",
            ),
            (self.scores, "Scores", "What this run measured: it trained nothing, so there are no curves"),
            (self.geometry_panel, "Geometry", "How the embeddings change over the epochs, with warnings"),
            (self.system, "System", "Where the time of a step goes, and what limits the speed"),
            (self.others, OTHERS[1], "Curves of this run that no other tab shows, such as those of your own loop"),
        ):
            self.views.setTabToolTip(self.views.addTab(view, title), tip)
            yield
        self.views.setTabVisible(self.views.indexOf(self.scores), False)
        yield from self.curves.making
        self.evaluations = self.curves.evaluations
        yield from self.anatomy.making
        self.options = CurveOptions(self.session.preferences, self._plots)
        corner = QWidget()
        in_row(self.options, self.geometry_panel.beside, self.geometry_panel.images, on=corner)
        self.views.setCornerWidget(corner)
        yield

    def _connect(self) -> None:
        self.hint.pressed.connect(self._go_to_setup)
        self.system.made.connect(self.options.apply_to)
        self.anatomy.made.connect(self._take_part)
        self.others.made.connect(self.options.apply_to)
        self.others.any_changed.connect(self._offer_others)
        self.views.currentChanged.connect(self._fit_text)
        self.views.currentChanged.connect(self._read_soon)  # sentences have letters beside the Anatomy alone
        self.geometry_panel.changed.connect(self._fit_text)
        self.header.pause_pressed.connect(self._pause)
        self.header.stop_pressed.connect(self._stop)
        self.header.end_pressed.connect(self._end)
        self.header.resume_pressed.connect(self._resume)
        self.header.bring_back_pressed.connect(self.session.checkpoints_asked)
        self.header.edit_pressed.connect(self._edit_settings)
        self.header.page_chosen.connect(self.session.show_page)
        self.header.focus_left.connect(self.setFocus)
        self.banner.go_on.connect(self._go_on)
        self.banner.stop_and_keep.connect(self._stop_and_keep)
        self.banner.discard.connect(self._end)
        self.curves.wished.connect(self.session.fulfil)
        self.anatomy.wished.connect(self.session.fulfil)
        self.system.wished.connect(self.session.fulfil)
        self.method.wished.connect(self.session.fulfil)
        self.others.wished.connect(self.session.fulfil)
        self.evaluations.chosen.connect(self.session.show_evaluation)
        self.session.run_changed.connect(self._show_run)
        self.session.theme.changed.connect(self._fit_text)
        self.session.scalars_arrived.connect(self.options.add_times)
        self.session.scalars_arrived.connect(self.curves.add)
        self.session.scalars_arrived.connect(self.anatomy.add)
        self.session.scalars_arrived.connect(self.system.add)
        self.session.scalars_arrived.connect(self.others.add)
        self.session.scalars_arrived.connect(self._read_soon)
        self.session.charts_changed.connect(self._show_charts)
        self.method.step_chosen.connect(self._show_charts_of)
        self.session.runs_changed.connect(self._refresh_seen)
        self.session.runs_changed.connect(self._read_soon)  # a run that has ended is read otherwise
        self.session.evaluations_changed.connect(self._show_evaluations_seen)
        self.session.catalog_changed.connect(self._refresh_seen)

    def _fit_text(self) -> None:
        """Take the width of the text size; a narrow page has no room for the sentences."""
        size = self.session.theme
        self.findings.setFixedWidth(size.side(FINDINGS_PX, self.width()))
        tab = self.views.indexOf(self.others)
        one_more = size.px(ONE_MORE) if self.views.isTabVisible(tab) else 0
        with_findings = self.width() >= max(WITH_FINDINGS, size.px(WITHOUT)) + one_more
        room = self.width() - (self.findings.width() if with_findings else 0)  # on every tab alike
        self.views.setTabText(tab, OTHERS[room >= size.px(WITH_OTHERS)])
        captioned, wide, numbered = (room - one_more >= size.px(least) for least in (WITH_CAPTION, WIDE, WITH_NUMBER))
        self.options.smoother.fit(captioned=captioned, wide=wide, numbered=numbered)
        self.geometry_panel.beside.fit(room >= size.px(WITH_BESIDE))
        self.options.setVisible(self.views.currentWidget() in (self.curves, self.anatomy, self.system, self.others))
        self._room_for_findings = with_findings
        self._fit_findings()
        in_sight = self.views.currentWidget() is self.geometry_panel
        of_geometry = in_sight and self.geometry_panel.watched is not None
        self._of_geometry = of_geometry
        self._fit_tiles()
        self.tiles.show_anatomy(self.views.currentWidget() is self.anatomy)
        self.geometry_panel.tiles.setVisible(of_geometry)
        self.geometry_panel.set_wanted(in_sight and bool(self.session.evaluations()))

    def _fit_findings(self) -> None:
        """Show the sentences where they have room and are of what is shown; of no training there may be none."""
        of_training = self.views.currentWidget() is not self.system and not self._shows_scores
        self.findings.setVisible(self._room_for_findings and (of_training or bool(self.findings.text())))

    def _fit_tiles(self) -> None:
        """Show the tiles, unless those of Geometry are shown or none has a number, as of another program's curves."""
        run = self.session.run()
        nothing = run is not None and bool(run.curves_of) and self.tiles.empty
        self.tiles.setVisible(not self._of_geometry and not nothing)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "options"):  # a picture of the window resizes pages of which parts are still to be made
            self._fit_text()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unseen:
            self._catch_up.start()
        if self._stale:
            self._stale = False
            self._refresh()
        self._read_soon()

    def _read_soon(self) -> None:
        """Read the curves in a moment; news that come meanwhile do not put it off, for they come without a break."""
        if not self._reading.isActive():
            self._reading.start()

    def _read_curves(self) -> None:
        """Show what the curves say now, or when the page is shown."""
        if not self.isVisible():
            return
        every = {name: curve for plot in self.curves.plots for name, curve in plot.curves.items()}
        every |= self.anatomy.curves
        known = {name: (curve.steps, curve.values) for name, curve in every.items()}
        known["anatomy/lambda"] = self.anatomy.lambdas
        crossed = crossings(known)
        self.anatomy.bound.show_crossings(crossed)
        scores = [
            (evaluation.epoch, evaluation.metrics["MAP@R"])
            for evaluation in self._evaluations
            if "MAP@R" in evaluation.metrics
        ]
        run = self.session.run()
        sure = known_before(run) if run is not None and scores else []
        ended = run is None or not run.live
        lettered = crossed if self.views.currentWidget() is self.anatomy else ()
        said = read_curves(known, scores, ended=ended, crossed=lettered, seen=self.anatomy.seen)
        self.findings.show_sentences([*said, *sure])
        self.tiles.show_loss(self.curves.batch.curves["batch/loss"].values)
        self.tiles.show_probe(known)
        self._fit_tiles()
        self._fit_findings()
        self.system.refresh()
        self.options.show_axis()

    def _take_part(self, plot: CurvePlot) -> None:
        """Make a new plot of the Anatomy like the others."""
        self.options.apply_to(plot)
        run = self.session.run()
        if run is not None:
            plot.say_when_empty(_empty_words(run))

    def _plots(self) -> tuple[CurvePlot, ...]:
        return (*self.curves.plots, *self.anatomy.plots, *self.system.plots, *self.others.plots)

    # What is shown

    def _show_run(self, run_id: int | None) -> None:
        """Another run: empty the plots; the follower sends its points from the first one."""
        self.curves.clear()
        self.anatomy.clear()
        self.system.clear()
        self.others.clear()
        self.options.forget()
        self._offer_others()
        self._show_charts()
        self._read_soon()
        self.setCurrentIndex(0 if run_id is None else 1)
        self._show_evaluations()
        self._refresh()

    def _refresh_seen(self) -> None:
        """Follow the run's row now, or when the page is shown again."""
        if self.isVisible():
            self._refresh()
        else:
            self._stale = True

    def _refresh(self) -> None:
        run = self.session.run()
        if run is None:
            return
        control = self.session.control(run.id)
        away = self.session.follower.away
        can_resume, why_not = self.session.can_resume(), self.session.why_not_resumed()
        self.header.show_run(
            run, control, can_resume, self.session.catalog, away, why_not, resumes=self.session.resumes(run.id)
        )
        self.evaluations.expect_more(run.live or can_resume)
        self.findings.expect_more(run.live or can_resume)
        self.tiles.show_run(run)
        self.system.show_run(run)
        self.options.set_steps_per_epoch(run.total / run.epochs if run.total and run.epochs else 0.0)
        self._offer_scores(run)
        self._offer_method(run)
        waits = run.status == "waiting" and (control is None or control.paused)
        self.banner.show_reason(run.problem if waits else "", control is not None)
        self.curves.show_trouble(run)
        for plot in self._plots():
            plot.say_when_empty(_empty_words(run))

    def _show_evaluations_seen(self) -> None:
        """Show new evaluations now, or when the page is shown again."""
        if self.isVisible():
            self._show_evaluations()
        else:
            self._unseen = True

    def _show_evaluations(self) -> None:
        self._unseen = False
        evaluations, measured = self.session.evaluations(), self.session.measured()
        self._evaluations = measured
        self.curves.show_evaluations(measured)
        best = self.evaluations.show_evaluations(evaluations, len(measured))
        run = self.session.run()
        self.tiles.show_trained(run is None or not run.trained_nothing)
        self.tiles.show_evaluations(measured, best)
        self._best = best
        self.scores.show_run(run, best)
        for grid in (self.curves.grid, self.anatomy.grid, self.others.grid):
            grid.show_best(*((None, None) if best is None else (best.epoch, best.step)))
        self.system.show_best(None if best is None else best.step)
        self._read_soon()

    def _show_charts(self) -> None:
        self.method.show_steps(self.session.chart_steps())
        self._offer_method(self.session.run())

    @property
    def _shows_scores(self) -> bool:
        """Whether the shown run trained nothing: its scores are in place of curves."""
        return self.views.isTabVisible(self.views.indexOf(self.scores))

    def _offer_scores(self, run: Run) -> None:
        """Show the tab of scores in place of those of training, for a run that trained nothing; else these again."""
        self.scores.show_run(run, self._best)
        if (nothing := run.trained_nothing) == self._shows_scores:
            return
        of_training = (self.curves, self.anatomy, self.system)
        if nothing:
            self._before_scores = self.views.currentWidget()
            self.views.setTabVisible(self.views.indexOf(self.scores), True)
            if self._before_scores is not self.geometry_panel:
                self.views.setCurrentWidget(self.scores)
        for view in of_training:
            self.views.setTabVisible(self.views.indexOf(view), not nothing)
        if not nothing:
            if self.views.currentWidget() is self.scores:
                self.views.setCurrentWidget(self._before_scores or self.curves)
            self.views.setTabVisible(self.views.indexOf(self.scores), False)
        self._fit_text()

    def _offer_method(self, run: Run | None) -> None:
        """Show the tab if there are charts, if more may come, or while it is not known; a user's own loop has few.

        It does not go away when a run without charts ends: someone may be looking at it.
        """
        live = run is not None and run.live and run.dataset != OWN_LOOP
        if live or self._seen_live != self.session.run_id:
            self._seen_live = self.session.run_id if live else None
        unread = self.session.follower.followed.run_id != self.session.run_id
        there = self._seen_live is not None or unread or bool(self.session.chart_steps())
        there = there and not self._shows_scores
        self.method.show_live(live or unread)
        if self.views.isTabVisible(tab := self.views.indexOf(self.method)) != there:
            self.views.setTabVisible(tab, there)  # lays out the whole page, in any case

    def _offer_others(self) -> None:
        """Show the tab if there is a curve for it, at once for a run of another program: the others are empty then."""
        there, run = bool(self.others.names), self.session.run()
        if not there and self.views.currentWidget() is self.others:
            self.views.setCurrentWidget(self.curves)
        self.views.setTabVisible(self.views.indexOf(self.others), there)
        if there and run is not None and run.curves_of and self.views.currentWidget() is self.curves:
            self.views.setCurrentWidget(self.others)
        self._fit_text()

    def _show_charts_of(self, step: int) -> None:
        run_id, workspace = self.session.run_id, self.session.workspace
        if run_id is None:
            return

        def show(charts: list[Chart]) -> None:
            if (self.session.run_id, self.method.step) == (run_id, step):  # unless another is looked at since
                self.method.show_charts(charts)

        self.session.read(lambda: workspace.charts(run_id, step), show)

    # What the user does

    def _pause(self, pause: bool) -> None:
        self.session.pause_shown(pause)

    def _stop(self) -> None:
        self.session.stop_shown()

    def _go_on(self) -> None:
        self.session.pause_shown(False)

    def _stop_and_keep(self) -> None:
        control = self.session.shown_control()
        if control is not None:
            control.interrupt()  # the rest of the epoch would only train on what went wrong
            self.session.runs_changed.emit()

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

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")


def _empty_words(run: Run) -> str:
    """What a plot without values says."""
    return NOT_YET if run.live else NEVER
