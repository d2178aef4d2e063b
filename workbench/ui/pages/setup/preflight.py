"""The Preflight card: a check of the run on a thread, once edits have stopped; only the newest is shown."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QListWidget, QWidget

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.icons import icon
from workbench.ui.session import Session
from workbench.ui.tasks import Task
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.labels import label
from workbench.ui.words import NO_VALUE, THIN, duration, memory, short_time

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

SETTLES_AFTER = 700  # ms without an edit
SAMPLES, SAMPLE_SIDE = 5, 48  # images; px
AUGMENTED = 6  # pictures of one image: as it is evaluated, and as training may draw it
LISTED = 500
UNLIKE, NOTES = "Differs from the published counts:", "Worth knowing; nothing is left out for it:"
FACTS = ("Images", "Classes", "Split", "Device", "Network", "Memory", "Speed", "Probe", "One epoch", "Whole run")


class PreflightRunner(QObject):
    """Starts a check when edits have stopped, and drops every check but the newest."""

    waits = Signal()  # for the config to settle
    began = Signal()
    told = Signal(str)  # what is being done
    found = Signal(object)  # Preflight
    failed = Signal(object)  # Problem
    counted = Signal(object, int)  # RunConfig, its training classes: as soon as they are known
    held = Signal()  # a run is working: the check waits until it is asked for; classes that decide are counted
    _heard = Signal(int, str)  # number of the check, text; emitted on its thread
    _counted = Signal(int, int)  # number of the check, classes; emitted on its thread

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._config: RunConfig | None = None
        self._task: Task | None = None
        self._number = 0
        self._held = False  # a run works, and the check waits for its end
        self._timer = QTimer(self, singleShot=True, interval=SETTLES_AFTER)
        self._timer.timeout.connect(self.look)
        self._heard.connect(self._hear)
        self._counted.connect(self._count)

    @property
    def waiting_or_working(self) -> bool:
        """Whether a check is about to start or is under way."""
        return self._timer.isActive() or self._task is not None

    def settle(self, config: RunConfig | None) -> None:
        """The config as it is now; None while it cannot start, which ends what is under way."""
        if config == self._config:
            return
        self.drop()
        self._config = config
        if config is not None:
            self._timer.start()
            self.waits.emit()

    def take_up(self) -> None:
        """Start the check now if it was held for a run that has ended."""
        if self._held and not self._session.busy:
            self.look()

    def drop(self) -> None:
        """Drop the check that waits or works."""
        self._held = False
        self._timer.stop()
        self._number += 1
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def pause(self) -> None:
        """The page is hidden: a check that has not begun waits until it is shown again."""
        if self._timer.isActive():
            self._timer.stop()
            self._config = None

    def look(self, even_if_busy: bool = False) -> None:
        """Start the check now. A run that trains is not disturbed unless `even_if_busy`: no step is tried."""
        self.drop()
        if self._config is None:
            return
        if self._session.busy and not even_if_busy:
            self._held = True
            self.held.emit()
            if self._size_hangs_on_classes(self._config):
                self._count_classes(self._config)
            return
        self.began.emit()
        self._look_at(self._config)

    def _size_hangs_on_classes(self, config: RunConfig) -> bool:
        return any(config.fact(self._session.catalog, "loss", of) for of in ("dimensions", "spans"))

    def _count_classes(self, config: RunConfig) -> None:
        def work(progress: Progress) -> int:
            from workbench.running import preflight

            return preflight.count_classes(config, progress)

        self._start("Counting the classes", work, partial(self._count, self._number))

    def _look_at(self, config: RunConfig) -> None:
        number = self._number

        def work(progress: Progress) -> "Preflight":
            from workbench.running import preflight

            def tell(text: str, done: int, total: int) -> None:
                progress(text, done, total)
                self._heard.emit(number, text)

            def cancelled() -> bool:
                progress("Trying a few steps", 0, 0)  # raises Cancelled
                return False

            return preflight.preflight(config, tell, cancelled, partial(self._counted.emit, number))

        self._start("Preflight", work, self.found.emit)

    def _start(self, title: str, work: Callable[[Progress], Any], then: Callable[[Any], None]) -> None:
        """Do the check on a thread, as the newest; its result is dropped when another has begun by then."""
        number = self._number

        def take(result: Any) -> None:
            if number == self._number:
                self._task = None
                then(result)

        def fail(problem: Problem) -> None:
            if number == self._number:
                self._task = None
                self.failed.emit(problem)

        self._task = self._session.run_in_thread(title, work, take, fail)

    def _count(self, number: int, classes: int) -> None:
        if number == self._number and self._config is not None:
            self.counted.emit(self._config, classes)

    def _hear(self, number: int, text: str) -> None:
        if number == self._number and self._task is not None:
            self.told.emit(text)


class PreflightCard(Card):
    """Numbers, five images, one of them as it is augmented, and what was left out."""

    check_asked = Signal()
    data_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Preflight", parent)
        self.body.setContentsMargins(12, 8, 12, 12)
        self.state = label("", "muted", wrap=True)
        self.problem = label("", "error", wrap=True)
        self.check = button("Check now")
        self.check.clicked.connect(self.check_asked)
        self.look = button("Look at the data…", "image", kind="quiet")
        self.look.setToolTip("Images, classes, sizes, files left out, copies")
        self.look.clicked.connect(self.data_asked)
        self.samples = [QLabel() for _ in range(SAMPLES)]
        self.augmented = [QLabel() for _ in range(AUGMENTED)]
        self.augmented_words = label("As evaluated, then as training may show it:", "muted", wrap=True)
        self.facts = {name: label(NO_VALUE, wrap=True) for name in FACTS}
        self.note = label("", "muted", wrap=True)
        self.unfold = button("", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.left_out = QListWidget()
        self.left_out.setAccessibleName("Files left out, and why")
        self.left_out.setMaximumHeight(120)
        self.unlike = label("", "muted", wrap=True)
        self.worth_knowing = label("", "muted", wrap=True)
        self._build()
        self.unfold.toggled.connect(self._unfold)
        self.show_idle("")

    def _build(self) -> None:
        for number, sample in enumerate(self.samples, 1):
            sample.setAccessibleName(f"Training image {number} of {SAMPLES}")
        for number, picture in enumerate(self.augmented):
            picture.setAccessibleName(
                f"One image, augmented, draw {number}" if number else "One image as it is evaluated"
            )
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(self.facts.items()):
            grid.addWidget(label(name, "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            value.setAccessibleName(name)
        for widget in (self.state, self.problem, self.check):
            self.body.addWidget(widget)
        self.body.addLayout(_strip(self.samples))
        self.body.addWidget(self.augmented_words)
        self.body.addLayout(_strip(self.augmented))
        self.body.addLayout(grid)
        self.body.addWidget(self.note)
        self.body.addWidget(self.unlike)
        self.body.addWidget(self.worth_knowing)
        self.body.addWidget(self.look, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.unfold, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.left_out)

    def show_idle(self, sentence: str, *, offer_check: bool = False) -> None:
        """Show why nothing is known of this config."""
        self._say(sentence, "", offer_check)
        for value in self.facts.values():
            value.setText(NO_VALUE)
        self._show_pictures(self.samples, [])
        self._show_pictures(self.augmented, [])
        self.augmented_words.setVisible(False)
        self._show_left_out([])
        self._list(self.unlike, UNLIKE, [])
        self._list(self.worth_knowing, NOTES, [])
        self.note.setVisible(False)
        self.look.setVisible(False)

    def show_working(self, text: str = "Looking at the data") -> None:
        """A check is under way; the numbers of the last one stay until it is done."""
        self._say(f"{text}…", "", False)

    def show_problem(self, problem: Problem) -> None:
        """Show why the check failed."""
        self.show_idle("")
        self._say("", str(problem), True)

    def show_result(self, result: "Preflight", titles: Mapping[str, str]) -> None:
        """Show the result. `titles` maps names of data sets to their titles."""
        self._say("", "", False)
        disjoint = "no class in both halves" if result.classes_disjoint else "same classes in both halves"
        side = f"{result.image_size}{THIN}×{THIN}{result.image_size}{THIN}px"
        per_step = short_time(result.seconds_per_step)
        texts = {
            "Images": f"{result.images:,}, {side}" + (f"; kept as {result.kept}" if result.kept else ""),
            "Classes": f"{result.classes:,}: {result.train_classes:,} train, {result.test_classes:,} test; {disjoint}",
            "Split": f"{result.train:,} train, {result.test:,} test",
            "Device": result.device,
            "Network": f"{result.parameters:,} weights",
            "Memory": f"{memory(result.memory_bytes)} in use after the dry steps" if result.memory_bytes else NO_VALUE,
            "Speed": f"{per_step} per step, {result.steps_per_epoch:,} steps per epoch"
            + (f"; bound by the {result.bound}" if result.bound else ""),
            "Probe": _probe(result),
            "One epoch": duration(result.seconds_per_epoch),
            "Whole run": f"{duration(result.seconds)}, evaluations left out",
        }
        for name, text in texts.items():
            self.facts[name].setText(text)
        self._show_pictures(self.samples, result.sample_pictures)
        self._show_pictures(self.augmented, result.augmented)
        self.augmented_words.setVisible(bool(result.augmented))
        self.note.setText(result.note)
        self.note.setVisible(bool(result.note))
        self.look.setVisible(True)
        self._show_left_out(result.problems)
        self._list(self.unlike, UNLIKE, [(titles.get(name, name), what) for name, what in result.unlike_published])
        self._list(self.worth_knowing, NOTES, result.notes)

    def _show_pictures(self, places: list[QLabel], pictures: list[np.ndarray]) -> None:
        for index, place in enumerate(places):
            shown = index < len(pictures)
            place.setVisible(shown)
            place.setPixmap(pixmap(pictures[index], SAMPLE_SIDE, self.devicePixelRatioF()) if shown else QPixmap())

    def _say(self, state: str, problem: str, offer_check: bool) -> None:
        for shown, text in ((self.state, state), (self.problem, problem)):
            shown.setText(text)
            shown.setVisible(bool(text))
        self.check.setVisible(offer_check)

    def _unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.left_out.setVisible(on)

    def _show_left_out(self, problems: list[tuple[str, str]]) -> None:
        self.left_out.clear()
        self.left_out.addItems([f"{path}: {reason}" for path, reason in problems[:LISTED]])
        if len(problems) > LISTED:
            self.left_out.addItem(f"and {len(problems) - LISTED:,} more")
        self.unfold.setText(f"{len(problems):,} {'file' if len(problems) == 1 else 'files'} left out")
        self.unfold.setVisible(bool(problems))
        self.left_out.setVisible(bool(problems) and self.unfold.isChecked())

    def _list(self, shown: QLabel, title: str, said: list[tuple[str, str]]) -> None:
        sentences = [f"{name} {what}." for name, what in said]
        shown.setText("\n".join([title, *sentences]) if sentences else "")
        shown.setVisible(bool(sentences))


def _strip(pictures: list[QLabel]) -> QHBoxLayout:
    """Small pictures in a row."""
    row = QHBoxLayout()
    row.setSpacing(4)
    for picture in pictures:
        picture.setFixedSize(SAMPLE_SIDE, SAMPLE_SIDE)
        picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row.addWidget(picture)
    row.addStretch(1)
    return row


def _probe(result: "Preflight") -> str:
    if not result.probe_images:
        return "off"
    share = f"{100 * result.probe_share:.0f}" if result.probe_share >= 0.01 else "under 1"
    about = "" if share.startswith("under") else "about "
    return f"{result.probe_images:,} images every {result.probe_every:,} steps, {about}{share}% of the training time"


def pixmap(image: np.ndarray, side: int, ratio: float) -> QPixmap:
    """uint8 [h, w, 3] as a pixmap that fits a square of `side` logical px; small images grow without blur."""
    rows = np.ascontiguousarray(image)
    height, width, _ = rows.shape
    picture = QPixmap.fromImage(QImage(rows.data, width, height, 3 * width, QImage.Format.Format_RGB888))
    small = max(height, width) * 2 <= side * ratio
    mode = Qt.TransformationMode.FastTransformation if small else Qt.TransformationMode.SmoothTransformation
    whole = round(side * ratio)
    picture = picture.scaled(whole, whole, Qt.AspectRatioMode.KeepAspectRatio, mode)
    picture.setDevicePixelRatio(ratio)
    return picture
