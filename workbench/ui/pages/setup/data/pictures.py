"""Small images of the data set side by side."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from workbench.ui.widgets.flow import in_lines

SIDE = 40  # px


class Pictures(QWidget):
    """Small images side by side.

    Args:
        names: of the images, for screen readers; at most so many are shown.
        one_line: images for which the line has no room are left out; else they go into more lines.
    """

    def __init__(self, names: Sequence[str], *, one_line: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pictures = [QLabel() for _ in names]
        for picture, name in zip(self.pictures, names, strict=True):
            picture.setAccessibleName(name)
            picture.setFixedSize(SIDE, SIDE)
            picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setLayout(in_lines(*self.pictures, spacing=4))
        if one_line:
            self.setFixedHeight(SIDE)
        self.show_images([])

    def show_images(self, images: Sequence[np.ndarray]) -> None:
        """Show these images, uint8 [h, w, 3]; none hides the line."""
        for index, picture in enumerate(self.pictures):
            shown = index < len(images)
            picture.setVisible(shown)
            picture.setPixmap(pixmap(images[index], SIDE, self.devicePixelRatioF()) if shown else QPixmap())
        self.setVisible(len(images) > 0)


def pixmap(image: np.ndarray, side: int, ratio: float) -> QPixmap:
    """uint8 [h, w, 3] as a pixmap that fits a square of `side` logical px; small images grow without blur."""
    rows = np.ascontiguousarray(image)
    height, width, _ = rows.shape
    picture = QPixmap.fromImage(QImage(rows.data, width, height, 3 * width, QImage.Format.Format_RGB888))
    small = max(height, width) * 2 <= side * ratio
    mode = Qt.TransformationMode.FastTransformation if small else Qt.TransformationMode.SmoothTransformation
    whole = round(side * ratio)
    picture = picture.scaled(whole, whole, Qt.AspectRatioMode.KeepAspectRatio, mode)
    picture.setDevicePixelRatio(ratio)
    return picture
