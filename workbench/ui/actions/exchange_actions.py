"""The commands "Export…" of a run, "Import embeddings…", "Import curves…" and "Import run folders…"."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.ui.actions.run_folders import import_run_folders
from workbench.ui.state.commands import Commands
from workbench.ui.state.session import Session

if TYPE_CHECKING:
    from workbench.ui.actions.curves_dialog import CurvesDialog
    from workbench.ui.actions.export_dialog import ExportDialog
    from workbench.ui.actions.import_dialog import ImportDialog


class ExchangeActions(QObject):
    """Four commands, each with its dialog."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.export = commands.add("run.export", "Export…", self.ask_export, "", "export")
        self.import_embeddings = commands.add(
            "file.import", "Import embeddings…", self.ask_import, "", "download-simple"
        )
        commands.add("file.import-curves", "Import curves…", self.ask_curves, "", "download-simple")
        commands.add("file.import-runs", "Import run folders…", self.ask_run_folders, "", "download-simple")

    def ask_export(self) -> "ExportDialog | None":
        """Open the export dialog for the shown run; None when no run is shown."""
        from workbench.ui.actions.export_dialog import ExportDialog  # late: the window is shown first

        try:
            run = self._session.run()
        except Problem as problem:  # it was deleted by another program
            self._session.notify(problem)
            return None
        if run is None:
            self._session.notify("Choose a run in the Runs list to export it.")
            return None
        dialog = ExportDialog(self._session, run, self._window)
        dialog.open()
        return dialog

    def ask_import(self) -> "ImportDialog":
        """Open the import dialog."""
        from workbench.ui.actions.import_dialog import ImportDialog

        dialog = ImportDialog(self._session, self._window)
        dialog.open()
        return dialog

    def ask_curves(self) -> "CurvesDialog":
        """Open the dialog for curves of other programs."""
        from workbench.ui.actions.curves_dialog import CurvesDialog

        dialog = CurvesDialog(self._session, self._window)
        dialog.open()
        return dialog

    def ask_run_folders(self) -> None:
        """Ask for a run folder, or a folder of them, and import what is in it."""
        title = "A run folder, or a folder of run folders"
        if chosen := QFileDialog.getExistingDirectory(self._window, title):
            import_run_folders(self._session, Path(chosen), self._window)
