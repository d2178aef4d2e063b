"""The way to images that were moved: offered where one cannot be shown, it mends all of the data set at once."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from workbench.ui.session import Session
from workbench.ui.tasks import Progress
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.pictures import shared_loader
from workbench.workspace.moved_images import find_images


class LocateStrip(QWidget):
    """Hidden until an image of the shown data set is missing."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._loader = session, shared_loader(session)
        self.words = label("Images are missing", "caption")
        self.locate = button("Locate…", "folder-open", "quiet")
        self.locate.setToolTip("Choose the folder that the images of this data set were moved to")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words)
        row.addWidget(self.locate)
        self.hide()
        self.locate.clicked.connect(self._ask)
        self._loader.ready.connect(self._look)
        session.run_changed.connect(self.hide)
        session.workspace_changed.connect(self.hide)

    def take(self, folder: Path) -> None:
        """Look for the images below `folder`; what is found, or why not, is told in the message bar."""
        run = self._session.run()
        if run is None or run.dataset_id is None:
            return
        workspace, dataset = self._session.workspace, run.dataset_id

        def work(progress: Progress) -> tuple[int, int]:
            return find_images(workspace, dataset, folder)

        self._session.run_in_thread("Locate images", work, self._found)

    def _look(self, samples: set[int]) -> None:
        """Stand here for files only: other data sets live in one place, or came without images."""
        run = self._session.run()
        if not self.isHidden() or run is None or run.dataset_id is None:
            return
        if any(self._loader.absent(sample) for sample in samples):
            self.setVisible(bool(self._session.workspace.dataset(run.dataset_id).root))

    def _ask(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Where are the images now?")
        if folder:
            self.take(Path(folder))

    def _found(self, counted: tuple[int, int]) -> None:
        found, total = counted
        self._loader.forget()
        self.setVisible(found < total)
        self._session.notify(f"{found:,} of {total:,} images were found.")
        self._loader.ready.emit(set())
