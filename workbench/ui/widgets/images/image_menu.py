"""What can be done with an image that is shown: copy it or its path, open its file or the folder that holds it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

from workbench.ui.style.path_words import COPY_PATH, copied, copy_words
from workbench.ui.widgets.images.pictures import PictureLoader

Sample = Callable[[], int | None]  # the id of the image that a part of the window shows; None while it shows none
More = tuple[str, Callable[[], object]]  # words of a line in the menu, and what it does


class ImageMenu(QMenu):
    """The menu of the image that `sample` names when it opens.

    Args:
        loader: of the picture that is shown.
        more: lines above those that every image has.
    """

    def __init__(
        self, loader: PictureLoader, sample: Sample, parent: QWidget | None = None, more: Sequence[More] = ()
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._loader, self._sample = loader, sample
        for words, slot in more:
            self.addAction(words, slot)
        if more:
            self.addSeparator()
        self.copy = self.addAction("Copy image", self.copy_image)
        self.copy_path = self.addAction(COPY_PATH, self._copy_path)
        self.addSeparator()
        self.open = self.addAction("Open image", self._open_image)
        self.open_folder = self.addAction("Open folder", self.show_folder)
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.refresh)
        loader.ready.connect(self.refresh)  # until its first pictures it knows no files

    def refresh(self) -> None:
        """Enable what can be done: a data set in one file has no file for each image."""
        sample = self._sample()
        path = None if sample is None else self._loader.path(sample)
        self.copy.setEnabled(sample is not None and not self._loader.absent(sample))
        for action in (self.copy_path, self.open, self.open_folder):
            action.setEnabled(path is not None)
            action.setToolTip("" if path is not None else "The image has no file of its own")
        words, tip = (COPY_PATH, self.copy_path.toolTip()) if path is None else copy_words(path)
        self.copy_path.setText(words)
        self.copy_path.setToolTip(tip)

    def copy_image(self) -> None:
        """Put the image into the clipboard in its full size, as soon as it is read."""
        if (sample := self._sample()) is not None:
            self._loader.read_whole(sample, QGuiApplication.clipboard().setImage)

    def _copy_path(self) -> None:
        sample = self._sample()
        path = None if sample is None else self._loader.path(sample)
        if path is not None:
            QGuiApplication.clipboard().setText(copied(path))

    def show_folder(self) -> None:
        """Open the folder that holds the image's file, or say why there is none."""
        if (sample := self._sample()) is not None:
            self._loader.find_folder(sample, _open)

    def _open_image(self) -> None:
        if (sample := self._sample()) is not None:
            self._loader.find_image(sample, _open)


def offer_image_menu(widget: QWidget, loader: PictureLoader, sample: Sample, more: Sequence[More] = ()) -> None:
    """Open the menu of an image by a right click on `widget`, or by the menu key when it has the focus.

    `more` are lines above those that every image has.
    """
    widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    widget.customContextMenuRequested.connect(partial(open_image_menu, widget, loader, sample, more=more))


def open_image_menu(
    widget: QWidget, loader: PictureLoader, sample: Sample, place: QPoint, more: Sequence[More] = ()
) -> None:  # fmt: skip
    """Open the menu of an image at a place of `widget`; none where no image is shown."""
    if sample() is None:
        return
    menu = ImageMenu(loader, sample, widget, more)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    area = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
    menu.popup(area.mapToGlobal(place))


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
