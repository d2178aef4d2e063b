"""Plug-ins in the form: a folder of them is added after a warning; a broken one is reported."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox, QWidget

from workbench import plugins, registry
from workbench.control import Cancelled
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.ui.widgets.labels import label


class PluginNotice:
    """A label below the form, hidden while no plug-in is broken; and the question for another folder."""

    def __init__(self, session: Session, page: QWidget) -> None:
        self._session, self._page = session, page
        self.label: QLabel = label("", "error", wrap=True)
        self.label.hide()

    def look(self) -> None:
        """Show what was found broken when the catalog was made."""
        self._session.run_in_thread("Reading plug-ins", lambda progress: catalogs.broken(), self._show, quiet=True)

    def ask(self) -> None:
        """Let the user choose a folder, ask once for trust, and show its plug-ins in the form."""
        if not (chosen := QFileDialog.getExistingDirectory(self._page, "A folder of plug-ins")):
            return
        words = f"{chosen}\n\n{plugins.WARNING}"
        box = QMessageBox(QMessageBox.Icon.Warning, "Workbench", words, parent=self._page)
        box.setTextFormat(Qt.TextFormat.PlainText)
        yes = box.addButton("Add it", QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.exec()
        if box.clickedButton() is yes:
            self.add(Path(chosen))

    def add(self, folder: Path) -> None:
        """Trust the folder and load it, on a thread; after a cancel it is not trusted, unless it was before."""

        def work(progress: Progress) -> Catalog:
            progress("Loading the engine", 0, 0)
            new = folder.resolve() not in plugins.folders()
            plugins.add(folder)
            try:
                return catalogs.write_now(lambda: progress("Loading plug-ins", 0, 0))
            except Cancelled:
                if new:
                    plugins.remove(folder)
                    registry.load_plugins()  # which forgets those of the folder
                raise

        self._session.run_in_thread("Loading plug-ins", work, self._take, cancelled=self._cancelled, lasting=True)

    def _cancelled(self) -> None:
        self._session.notify("Adding the plug-in folder was cancelled. Nothing was added.")

    def _take(self, known: Catalog) -> None:
        self._session.set_catalog(known)
        self.look()

    def _show(self, broken: dict[str, str]) -> None:
        self.label.setText("\n".join(broken.values()))
        self.label.setVisible(bool(broken))
