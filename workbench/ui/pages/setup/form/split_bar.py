"""The two halves of a split: a bar in their proportion, and the images and classes of each."""

from PySide6.QtWidgets import QWidget

from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.numbers.shares_bar import SharesBar

HEIGHT = 6  # px
TRAIN, TEST = "#0072B2", "#56B4E9"


class SplitBar(QWidget):
    """Hidden until the halves are known; its space is reserved."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = SharesBar(HEIGHT)
        self.train, self.test = label(" ", "caption"), label(" ", "caption")  # a blank has the height of a line
        in_column(self.bar, in_lines(self.train, self.test, spacing=16), on=self, spacing=2)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.hide()

    def show_halves(self, train: tuple[int, int], test: tuple[int, int]) -> None:
        """Show (images, classes) of each half."""
        for words, name, (images, classes) in ((self.train, "train", train), (self.test, "test", test)):
            words.setText(f"{images:,} {name}, {counted(classes, 'class', 'classes')}")
        self.bar.show_parts([(train[0], TRAIN), (test[0], TEST)])
        self.show()
