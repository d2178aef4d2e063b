"""What a panel shows in place of its numbers while they are measured."""

from PySide6.QtWidgets import QProgressBar, QWidget
from shiboken6 import isValid

from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.style.words import duration
from workbench.ui.widgets.card import EmptyHint

BAR_PX = 240  # width of the bar


class Measuring(EmptyHint):
    """The progress of one job, with its words, the time that is left and Cancel, which is `pressed`.

    The status bar has room for one job, which is a run while one trains.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Measuring…", "You can continue to work.", "Cancel", parent)
        self._item: ActivityItem | None = None
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(BAR_PX)
        self.bar.setAccessibleName("Progress of the measurement")
        self.insert_above_button(self.bar)

    def follow(self, item: ActivityItem) -> None:
        """Show the progress of this job from now on."""
        if self._item is not None and isValid(self._item):  # Activity keeps a limited number of jobs
            self._item.changed.disconnect(self._show)
        self._item = item
        item.changed.connect(self._show)
        self._show(item)

    def _show(self, item: ActivityItem) -> None:
        now, left = item.now, item.seconds_left
        self.bar.setRange(0, now.total)
        self.bar.setValue(now.done)
        count = f"{now.done:,} / {now.total:,}" if now.total else ""
        words = ", ".join(filter(None, (now.text, count, f"{duration(left)} left" if left is not None else "")))
        self.say(f"{words}. You can continue to work." if words else "You can continue to work.")
