"""A person's own image as it comes to the page: pasted from the clipboard, or dropped as a file or a picture."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from workbench.problem import Problem
from workbench.running.image_search import OwnImage


def pasted(image: QImage) -> OwnImage:
    """The picture of the clipboard. Raises Problem when there is none."""
    if image.isNull():
        raise Problem("The clipboard holds no image.", todo="Copy one first, or open a file.")
    return OwnImage("Pasted image", pixels_of(image))


def dropped(data: QMimeData) -> OwnImage | None:
    """The one image file, or the picture itself, that is being dragged; None for anything else."""
    urls = data.urls()
    if len(urls) == 1 and urls[0].isLocalFile() and Path(urls[0].toLocalFile()).is_file():
        return from_file(Path(urls[0].toLocalFile()))
    image = QImage(data.imageData()) if data.hasImage() else QImage()
    return None if image.isNull() else OwnImage("Dropped image", pixels_of(image))


def from_file(path: Path) -> OwnImage:
    """The image in a file, which is read when it is searched with."""
    return OwnImage(path.name, path)


def pixels_of(image: QImage) -> np.ndarray:
    """Colours [h, w, 3] uint8 of an image that is not null."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()
