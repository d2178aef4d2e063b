"""Where to run: this machine, or one of the user's places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.ui.widgets.fields.editors import ChoiceEditor

if TYPE_CHECKING:  # the window is painted before it needs a place
    from workbench.places.place import Place

HERE = ""  # the value of this machine
WHERE = "Where to run"


class PlaceChoice(ChoiceEditor):
    """A choice whose value is the name of a place, or HERE."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__([HERE], ["This machine"], parent)

    def show_places(self, names: Sequence[str]) -> None:
        """Offer these places and this machine; the chosen one stays chosen while it exists."""
        chosen = self.value()
        self.clear()
        for name in (HERE, *names):
            self.addItem(name or "This machine", name)
        self.set_value(chosen if chosen in names else HERE)

    def chosen_of(self, places: Sequence[Place]) -> Place | None:
        """The chosen one of these places; None for this machine."""
        return next((place for place in places if place.name == self.value()), None)
