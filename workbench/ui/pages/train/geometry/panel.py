"""The Geometry tab of the Train page: alarms in words, and how the embeddings changed over the epochs."""

import math

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QStackedWidget, QWidget

from workbench.evaluation.health import Alarm
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.geometry_watch import Images, Watched, watch
from workbench.ui.pages.train.geometry.alarm_card import AlarmCard
from workbench.ui.pages.train.geometry.axes import NEGATIVE, OTHER_RUN, POSITIVE, STAR
from workbench.ui.pages.train.geometry.beside import BesideChooser
from workbench.ui.pages.train.geometry.classes_plot import ClassesPlot
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot
from workbench.ui.pages.train.geometry.ridge_plot import RidgePlot
from workbench.ui.pages.train.geometry.tiles import GeometryTiles
from workbench.ui.pages.train.geometry.variance_plot import VariancePlot
from workbench.ui.plots.painted_plot import PaintedPlot
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.fields.segments import Segments

NOTHING_YET = "No evaluation yet: the geometry of the embeddings is shown from the first one on."
READ_AFTER = 400  # ms after the last news
READING = "Reading the evaluations…"
CHOICES: tuple[tuple[Images, str, str], ...] = (
    ("test", "Test set", "The images of the test set, as in retrieval"),
    (
        "probe",
        "Probe",
        "Fixed images of the training set, on which CE and SPCE are measured: searched among themselves",
    ),
)
IN_ROW = 4  # alarms
TALL_PX = 200  # at least, of the pictures with a row for each epoch or class


Wanted = tuple[int | None, Images, tuple[int, ...]]  # a run, its images, and the numbers of its evaluations
NOTHING: Wanted = (None, "test", ())


class GeometryPanel(QStackedWidget):
    """Looks at the evaluations of the shown run when it is visible, on a thread, and again when there are more."""

    changed = Signal()  # other evaluations are shown, or none

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.watched: Watched | None = None
        self._seen = NOTHING  # what is shown
        self._task: Task | None = None
        self._reading = QTimer(self, singleShot=True, interval=READ_AFTER)
        self._reading.timeout.connect(self._read)
        self._build()
        session.run_changed.connect(self._news)
        session.evaluations_changed.connect(self._news)
        session.evaluation_changed.connect(self._draw)

    def _build(self) -> None:
        self.hint = EmptyHint("Geometry of the embeddings", NOTHING_YET)
        self.tiles = GeometryTiles()  # the page has them above its tabs
        self.beside = BesideChooser(self.session, self)  # the page has it beside its tabs
        self.images = Segments("Embeddings of", [(images, title) for images, title, _ in CHOICES])  # there, too
        for images, _, words in CHOICES:
            self.images.buttons[images].setToolTip(words)
        self.images.set_value("test")
        self.images.hide()
        self.cards = [AlarmCard() for _ in range(2 * IN_ROW)]
        self.rank = LinesPlot("Effective rank", "epoch")
        self.spectrum = LinesPlot("Spectrum", "singular value", "relative", log=True)
        self.variances, self.second = VariancePlot(), QStackedWidget()  # the second picture is one of both
        for lines in (self.spectrum, self.variances):
            self.second.addWidget(lines)
        self.spread = LinesPlot("Uniformity, alignment", "uniformity, ← better", "alignment ↓")
        self.ridge, self.classes = RidgePlot(), ClassesPlot()
        self.ridge.picture.need_height(TALL_PX)
        curves = (self.rank, self.spectrum, self.variances, self.spread)
        self.plots: tuple[PaintedPlot, ...] = (*curves, self.ridge, self.classes)
        self._card_rows = [in_row(spacing=8) for _ in range(2)]
        self._lay_out_cards(len(self.cards))
        content, grid = QWidget(), QGridLayout()
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        self.addWidget(self.hint)
        self.addWidget(area)
        in_column(*self._card_rows, (grid, 1), on=content, margins=(0, 8, 0, 0), spacing=8)
        grid.setSpacing(8)
        for at, part in enumerate((self.rank, self.second, self.spread)):
            grid.addWidget(part, 0, 2 * at, 1, 2)
        grid.addWidget(self.ridge, 1, 0, 1, 3)
        grid.addWidget(self.classes, 1, 3, 1, 3)
        grid.setRowStretch(0, 2)
        grid.setRowStretch(1, 3)
        for plot in self.plots:
            plot.wished.connect(self.session.fulfil)
        for card in self.cards:
            card.asked.connect(self._show_dead)
        self.beside.changed.connect(self._draw)
        self.images.chosen.connect(self._choose_images)

    @property
    def shown_images(self) -> Images:
        """Whose embeddings are shown."""
        return "probe" if self.images.value() == "probe" else "test"

    def set_wanted(self, wanted: bool) -> None:
        """Show what stands beside the tabs while this one is shown."""
        self.images.setVisible(wanted)
        self.beside.set_wanted(wanted)

    def _choose_images(self) -> None:
        self._seen = NOTHING
        self.hint.say(READING)
        self.setCurrentIndex(0)
        self.beside.set_images(self.shown_images)
        self._read()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._news()

    def _news(self, _run_id: object = None) -> None:
        run_id = self.session.run_id
        if run_id != self._seen[0]:
            self.show_watched(None)
        if self.isVisible():
            self._reading.start()

    def _read(self) -> None:
        run_id, workspace, images = self.session.run_id, self.session.workspace, self.shown_images
        wanted = self._wanted()
        if run_id is None or wanted == self._seen or not wanted[-1] or self._task is not None:
            return
        self.hint.say(READING)

        def work(progress: Progress) -> Watched:
            return watch(workspace, run_id, progress, images)

        def take(watched: Watched) -> None:
            if wanted[:2] == self._wanted()[:2]:
                self._seen = wanted
                self.show_watched(watched)

        self._task = self.session.run_in_thread("Geometry of the embeddings", work, take, self._fail, quiet=True)
        self._task.ended.connect(self._task_ended)

    def _wanted(self) -> Wanted:
        """What is to be shown."""
        numbers = tuple(evaluation.id for evaluation in self.session.evaluations())
        return self.session.run_id, self.shown_images, numbers

    def _task_ended(self) -> None:
        self._task = None
        if self.isVisible():
            self._reading.start()  # another run, or more epochs, since it began

    def _fail(self, problem: Problem) -> None:
        self._seen = self._wanted()
        self.watched = None
        self.hint.say(str(problem))
        self.setCurrentIndex(0)
        self.changed.emit()

    def show_watched(self, watched: Watched | None) -> None:
        """Show another run's geometry; None if there is none yet."""
        self.watched = watched
        if watched is None:
            self._seen = NOTHING
            self.hint.say(NOTHING_YET)
        self.setCurrentIndex(1 if watched is not None and watched.evaluations else 0)
        self._draw()
        self.changed.emit()

    def _draw(self, _evaluation_id: object = None) -> None:
        watched = self.watched
        if watched is None or not watched.evaluations:
            return
        numbers = [evaluation.id for evaluation in watched.evaluations]
        at = numbers.index(self.session.evaluation_id) if self.session.evaluation_id in numbers else len(numbers) - 1
        self.tiles.show_watched(watched, at)
        self._draw_alarms(watched, at)
        epochs = np.array(watched.epochs, np.float64)
        looks = [seen.numbers for seen in watched.looks]
        needed = looks[at]["classes"] - 1
        limit = "classes−1" if self.beside.watched is not None else f"{needed:.0f}, classes − 1"  # the legend is full
        self.rank.show_lines(
            [
                *self._lines_beside("spectral_rank"),
                Line("this run", epochs, np.array([seen["spectral_rank"] for seen in looks]), POSITIVE, dots=True),
            ],
            (needed, limit) if needed <= looks[at]["dimensions"] else None,
            float(epochs[at]),
        )
        first, middle = 0, at // 2
        shown = [(first, NEGATIVE), (middle, "#56B4E9"), (at, POSITIVE)]
        self.spectrum.show_lines([
            Line(str(watched.epochs[look]), np.arange(1, 1 + len(watched.looks[look].spectrum), dtype=np.float64),
                 watched.looks[look].spectrum, colour)
            for look, colour in dict(shown).items()
        ])  # fmt: skip
        self.variances.show_variances(watched.looks[at].variances)
        uniform = np.array([seen["pairs_uniformity"] for seen in looks])
        align = np.array([seen["pairs_alignment"] for seen in looks])
        self.spread.show_lines([
            *self._lines_beside("pairs_alignment", over="pairs_uniformity"),
            Line("this run", uniform, align, POSITIVE, dots=True, first="untrained" if watched.epochs[0] == 0 else ""),
            Line("shown", uniform[at : at + 1], align[at : at + 1], STAR, dots=True),
        ])  # fmt: skip
        hills = [
            (epoch, seen.edges, seen.positives, seen.negatives)
            for epoch, seen in zip(watched.epochs, watched.looks, strict=True)
        ]
        self.ridge.show_hills(hills, watched.epochs[at])
        names = self._class_names(watched)
        falling = {names[column] for column in watched.falling.tolist()}
        self.classes.show_classes(watched.epochs, names, watched.of_classes, falling, watched.epochs[at])

    def _lines_beside(self, name: str, over: str = "") -> list[Line]:
        """The line of the run beside the shown one, if there is one: of a number over the epochs, or over another."""
        watched = self.beside.watched
        if watched is None:
            return []
        looks = [seen.numbers for seen in watched.looks]
        across = np.array([seen[over] for seen in looks] if over else watched.epochs, np.float64)
        height = np.array([seen[name] for seen in looks])
        return [Line(self.beside.title, across, height, OTHER_RUN, dots=True, dashed=True)]

    def _show_dead(self, shown: bool) -> None:
        self.second.setCurrentWidget(self.variances if shown else self.spectrum)

    def _draw_alarms(self, watched: Watched, at: int) -> None:
        names, alarms = self._class_names(watched), watched.alarms(at)
        falling = [names[column] for column in watched.falling.tolist()]
        if falling:
            words = f"{', '.join(falling[:4])}{' and more' if len(falling) > 4 else ''}: below their earlier MAP@R."
            alarms.append(Alarm("note", f"{len(falling)} of {len(names)} classes fall, the mean rises", words))
        self._lay_out_cards(len(alarms))
        for card, alarm in zip(self.cards, alarms, strict=False):
            card.show_alarm(alarm)
        for number, card in enumerate(self.cards):
            card.setVisible(number < len(alarms))

    def _lay_out_cards(self, count: int) -> None:
        """Spread so many cards over as many rows as they need, evenly, so that none is alone in a row."""
        in_first = math.ceil(count / math.ceil(count / IN_ROW))
        for at, card in enumerate(self.cards[:count]):
            self._card_rows[at // in_first].addWidget(card, 1)  # it leaves the row where it was

    def _class_names(self, watched: Watched) -> list[str]:
        return [self.session.class_name(number) for number in watched.labels.tolist()]
