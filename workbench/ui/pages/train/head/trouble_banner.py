"""The banner of a run that waits for an answer."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from workbench.ui.pages.train.head.run_header import ELSEWHERE
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import IconLabel, label, restyle


class TroubleBanner(QFrame):
    """The run waits because of its loss: what happened, and the three answers."""

    go_on = Signal()
    stop_and_keep = Signal()
    discard = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("messageBar")
        self.setProperty("kind", "problem")
        self.setAccessibleName("The run waits for you")
        self.sentence = label("", wrap=True)
        self.buttons = {
            "Go on": (self.go_on, button("Go on", "play")),
            "Stop and keep": (self.stop_and_keep, button("Stop and keep", "stop")),
            "Discard": (self.discard, button("Discard…", "trash", "danger")),
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        row.addWidget(IconLabel("warning", "wrong"))
        row.addWidget(self.sentence, 1)
        for pressed, widget in self.buttons.values():
            row.addWidget(widget)
            widget.clicked.connect(pressed)
        self.hide()

    def show_reason(self, reason: str, can_answer: bool) -> None:
        """Show a reason; an empty one hides the banner. `can_answer` is False for another program's run."""
        self.sentence.setText(reason if can_answer else f"{reason} {ELSEWHERE}")
        for _, widget in self.buttons.values():
            widget.setEnabled(can_answer)
        if self.isHidden() == bool(reason):
            self.setVisible(bool(reason))
            restyle(self)
