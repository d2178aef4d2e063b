"""The line in a corner of the map: how many points are drawn, and whether as dots, pictures or density."""

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.ui.widgets.labels import label

GAP = 12  # px from the map's edges


class LevelNote(QFrame):
    """A line of text in the corner where it hides the fewest points; mouse events pass through it to the map.

    Args:
        hidden: returns how many points are in a rectangle of the parent.
    """

    def __init__(self, parent: QWidget, hidden: Callable[[QRect], int]) -> None:
        super().__init__(parent)
        self._hidden = hidden
        self.kept_clear: QWidget | None = None  # another widget on the map, which the note covers in no corner
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
        if words:
            self.adjustSize()
            self.place()

    def place(self) -> None:
        """Move to the corner with the fewest points; the fourth corner is the breadcrumb's. Upper right wins ties.

        On a narrow map the breadcrumb reaches into the upper right corner, too, and on a low one into all.
        """
        parent = self.parentWidget()
        assert parent is not None
        right, low = parent.width() - self.width() - GAP, parent.height() - self.height() - GAP
        corners = [
            QRect(left, top, self.width(), self.height()) for left, top in ((right, GAP), (right, low), (GAP, low))
        ]
        taken = QRect() if self.kept_clear is None or self.kept_clear.isHidden() else self.kept_clear.geometry()
        free = [corner for corner in corners if not corner.intersects(taken)]
        self.setGeometry(min(free or corners, key=self._hidden))


def words_of(total: int, drawn: int, in_view: int, pictures: int, crowded: bool, away: int = 0) -> str:
    """The text for a map of `total` points, `drawn` of them not hidden; `away`: selected images not on the map."""
    said = f"{in_view:,} of {total:,} points in view"
    if drawn < total:
        said += f", {total - drawn:,} hidden"
    if away:
        said += f", {away:,} of the selected images not on this map"
    if crowded:
        return f"{said}, as density: the stronger the colour, the more points"
    return f"{said}, {pictures:,} as pictures" if pictures else said
