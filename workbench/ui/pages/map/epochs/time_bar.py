"""Under the map: a slider over the epochs with play, and the way to maps of all of them."""

from collections.abc import Callable
from functools import partial
from math import ceil, floor

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from workbench.ui.icons import icon
from workbench.ui.pages.map.tool_pill import tool_action
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import ElidedLabel

STEPS = 100  # of the slider between two epochs
TICK = 33  # ms, 30 pictures a second
ONE_EPOCH, WHOLE = 800.0, 20_000.0  # ms: from one epoch to the next, and at most for all
PLAY, PAUSE = "Play the epochs", "Pause"
PLAY_KEY = "Space"
EVERY = "Map every epoch"


class TimeBar(QWidget):
    """Says where in the chain the person wants to be; it knows epochs, not maps."""

    moved = Signal(float)  # place in the chain, many times a second
    settled = Signal(int)  # the frame that is to be shown from now on
    every_asked = Signal()
    cancelled = Signal()
    trails_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._epochs: tuple[int, ...] = ()
        self._working = False
        self._from = 0.0  # place where playing began
        self._since = QElapsedTimer()
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._build()
        self.show_epochs((), 0)

    def _build(self) -> None:
        self.play_button = icon_button("play", PLAY)
        self.keys = [
            self._key("Play or pause the epochs", PLAY_KEY, "play", self._play_or_pause),
            self._key("One epoch back", "Left", "caret-left", partial(self._step, -1)),
            self._key("One epoch on", "Right", "caret-right", partial(self._step, 1)),
        ]
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setSingleStep(STEPS)
        self.slider.setPageStep(STEPS)
        self.slider.setAccessibleName("Epoch of the map")
        self.slider.setToolTip(
            "Drag through the epochs; Left and Right go from one to the next, Space plays, here and on the map"
        )
        self.slider.addActions(self.keys)
        self.words = ElidedLabel("", "caption")
        self.trails = icon_button("path", "Trails of the selected points")
        self.trails.setCheckable(True)
        self.trails.setChecked(True)
        self.every = button(EVERY, "film-strip", "quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.play_button)
        row.addWidget(self.slider, 2)
        row.addWidget(self.words, 1)
        for widget in (self.trails, self.every):
            row.addWidget(widget)
        self.play_button.clicked.connect(self._play_or_pause)
        self.slider.sliderPressed.connect(self.pause)
        self.slider.valueChanged.connect(self._changed)
        self.slider.sliderReleased.connect(self._settle)
        self.trails.toggled.connect(self.trails_toggled)
        self.every.clicked.connect(self._every_pressed)

    def _key(self, words: str, keys: str, icon_name: str, slot: Callable[[], None]) -> QAction:
        """A command that is meant only where it was added and the focus is: Space presses buttons elsewhere."""
        action = tool_action(self, words, keys, icon_name)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(slot)
        return action

    # What it shows

    @property
    def place(self) -> float:
        """From 0 to the number of the last frame."""
        return self.slider.value() / STEPS

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def show_epochs(self, epochs: tuple[int, ...], evaluations: int, at: int = 0) -> None:
        """Other epochs, of so many evaluations of the run, standing at frame `at`."""
        self._stop_timer()
        self._epochs = epochs
        playable = len(epochs) > 1
        for widget in (self.play_button, self.slider, self.trails):
            widget.setEnabled(playable)
        for action in self.keys:
            action.setEnabled(playable)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(epochs) - 1) * STEPS)
        self.slider.setValue(at * STEPS)
        self.slider.blockSignals(False)
        missing = evaluations - len(epochs)
        self.every.setVisible(self._working or (missing > 0 and evaluations > 1))
        self.every.setToolTip(f"{missing:,} of {evaluations:,} evaluations have no map that starts from the one before")
        self._say()

    def show_working(self, words: str) -> None:
        """What is being mapped, with Cancel; no words at the end."""
        self._working = bool(words)
        self.every.setText("Cancel" if words else EVERY)
        self.every.setIcon(icon("x" if words else "film-strip"))
        self.every.setAccessibleName("Cancel mapping every epoch" if words else EVERY)
        self.every.setVisible(True)
        self._say(words)

    def _say(self, words: str = "") -> None:
        if not words and len(self._epochs) > 1:
            place = self.place
            low = self._epochs[int(place)]
            words = f"Epoch {low}" if place == int(place) else f"Epoch {low} to {self._epochs[int(place) + 1]}"
        self.words.setText(words or "One map so far")

    # What the person does

    def play(self) -> None:
        """From where it stands to the end; from the start when it stands at the end."""
        if not self.isVisible() or len(self._epochs) < 2:
            return
        self._from = 0.0 if self.slider.value() == self.slider.maximum() else self.place
        self._since.start()
        self._timer.start()
        self._show_state()

    def pause(self) -> None:
        """Stop where it is; the nearest epoch follows when nobody holds the slider."""
        if self.playing:
            self._stop_timer()
            if not self.slider.isSliderDown():
                self._settle()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.pause()

    def _play_or_pause(self) -> None:
        if self.playing:
            self.pause()
        else:
            self.play()

    def _step(self, epochs: int) -> None:
        """To the frame before (-1) or after (1), from wherever it stands or plays."""
        frame = floor(self.place) + 1 if epochs > 0 else ceil(self.place) - 1
        self.slider.setValue(frame * STEPS)

    def _tick(self) -> None:
        """By the clock, so that a slow picture does not slow the chain."""
        last = len(self._epochs) - 1
        pace = min(ONE_EPOCH, WHOLE / last)
        place = min(float(last), self._from + self._since.elapsed() / pace)
        self.slider.blockSignals(True)
        self.slider.setValue(round(place * STEPS))
        self.slider.blockSignals(False)
        self._say()
        if place >= last:
            self._stop_timer()
            self._settle()
        else:
            self.moved.emit(self.place)

    def _changed(self) -> None:
        """The slider was dragged, or stepped by a key or a click."""
        if self.slider.isSliderDown():
            self._say()
            self.moved.emit(self.place)
        else:
            self._stop_timer()
            self._settle()

    def _settle(self) -> None:
        frame = round(self.place)
        self.slider.blockSignals(True)
        self.slider.setValue(frame * STEPS)
        self.slider.blockSignals(False)
        self._say()
        self.moved.emit(float(frame))
        self.settled.emit(frame)

    def _every_pressed(self) -> None:
        (self.cancelled if self._working else self.every_asked).emit()

    def _stop_timer(self) -> None:
        self._timer.stop()
        self._show_state()

    def _show_state(self) -> None:
        self.play_button.setIcon(icon("pause" if self.playing else "play", "muted"))
        self.play_button.setToolTip(f"{PAUSE if self.playing else PLAY} ({PLAY_KEY})")
        self.play_button.setAccessibleName(PAUSE if self.playing else PLAY)
