"""The breadcrumb of isolated points: All, some of them, some of those; each is a way back."""

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label


class Breadcrumb(QFrame):
    """Sets of sample ids, each within the one before; floats at the top of the map while there is any."""

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", "raised")
        self.setAccessibleName("Isolated points: the way back to all")
        self._steps: list[np.ndarray] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(4, 2, 12, 2)
        self._row.setSpacing(4)
        self.hide()

    @property
    def only(self) -> list[int] | None:
        """Ids of the points that are mapped; None for all."""
        return self._steps[-1].tolist() if self._steps else None

    @property
    def words(self) -> list[str]:
        """What the breadcrumb says, from the whole to what is shown."""
        return ["All", *(f"{len(step):,} selected" for step in self._steps)]

    def isolate(self, ids: np.ndarray) -> None:
        """Go one step further in: to these points alone."""
        self._go([*self._steps, np.unique(ids)])

    def back_to(self, place: int) -> None:
        """Go back to a step: 0 is all points."""
        self._go(self._steps[:place])

    def clear(self) -> None:
        """All points again; `changed` is not emitted."""
        self._steps = []
        self._fill()

    def place(self, left: int) -> None:
        """Stand at the parent's upper edge, `left` px from its left one."""
        self.move(left, 12)

    def _go(self, steps: list[np.ndarray]) -> None:
        self._steps = steps
        self._fill()
        self.changed.emit()

    def _fill(self) -> None:
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        *before, now = self.words
        for place, word in enumerate(before):
            step = button(word, kind="quiet")
            step.setToolTip(f"Back to {'all points' if place == 0 else f'the {word}'}")
            step.setProperty("place", place)
            step.clicked.connect(self._pressed)
            self._add(step)
            self._add(label("›", "muted"))
        self._add(label(now, "strong"))
        self.setVisible(bool(self._steps))
        self._row.activate()
        self.adjustSize()
        self.raise_()

    def _add(self, widget: QWidget) -> None:
        self._row.addWidget(widget)
        widget.show()  # now, not at the next turn of the event loop: the trail takes the size of what is shown

    def _pressed(self) -> None:
        pressed = self.sender()
        if pressed is not None:
            self.back_to(int(pressed.property("place")))
