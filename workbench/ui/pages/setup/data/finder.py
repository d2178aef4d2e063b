"""Finds published data sets below the folders that the user keeps data in, and fills them into an empty field."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.datasets.finder import find_data, markers_of
from workbench.jobs.newest import Newest
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.state.session import Session

KIND = "data_folders"  # of the preferences' recent folders


class DataFinder(QObject):
    """Looks on a thread; `places` holds what it found, by data set."""

    looked = Signal()  # `places` is known

    def __init__(self, session: Session, page: QWidget | None = None) -> None:
        super().__init__(page)
        self._session, self._page = session, page
        self._looking, self._telling = Newest(session), False
        self.places: dict[str, list[str]] = {}

    def folders(self) -> list[Path]:
        """The remembered data folders, then the folders around data that was used."""
        preferences = self._session.preferences
        beside = [path.parent for path in preferences.recent("data")]
        return list(dict.fromkeys([*preferences.recent(KIND), *beside]))

    def add(self, folder: Path) -> None:
        """Remember one more data folder and look into it."""
        self._session.preferences.remember(KIND, folder)
        self.look(tell=True)

    def ask(self) -> None:
        """Let the user choose a folder that holds published data sets."""
        if folder := QFileDialog.getExistingDirectory(self._page, "A folder with data sets"):
            self.add(Path(folder))

    def remember(self, draft: Draft) -> None:
        """Remember the places of the data of a run that starts."""
        for path, field in draft.fields("Data").items():
            chosen = draft.value(path) if field.get("path") in ("folder", "place") else ""
            if chosen and Path(chosen).exists():
                self._session.preferences.remember("data", Path(chosen))

    def look(self, *, tell: bool = False) -> None:
        """Search all folders; with `tell` the message bar shows what was found."""
        folders, markers = self.folders(), markers_of(self._session.catalog)
        if folders and markers:
            self._telling = tell or (self._telling and self._looking.busy)  # who waits for an answer gets the newest
            then = self._tell if self._telling else self._take
            self._looking.ask("Looking for data sets", lambda progress: find_data(folders, markers), then, quiet=True)

    def fill(self, draft: Draft) -> str:
        """Put a found place into the data set's empty field; the sentence that says so, or empty."""
        dataset = str(draft.value("dataset.name"))
        for path, field in draft.fields("Data").items():
            if field.get("path") and not draft.value(path) and self.places.get(dataset):
                draft.set(path, self.places[dataset][0])
                return f"Found in {self.places[dataset][0]}."
        return ""

    def _take(self, folders: dict[str, list[str]]) -> None:
        self.places = folders
        self.looked.emit()

    def _tell(self, folders: dict[str, list[str]]) -> None:
        self._take(folders)
        titles = sorted(self._session.catalog[f"dataset/{name}"]["title"] for name in folders)
        self._session.notify(f"Found: {', '.join(titles)}." if titles else "No published data set was found there.")
