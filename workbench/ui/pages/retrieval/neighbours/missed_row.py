"""The true neighbours of a query that rank behind the shown ones, with their ranks."""

from PySide6.QtWidgets import QWidget

from workbench.ui.pages.retrieval.neighbours.card_row import CardRow
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.workspace.rows import Neighbour

PLACE = "missed neighbours"
AHEAD = 12  # cards made with the page


class MissedRow(CardRow):
    """A row of cards below the grid of neighbours; hidden if no true neighbour is missed."""

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(loader, PLACE, AHEAD, parent)

    def show_missed(self, near: list[Neighbour], total: int, beyond: int) -> None:
        """Show some of all missed neighbours, those behind rank `beyond`."""
        self.setVisible(total > 0)
        limited = f", the nearest {len(near):,} of them" if len(near) < total else ""
        self.show_cards(f"Missed: {total:,} of its class behind rank {beyond:,}{limited}", near)
