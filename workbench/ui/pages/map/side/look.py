"""The controls for how the map is drawn: stars, names, thumbnails, contours, size and opacity of points."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QSlider, QWidget

from workbench.ui.pages.map.model.map_model import Look
from workbench.ui.widgets.labels import label, plain_tip

SIZES, OPACITIES = (50, 300), (10, 100)  # percent
STEP = 10  # percent
BETWEEN = 12  # px
STARS = "★ Class vectors"


class LookControls(QWidget):
    """Controls below the legend: what is drawn besides the points, and the size and opacity of points."""

    changed = Signal(object)  # Look

    def __init__(self) -> None:
        super().__init__()
        self.proxies, self.names, self.pictures = QCheckBox(), QCheckBox("Class names"), QCheckBox("Thumbnails")
        self.contours = QCheckBox("Density contours")
        self.contours.setToolTip("Lines around the densest parts, which hold 10, 30, 50, 70 and 90% of the points")
        self._stars = STARS
        self.point_size = _slider(SIZES, "Size of the points")
        self.point_opacity = _slider(OPACITIES, "Opacity of the points")
        self.size_words, self.opacity_words = label("", "caption"), label("", "caption")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        right = Qt.AlignmentFlag.AlignRight
        self._notes: list[tuple[QCheckBox, QLabel]] = []
        rows = (
            (self.proxies, ""),
            (self.names, "beside clusters"),
            (self.pictures, "when zoomed in"),
            (self.contours, ""),
        )
        for row, (box, note) in enumerate(rows):
            grid.addWidget(box, row, 0, 1, 2 if note else 3)
            if note:
                box.setToolTip(f"{box.text()} {note}")
                self._notes.append((box, words := label(note, "caption")))
                grid.addWidget(words, row, 2, right)
            box.toggled.connect(self._changed)
        sliders = (("Size", self.point_size, self.size_words), ("Opacity", self.point_opacity, self.opacity_words))
        for row, (name, slider, words) in enumerate(sliders, len(rows)):
            grid.addWidget(label(name), row, 0)
            grid.addWidget(slider, row, 1)
            grid.addWidget(words, row, 2, right)
            slider.valueChanged.connect(self._changed)
        self.show_look(Look())
        self.show_stars(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_stars()
        for box, note in self._notes:  # hidden if large text leaves no space; the tooltips say the same
            note.setVisible(box.sizeHint().width() + note.sizeHint().width() + BETWEEN <= event.size().width())

    def show_look(self, look: Look) -> None:
        """Show how the map is drawn; `changed` is not emitted."""
        self.blockSignals(True)
        self.proxies.setChecked(look.proxies)
        self.names.setChecked(look.names)
        self.pictures.setChecked(look.pictures)
        self.contours.setChecked(look.contours)
        self.point_size.setValue(round(100 * look.size))
        self.point_opacity.setValue(round(100 * look.opacity))
        self.size_words.setText(f"{self.point_size.value()}%")
        self.opacity_words.setText(f"{self.point_opacity.value()}%")
        self.blockSignals(False)

    def show_stars(self, count: int) -> None:
        """Offer the stars if the map has class vectors."""
        self.proxies.setVisible(count > 0)
        self._stars = f"{STARS} ({count:,})"
        self.proxies.setToolTip(plain_tip(self._stars))
        self._fit_stars()

    def _fit_stars(self) -> None:
        """Leave the number of class vectors to the tooltip where large text leaves no space."""
        self.proxies.setText(self._stars)
        if self.proxies.sizeHint().width() > self.width():
            self.proxies.setText(STARS)

    def _changed(self) -> None:
        look = Look(
            self.proxies.isChecked(), self.names.isChecked(), self.pictures.isChecked(), self.point_size.value() / 100,
            self.point_opacity.value() / 100, self.contours.isChecked(),
        )  # fmt: skip
        self.show_look(look)
        self.changed.emit(look)


def _slider(limits: tuple[int, int], name: str) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(*limits)
    slider.setSingleStep(STEP)
    slider.setPageStep(STEP)
    slider.setAccessibleName(name)
    return slider
