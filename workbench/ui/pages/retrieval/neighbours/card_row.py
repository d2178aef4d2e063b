"""Cards of neighbours under a title."""

from PySide6.QtWidgets import QWidget

from workbench.ui.pages.retrieval.neighbours.card_grid import CardGrid
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.images.neighbour_card import NeighbourCard
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Neighbour


class CardRow(QWidget):
    """A title and a CardGrid; hidden until something is shown. Args: as CardGrid."""

    def __init__(self, loader: PictureLoader, asker: str, ahead: int, *, paired: bool = True) -> None:
        super().__init__()
        self.title = label("", "section", wrap=True)
        self.grid = CardGrid(loader, asker, ahead, paired=paired)
        self.stop, self.chosen = self.grid.stop, self.grid.chosen
        self.column = in_column(self.title, self.grid, on=self, spacing=12)
        self.hide()

    @property
    def cards(self) -> list[NeighbourCard]:
        """Cards on screen, nearest first."""
        return self.grid.cards

    @property
    def neighbours(self) -> list[Neighbour]:
        """Those on screen, nearest first."""
        return [card.neighbour for card in self.cards if card.neighbour is not None]

    def show_cards(self, title: str, near: list[Neighbour]) -> None:
        """Show other neighbours, judged by the class of the query."""
        self.title.setText(title)
        self.grid.show_neighbours(near, judged=True)
