"""Where the parts of a painted row are in a window whose layout runs from right to left.

Qt mirrors layouts, its own rows and the alignment of text there, but no rectangle that a delegate works out itself.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QStyleOptionViewItem


def mirrored(option: QStyleOptionViewItem, part: QRectF) -> QRectF:
    """A part of a row, px, worked out from left to right: itself, or its mirror image within the row."""
    if option.direction == Qt.LayoutDirection.LeftToRight:
        return part
    row = option.rect
    return QRectF(row.left() + row.left() + row.width() - part.right(), part.top(), part.width(), part.height())
