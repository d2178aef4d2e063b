"""The plot of the map with its tools: pan, zoom, lasso, rectangle, hover and click."""

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QWidget

from workbench.ui import theme
from workbench.ui.pages.map.cloud import Cloud
from workbench.ui.pages.map.map_data import Groups, MapData, inside

REACH = 12  # px around a point in which it is hovered or clicked


class MapBox(pg.ViewBox):
    """Pans like any plot, or draws an outline when a selecting tool is chosen."""

    def __init__(self) -> None:
        super().__init__(lockAspect=True, enableMenu=False, defaultPadding=0.06)
        self.tool = "pan"  # "pan", "lasso" or "rectangle"
        self.outlined: Callable[[np.ndarray, Qt.KeyboardModifier], None] | None = None
        self.clicked: Callable[[QPointF, Qt.KeyboardModifier, bool], None] | None = None
        self._trail: list[tuple[float, float]] = []
        self._line = QGraphicsPathItem()
        self._line.setZValue(100)
        self.addItem(self._line, ignoreBounds=True)

    def mouseDragEvent(self, ev: object, axis: object = None) -> None:
        if self.tool == "pan" or ev.button() != Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()  # type: ignore[attr-defined]
        at = self.mapToView(ev.pos())  # type: ignore[attr-defined]
        if ev.isStart():  # type: ignore[attr-defined]
            start = self.mapToView(ev.buttonDownPos())  # type: ignore[attr-defined]
            self._trail = [(start.x(), start.y())]
        self._extend(at)
        if ev.isFinish():  # type: ignore[attr-defined]
            outline, self._trail = np.array(self._trail), []
            self._line.setPath(QPainterPath())
            if self.outlined is not None:
                self.outlined(outline, ev.modifiers())  # type: ignore[attr-defined]

    def mouseClickEvent(self, ev: object) -> None:
        if ev.button() == Qt.MouseButton.LeftButton and self.clicked is not None:  # type: ignore[attr-defined]
            ev.accept()  # type: ignore[attr-defined]
            self.clicked(ev.scenePos(), ev.modifiers(), ev.double())  # type: ignore[attr-defined]

    def _extend(self, at: QPointF) -> None:
        x, y = at.x(), at.y()
        if self.tool == "rectangle":
            x0, y0 = self._trail[0]
            self._trail = [(x0, y0), (x, y0), (x, y), (x0, y)]
        else:
            self._trail.append((x, y))
        path = QPainterPath(QPointF(*self._trail[0]))
        for corner in self._trail[1:]:
            path.lineTo(*corner)
        path.closeSubpath()
        pen = QPen(QColor(theme.current().accent), 1.5, Qt.PenStyle.DashLine)
        pen.setCosmetic(True)
        self._line.setPen(pen)
        self._line.setPath(path)


class MapCanvas(pg.GraphicsView):
    """Shows a MapData. Says rows, not ids: the page knows what they mean."""

    selected = Signal(object, str)  # rows, "replace" "add" or "remove"
    opened = Signal(int)  # row that was double-clicked
    hovered = Signal(object, object)  # row or None, its place on this widget

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = MapBox()
        self.box.outlined, self.box.clicked = self._outlined, self._clicked
        self.setCentralItem(self.box)
        self.cloud = Cloud()
        self.box.addItem(self.cloud)
        self.data: MapData | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.restyle()

    def show_data(self, data: MapData, groups: Groups, *, fit: bool) -> None:
        """Show points; with `fit` all of them come into view."""
        self.data = data
        self.cloud.hovered = None
        self.cloud.show(data, groups)
        if fit:
            self.fit()

    def fit(self) -> None:
        """All points into view."""
        self.box.setRange(self.cloud.boundingRect(), padding=0.06)

    def zoom_to(self, rows: np.ndarray) -> None:
        """These points into the middle, at the present zoom."""
        if self.data is not None and len(rows):
            x, y = np.nanmean(self.data.points[rows], 0).tolist()
            (x0, x1), (y0, y1) = self.box.viewRange()
            self.box.setRange(
                xRange=(x - (x1 - x0) / 2, x + (x1 - x0) / 2), yRange=(y - (y1 - y0) / 2, y + (y1 - y0) / 2), padding=0
            )

    def set_tool(self, tool: str) -> None:
        """ "pan", "lasso" or "rectangle"."""
        self.box.tool = tool
        self.setCursor(Qt.CursorShape.OpenHandCursor if tool == "pan" else Qt.CursorShape.CrossCursor)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.setBackground(QColor(theme.current().plot_background))

    def row_at(self, scene: QPointF) -> int | None:
        """The drawn point nearest to a place of the scene, within REACH."""
        if self.data is None or not len(self.data.points):
            return None
        places = self._on_scene(self.data.points)
        apart = np.hypot(places[:, 0] - scene.x(), places[:, 1] - scene.y())
        apart[~self.cloud.visible_rows()] = np.inf
        row = int(np.argmin(apart))
        return row if apart[row] <= REACH else None

    def place_of(self, row: int) -> QPointF:
        """Where a point is on this widget, in px."""
        assert self.data is not None
        return QPointF(*self._on_scene(self.data.points[row : row + 1])[0].tolist())

    def mouseMoveEvent(self, ev: object) -> None:
        super().mouseMoveEvent(ev)
        row = self.row_at(ev.position()) if not ev.buttons() else None  # type: ignore[attr-defined]
        if row != self.cloud.hovered:
            self.cloud.hovered = row
            self.cloud.update()
            self.hovered.emit(row, None if row is None else self.place_of(row))

    def leaveEvent(self, ev: object) -> None:
        super().leaveEvent(ev)
        self.cloud.hovered = None
        self.cloud.update()
        self.hovered.emit(None, None)

    def _on_scene(self, points: np.ndarray) -> np.ndarray:
        transform = self.box.childGroup.sceneTransform()
        x, y = points[:, 0].astype(float), points[:, 1].astype(float)
        return np.stack(
            [
                transform.m11() * x + transform.m21() * y + transform.dx(),
                transform.m12() * x + transform.m22() * y + transform.dy(),
            ],
            1,
        )

    def _outlined(self, outline: np.ndarray, keys: Qt.KeyboardModifier) -> None:
        if self.data is None:
            return
        rows = np.flatnonzero(inside(self.data.points, outline) & self.cloud.visible_rows())
        self.selected.emit(rows, _way(keys))

    def _clicked(self, scene: QPointF, keys: Qt.KeyboardModifier, double: bool) -> None:
        row = self.row_at(scene)
        if double and row is not None:
            self.opened.emit(row)
        else:
            self.selected.emit(np.array([] if row is None else [row], np.int64), _way(keys))


def _way(keys: Qt.KeyboardModifier) -> str:
    if keys & Qt.KeyboardModifier.ShiftModifier:
        return "add"
    return "remove" if keys & Qt.KeyboardModifier.ControlModifier else "replace"
