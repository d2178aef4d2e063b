"""Locating moved images: offered when one cannot be shown; a new folder applies to the whole data set."""

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.workspace.moved_images import find_images


class LocateStrip(QWidget):
    """Hidden until an image that its page asked for is missing.

    Args:
        loader: of the page's pictures.
    """

    def __init__(self, session: Session, loader: PictureLoader) -> None:
        super().__init__()
        self._session, self._loader = session, loader
        self.words = label("Images are missing", "caption")
        self.locate = button("Locate…", "folder-open", "quiet")
        self.locate.setToolTip("Choose the folder that the images of this data set were moved to")
        in_row(self.words, self.locate, on=self)
        self.locate.clicked.connect(self._ask)
        for changed in (loader.ready, loader.dropped, session.run_changed, session.workspace_changed):
            changed.connect(self._look)
        self._look()

    def take(self, folder: Path) -> None:
        """Look for the images below `folder`; the message bar shows the result."""
        dataset = self._loader.lacking
        if dataset is None:
            return
        workspace = self._session.workspace

        def work(progress: Progress) -> tuple[int, int]:
            return find_images(workspace, dataset, folder, progress)

        self._session.run_in_thread("Locate images", work, partial(self._found, dataset), lasting=True)

    def _look(self) -> None:
        """Shown for data sets of image files only; others are in one file, or have no images."""
        dataset = self._session.dataset()
        self.setVisible(dataset is not None and dataset.id == self._loader.lacking and bool(dataset.root))

    def _ask(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Where are the images now?")
        if folder:
            self.take(Path(folder))

    def _found(self, dataset: int, counted: tuple[int, int]) -> None:
        located, total = counted
        self._session.notify(f"{located:,} of {total:,} images were found.")
        self._session.images_located.emit(dataset)
