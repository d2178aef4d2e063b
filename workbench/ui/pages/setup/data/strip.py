"""Some training images, and the button that shows all of the data."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from workbench.ui.pages.setup.data.pictures import SIDE, Pictures
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button

SAMPLES = 12
LOOK = "Look at the data…"


class DataStrip(QWidget):
    """Some training images, and the button that shows all of the data."""

    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumHeight(SIDE)  # also without images: what is below does not move when they come
        self.samples = Pictures([f"Training image {number}" for number in range(1, SAMPLES + 1)], one_line=True)
        self.look = button(LOOK, "image", kind="quiet")
        self.look.setToolTip("Images, classes, sizes, what was left out, copies")
        self.look.clicked.connect(self.asked)
        in_row((self.samples, 1), (self.look, Qt.AlignmentFlag.AlignRight), on=self, spacing=8)

    def show_images(self, images: Sequence[np.ndarray]) -> None:
        """Show images of the data set, uint8 [h, w, 3]."""
        self.samples.show_images(images)
