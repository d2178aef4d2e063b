"""What the right column of Set up holds, as a strip below the form, for windows without room for both."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QSizePolicy, QToolButton, QWidget

from workbench.ui.pages.setup.preflight.card import InShort
from workbench.ui.pages.setup.start.column import StartColumn
from workbench.ui.places.choice import WHERE
from workbench.ui.style.icons import icon
from workbench.ui.style.words import NO_VALUE, counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import Fact
from workbench.ui.widgets.labels import ElidedLabel, restyle

MARGIN, GAP = 8, 12  # px around the line, and between two of its parts
SENTENCE = 100  # of the stretch, against 1 for the gap behind all
LINES, OF_ERROR = 2, 4  # of the sentence; an error ends with what to do, and makes the strip higher
BEFORE = "Of the last check; the next one is under way"
FEWEST = 12  # average letters of a sentence that can be shown; the field or the card says the same


class StartStrip(QFrame):
    """Preflight in a line with its card on demand, and the buttons of the column, which it borrows while it is shown.

    `unfolded` says that the card is asked for, or no longer.
    """

    unfolded = Signal(bool)

    def __init__(self, column: StartColumn, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self._column, self._told = column, InShort()
        self.unfold = button("Preflight", "caret-right", "quiet")
        self.unfold.setCheckable(True)
        self.unfold.setToolTip("Show all that Preflight found")
        self.sentence = ElidedLabel("", "muted", lines=LINES)
        self.time, self.memory, self.speed = (Fact(name, whole=True) for name in ("Time", "Memory", "Speed"))
        self.remarks = button("", "warning-circle", "quiet")
        self.check = button("Check now")
        self.more = icon_button("dots-three", "More: the command, configs and places")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self._menu())
        self._right = in_row(self.more, spacing=8)
        numbers = (self.time, self.memory, self.speed)
        self._result = result = QWidget()
        result.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # else no window became smaller
        in_row((self.sentence, SENTENCE), *numbers, self.remarks, self.check, 1, on=result, spacing=GAP)
        line = in_row(self.unfold, (result, 1), self._right, spacing=GAP)
        self._lines = in_column(line, on=self, margins=MARGIN, spacing=8)
        self.unfold.toggled.connect(self._turn)
        self.remarks.clicked.connect(partial(self.unfold.setChecked, True))
        self.check.clicked.connect(column.card.check_asked)
        column.card.changed.connect(self.tell)
        self.tell(column.card.in_short())
        self.hide()

    def show_instead(self, shown: bool) -> bool:
        """Be there with the column's buttons, or give them back to it; whether that is new."""
        if shown != self.isHidden():
            return False
        column = self._column
        if shown:
            self._lines.insertWidget(0, column.banner)
            column.banner_parts.setDirection(QBoxLayout.Direction.LeftToRight)
            for place, control in enumerate((column.where, column.sweep)):
                self._right.insertWidget(place, control)
            self._right.addWidget(column.start)
            in_order = (column.banner, self.unfold, self._result, column.where, column.sweep, self.more, column.start)
            for control in in_order:
                control.raise_()  # to the end of the order in which Tab goes
            column.where.setToolTip(WHERE)
            column.below.hide()
        else:
            column.take_back()
        self.setVisible(shown)
        return True

    def tell(self, short: InShort) -> None:
        """Show in a line what the card says."""
        self._told = short
        self.sentence.set_lines(OF_ERROR if short.failed else LINES, room_for="" if short.failed else None)
        self.sentence.setText(short.sentence)
        self.sentence.setProperty("role", "error" if short.failed else "muted")
        restyle(self.sentence)
        self.time.caption.setText(short.time_caption)
        for number, value in ((self.time, short.time), (self.memory, short.memory), (self.speed, short.speed)):
            number.set_value(value)
            number.setEnabled(not short.sentence)  # else they are those of the last check, until the next is done
            number.setToolTip(BEFORE if short.sentence else "")
        self.remarks.setAccessibleName(counted(short.remarks, "note"))
        self.remarks.setToolTip("Findings of Preflight to read before you start")
        self.check.setVisible(short.check)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Say why nothing is known, or the numbers: as many as there is room for."""
        known = self._told.time != NO_VALUE and not self._told.failed and not self._told.starts
        self.remarks.setVisible(known and self._told.remarks > 0)
        room = self.contentsRect().width() - self._right.sizeHint().width() - self.unfold.sizeHint().width()
        room -= 2 * MARGIN + 4 * GAP
        if not self._told.failed:  # else the form would move by some px between a sentence and the numbers
            self._result.setMinimumHeight(max(self.sentence.sizeHint().height(), self.time.sizeHint().height()))
        for_words = room - (self.check.sizeHint().width() if self._told.check else 0)
        self.sentence.setVisible(not known and for_words >= self.fontMetrics().averageCharWidth() * FEWEST)
        self.remarks.setText(counted(self._told.remarks, "note"))
        if room < self.remarks.sizeHint().width() + self.time.sizeHint().width() + GAP:
            self.remarks.setText(f"{self._told.remarks:,}")
        room -= self.remarks.sizeHint().width()
        for number in (self.time, self.memory, self.speed):
            room -= number.sizeHint().width() + GAP
            number.setVisible(known and room >= 0)

    def _turn(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.unfolded.emit(on)

    def _menu(self) -> QMenu:
        """The buttons of the column that have no room here."""
        menu = QMenu(self.more)
        column = self._column
        controls = {"Copy command": column.copy, "Open config…": column.open, "Save config…": column.save}
        for title, control in (controls | {"Places…": column.places}).items():
            menu.addAction(title).triggered.connect(control.click)
        menu.aboutToShow.connect(lambda: self._allow(menu, list(controls.values())))
        return menu

    @staticmethod
    def _allow(menu: QMenu, controls: list[QWidget]) -> None:
        for action, control in zip(menu.actions(), controls, strict=False):
            action.setEnabled(control.isEnabledTo(control.window()))
