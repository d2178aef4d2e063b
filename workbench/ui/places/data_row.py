"""Where a folder of this machine is at a place: a line of its card, with a button that forgets it until Save."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.ui.places.draft import PlaceDraft
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label

FORGET, UNDO = "Forget", "Undo"
TIP = "Nothing is deleted there. The next run with these data asks for their folder."


class DataRow(QWidget):
    """One folder; a forgotten one stays in sight, with Undo, until the dialog is saved.

    Args:
        draft: of the place.
        here: the folder or file of this machine.
    """

    changed = Signal()

    def __init__(self, draft: PlaceDraft, here: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft, self._here = draft, here
        self.words = label("", "caption", wrap=True)
        self.forget = button(FORGET, "", "quiet")
        self.forget.clicked.connect(self._turn)
        in_row((self.words, 1), self.forget, on=self, spacing=8)
        self._show()

    def _turn(self) -> None:
        self._draft.forget_data(self._here, self._here not in self._draft.forgotten)
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        forgotten = self._here in self._draft.forgotten
        there = self._draft.data[self._here]
        self.words.setText(
            f"{self._here}: its folder there is forgotten when you save."
            if forgotten
            else f"{self._here} is {there} there"
        )
        self.forget.setText(UNDO if forgotten else FORGET)
        self.forget.setAccessibleName(
            f"Keep the folder there of {self._here}" if forgotten else f"Forget the folder there of {self._here}"
        )
        self.forget.setToolTip("" if forgotten else TIP)
