"""What the program is doing: a line for the status bar, and a dock with all jobs and the log."""

from datetime import datetime

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QPlainTextEdit,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QWidget,
)

from workbench.ui.state.background.activity import Activity, ActivityItem
from workbench.ui.style.icons import icon
from workbench.ui.style.words import duration
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import ElidedLabel, IconLabel, label, plain_tip

SHOWN = 40  # newest jobs in the unfolded list
LOG_LINES = 2000
MENTIONED = 8000  # ms that a sentence is shown in place of the words of a job
CLOCK = 1000  # ms between two looks at the time that is left
UNFOLDED = 200  # px
UNFOLD, FOLD = "Show all jobs and the log", "Hide the jobs and the log"
MARKS = {
    "working": ("play-circle", "accent"),
    "done": ("check-circle", "right"),
    "failed": ("x-circle", "wrong"),
    "cancelled": ("prohibit", "muted"),
}


class JobLine(QWidget):
    """One job: mark, title and words, bar, time left, Cancel.

    Args:
        listed: one of several below each other: lines of equal height, their bars aligned.
    """

    def __init__(self, parent: QWidget | None = None, *, listed: bool = False) -> None:
        super().__init__(parent)
        self._item: ActivityItem | None = None
        self._mark = IconLabel()
        self.text = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)  # the count is at its end
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName("Progress")
        self.left = label("", "muted")
        self.cancel = button("Cancel", kind="quiet")
        row = in_row(self._mark, (self.text, 1), on=self, margins=(8, 0, 8, 0), spacing=8)
        for part in (self.bar, self.left, self.cancel):
            row.addWidget(part)
        for part in (self.bar, self.cancel) if listed else ():
            policy = part.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            part.setSizePolicy(policy)
        self.cancel.clicked.connect(self._cancel)
        self.show_item(None)

    def show_item(self, item: ActivityItem | None, mentioned: str = "") -> None:
        """Show the state of a job; None when no job is running. `mentioned` is shown in place of its words."""
        self._item = item
        working = item is not None and item.state == "working"
        icon_name, role = MARKS[item.state] if item is not None else ("check", "muted")
        self._mark.show_icon(*(("info", "accent") if mentioned else (icon_name, role)))
        self.text.setText(mentioned or (_words(item) if item is not None else "Idle"))
        self.bar.setVisible(working)
        if item is not None and working:
            self.bar.setRange(0, 1000 if item.now.total or item.now.rests else 0)  # 0 to 0 moves on and on
            self.bar.setValue(round(1000 * item.now.done / item.now.total) if item.now.total else 0)
        seconds = item.seconds_left if item is not None and working else None
        self.left.setText(f"{duration(seconds)} left" if seconds is not None else "")
        self.left.setVisible(seconds is not None)
        self.cancel.setVisible(item is not None and item.can_cancel)
        self.cancel.setAccessibleName(f"Cancel {item.title}" if item is not None else "Cancel")

    def _cancel(self) -> None:
        if self._item is not None:
            self._item.cancel()


def _words(item: ActivityItem) -> str:
    count = f"{item.now.done:,} / {item.now.total:,}" if item.state == "working" and item.now.total else ""
    said = ", ".join(filter(None, (item.now.text, count)))
    return f"{item.title}: {said}" if said else item.title


class ActivityDock(QDockWidget):
    """All jobs and the log, at the bottom of the window once `fold` in `head` is pressed; `head` is always to be seen.

    `toggled` signals that the user expanded or collapsed it.
    """

    toggled = Signal(bool)

    def __init__(self, activity: Activity, parent: QWidget | None = None) -> None:
        super().__init__("Activity", parent)
        self._activity = activity
        self.head = QWidget(self)
        self.fold = icon_button("caret-up", UNFOLD)
        self.fold.setCheckable(True)
        self.line = JobLine()
        in_row(self.fold, (self.line, 1), on=self.head)
        self._rows: list[JobLine] = []
        self.log = QPlainTextEdit(readOnly=True)
        self.log.setObjectName("log")
        self.log.setAccessibleName("Log")
        self.log.setMaximumBlockCount(LOG_LINES)
        self._build()
        self.setObjectName("activity")
        self.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        self.setTitleBarWidget(QWidget())
        self.fold.toggled.connect(self.set_unfolded)
        self.toggleViewAction().triggered.connect(self.set_unfolded)
        self._due = QTimer(self, singleShot=True, interval=0)  # all changes of one turn are drawn together
        self._due.timeout.connect(self.refresh)
        self._clock = QTimer(self, interval=CLOCK)  # time passes between two counts, too
        self._clock.timeout.connect(self.refresh)
        self._mentioned = ""
        self._while_mentioned = QTimer(self, singleShot=True, interval=MENTIONED)
        self._while_mentioned.timeout.connect(lambda: self.mention(""))
        activity.changed.connect(self._due.start)
        activity.logged.connect(self._log)
        self.set_unfolded(False)

    def _build(self) -> None:
        inner = QWidget()
        self._list = in_column(1, on=inner, margins=(0, 4, 0, 4), spacing=4)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        halves = QSplitter(Qt.Orientation.Horizontal)
        halves.setObjectName("activity-halves")
        halves.addWidget(scroll)
        halves.addWidget(self.log)
        halves.setSizes([600, 400])
        halves.setMinimumHeight(UNFOLDED)
        halves.setMaximumHeight(3 * UNFOLDED)
        self.setWidget(halves)

    def set_unfolded(self, unfolded: bool) -> None:
        """Show the list and the log, or only the line."""
        self.fold.setChecked(unfolded)
        self.fold.setIcon(icon("caret-down" if unfolded else "caret-up", "muted"))
        name = FOLD if unfolded else UNFOLD
        self.fold.setAccessibleName(name)
        self.fold.setToolTip(plain_tip(name))
        self.setVisible(unfolded)
        self.refresh()
        self.toggled.emit(unfolded)

    def mention(self, words: str) -> None:
        """Show a sentence in the line for MENTIONED ms, and have a screen reader say it; "" takes it away."""
        self._mentioned = words
        self.refresh()
        if words:
            self._while_mentioned.start()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.line.text, words))

    def refresh(self) -> None:
        """Show the current state of the jobs."""
        working = self._activity.newest_working
        self.line.show_item(working, self._mentioned)
        if (working is not None) != self._clock.isActive():
            (self._clock.stop if working is None else self._clock.start)()
        if not self.fold.isChecked():
            return
        newest = self._activity.items[: -SHOWN - 1 : -1]
        while len(self._rows) < len(newest):
            row = JobLine(listed=True)
            self._rows.append(row)
            self._list.insertWidget(self._list.count() - 1, row)
        for index, row in enumerate(self._rows):
            row.setVisible(index < len(newest))
            if index < len(newest):
                row.show_item(newest[index])

    def _log(self, line: str) -> None:
        self.log.appendPlainText(f"{datetime.now():%H:%M:%S}  {line}")
