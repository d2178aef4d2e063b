"""The picture of a view of the map."""

from dataclasses import dataclass, field

from PySide6.QtGui import QImage, QTransform

from workbench.ui.pages.map.points.stamps import values_of


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What was drawn, and for which view."""

    image: QImage
    transform: QTransform  # from the map to its px on the screen
    size: tuple[int, int]  # px of the screen that it covers
    ratio: float
    key: tuple[object, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (values_of(self.transform), self.size, self.ratio))
