"""Points of the map as vector shapes, for SVG and PDF."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.ui.pages.map.points.stamps import Ink, on_screen, unmultiplied


def paint_shapes(painter: QPainter, ink: Ink, wide: float) -> None:
    """Draw discs by colour, then crosses.

    Args:
        ink: points in the coordinates of the painter.
        wide: px of a point.
    """
    points = np.stack([ink.x, ink.y], 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for colour in dict.fromkeys(ink.colours.tolist()):
        mine = ink.colours == colour
        pen = QPen(QColor.fromRgba(unmultiplied(colour)), wide)
        pen.setCosmetic(True)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints(polygon_of(points[mine & ~ink.crosses]))
        _paint_crosses(painter, pen, points[mine & ink.crosses], wide)


def _paint_crosses(painter: QPainter, pen: QPen, points: np.ndarray, wide: float) -> None:
    places = on_screen(painter.worldTransform(), points)
    painter.save()
    painter.resetTransform()
    pen.setWidthF(1.5)
    painter.setPen(pen)
    for x, y in places.tolist():
        painter.drawLine(QPointF(x - wide / 2, y - wide / 2), QPointF(x + wide / 2, y + wide / 2))
        painter.drawLine(QPointF(x - wide / 2, y + wide / 2), QPointF(x + wide / 2, y - wide / 2))
    painter.restore()


def polygon_of(points: np.ndarray) -> QPolygonF:
    """[n, 2] as Qt's own array, without a loop."""
    polygon: QPolygonF = pg.functions.create_qpolygonf(len(points))
    if len(points):
        pg.functions.ndarray_from_qpolygonf(polygon)[:] = points
    return polygon
