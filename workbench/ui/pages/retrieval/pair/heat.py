"""Colours of saliency: orange where a part makes the images similar, blue where it makes them different."""

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.numerals import minus
from workbench.running.search.saliency_picture import AGAINST, CELLS, FOR, STRONGEST, layer_of
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip

WIDE, HIGH = 150, 10  # px of the scale at 100% text
NAME = "Colours of saliency"


def heat_image(heat: np.ndarray, largest: float) -> QImage:
    """The layer of `layer_of` as an image, smooth between its cells."""
    height, width = heat.shape
    pixels = layer_of(heat, largest)
    image = QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888)
    cells, smooth = QSize(min(width, CELLS), min(height, CELLS)), Qt.TransformationMode.SmoothTransformation
    small = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied).scaled(
        cells, Qt.AspectRatioMode.IgnoreAspectRatio, smooth
    )
    return small.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)


class HeatScale(QWidget):
    """The scale of the colours, with the values of its ends."""

    def __init__(self) -> None:
        super().__init__()
        self._largest, self._kind = 0.0, ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(NAME)
        self.hide()

    def show_scale(self, largest: float, kind: str) -> None:
        """Show the scale of a pair; `kind` names the similarity."""
        self._largest, self._kind = largest, kind
        said = f"{NAME}: the {kind} falls by up to {largest:.3g} where a part is covered (orange), or rises (blue)"
        self.setAccessibleDescription(said)
        self.setToolTip(plain_tip(f"{said}."))
        self.show()
        self.updateGeometry()
        self.update()

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers at the ends of the scale."""
        return minus(f"-{self._largest:.2g}"), f"+{self._largest:.2g}"

    def sizeHint(self) -> QSize:
        words = [self.fontMetrics().horizontalAdvance(f"{end}  ") for end in self.ends]
        return QSize(theme.text_px(WIDE) + sum(words), self.fontMetrics().height() + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.current()
        low, high = self.ends
        left, right = (self.fontMetrics().horizontalAdvance(f"{end}  ") for end in (low, high))
        bar = QRect(left, 0, self.width() - left - right, theme.text_px(HIGH))
        bar.moveTop((self.height() - bar.height()) // 2)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        for share, name, opacity in ((0.0, AGAINST, STRONGEST), (0.5, AGAINST, 0.0), (1.0, FOR, STRONGEST)):
            colour = QColor(name)
            colour.setAlphaF(opacity)
            gradient.setColorAt(share, colour)
        painter.fillRect(bar, QColor(tokens.surface))
        painter.fillRect(bar, gradient)
        painter.setPen(QColor(tokens.border))
        painter.drawRect(bar.adjusted(0, 0, -1, -1))
        painter.setPen(QColor(tokens.text))
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRect(0, 0, left, self.height()), middle | int(Qt.AlignmentFlag.AlignLeft), low)
        place = QRect(self.width() - right, 0, right, self.height())
        painter.drawText(place, middle | int(Qt.AlignmentFlag.AlignRight), high)
