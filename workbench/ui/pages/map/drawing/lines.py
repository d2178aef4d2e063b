"""Lines over the points: trails, links to the true neighbours of the hovered point, outlines of doubtful groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QTransform

from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.points.stamps import on_screen
from workbench.ui.style import theme

FEW, OPAQUE, FAINT = 40, 170, 80  # up to FEW trails are drawn strongly; opacities, of 255
DOT = 2.0  # px, half the width of the start of a trail


class Lines:
    """Draws lines with one painter, in pixels; points without coordinates are left out."""

    def __init__(self, painter: QPainter, transform: QTransform, tokens: theme.Tokens) -> None:
        self._painter, self._transform, self._tokens = painter, transform, tokens

    def trails(self, trails: np.ndarray, colours: np.ndarray) -> None:
        """Draw paths [s, m, 2] in colours [s] (0xFFRRGGBB), with a dot at the start of each.

        Many trails are drawn thin and without antialiasing, which takes a tenth of the time.
        """
        if trails.shape[1] < 2:
            return
        few = len(trails) <= FEW
        places = on_screen(self._transform, trails.reshape(-1, 2)).reshape(trails.shape)
        steps = np.concatenate([places[:, :-1], places[:, 1:]], axis=2)  # [s, m - 1, 4]
        drawn = np.isfinite(steps).all(axis=2)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, few)
        for ink in np.unique(colours).tolist():
            mine = colours == ink
            colour = QColor.fromRgba(ink)
            colour.setAlpha(OPAQUE if few else FAINT)
            self._painter.setPen(QPen(colour, 1.2 if few else 0))  # 0 is one pixel wide, and drawn faster
            self._painter.drawLines([QLineF(*step) for step in steps[mine][drawn[mine]].tolist()])
            self._painter.setPen(QPen(colour, 2 * DOT))
            begins = places[mine, 0]
            self._painter.drawPoints(QPolygonF([QPointF(x, y) for x, y in begins[np.isfinite(begins).all(1)].tolist()]))
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def links(self, data: MapData, row: int, neighbours: np.ndarray) -> None:
        """Draw lines from one point to others: solid to points of its class, dashed to those of other classes."""
        here = self._on_screen(data.points[row : row + 1])
        for other in neighbours.tolist():
            there = self._on_screen(data.points[other : other + 1])
            if here and there:
                same = data.labels[other] == data.labels[row]
                colour = self._tokens.text if same else self._tokens.wrong
                style = Qt.PenStyle.SolidLine if same else Qt.PenStyle.DashLine
                self._painter.setPen(QPen(QColor(colour), 1.2, style))
                self._painter.drawLine(here[0], there[0])

    def doubts(self, doubts: Sequence[dict[str, Any]]) -> None:
        """Draw a dashed outline around each group of the map that is not a group in the embedding."""
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.setPen(QPen(QColor(self._tokens.warning), 1.6, Qt.PenStyle.DashLine))
        for doubt in doubts:
            corners = self._on_screen(np.asarray(doubt["outline"], float).reshape(-1, 2))
            self._painter.drawPolygon(QPolygonF(corners))

    def _on_screen(self, points: np.ndarray) -> list[QPointF]:
        places = on_screen(self._transform, points)
        return [QPointF(x, y) for x, y in places[np.isfinite(places).all(1)].tolist()]
