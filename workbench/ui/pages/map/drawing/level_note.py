"""The line in the map's upper right corner: how many points are drawn, and whether as points, density or pictures."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.ui.widgets.labels import label

GAP = 12  # px from the map's edges


class LevelNote(QFrame):
    """Lets the mouse through to the map."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", "raised")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = label("", "caption")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 3, 8, 3)
        row.addWidget(self.words)
        self.hide()

    def say(self, words: str) -> None:
        """Show these words; hide the line if they are empty."""
        self.words.setText(words)
        self.setVisible(bool(words))
        self.adjustSize()
        self.place()

    def place(self) -> None:
        """Move to the parent's upper right corner, clear of the progress strip."""
        parent = self.parentWidget()
        assert parent is not None
        self.move(parent.width() - self.width() - GAP, GAP)


def words_of(total: int, drawn: int, in_view: int, pictures: int, crowded: bool, away: int = 0) -> str:
    """What a map with `total` points shows, of which `drawn` are not hidden; `away` selected images are not on it."""
    said = f"{in_view:,} of {total:,} points in view"
    if drawn < total:
        said += f", {total - drawn:,} hidden"
    if away:
        said += f", {away:,} of the selected images not on this map"
    if crowded:
        return f"{said}, as density: the stronger the colour, the more points"
    return f"{said}, {pictures:,} as pictures" if pictures else said
