"""The bar below the map: a slider over the epochs, playback, and the button that maps every epoch."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSlider, QWidget

from workbench.ui.pages.map.epochs.score_line import ScoreLine
from workbench.ui.pages.map.model.timeline import Timeline
from workbench.ui.pages.map.tools.tool_row import tool_action
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.words import PAUSE
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import ElidedLabel, plain_tip

STEPS = 100  # of the slider between two epochs
TICK = 33  # ms: 30 frames a second
PLAY = "Play the epochs"
PLAY_KEY = "Space"
EVERY = "Map every epoch"
WITH_WORDS = 300  # px of the bar at 100% text with room for the words of the button


class TimeBar(QWidget):
    """Draws a timeline and emits the time that the user chooses; it deals with epochs only, not with maps."""

    moved = Signal(float)  # time, many times a second
    settled = Signal(int)  # position of the epoch at which the slider came to rest
    every_asked = Signal()
    cancelled = Signal()
    trails_toggled = Signal(bool)

    def __init__(self, timeline: Timeline, read_only: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self.timeline, self._read_only = timeline, read_only
        self._clock = QElapsedTimer()
        self._clock.start()
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._build()
        self.draw()

    def _build(self) -> None:
        self.play_button = icon_button("play", PLAY)
        self.keys = [
            self._key("Play or pause the epochs", PLAY_KEY, "play", self._play_or_pause),
            self._key("One epoch back", "Left", "caret-left", partial(self._step, -1)),
            self._key("One epoch forward", "Right", "caret-right", partial(self._step, 1)),
        ]
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setSingleStep(STEPS)
        self.slider.setPageStep(STEPS)
        self.slider.setAccessibleName("Epoch of the map")
        self.slider.setToolTip(
            "Drag to move through the epochs. Here and on the map, Left and Right step, and Space plays"
        )
        self.slider.addActions(self.keys)
        self.words = ElidedLabel("", "caption")
        self.trails = icon_button("path", "Trails of the selected points")
        self.trails.setCheckable(True)
        self.trails.setChecked(True)
        self.every = button(EVERY, "film-strip", "quiet")
        self.scores = ScoreLine(self.timeline, self.slider)
        course = in_column(self.scores, self.slider, spacing=0)
        row = in_row(self.play_button, (course, 2), (self.words, 1), on=self, spacing=8)
        for widget in (self.trails, self.every):
            row.addWidget(widget)
        self.play_button.clicked.connect(self._play_or_pause)
        self.slider.sliderPressed.connect(self.pause)
        self.slider.valueChanged.connect(self._changed)
        self.slider.sliderReleased.connect(self._settle)
        self.trails.toggled.connect(self.trails_toggled)
        self.every.clicked.connect(self._every_pressed)

    def sizeHint(self) -> QSize:
        return self._as_high_as_ever(super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        return self._as_high_as_ever(super().minimumSizeHint())

    def _as_high_as_ever(self, hint: QSize) -> QSize:
        """With the button that comes and goes, too: otherwise it would resize the map above, and all of it moves."""
        return hint.expandedTo(QSize(0, self.every.sizeHint().height()))

    def _key(self, words: str, keys: str, icon_name: str, slot: Callable[[], None]) -> QAction:
        """A command with a key that works only while the focus is in the widget: elsewhere Space presses buttons."""
        action = tool_action(self, words, keys, icon_name)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(slot)
        return action

    # What it shows

    @property
    def steps(self) -> list[QAction]:
        """The keys that step from one epoch to the next; a 3-D map uses them to turn."""
        return self.keys[1:]

    @property
    def held(self) -> bool:
        """Whether the user holds the slider."""
        return self.slider.isSliderDown()

    def draw(self) -> None:
        """Show the current state of the timeline."""
        timeline = self.timeline
        if not timeline.playing:
            self._timer.stop()
        for widget in (self.play_button, self.slider, self.trails):
            widget.setEnabled(timeline.playable)
        for action in self.keys:
            action.setEnabled(timeline.playable)
        self.slider.blockSignals(True)
        self.slider.setRange(0, timeline.end * STEPS)
        self.slider.setValue(round(timeline.time * STEPS))
        self.slider.blockSignals(False)
        self.scores.draw()
        self._draw_every()
        self._draw_play()
        self.words.setText(timeline.words)

    def show_working(self, words: str) -> None:
        """Show what is being mapped, with Cancel; empty words hide it."""
        self.timeline.working = words
        self.draw()

    def _draw_every(self) -> None:
        timeline, working = self.timeline, bool(self.timeline.working)
        words = "Cancel" if working else EVERY
        roomy = self.width() >= theme.text_px(WITH_WORDS)
        self.every.setText(words if roomy else "")
        self.every.setIcon(icon("x" if working else "film-strip"))
        self.every.setAccessibleName("Cancel mapping every epoch" if working else EVERY)
        self.every.setVisible(working or (timeline.missing > 0 and timeline.evaluations > 1))
        count = f"{timeline.missing:,} of {timeline.evaluations:,}"
        why_not = "" if working or not self._read_only() else "; the workspace is read-only"
        self.every.setEnabled(not why_not)
        missing = f"{count} evaluations have no map that starts from the one before{why_not}"
        self.every.setToolTip(plain_tip(missing if roomy else f"{words}: {missing}"))

    def _draw_play(self) -> None:
        playing = self.timeline.playing
        self.play_button.setIcon(icon("pause" if playing else "play", "muted"))
        self.play_button.setToolTip(f"{PAUSE if playing else PLAY} ({PLAY_KEY})")
        self.play_button.setAccessibleName(PAUSE if playing else PLAY)

    # What the user does

    def play(self) -> None:
        """Play from the current time to the end; from the start if it is at the end."""
        if self.isVisible():
            self.timeline.play(float(self._clock.elapsed()))
            if self.timeline.playing:
                self._timer.start()
            self._draw_play()

    def pause(self) -> None:
        """Stop at the current time; the bar settles on the nearest epoch unless the user holds the slider."""
        if self.timeline.playing:
            self.timeline.stop()
            self.draw()
            if not self.held:
                self._settle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw_every()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.pause()

    def _play_or_pause(self) -> None:
        if self.timeline.playing:
            self.pause()
        else:
            self.play()

    def _step(self, epochs: int) -> None:
        self.slider.setValue(round(self.timeline.step(epochs) * STEPS))

    def _tick(self) -> None:
        if self.timeline.tick(float(self._clock.elapsed())):
            self.draw()
            self.moved.emit(self.timeline.time)
        else:
            self._settle()

    def _changed(self) -> None:
        """The slider was dragged, or stepped by a key or a click."""
        self.timeline.stop()
        self.timeline.time = self.slider.value() / STEPS
        if self.held:
            self.draw()
            self.moved.emit(self.timeline.time)
        else:
            self._settle()

    def _settle(self) -> None:
        epoch = self.timeline.settle()
        self.draw()
        self.moved.emit(float(epoch))
        self.settled.emit(epoch)

    def _every_pressed(self) -> None:
        (self.cancelled if self.timeline.working else self.every_asked).emit()


def time_card(session: Session, time: TimeBar) -> QFrame:
    """The bar in a card, behind two buttons that show the evaluations before and after."""
    earlier = icon_button("caret-left", "Earlier evaluation ([)")
    later = icon_button("caret-right", "Later evaluation (])")
    earlier.clicked.connect(session.show_earlier)
    later.clicked.connect(session.show_later)
    card = QFrame()
    card.setProperty("card", "true")
    in_row(earlier, later, (time, 1), on=card, margins=(12, 8, 12, 8), spacing=8)
    return card
