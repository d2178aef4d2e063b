"""Above and below the choice of a loss: the families of losses, and what the chosen one needs."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QPushButton, QWidget

from workbench.ui.pages.setup.model.needs import Need
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import IconLabel, label
from workbench.ui.widgets.one_stop import OneStop


class Families(QWidget):
    """A button for each family with the number of its losses; the one of the chosen loss is checked."""

    asked = Signal(str)  # the losses of this family

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Families of losses")
        self._counts: dict[str, int] = {}
        self._flow = FlowLayout(self, spacing=4)
        self._flow.setContentsMargins(0, 2, 0, 4)
        self._buttons: dict[str, QPushButton] = {}  # by family
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._ask)
        self._stop = OneStop(self)
        self._family = ""

    def show_families(self, families: Sequence[str], chosen: str) -> None:
        """Show the family of each loss, in the order of the list, and check that of the chosen one."""
        counts = dict(Counter(families))
        if counts != self._counts:
            self._counts = counts
            self._make_buttons()
        self._family = chosen
        self._check()

    def _make_buttons(self) -> None:
        self._flow.clear()
        self._buttons = {}
        for family, losses in self._counts.items():
            choice = self._buttons[family] = button(f"{family} {losses}", kind="segment")
            choice.setCheckable(True)
            choice.setProperty("value", family)
            choice.setAccessibleName(f"{family}, {counted(losses, 'loss', 'losses')}")
            self._group.addButton(choice)
            self._flow.addWidget(choice)
        self._stop.show(list(self._buttons.values()))

    def _check(self) -> None:
        if self._family in self._buttons:
            self._buttons[self._family].setChecked(True)

    def _ask(self, choice: QAbstractButton) -> None:
        """Open the losses of a family; the family of the chosen loss stays checked until another is picked."""
        family = str(choice.property("value"))
        self._check()
        self.asked.emit(family)


class NeedsLine(QWidget):
    """What a loss needs, with a tick or a cross each."""

    def __init__(self) -> None:
        super().__init__()
        self._needs: list[Need] = []
        self._flow = FlowLayout(self, spacing=6)

    def show_needs(self, needs: list[Need]) -> None:
        """Replace what is shown."""
        if needs != self._needs:
            self._needs = needs
            self._flow.clear()
            self._flow.addWidget(label("Needs", "muted"))
            for need in needs:
                self._flow.addWidget(_chip(need))
        self.setVisible(bool(needs))


def _chip(need: Need) -> QFrame:
    chip = QFrame()
    chip.setProperty("chip", "met" if need.met else "unmet")
    chip.setAccessibleName(f"{need.words}: {'met' if need.met else 'not met'}")
    mark = IconLabel("check" if need.met else "warning-circle", "right" if need.met else "wrong", side=12)
    in_row(mark, label(need.words), on=chip, margins=(8, 1, 8, 1), spacing=4)
    return chip
