"""A framed group, a chip, and the hint in an empty place."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import ElidedLabel, label


class Card(QFrame):
    """A frame with a border; put widgets into `.body`, a QVBoxLayout."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(16, 16, 16, 16)
        self.body.setSpacing(8)
        if title:
            self.body.addWidget(label(title, "section"))


class Chip(QFrame):
    """A short word in a pill; with `removable`, a cross that says `removed`."""

    removed = Signal()

    def __init__(self, text: str, removable: bool = False) -> None:
        super().__init__()
        self.setProperty("chip", "true")
        self.text = text
        row = in_row(label(text), on=self, margins=(8, 0, 4 if removable else 8, 0), spacing=4)
        if removable:
            cross = icon_button("x", f"Remove {text}")
            cross.clicked.connect(self.removed)
            row.addWidget(cross)


class EmptyHint(QWidget):
    """A sentence about what will appear here, and at most one button."""

    pressed = Signal()

    def __init__(self, title: str, sentence: str, action: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = self._column = in_column(1, on=self, margins=24, spacing=8)
        self.title, self.sentence = label(title, "section", wrap=True), label(sentence, "muted", wrap=True)
        for line in (self.title, self.sentence):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(line)
        self.go = button(action, parent=self)
        self.go.setHidden(not action)
        self.go.clicked.connect(self.pressed)
        column.addWidget(self.go, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def insert_above_button(self, widget: QWidget) -> None:
        """Put a widget between the sentence and the button."""
        self._column.insertWidget(self._column.indexOf(self.go), widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def say(self, sentence: str, title: str = "") -> None:
        """Another sentence under the title, and another title if one is given."""
        self.sentence.setText(sentence)
        if title:
            self.title.setText(title)


class Fact(QWidget):
    """A caption over a value, for cards of numbers; with `whole`, both have their room and are never shortened."""

    def __init__(self, caption: str, value: str = "", parent: QWidget | None = None, *, whole: bool = False) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.caption = label(caption, "caption")
        self.value = label(value, "strong") if whole else ElidedLabel(value, "strong")
        column.addWidget(self.caption)
        column.addWidget(self.value)

    def set_value(self, text: str) -> None:
        """Show another value."""
        self.value.setText(text)
