"""The window's command "Places…", and the question where the data of a run are at a place."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.ui.state.commands import Commands
from workbench.ui.state.session import Session
from workbench.ui.widgets.dialogs.text_question import ask_line

if TYPE_CHECKING:
    from workbench.places.place import Place
    from workbench.ui.places.dialog import PlacesDialog


class PlaceActions(QObject):
    """Two commands and one question."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.show = commands.add("file.places", "Places…", self.show_places, "", "computer-tower")
        self.fetch = commands.add("run.fetch", "Fetch checkpoints", self._fetch, "", "download-simple")
        session.places_asked.connect(self.show_places)
        session.data_asked.connect(self._ask_data)

    def show_places(self) -> "PlacesDialog":
        """Open the dialog of places over the window, and return it."""
        from workbench.ui.places.dialog import PlacesDialog  # late, as the other dialogs: the window is shown first

        dialog = PlacesDialog(self._session, self._window)
        dialog.open()
        return dialog

    def refresh(self) -> None:
        """Enable what can be done with the shown run."""
        run = self._session.run()
        self.fetch.setEnabled(run is not None and run.placement is not None and not run.live)

    def _fetch(self) -> None:
        if self._session.run_id is not None:
            self._session.placed.fetch_checkpoints(self._session.run_id)

    def _ask_data(self, path: str, place: "Place") -> None:
        from workbench.places import records

        question = f"Where is {path} at {place.name}? The answer is remembered."
        there = ask_line(self._window, "Data at a place", question, text=path)
        if there is not None and there.strip():
            name = place.name  # its record may be another one since it was read
            self._session.change(
                lambda: records.store(records.with_data(records.named(name), path, there.strip())),
                lambda _: self._known(),
            )

    def _known(self) -> None:
        self._session.places.read()
        self._session.notify("The folder is saved. Start the run again.")
