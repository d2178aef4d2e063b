"""Search with the user's own image: the button's menu, and images that are opened, pasted or dropped."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.running.search.image_search import OwnImage
from workbench.ui.widgets.page_menu import PageMenu

AGAIN = "Search this run again"


class OwnImageMenu(PageMenu):
    """A menu to choose an own image: from a file, from the clipboard, or the last one again.

    Args:
        search: called with the image to search with.
        search_again: called to search the shown run with the last image.
        notify: called with the Problem if the clipboard has no image.
    """

    def __init__(
        self, search: Callable[[OwnImage], object], search_again: Callable[[], object],
        notify: Callable[[Problem], object], parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._search, self._notify = search, notify
        self.open, self.paste = self.addAction("Open a file…"), self.addAction("Paste from the clipboard")
        self.again = self.addAction(AGAIN)
        self.again.setEnabled(False)
        self.again.setToolTip("Search the run that is shown with your last image")
        self.setToolTipsVisible(True)
        self.open.triggered.connect(self.ask_file)
        self.paste.triggered.connect(self.search_clipboard)
        self.again.triggered.connect(search_again)

    def ask_file(self) -> None:
        """Ask for a file and search with the image in it."""
        name, _ = QFileDialog.getOpenFileName(self.parentWidget(), "Search with an image of your own")
        if name:
            self.search(from_file(Path(name)))

    def search_clipboard(self) -> None:
        """Search with the image on the clipboard; `notify` is called if there is none."""
        try:
            self.search(pasted(QGuiApplication.clipboard().image()))
        except Problem as problem:
            self._notify(problem)

    def search(self, image: OwnImage) -> None:
        """Search with an image, and keep it for a search in another run."""
        self.again.setText(f"{AGAIN}: {image.name}".replace("&", "&&"))
        self.again.setEnabled(True)
        self._search(image)


def pasted(image: QImage) -> OwnImage:
    """The image on the clipboard. Raises Problem if there is none."""
    if image.isNull():
        raise Problem("The clipboard holds no image.", todo="Copy one first, or open a file.")
    return OwnImage("Pasted image", pixels_of(image))


def dropped(data: QMimeData) -> OwnImage | None:
    """The image that is being dragged, as a single file or as pixels; None for anything else."""
    urls = data.urls()
    if len(urls) == 1 and urls[0].isLocalFile() and Path(urls[0].toLocalFile()).is_file():
        return from_file(Path(urls[0].toLocalFile()))
    image = QImage(data.imageData()) if data.hasImage() else QImage()
    return None if image.isNull() else OwnImage("Dropped image", pixels_of(image))


def from_file(path: Path) -> OwnImage:
    """The image in a file; the file is read by the search."""
    return OwnImage(path.name, path)


def pixels_of(image: QImage) -> np.ndarray:
    """The colours [h, w, 3] uint8 of an image, which must not be null."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()
