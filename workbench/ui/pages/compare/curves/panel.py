"""The Curves tab: the choice of what is drawn over epochs or steps, and how it is read."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from workbench.comparing.curves.training_curves import TrainingCurves, training_curves
from workbench.comparing.difference.baseline import BaselineRow
from workbench.comparing.overview import Overview
from workbench.jobs.newest import Newest
from workbench.metric_names import metric_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.compare.curves.difference_beside import DifferenceBeside
from workbench.ui.pages.compare.curves.seed_curves import MOST_DRAWN, SeedCurves
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

METRIC = ""  # the page's metric; the other choices are names of scalars

LEAST_WORDS = 20  # letters of the choice: "P@R over epochs" is not cut while its list is short


NO_CURVES = (
    "A test of a network on other images, like an import, has one evaluation, so there is no curve over epochs. "
    "Difference has the groups' means with their intervals, and Queries the images on which two groups differ."
)


class WithoutCurves(QWidget):
    """In place of curves where no run was trained: why there are none, and what to look at."""

    difference_asked = Signal()
    queries_asked = Signal()
    trainers_asked = Signal()  # the runs that trained the tested networks are to be compared

    def __init__(self) -> None:
        super().__init__()
        self.difference, self.queries = button("Open Difference"), button("Open Queries")
        self.trainers = button("Compare the runs that trained")
        self.trainers.setToolTip("Tick the runs whose networks were tested, in place of their tests: they have curves")
        self.difference.clicked.connect(self.difference_asked)
        self.queries.clicked.connect(self.queries_asked)
        self.trainers.clicked.connect(self.trainers_asked)
        words = label(NO_CURVES, wrap=True)
        in_column(words, in_lines(self.difference, self.queries, self.trainers, spacing=8), 1, on=self, margins=16)


class CurvesPanel(QWidget):
    """The metric of the page over epochs, or a scalar of training over steps, read on a thread when it is chosen."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._overview: Overview | None = None
        self._shown_as: list[GroupStyle] = []
        self._order: list[int] = []  # places of the groups, in the order of drawing
        self._read: tuple[Overview, list[int], TrainingCurves] | None = None  # drawn again in another theme
        self._reading = Newest(session)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Which curves are drawn")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.choice.setMinimumContentsLength(LEAST_WORDS)
        self.choice.setToolTip("The metric above over epochs, or a value logged in training over steps")
        self.seeds = SeedCurves()
        self.seeds.wished.connect(self.wished)
        choice, self._head = QWidget(), QWidget()
        in_row(caption("Curve of", self.choice), self.choice, on=choice, spacing=8)
        head = in_lines(choice, self.seeds.smoother, spacing=8)
        head.setContentsMargins(8, 8, 8, 0)
        self._head.setLayout(head)
        self.without = WithoutCurves()
        self.without.trainers_asked.connect(self._compare_trainers)
        self.places = QStackedWidget()
        self.places.addWidget(self.seeds)
        self.places.addWidget(self.without)
        self.beside = DifferenceBeside(Scrolled(self.places))
        self.beside.forest.plot.wished.connect(self.wished)
        in_column(self._head, (self.beside, 1), on=self, spacing=0)
        self.choice.activated.connect(self._show)

    @property
    def drawing(self) -> bool:
        """Whether curves are being read or are still to be drawn."""
        return self._reading.busy or self.seeds.drawing

    def show_overview(
        self, overview: Overview, shown_as: Sequence[GroupStyle], order: Sequence[str] = ()
    ) -> None:  # fmt: skip
        """Show other groups with their styles, in the same order; the choice stays if the runs have it.

        Args:
            order: titles of all groups, of which the first are drawn; by default the order of the overview.
        """
        self._overview, self._shown_as = overview, list(shown_as)
        places = {title: place for place, title in enumerate(order)}
        titles = [group.title for group in overview.groups]
        self._order = sorted(range(len(titles)), key=lambda at: places.get(titles[at], at))
        chosen = self.choice.currentData()
        self.choice.clear()
        self.choice.addItem(f"{metric_name(overview.metric)} over epochs", METRIC)
        for name in overview.scalars:
            self.choice.addItem(f"{metric_name(name)} over steps", name)
        if not chosen and not overview.metrics and overview.scalars:
            chosen = overview.scalars[0]  # of runs without evaluations, as those of other programs
        self.choice.setCurrentIndex(max(0, self.choice.findData(chosen)))
        untrained = bool(overview.groups) and all(group.trained_nothing for group in overview.groups)
        self._head.setHidden(untrained)
        self.places.setCurrentWidget(self.without if untrained else self.seeds)
        self.without.trainers.setVisible(bool(self._trainers()))
        self._show()

    def _trainers(self) -> set[int]:
        """The runs that trained the networks of the tests that are shown."""
        runs = () if self._overview is None else (run for group in self._overview.groups for run in group.runs)
        return {run.trainer.id for run in runs if run.trainer is not None}

    def _compare_trainers(self) -> None:
        self._session.ticks.choose(self._trainers())

    def show_rows(self, rows: Sequence[BaselineRow], styles: Mapping[str, GroupStyle]) -> None:
        """Show beside the curves how far each group is from the baseline, which comes first, in the page's metric."""
        metric = "" if self._overview is None else self._overview.metric
        self.beside.show_rows(rows, styles, metric)

    def forget(self) -> None:
        """Cancel reading, because nothing is ticked."""
        self._reading.cancel()
        self._overview = self._read = None

    def _show(self) -> None:
        self._reading.cancel()
        overview, name = self._overview, self.choice.currentData()
        self.seeds.smoother.setVisible(name != METRIC)  # evaluations are never smoothed
        if overview is None:
            return
        if name == METRIC:
            curves, styles = ([overview.curves[at] for at in self._order], [self._shown_as[at] for at in self._order])
            self.seeds.show_curves(curves, styles, overview.metric)
            return
        read = self._read
        if read is not None and read[0] is overview and read[1] == self._order and read[2].name == name:
            self._draw(read[2])
            return
        self.seeds.say("Reading…")
        workspace, groups = self._session.workspace, [overview.groups[at] for at in self._order]

        def work(progress: Progress) -> TrainingCurves:
            return training_curves(workspace, groups, name, MOST_DRAWN, progress)

        self._reading.ask("Training curves", work, self._came, self._fail, quiet=True)

    def _came(self, curves: TrainingCurves) -> None:
        assert self._overview is not None  # what was read for other runs was cancelled
        self._read = (self._overview, self._order, curves)
        self._draw(curves)

    def _fail(self, problem: Problem) -> None:
        self.seeds.say(str(problem))

    def _draw(self, curves: TrainingCurves) -> None:
        assert self._overview is not None
        by_group = dict(zip(map(id, self._overview.groups), self._shown_as, strict=True))
        self.seeds.show_training(curves, [by_group[id(curve.group)] for curve in curves.curves])
