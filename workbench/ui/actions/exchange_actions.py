"""The commands "Export…" and "Test on other images…" of a run, and those that import embeddings, curves and folders."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.ui.actions.run_folders import import_run_folders
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.ui.actions.curves_dialog import CurvesDialog
    from workbench.ui.actions.export_dialog import ExportDialog
    from workbench.ui.actions.import_dialog import ImportDialog


class ExchangeActions(QObject):
    """Five commands, each with its dialog."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.export = commands.add("run.export", "Export…", self.ask_export, "", "export")
        self.test = commands.add("run.test", "Test on other images…", self.ask_test, "", "image")
        self.test.setToolTip("Its network embeds the images of a folder or list; they become a run of their own")
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

    def ask_test(self) -> None:
        """Ask for images, and make a run of what the network of the shown run makes of them."""
        session = self._session
        try:
            run = session.run()
        except Problem as problem:  # it was deleted by another program
            session.notify(problem)
            return
        if run is None:
            session.notify("Choose a run in the Runs list to test its network.")
            return
        from workbench.running.search.image_search import check_network  # late: the window is shown first

        look = partial(check_network, session.workspace, run.id)
        session.read(look, lambda _: self._ask_images(run))  # before images are looked for in vain

    def _ask_images(self, run: Run) -> None:
        from workbench.ui.actions.other_images_dialog import OtherImagesDialog

        OtherImagesDialog(self._session, run, self.test_on, self._window).open()

    def test_on(self, run: Run, images: Path, name: str = "", epoch: str = "best") -> ProcessWork:
        """Embed the images of a folder, archive or list with a network of a run, in a process.

        The new run is shown, unless another page, run or workspace is shown by then: a message says that it is done.

        Args:
            name: of the new run; by default the names of the run and of the images.
            epoch: best or last.
        """
        fields = {"run": run.id, "images": str(images), "name": name, "epoch": epoch, "device": "auto"}
        process = process_of(self._session, "workbench.exchange.server")
        return ProcessWork(
            self._session, process, f"Test run {run.id} on {images.name}", "evaluate", fields,
            partial(self._tested, self._shown, f"“{run.name}” was tested on {images.name}"), self._failed,
            ends_process=True, takes_back=True,
        )  # fmt: skip

    @property
    def _shown(self) -> tuple[Workspace, str, int | None]:
        return self._session.workspace, self._session.page, self._session.run_id

    def _tested(self, at_first: tuple[Workspace, str, int | None], done: str, answer: dict[str, Any]) -> None:
        """Show the new run to a person who waits for it; others keep what they look at."""
        session, run_id, remarks = self._session, answer["run_id"], answer["remarks"]
        if self._shown == at_first:
            session.show_run(run_id)
            session.show_page("retrieval")
            if remarks:
                session.notify(" ".join(remarks))
            return
        here = session.workspace is at_first[0]
        place = "in the Runs list" if here else f"of the workspace {at_first[0].path}"
        session.notify(" ".join([f"{done}: run {run_id} {place}.", *remarks]), EVERYWHERE)

    def _failed(self, problem: Problem) -> None:
        self._session.notify(problem, EVERYWHERE)  # whatever is shown by now

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
