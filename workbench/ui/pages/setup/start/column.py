"""The right column of Set up: the Preflight card, what prevents starting, and the buttons."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QScrollArea, QWidget

from workbench.ui.pages.setup.model.verdict import Verdict
from workbench.ui.pages.setup.preflight.card import PreflightCard
from workbench.ui.places.choice import WHERE, PlaceChoice
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.flow import OneLine
from workbench.ui.widgets.labels import label, plain_tip

COPY = "Copy command"


class StartColumn(QWidget):
    """Draws a verdict; the page connects the buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.card = PreflightCard()
        self.trouble = label("", "error", wrap=True)
        self.mend = button("", kind="primary")
        self.show_trouble = button("Show", kind="quiet")
        self.banner = QFrame()
        self.banner.setProperty("card", "trouble")
        actions = OneLine()
        for control in (self.mend, self.show_trouble):
            actions.addWidget(control)
        self.banner_parts = in_column((self.trouble, 1), actions, on=self.banner, margins=(12, 8, 8, 8), spacing=4)
        for quiet in (self.banner, self.mend, self.show_trouble):
            quiet.hide()
        self.where = PlaceChoice()
        self.places = button("Places…", "computer-tower", "quiet")
        self.places.setToolTip("Machines where runs can train")
        self.start = button("Start", "play", "primary")
        self.sweep = button("Sweep…", "grid-four")
        self.sweep.setToolTip("Train this config with several values of some fields")
        self.save = button("Save…", "floppy-disk")
        self.open = button("Open…", "folder-open")
        self.copy = button(COPY, "copy")
        for words, control in (("Save config", self.save), ("Open config", self.open)):
            control.setAccessibleName(words)
            control.setToolTip(words)
        self.below = QWidget()
        in_column((self._scrolled(self.card), 1), self.below, on=self, spacing=8)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(8)
        self._buttons.addWidget(self.copy, 1, 0, 1, 2)
        self._buttons.addWidget(self.open, 2, 0)
        self._buttons.addWidget(self.save, 2, 1)
        head = in_row((caption(WHERE, self.where, ""), 1), self.places, spacing=8)
        self._where = in_column(head, spacing=2)
        self._rows = in_column(self._where, self._buttons, on=self.below, spacing=8)
        self.take_back()

    def take_back(self) -> None:
        """Put what the strip had borrowed below the card."""
        self.banner_parts.setDirection(QBoxLayout.Direction.TopToBottom)
        self._where.addWidget(self.where)
        self._rows.insertWidget(1, self.banner)
        self._buttons.addWidget(self.start, 0, 0)
        self._buttons.addWidget(self.sweep, 0, 1)
        buttons = (self.start, self.sweep, self.copy, self.open, self.save)
        for control in (self.places, self.where, self.banner, *buttons):
            control.raise_()  # to the end of the order in which Tab goes
        self.below.show()

    def show_verdict(self, verdict: Verdict) -> None:
        """Enable what can be done, and show why Start cannot."""
        self.trouble.setText(verdict.trouble)
        self.banner.setVisible(bool(verdict.trouble))
        self.show_trouble.setVisible(bool(verdict.bad_paths))
        self.mend.setVisible(verdict.repair is not None)
        self.mend.setText(verdict.repair[0] if verdict.repair is not None else "")
        first = verdict.reasons[0] if verdict.reasons else ""
        self.start.setEnabled(not first)
        self.start.setToolTip(plain_tip(first or own_keys("Ctrl+Return")))
        self.start.setAccessibleDescription(first)
        for needs_config in (self.save, self.copy):
            needs_config.setEnabled(verdict.config is not None)
        self.sweep.setEnabled(verdict.ready is not None)
        if verdict.ready is None:
            self.card.show_idle("Correct the highlighted fields to run Preflight.")

    def _scrolled(self, card: PreflightCard) -> QScrollArea:
        inside = QWidget()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        in_column(card, 1, on=inside)
        return area
