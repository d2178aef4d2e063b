"""The choice of one axis of the map: two class means, two class vectors, two images or a principal component."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from workbench.projection.axes import COMPONENT, MEANS, PROXIES, SAMPLES, Direction
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label, plain_tip

KINDS = {
    COMPONENT: "Principal component", MEANS: "Class means", PROXIES: "Class vectors", SAMPLES: "Two selected images",
}  # fmt: skip
COMPONENTS = 8  # that are offered
Named = Sequence[tuple[int, str]]  # label or id of a sample, and its words


class AxisEditor(QWidget):
    """Says which way the axis leads: from the second class or image to the first."""

    changed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._classes: Named = ()
        self._images: Named = ()
        self._listed: Named = ()  # what the boxes of the ends hold
        self.kind, self.component = QComboBox(), QComboBox()
        self.first, self.second = ElidedBox(), ElidedBox()
        for key, words in KINDS.items():
            self.kind.addItem(words, key)
        for number in range(COMPONENTS):
            self.component.addItem(str(number + 1), number)
        self.minus = label("−")
        parts = (
            (self.kind, "kind"), (self.component, "component"), (self.first, "its positive end"),
            (self.second, "its negative end"),
        )  # fmt: skip
        for box, words in parts:
            box.setAccessibleName(f"{name}: {words}")
            box.setToolTip(f"{name}: {words}")
        self.kind.activated.connect(self._choose_kind)
        for box in (self.component, self.first, self.second):
            box.activated.connect(self.changed)
        for box in (self.first, self.second):
            box.setMinimumContentsLength(8)
        ends = QWidget()
        in_row(self.component, (self.first, 1), self.minus, (self.second, 1), on=ends, spacing=6)
        in_column(self.kind, ends, on=self, spacing=4)
        self.offer_images(())
        self._show_kind()

    def offer(self, classes: Named, proxies: bool) -> None:
        """Offer these classes, in their order; `proxies`: the map has them."""
        self._enable(PROXIES, proxies)
        self._enable(MEANS, len(classes) > 1)
        if list(classes) != list(self._classes):
            chosen, self._classes = self.direction, list(classes)
            self._fill(chosen)

    def offer_images(self, images: Named) -> None:
        """Offer these images beside those that are chosen already; there is an axis of images from two on."""
        chosen = self.direction
        if chosen.kind == SAMPLES:
            kept = [image for image in self._images if image[0] in (chosen.first, chosen.second)]
            images = [*kept, *(image for image in images if image not in kept)]
        self._enable(SAMPLES, len(images) > 1, "Select two images on the map, then choose them here")
        if list(images) != list(self._images):
            self._images = list(images)
            self._fill(chosen)

    def _enable(self, kind: str, on: bool, otherwise: str = "") -> None:
        model = self.kind.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(self.kind.findData(kind))
        item.setEnabled(on)
        item.setToolTip("" if on else plain_tip(otherwise))

    def _fill(self, chosen: Direction) -> None:
        """List what the ends can be, with the ends of `chosen` where they are among them, else the first two.

        A component has no ends: its boxes are hidden, and tens of thousands of classes are listed when they are asked.
        """
        kind = self.kind.currentData()
        ends = self._images if kind == SAMPLES else self._classes
        if kind == COMPONENT or ends is self._listed:
            return
        self._listed = ends
        for position, box in enumerate((self.first, self.second)):
            box.clear()
            for number, words in ends:
                box.addItem(words, number)
            at = box.findData((chosen.first, chosen.second)[position]) if chosen.kind != COMPONENT else -1
            box.setCurrentIndex(at if at >= 0 else min(position, box.count() - 1))

    def show_direction(self, direction: Direction) -> None:
        """Show this; `changed` is not emitted."""
        self.kind.setCurrentIndex(self.kind.findData(direction.kind))
        if direction.kind == COMPONENT:
            self.component.setCurrentIndex(direction.first)
        self._fill(direction)
        if direction.kind != COMPONENT:
            for box, number in ((self.first, direction.first), (self.second, direction.second)):
                if box.findData(number) >= 0:
                    box.setCurrentIndex(box.findData(number))
        self._show_kind()

    @property
    def direction(self) -> Direction:
        """The direction that the user has chosen."""
        kind = self.kind.currentData()
        if kind == COMPONENT:
            return Direction(kind, self.component.currentData())
        return Direction(kind, self.first.currentData() or 0, self.second.currentData() or 0)

    def _choose_kind(self) -> None:
        self._fill(Direction(COMPONENT, 0))
        self._show_kind()
        self.changed.emit()

    def _show_kind(self) -> None:
        component = self.kind.currentData() == COMPONENT
        self.component.setVisible(component)
        for part in (self.first, self.minus, self.second):
            part.setVisible(not component)
