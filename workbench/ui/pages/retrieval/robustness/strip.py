"""A strip of pictures: one query unchanged, and at each strength of the chosen change."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from workbench.robustness.table import UNCHANGED
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.images.pictures import as_image
from workbench.ui.widgets.labels import ElidedLabel, label

SIDE = 104  # px of a picture, whatever the text size: six have room beside the list of runs
MOST = 6  # pictures that have a place from the start
ANOTHER = "The strip shows another query of the evaluation. A query that you choose in Queries is shown here, too."


class Strip(QWidget):
    """The pictures with their strengths below them; a sentence where there are none."""

    another = Signal()  # query, please

    def __init__(self) -> None:
        super().__init__()
        self._images: list[np.ndarray] = []
        self.title = ElidedLabel("", "strong")
        self.next = button("Another query", "arrow-right")
        self.next.setToolTip(ANOTHER)
        self.next.clicked.connect(self.another)
        self.said = label("", "muted", wrap=True)
        self.pictures = [QLabel() for _ in range(MOST)]
        self.captions = [label("", "caption") for _ in range(MOST)]
        cells = []
        for picture, words in zip(self.pictures, self.captions, strict=True):
            words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            picture.setFixedSize(SIDE, SIDE)
            picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
            cells.append(in_column(picture, words, spacing=2))
        row = in_row(*cells, 1, spacing=8)
        in_column(in_row((self.title, 1), self.next, spacing=8), self.said, row, on=self, spacing=4)
        self.say("")

    @property
    def has_images(self) -> bool:
        """Whether pictures are shown."""
        return bool(self._images)

    def say(self, sentence: str) -> None:
        """Show a sentence instead of pictures."""
        self._images = []
        self.said.setText(sentence)
        self.said.setVisible(bool(sentence))
        for part in (*self.pictures, *self.captions):
            part.setVisible(False)

    def show_images(self, title: str, images: Sequence[np.ndarray], words: Sequence[str]) -> None:
        """Show pictures, uint8 [S, S, 3], the unchanged one first, and the strengths of the others in words."""
        self._images = list(images[:MOST])
        self.title.setText(title)
        self.said.setVisible(False)
        for number, (picture, below) in enumerate(zip(self.pictures, self.captions, strict=True)):
            there = number < len(self._images)
            picture.setVisible(there)
            below.setVisible(there)
            if there:
                picture.setPixmap(QPixmap.fromImage(as_image(self._images[number], SIDE)))
                below.setText([UNCHANGED, *words][number])
                picture.setAccessibleName(f"{title}: {below.text()}")
