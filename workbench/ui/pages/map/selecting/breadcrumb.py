"""The breadcrumb of isolated points: All, some of them, some of those; each is a way back."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, plain_tip

GAP = 12  # px from the map's edges


class Breadcrumb(QFrame):
    """Floats at the upper left of the map while points are isolated."""

    back_asked = Signal(int)  # the step to go back to; 0 is all points

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", "raised")
        self.setAccessibleName("Isolated points: back to all")
        self.steps: list[QPushButton] = []  # one for each earlier step
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(4, 2, 12, 2)
        self._row.setSpacing(4)
        self.move(GAP, GAP)
        self.hide()

    def show_path(self, path: list[str]) -> None:
        """The steps from all points to those that are mapped; hidden when these are all."""
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.steps = []
        for words in path[:-1]:
            step = button(words, kind="quiet")
            step.setToolTip(plain_tip(f"Back to the {words}" if self.steps else "Back to all points"))
            step.clicked.connect(self._pressed)
            self.steps.append(step)
            self._add(step)
            self._add(label("›", "muted"))
        self._add(label(path[-1], "strong"))
        self.setVisible(len(path) > 1)
        self._row.activate()
        self.adjustSize()
        self.raise_()

    def _add(self, widget: QWidget) -> None:
        self._row.addWidget(widget)
        widget.show()  # now, not at the next turn of the event loop: the frame takes the size of what is shown

    def _pressed(self) -> None:
        pressed = self.sender()
        if isinstance(pressed, QPushButton) and pressed in self.steps:
            self.back_asked.emit(self.steps.index(pressed))
