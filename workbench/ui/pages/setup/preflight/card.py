"""The Preflight card: what is known of the run before it starts, or why nothing is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QListWidget, QProgressBar

from workbench.numerals import byte_size, percentage
from workbench.problem import Problem
from workbench.ui.pages.setup.data.look import LOOKING
from workbench.ui.pages.setup.data.pictures import Pictures
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.words import NO_VALUE, THIN, counted, device_name, duration, memory, pace, short_time, unbroken
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.numbers.tile import Tile

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

AUGMENTED = 6  # pictures of one image: as it is evaluated, and as training may draw it
LISTED = 500
PARTS, NEARLY_FULL = 1000, 0.9  # steps of a bar; share from which on it warns
STARTS = "The run starts when the check has finished."
TWO_TILES = 208  # px of width at 100% text, under which no two tiles stand side by side, whatever their numbers
UNLIKE, NOTES = "Differs from the published counts:", "Notes on the data (no image is left out because of them):"
FACTS = ("Memory", "Disk", "Images", "Backbone", "Device", "Epoch", "Probe")


@dataclass(frozen=True, slots=True)
class InShort:
    """What the card says, for one line."""

    sentence: str = ""  # why nothing is known, or what stopped the check; empty once the numbers are known
    failed: bool = False  # whether that is an error
    time_caption: str = "Time"  # and of how many runs
    time: str = NO_VALUE
    memory: str = NO_VALUE
    speed: str = NO_VALUE
    remarks: int = 0  # what a user should read before the start
    check: bool = False  # whether a check by hand is offered
    starts: bool = False  # whether a start waits for the check, which the sentence says


class PreflightCard(Card):
    """Time, memory and disk, one image with augmentations, and what was left out."""

    check_asked = Signal()
    known = Signal(object)  # Preflight that is shown now; None once nothing is known
    changed = Signal(object)  # InShort of what is shown now

    def __init__(self) -> None:
        super().__init__("Preflight")
        self._room = 0  # px of width
        self._memory = NO_VALUE  # in short
        self.body.setContentsMargins(12, 8, 12, 12)
        self.state = label("", "muted", wrap=True)
        self.problem = label("", "error", wrap=True)
        self.starts = label(STARTS, wrap=True)
        self.warned = label("", "warning", wrap=True)
        self._warnings = 0
        self._starts = False
        self.check = button("Check now")
        self.check.clicked.connect(self.check_asked)
        draws = [f"One image, augmented, draw {number}" for number in range(1, AUGMENTED)]
        self.augmented = Pictures(["One image as it is evaluated", *draws])
        self.augmented_words = label("As evaluated, then augmented as in training:", "muted", wrap=True)
        self.time, self.speed = Tile("Time"), Tile("Speed")
        self.time.setToolTip("Training only; evaluations are not included")
        self.facts = {name: label(NO_VALUE, wrap=True) for name in FACTS}
        self.shares = {name: share_bar(f"{name}, share of all") for name in ("Memory", "Disk")}
        self.note = label("", "muted", wrap=True)
        self.unfold = button("", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.left_out = QListWidget()
        self.left_out.setAccessibleName("What was left out, and why")
        self.left_out.setMaximumHeight(120)
        self.left_out.setWordWrap(True)
        self.left_out.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.left_out.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.unlike = label("", "muted", wrap=True)
        self.worth_knowing = label("", "muted", wrap=True)
        self._build()
        self.warned.hide()
        self.starts.hide()
        self.unfold.toggled.connect(self._unfold)
        self.show_idle("")

    def _build(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(self.facts.items()):
            bar = (self.shares[name],) if name in self.shares else ()
            grid.addWidget(label(name, "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(in_column(value, *bar, spacing=2), row, 1)
            value.setAccessibleName(name)
        for widget in (self.state, self.starts, self.problem, self.warned, self.check):
            self.body.addWidget(widget)
        self._tiles = in_row((self.time, 1), (self.speed, 1), spacing=8)
        self.body.addLayout(self._tiles)
        self.body.addWidget(self.unfold, 0, Qt.AlignmentFlag.AlignLeft)  # what may have to be changed before the start
        self.body.addWidget(self.left_out)
        for words in (self.unlike, self.worth_knowing, self.note):
            self.body.addWidget(words)
        self.body.addLayout(grid)
        self.body.addWidget(self.augmented_words)
        self.body.addWidget(self.augmented)

    def fit_tiles(self, room: int) -> None:
        """Put the two tiles side by side where their numbers fit into a card of this width, px."""
        self._room = room
        self._place_tiles()

    def _place_tiles(self) -> None:
        sides = sum(part.left() + part.right() for part in (self.contentsMargins(), self.body.contentsMargins()))
        tiles = self.time.minimumSizeHint().width() + self._tiles.spacing() + self.speed.minimumSizeHint().width()
        below = self._room < max(sides + tiles, theme.text_px(TWO_TILES))
        direction = QBoxLayout.Direction
        self._tiles.setDirection(direction.TopToBottom if below else direction.LeftToRight)

    def show_idle(self, sentence: str, *, offer_check: bool = False) -> None:
        """Show why nothing is known of this config."""
        self._say(sentence, "", offer_check)
        for value in self.facts.values():
            value.setText(NO_VALUE)
        for bar in self.shares.values():
            bar.hide()
        for tile in (self.time, self.speed):
            tile.show_number("")
        self.augmented.show_images([])
        self.augmented_words.setVisible(False)
        self._show_left_out([], "")
        self._list(self.unlike, UNLIKE, [])
        self._list(self.worth_knowing, NOTES, [])
        self.note.setVisible(False)
        self._memory = NO_VALUE
        self.known.emit(None)
        self.changed.emit(self.in_short())

    def in_short(self) -> InShort:
        """What is shown now, for one line."""
        sentence = self.problem.text() or self.state.text()
        lists = [self.note.isVisibleTo(self), self.unfold.isVisibleTo(self)]
        lines = [shown.text().count("\n") for shown in (self.unlike, self.worth_knowing)]
        time, speed = (f"{tile.number.text()} {tile.unit.text()}".rstrip() for tile in (self.time, self.speed))
        return InShort(
            f"{sentence} {STARTS}" if self._starts else sentence, bool(self.problem.text()), self.time.caption.text(),
            time, self._memory, speed, sum(lists) + sum(lines) + self._warnings, self.check.isVisibleTo(self),
            self._starts,
        )  # fmt: skip

    def show_warnings(self, sentences: Sequence[str]) -> None:
        """Show what one may regret of settings that are allowed: their fields may be out of sight."""
        self._warnings = len(sentences)
        self.warned.setText("\n".join(sentences))
        self.warned.setVisible(bool(sentences))
        self.changed.emit(self.in_short())

    def show_start(self, waits: bool) -> None:
        """Show whether a start waits for the end of the check."""
        self._starts = waits
        self.starts.setVisible(waits)
        self.changed.emit(self.in_short())

    def show_working(self, text: str = LOOKING) -> None:
        """A check is under way; the numbers of the last one stay until it is done."""
        self._say(f"{text}…", "", False)
        self.changed.emit(self.in_short())

    def show_problem(self, problem: Problem, field: str = "") -> None:
        """Show why the check failed; `field` is the title of the form's field beside which that is said."""
        self.show_idle("")
        self._say("", f"Preflight stopped. The reason is at the field {field}." if field else str(problem), True)
        self.changed.emit(self.in_short())

    def show_result(self, result: "Preflight", titles: Mapping[str, str]) -> None:
        """Show the result. `titles` maps names of data sets to their titles."""
        self._say("", "", False)
        self._show_times(result)
        texts = {
            "Images": f"kept as {unbroken(result.kept)}" if result.kept else NO_VALUE,
            "Backbone": counted(result.features, "feature")
            + (f"; pretrained, licence {result.licence}" if result.licence else ""),
            "Device": "\n".join([device_name(result.device), *result.gpus]),
            "Memory": _memory(result),
            "Disk": _disk(result),
            "Epoch": duration(result.seconds_per_epoch) + (f"; limited by the {result.bound}" if result.bound else ""),
            "Probe": _probe(result),
        }
        for name, text in texts.items():
            self.facts[name].setText(text)
        self._show_share("Memory", result.memory_bytes, result.memory_whole)
        self._show_share("Disk", result.disk.total * result.runs, result.free_bytes)
        self.augmented.show_images(result.augmented)
        self.augmented_words.setVisible(bool(result.augmented))
        self.note.setText(result.note)
        self.note.setVisible(bool(result.note))
        self.known.emit(result)
        self._show_left_out(result.problems, counted(result.left_out, result.unit))
        self._list(self.unlike, UNLIKE, [(titles.get(name, name), what) for name, what in result.unlike_published])
        self._list(self.worth_knowing, NOTES, [*_scarce(result), *result.notes])
        self._memory = memory(result.memory_bytes) if result.memory_bytes else NO_VALUE
        self.changed.emit(self.in_short())

    def _show_times(self, result: "Preflight") -> None:
        """The time of all runs, and the images a second while no probe is measured."""
        single = f"{duration(result.seconds / result.runs)} each, + evaluations"
        self.time.caption.setText("Time" if result.runs == 1 else f"Time, {result.runs:,} runs")
        self.time.show_number(duration(result.seconds), below="+ evaluations" if result.runs == 1 else single)
        speed = result.images_per_step / result.seconds_per_step if result.seconds_per_step else 0.0
        self.speed.show_number(pace(speed), "img/s", f"{short_time(result.seconds_per_step)} per step")
        self._place_tiles()

    def _show_share(self, name: str, part: int, whole: int) -> None:
        """A bar that is filled by the part; in the colour of an error where it is nearly full."""
        bar, share = self.shares[name], min(1.0, part / whole) if whole else 0.0
        bar.setVisible(bool(part and whole))
        bar.setValue(round(PARTS * share))
        bar.setProperty("state", "full" if share >= NEARLY_FULL else "")
        bar.style().polish(bar)  # for the new state
        bar.setAccessibleDescription(percentage(share, 0))

    def _say(self, state: str, problem: str, offer_check: bool) -> None:
        for shown, text in ((self.state, state), (self.problem, problem)):
            shown.setText(text)
            shown.setVisible(bool(text))
        self.check.setVisible(offer_check)

    def _unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.left_out.setVisible(on)

    def _show_left_out(self, problems: list[tuple[str, str]], many: str) -> None:
        self.left_out.clear()
        self.left_out.addItems([f"{path}: {reason}" for path, reason in problems[:LISTED]])
        for row in range(self.left_out.count()):  # a long path has no place for a line to break
            line = self.left_out.item(row)
            line.setToolTip(plain_tip(line.text()))
        if len(problems) > LISTED:
            self.left_out.addItem(f"and {len(problems) - LISTED:,} more")
        self.unfold.setText(f"{many} left out")
        self.unfold.setVisible(bool(problems))
        self.left_out.setVisible(bool(problems) and self.unfold.isChecked())

    def _list(self, shown: QLabel, title: str, said: list[tuple[str, str]]) -> None:
        sentences = [f"{name} {what}." for name, what in said]
        shown.setText("\n".join([title, *sentences]) if sentences else "")
        shown.setVisible(bool(sentences))


def share_bar(name: str) -> QProgressBar:
    """A thin bar for the part of a whole, hidden until there is one."""
    bar = QProgressBar(maximum=PARTS, textVisible=False)
    bar.setAccessibleName(name)
    bar.hide()
    return bar


def _memory(result: "Preflight") -> str:
    when = "at the peak of the trial steps" if result.memory_is_peak else "used after the trial steps"
    whole = f" of {memory(result.memory_whole)}" if result.memory_whole else ""
    parts = [f"{memory(result.memory_bytes)}{whole} {when}"] if result.memory_bytes else []
    if result.spare_bytes:
        parts.append(f"{memory(result.spare_bytes)} used by a process that waits for the run")
    return "; ".join(parts) or NO_VALUE


def _disk(result: "Preflight") -> str:
    """What all runs leave, of what it consists, and what is free."""
    use = result.disk
    runs = "" if result.runs == 1 else f" for {result.runs:,} runs"
    evaluations = f"{counted(use.evaluations, 'evaluation')} of {byte_size(use.evaluation, THIN)}"
    parts = f"{evaluations}, checkpoints {byte_size(use.checkpoints, THIN)}"
    free = f"; {byte_size(result.free_bytes, THIN)} free" if result.free_bytes else ""
    return f"about {byte_size(use.total * result.runs, THIN)}{runs} ({parts}){free}" if use.total else NO_VALUE


def _scarce(result: "Preflight") -> list[tuple[str, str]]:
    """A note if what the runs leave does not fit on the disk, with what the last of them needs while it works."""
    use = result.disk
    needs, least = use.total * result.runs, use.least * result.runs + use.passing
    if use.evaluations == use.fewest:
        needs = least
    if not 0 < result.free_bytes < needs:
        return []
    remark = f"will be full: about {byte_size(needs)} are needed, and {byte_size(result.free_bytes)} are free"
    fewer = f"; with Keep evaluations at 'best and last' it needs about {byte_size(least)}" if least < needs else ""
    return [("The disk of the workspace", remark + fewer)]


def _probe(result: "Preflight") -> str:
    if not result.probe_images:
        return "off"
    share = percentage(result.probe_share, 0) if result.probe_share >= 0.01 else "under 1%"
    about = "" if share.startswith("under") else "about "
    time = f"{about}{share} of the training time"
    when = "at every step" if result.probe_every == 1 else f"every {result.probe_every:,} steps"
    return f"{result.probe_images:,} images {when}, {time}"
