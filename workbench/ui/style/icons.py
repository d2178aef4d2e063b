"""Line icons (Phosphor, from qtawesome's font file) that take the theme's colours each time they are drawn.

qtawesome itself is not imported: that alone takes a third of a second of the window's start.
"""

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap, QPixmapCache

from workbench.ui.style import theme

SIZE = 16  # px


@lru_cache(maxsize=1)
def _phosphor() -> tuple[str, dict[str, str]]:
    """The font's family and its characters by icon name."""
    package = find_spec("qtawesome")
    assert package is not None, "qtawesome is a dependency"
    assert package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0]) / "fonts"
    file = next(iter(sorted(folder.glob("phosphor-[0-9]*.ttf"))))
    names = json.loads(next(iter(sorted(folder.glob("phosphor-charmap*.json")))).read_text("utf-8"))
    number = QFontDatabase.addApplicationFont(str(file))
    family = QFontDatabase.applicationFontFamilies(number)[0]
    return family, {name: chr(int(code, 16)) for name, code in names.items()}


class _Glyph(QIconEngine):
    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name, self._role = name, role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        family, characters = _phosphor()
        font = QFont(family)
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.save()
        painter.setFont(font)
        painter.setPen(QColor(self._colour(mode)))
        painter.drawText(QRectF(rect), Qt.AlignmentFlag.AlignCenter, characters[self._name])
        painter.restore()

    def _colour(self, mode: QIcon.Mode) -> str:
        tokens = theme.current()
        colour: str = tokens.disabled if mode == QIcon.Mode.Disabled else getattr(tokens, self._role, self._role)
        return colour

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        if size.isEmpty():
            return QPixmap()
        key = f"{self._name} {self._colour(mode)} {size.width()}x{size.height()}"
        pixmap = QPixmap()
        if not QPixmapCache.find(key, pixmap):
            pixmap = self._drawn(size, mode, state)
            QPixmapCache.insert(key, pixmap)
        return pixmap

    def _drawn(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Glyph(self._name, self._role)


def icon(name: str, role: str = "text") -> QIcon:
    """A Phosphor icon by name ("play", "trash") in a token's colour ("text", "muted", "accent") or in "#RRGGBB".

    Raises KeyError when the font has no such icon.
    """
    if name not in _phosphor()[1]:
        raise KeyError(name)
    return QIcon(_Glyph(name, role))
