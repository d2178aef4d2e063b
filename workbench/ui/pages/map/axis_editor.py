"""The choice of one axis of the map: two class means, two proxies or a principal component."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.projection.axes import COMPONENT, MEANS, PROXIES, Direction
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label

KINDS = {COMPONENT: "Principal component", MEANS: "Class means", PROXIES: "Class proxies"}
COMPONENTS = 8  # that are offered
Classes = Sequence[tuple[int, str]]  # label and name


class AxisEditor(QWidget):
    """Says which way the axis leads: from the second class to the first."""

    changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._classes: Classes = ()
        self.kind, self.component, self.first, self.second = (QComboBox() for _ in range(4))
        for key, words in KINDS.items():
            self.kind.addItem(words, key)
        for number in range(COMPONENTS):
            self.component.addItem(str(number + 1), number)
        self.minus = label("−")
        parts = (
            (self.kind, "kind"), (self.component, "component"), (self.first, "class at its positive end"),
            (self.second, "class at its negative end"),
        )  # fmt: skip
        for box, words in parts:
            box.setAccessibleName(f"{name}: {words}")
            box.setToolTip(f"{name}: {words}")
            box.activated.connect(self._chosen)
        for box in (self.first, self.second):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
        ends = QWidget()
        in_row(self.component, (self.first, 1), self.minus, (self.second, 1), on=ends, spacing=6)
        in_column(self.kind, ends, on=self, spacing=4)
        self._show_kind()

    def offer(self, classes: Classes, proxies: bool) -> None:
        """Offer these classes, in their order; `proxies`: the map has them."""
        model = self.kind.model()
        assert isinstance(model, QStandardItemModel)
        model.item(self.kind.findData(PROXIES)).setEnabled(proxies)
        model.item(self.kind.findData(MEANS)).setEnabled(len(classes) > 1)
        if list(classes) == list(self._classes):
            return
        before = self.direction
        self._classes = list(classes)
        for position, box in enumerate((self.first, self.second)):
            box.clear()
            for number, words in classes:
                box.addItem(words, number)
            box.setCurrentIndex(min(position, box.count() - 1))
        if before.kind != COMPONENT:
            self.show_direction(before)

    def show_direction(self, direction: Direction) -> None:
        """Show this; `changed` is not emitted."""
        self.kind.setCurrentIndex(self.kind.findData(direction.kind))
        if direction.kind == COMPONENT:
            self.component.setCurrentIndex(direction.first)
        else:
            for box, number in ((self.first, direction.first), (self.second, direction.second)):
                if box.findData(number) >= 0:
                    box.setCurrentIndex(box.findData(number))
        self._show_kind()

    @property
    def direction(self) -> Direction:
        """The direction that the person has chosen."""
        kind = self.kind.currentData()
        if kind == COMPONENT:
            return Direction(kind, self.component.currentData())
        return Direction(kind, self.first.currentData() or 0, self.second.currentData() or 0)

    def _chosen(self) -> None:
        self._show_kind()
        self.changed.emit()

    def _show_kind(self) -> None:
        component = self.kind.currentData() == COMPONENT
        self.component.setVisible(component)
        for part in (self.first, self.minus, self.second):
            part.setVisible(not component)
