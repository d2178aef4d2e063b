"""The choice of what the points of a map are coloured by: fixed colourings, and the attributes of the data set."""

from PySide6.QtCore import Signal

from workbench.jobs.newest import Newest
from workbench.names import visible
from workbench.progress import Progress
from workbench.ui.pages.map.colours.colouring import COLOURINGS
from workbench.ui.pages.map.colours.columns import OF_ATTRIBUTE
from workbench.ui.state.session import Session
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.workspace.choices.sample_tags import attribute_names


class ColouringBox(ElidedBox):
    """Lists the attributes below the fixed colourings; they are read again whenever the list is opened."""

    chosen = Signal(str)  # a key of COLOURINGS, or OF_ATTRIBUTE and a name

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._dataset: int | None = None
        self._reading = Newest(session)
        for key, title in COLOURINGS.items():
            self.addItem(title, key)
        self.setAccessibleName("Colour of the points")
        self.setMinimumContentsLength(6)
        self.activated.connect(lambda: self.chosen.emit(self.currentData()))

    def follow(self, dataset_id: int | None) -> None:
        """Offer the attributes of another data set."""
        self._dataset = dataset_id
        self.refresh()

    def refresh(self) -> None:
        """Read the attributes again: a table may have brought others."""
        workspace, number = self._session.workspace, self._dataset

        def work(progress: Progress) -> list[str]:
            return [] if number is None else attribute_names(workspace, number)

        self._reading.ask("Attributes of the images", work, self._offer, quiet=True)

    def show_key(self, key: str) -> None:
        """Show the colouring in use, also an attribute that is not listed yet."""
        if self.findData(key) < 0:
            self.addItem(_title(key), key)
        self.setCurrentIndex(self.findData(key))

    def showPopup(self) -> None:
        """Open the list, and read the attributes again."""
        self.refresh()
        super().showPopup()

    def _offer(self, names: list[str]) -> None:
        wanted, current = {f"{OF_ATTRIBUTE}{name}": None for name in names}, self.currentData()
        listed = [self.itemData(index) for index in range(self.count())]
        for index in range(len(listed) - 1, len(COLOURINGS) - 1, -1):
            if listed[index] not in wanted and listed[index] != current:
                self.removeItem(index)
        for key in listed:
            wanted.pop(key, None)
        for key in wanted:
            self.addItem(_title(key), key)
        if self.view().isVisible():
            super().showPopup()  # with room for those that came while it was open


def _title(key: str) -> str:
    return f"Tag: {visible(key.removeprefix(OF_ATTRIBUTE))}"
