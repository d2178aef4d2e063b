"""A slider, with its number, for the smoothing of curves."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.labels import label

MOST = 99  # hundredths
WIDTH, NARROW = 80, 44  # px


class SmoothingSlider(QWidget):
    """The weight of the past in the exponential mean of every curve; 0 is no smoothing."""

    chosen = Signal(float)

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setMaximum(MOST)
        self.slider.setFixedWidth(WIDTH)
        self.slider.setAccessibleName("Smoothing")
        self.setToolTip("Weight of the past in the debiased exponential mean, 0 to 0.99; 0 draws no smoothed line")
        self.number = label("", "muted")
        self.caption = label("Smoothing", "muted")
        self.caption.setBuddy(self.slider)
        in_row(self.caption, self.slider, self.number, on=self, margins=(8, 2, 8, 2), spacing=8)
        self.show_weight(weight)
        self.number.setMinimumWidth(self.number.fontMetrics().horizontalAdvance("0.00"))
        self.slider.valueChanged.connect(self._say)

    @property
    def weight(self) -> float:
        """The shown weight, 0 to 0.99."""
        return self.slider.value() / 100

    def fit(self, *, captioned: bool, wide: bool, numbered: bool = True) -> None:
        """Show the caption and the number or not, beside a slider of full width or a narrow one."""
        self.caption.setVisible(captioned)
        self.number.setVisible(numbered)
        self.slider.setFixedWidth(WIDTH if wide else NARROW)

    def show_weight(self, weight: float) -> None:
        """Show this weight without a signal."""
        self.slider.blockSignals(True)
        self.slider.setValue(round(100 * weight))
        self.slider.blockSignals(False)
        self.number.setText(f"{weight:.2f}")

    def _say(self, hundredths: int) -> None:
        self.number.setText(f"{hundredths / 100:.2f}")
        self.chosen.emit(hundredths / 100)
