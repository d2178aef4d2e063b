"""The tab of near-duplicates: an offer to look for them, then their pairs with pictures."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHeaderView, QProgressBar, QPushButton, QWidget

from workbench.problem import Problem
from workbench.ui.pages.setup.data.pictures import pixmap
from workbench.ui.pages.setup.data.tables import DataTable
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.style.words import counted, how_far
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label, plain_tip, restyle

if TYPE_CHECKING:
    from workbench.datasets.near_duplicates import Member, NearDuplicate, NearDuplicates

SIDE, BAR = 56, 160  # px of a picture and of the bar
PICTURED = (1, 2)  # columns of images
WHOLE = ("Similarity", "Image", "Class", "Split", "Near-duplicate", "Class", "Split")
OFFER = (
    "Images that were saved again, resized, brightened or retouched differ in their pixels. They are found by the "
    "correlation of their brightness in small versions, unless they are cropped or mirrored. This reads all {images}."
)
LOOKING = "Comparing every image with every other."
CANCELLED = "Cancelled: the comparison was not finished."


class NearDuplicatesTab(QWidget):
    """Asks for near-duplicates when the user wants them, and shows what was found.

    Args:
        images: how many the data set has.
    """

    asked = Signal()
    cancel_asked = Signal()
    shown = Signal(int)  # how many pairs there are in all

    def __init__(self, images: int) -> None:
        super().__init__()
        self.said = label(OFFER.format(images=counted(images, "image")), "muted", wrap=True)
        self.look, self.cancel = QPushButton("Look for near-duplicates"), QPushButton("Cancel")
        self.look.clicked.connect(self._ask)
        self.cancel.clicked.connect(self.cancel_asked)
        self.bar, self.doing = QProgressBar(textVisible=False), label("", "muted")
        self.bar.setFixedWidth(BAR)
        self.bar.setAccessibleName("Progress")
        for part in (self.cancel, self.bar, self.doing):
            part.hide()
        row = in_row(self.look, self.cancel, self.bar, self.doing, 1, spacing=8)
        self._column = in_column(self.said, row, 1, on=self, margins=None)

    def tell_progress(self, item: ActivityItem) -> None:
        """Show how far the search is: the dialog may cover the status bar."""
        if item.state == "working":
            now = item.now
            self.bar.setRange(0, now.total)
            self.bar.setValue(now.done)
            self.doing.setText(how_far(now.text, now.done, now.total, item.seconds_left))

    def show_pairs(self, near: "NearDuplicates") -> None:
        """Show the pairs that were found, most similar first."""
        waited = self.window().focusWidget() is self.cancel
        self._settle(_sentence(near), "error" if near.shared or near.other_class else "muted")
        self.look.hide()
        if near.pairs:
            table = self._table_of(near.pairs)
            self._column.insertWidget(1, table, 100)
            self.setTabOrder(self.cancel, table)
            table.show()  # what is not yet shown cannot have the focus
            if waited:  # else Close would have it next, and Enter or Space would take the pairs away
                table.setFocus()
        self.shown.emit(near.total)

    def fail(self, problem: Problem) -> None:
        """Say why they could not be looked for."""
        waited = self.window().focusWidget() is self.cancel
        self._settle(str(problem), "error")
        if waited:
            self.look.setFocus()

    def tell_cancelled(self) -> None:
        """Offer to look for them again."""
        self._settle(CANCELLED, "muted")
        self.look.setFocus()

    def _ask(self) -> None:
        self._settle(LOOKING, "muted")
        self.look.hide()
        self.doing.setText("")
        self.bar.setRange(0, 0)
        for part in (self.cancel, self.bar, self.doing):
            part.show()
        self.cancel.setFocus()
        self.asked.emit()

    def _settle(self, text: str, role: str) -> None:
        self.said.setText(text)
        self.said.setProperty("role", role)
        restyle(self.said)
        self.look.show()
        for part in (self.cancel, self.bar, self.doing):
            part.hide()

    def _table_of(self, pairs: "list[NearDuplicate]") -> DataTable:
        members = [(pair.first, pair.second) for pair in pairs]
        lines = ([f"{image.path}\n{_placed(image)}" for image in both] for both in members)
        table = DataTable(
            ("Similarity", "Image", "Near-duplicate"),
            [[f"{pair.similarity:.3f}", *texts] for pair, texts in zip(pairs, lines, strict=True)],
            whole=(WHOLE, [(f"{pair.similarity:.4f}", *_cells(pair.first), *_cells(pair.second)) for pair in pairs]),
        )
        table.setIconSize(QSize(SIDE, SIDE))
        table.verticalHeader().setDefaultSectionSize(SIDE + 6)
        table.horizontalHeader().setStretchLastSection(False)  # it would have the width of its longest name
        for column in PICTURED:
            table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for row, both in enumerate(members):
            for column, image in zip(PICTURED, both, strict=True):
                cell = table.item(row, column)
                assert cell is not None  # of a row that was just made
                cell.setIcon(self._icon(image.picture))
                cell.setToolTip(plain_tip(image.path))
        return table

    def _icon(self, picture: np.ndarray) -> QIcon:
        return QIcon(pixmap(picture, SIDE, self.devicePixelRatioF()))


def _cells(image: "Member") -> tuple[str, str, str]:
    return image.path, image.class_name, image.half


def _placed(image: "Member") -> str:
    return f"{image.class_name} · {image.half}" if image.half else image.class_name


def _sentence(near: "NearDuplicates") -> str:
    if not near.total:
        return "No two images look nearly the same."
    listed = f"; the {len(near.pairs):,} most similar are listed" if len(near.pairs) < near.total else ""
    show = "looks" if near.total == 1 else "look"
    sentences = [f"{counted(near.total, 'pair')} of images {show} nearly the same{listed}."]
    if near.shared:
        has = "has" if near.shared == 1 else "have"
        sentences.append(f"{counted(near.shared, 'test image')} {has} a near-duplicate in the training set.")
    if near.other_class:
        are = "is" if near.other_class == 1 else "are"
        sentences.append(f"{counted(near.other_class, 'pair')} {are} of two classes.")
    return " ".join(sentences)
