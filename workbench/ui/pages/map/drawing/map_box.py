"""The area of the map's plot: it pans and zooms, or draws the outline of a lasso or a rectangle."""

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from workbench.ui.style import theme

STEP = 2.5  # px between two corners of a lasso
PADDING = 0.06  # of the map, on each side


class MapBox(pg.ViewBox):
    """Pans like any plot, or draws an outline when a selecting tool is chosen."""

    def __init__(self) -> None:
        super().__init__(lockAspect=True, enableMenu=False, defaultPadding=PADDING)
        self.tool = "pan"  # "pan", "turn", "lasso" or "rectangle"
        self.turned: Callable[[QPointF, bool], None] | None = None  # px since the last call, whether the drag has ended
        self.outlined: Callable[[np.ndarray, Qt.KeyboardModifier], None] | None = None
        self.clicked: Callable[[QPointF, Qt.KeyboardModifier, bool], None] | None = None
        self.asked: Callable[[QPointF], None] | None = None  # a click with the right button; a drag with it zooms
        self.colour = theme.current().accent
        self._corners: list[QPointF] = []  # of the outline, on the scene
        self._line = QGraphicsPathItem()
        self._line.setZValue(100)
        self.addItem(self._line, ignoreBounds=True)

    def mouseDragEvent(self, ev: object, axis: object = None) -> None:
        if self.tool == "pan" or ev.button() != Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()  # type: ignore[attr-defined]
        if self.tool == "turn":
            if self.turned is not None:
                self.turned(ev.scenePos() - ev.lastScenePos(), ev.isFinish())  # type: ignore[attr-defined]
            return
        if ev.isStart():  # type: ignore[attr-defined]
            self._corners = [QPointF(ev.buttonDownScenePos())]  # type: ignore[attr-defined]
        self._extend(QPointF(ev.scenePos()))  # type: ignore[attr-defined]
        self._draw()
        if ev.isFinish():  # type: ignore[attr-defined]
            outline = self._outline()
            self.drop_outline()
            if self.outlined is not None:
                self.outlined(outline, ev.modifiers())  # type: ignore[attr-defined]

    def mouseClickEvent(self, ev: object) -> None:
        if ev.button() == Qt.MouseButton.LeftButton and self.clicked is not None:  # type: ignore[attr-defined]
            ev.accept()  # type: ignore[attr-defined]
            self.clicked(ev.scenePos(), ev.modifiers(), ev.double())  # type: ignore[attr-defined]
        elif ev.button() == Qt.MouseButton.RightButton and self.asked is not None:  # type: ignore[attr-defined]
            ev.accept()  # type: ignore[attr-defined]
            self.asked(ev.scenePos())  # type: ignore[attr-defined]

    def drop_outline(self) -> None:
        """Remove the outline that was being drawn."""
        self._corners = []
        self._line.setPath(QPainterPath())

    def _extend(self, at: QPointF) -> None:
        if self.tool == "rectangle":
            start = self._corners[0]
            self._corners = [start, QPointF(at.x(), start.y()), at, QPointF(start.x(), at.y())]
        elif (at - self._corners[-1]).manhattanLength() >= STEP:
            self._corners.append(at)

    def _outline(self) -> np.ndarray:
        """The corners in the map's coordinates, [m, 2]."""
        corners = [self.mapSceneToView(corner) for corner in self._corners]
        return np.array([(corner.x(), corner.y()) for corner in corners]).reshape(-1, 2)

    def _draw(self) -> None:
        path = QPainterPath()
        for corner, (x, y) in enumerate(self._outline().tolist()):
            if corner:
                path.lineTo(x, y)
            else:
                path.moveTo(x, y)
        path.closeSubpath()
        pen = QPen(QColor(self.colour), 1.5, Qt.PenStyle.DashLine)
        pen.setCosmetic(True)
        fill = QColor(self.colour)
        fill.setAlpha(24)
        self._line.setPen(pen)
        self._line.setBrush(fill)
        self._line.setPath(path)
