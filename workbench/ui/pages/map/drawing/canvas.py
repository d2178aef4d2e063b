"""The plot of the map with its tools: pan, zoom, lasso, rectangle, hover and click."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QTransform
from PySide6.QtWidgets import QGraphicsView

from workbench.ui.pages.map.drawing.class_names import AT_ONCE, ClassNames
from workbench.ui.pages.map.drawing.contours import Contours
from workbench.ui.pages.map.drawing.level_note import LevelNote, words_of
from workbench.ui.pages.map.drawing.map_box import PADDING, MapBox
from workbench.ui.pages.map.drawing.marks import Marks
from workbench.ui.pages.map.drawing.origin import Origin
from workbench.ui.pages.map.drawing.thumbnails import Loader, Thumbnails
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Camera, Look
from workbench.ui.pages.map.model.spatial import Box
from workbench.ui.pages.map.points.cloud import CROWD, Cloud
from workbench.ui.pages.map.points.extent import box_of
from workbench.ui.pages.map.points.stamps import on_screen
from workbench.ui.style import theme

REACH = 12  # px: within this distance the pointer hovers or clicks a point
REST = 60  # ms after a movement until the points in view are counted and pictures requested
DEGREES = 0.4  # by which a drag of 1 px turns a map of three dimensions
TURN = 10.0  # degrees by which an arrow key turns it
ARROWS = {
    Qt.Key.Key_Left: (-TURN, 0.0), Qt.Key.Key_Right: (TURN, 0.0), Qt.Key.Key_Up: (0.0, -TURN),
    Qt.Key.Key_Down: (0.0, TURN),
}  # fmt: skip


class MapCanvas(pg.GraphicsView):
    """Shows a MapData. Its signals carry rows of the map, not sample ids."""

    selected = Signal(object, str)  # rows, "replace" "add" or "remove"
    opened = Signal(int)  # row that was double-clicked
    hovered = Signal(object, object)  # row or None, its position on this widget
    menu_asked = Signal(int, QPointF)  # row whose menu is wanted, and where on this widget
    turned = Signal(float, float, bool)  # degrees of turn and tilt, whether the drag has ended
    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        # Pictures, names and stars reach beyond the points, by which Qt would know what to paint: it cut them off.
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.box = MapBox()
        self.box.outlined, self.box.clicked, self.box.turned = self._outlined, self._clicked, self._turned
        self.box.asked = self._ask_menu
        self.setCentralItem(self.box)
        self.cloud, self.marks, self.names = Cloud(), Marks(), ClassNames()
        self.contours = Contours()
        self.thumbnails = Thumbnails(self.cloud)
        self.note = LevelNote(self, self._points_in)
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.look)
        self.box.sigRangeChanged.connect(self._rest.start)
        self.resized.connect(self._rest.start)
        self.box.addItem(self.cloud)
        self.box.addItem(self.thumbnails, ignoreBounds=True)
        self.box.addItem(self.contours, ignoreBounds=True)
        self.box.addItem(self.marks, ignoreBounds=True)
        self.box.addItem(self.names, ignoreBounds=True)
        self.origin = Origin(self.box)
        self.look_shown = Look()
        self._unseen = True  # whether the data came after none, and no view of them was shown
        self.data: MapData | None = None
        self.groups: Groups | None = None
        self.hidden: frozenset[int] = frozenset()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_tokens(theme.current())
        self.show_look(self.look_shown)

    def show_data(self, data: MapData, groups: Groups, hidden: frozenset[int] = frozenset()) -> None:
        """Show points in their groups, some of which are hidden, without changing the view."""
        self.data, self.groups, self.hidden = data, groups, hidden
        self._unhover()
        self.cloud.show(data, groups, hidden)
        self.thumbnails.show(data, groups)
        self.marks.show(data, groups, hidden, self.cloud.boundingRect())
        self.names.show(data, groups, hidden, self.cloud.boundingRect())
        self._rest.start()
        self.origin.show(data.method in ("plane", "axes"), self.marks.tokens)

    def clear(self) -> None:
        """Show nothing."""
        self._unseen = True
        self.data = self.groups = None
        self._unhover()
        self.cloud.clear()
        self.thumbnails.show(None, None)
        self.note.say("")
        self.names.keep_clear(QRectF())
        self.marks.show(None, None, frozenset(), QRectF(0, 0, 1, 1))
        self.names.show(None, None, frozenset(), QRectF(0, 0, 1, 1))

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Hide these groups."""
        self.hidden = hidden
        self.cloud.set_hidden(hidden)
        self.thumbnails.changed()
        self._rest.start()
        self.marks.show(self.data, self.groups, hidden, self.cloud.boundingRect())
        self.names.show(self.data, self.groups, hidden, self.cloud.boundingRect())

    def set_selected(self, selected: np.ndarray | None) -> None:
        """Dim all points except these (bool [n]); None dims none."""
        self.cloud.set_selected(selected)
        self.thumbnails.changed()
        self._rest.start()

    def show_pictures(self, loader: Loader | None) -> None:
        """Show the loader's pictures instead of points when the view is zoomed in far enough; None: never."""
        self.thumbnails.use(loader)
        if loader is not None:
            loader.ready.connect(self._rest.start)  # updates the number of pictures in the note
        self._rest.start()

    def show_look(self, look: Look) -> None:
        """Draw with another look."""
        self.look_shown = look
        self.marks.proxies_shown, self.names.wanted, self.thumbnails.wanted = look.proxies, look.names, look.pictures
        self.cloud.set_look(look.size, look.opacity)
        self.names.show(self.data, self.groups, self.hidden, self.cloud.boundingRect())
        self.thumbnails.changed()
        self.marks.update()
        self._rest.start()

    def set_query(self, row: int | None) -> None:
        """Mark the query of the Retrieval page; None marks none."""
        self.marks.query = row
        self.marks.update()

    def set_tokens(self, tokens: theme.Tokens) -> None:
        """Take the colours of a theme; points take theirs at the next `show_data`."""
        self.cloud.tokens = self.marks.tokens = self.names.tokens = self.contours.tokens = tokens
        self.box.colour = tokens.accent
        self.setBackground(QColor(tokens.plot_background))

    def show_camera(self, camera: Camera) -> None:
        """Bring the requested points into view."""
        if camera.row is not None:
            self._bring_into_view(camera.row)
        elif camera.widen:
            self._widen(camera.box)
        elif camera.box is not None:
            left, low, right, high = camera.box
            self.box.setRange(QRectF(left, low, right - left, high - low), padding=0)
        else:
            self.fit()
        if self._unseen and self.data is not None and len(self.data.points) <= AT_ONCE:
            self.look()  # before the first paint: names would move when the line that counts the points comes
        self._unseen = self.data is None

    def fit(self) -> None:
        """Bring all points into view."""
        self.box.setRange(self.cloud.boundingRect(), padding=PADDING)

    def _widen(self, box: Box | None) -> None:
        """Keep all points in view while the epochs are played, unless the user has zoomed in."""
        if box is None:
            return
        left, low, right, high = box
        room = PADDING * max(right - left, high - low)
        whole = QRectF(left, low, right - left, high - low).adjusted(-room, -room, room, room)
        view, now = self.box.viewRect(), self.cloud.boundingRect()
        if view.contains(now) and not view.contains(whole):
            self.box.setRange(view.united(whole), padding=0)

    def _bring_into_view(self, row: int) -> None:
        """Move a point to the middle, at the present zoom, unless it is in view already."""
        if self.data is None or not np.isfinite(self.data.points[row]).all():
            return
        at = self.place_of(row)
        if self.rect().adjusted(16, 16, -16, -16).contains(at.toPoint()):
            return
        x, y = self.data.points[row].tolist()
        (x0, x1), (y0, y1) = self.box.viewRange()
        half, tall = (x1 - x0) / 2, (y1 - y0) / 2
        self.box.setRange(xRange=(x - half, x + half), yRange=(y - tall, y + tall), padding=0)

    def in_view(self) -> int:
        """The number of drawn points whose centre is in view."""
        return self.cloud.count_in(box_of(self._transform(), (self.width(), self.height()), margin=0))

    @property
    def point_width(self) -> float:
        """The width of a point in the current view, in px."""
        return self.cloud.width_of(self._transform(), (self.width(), self.height()))

    def set_tool(self, tool: str) -> None:
        """Choose the tool: "pan", "turn", "lasso" or "rectangle"."""
        self.box.tool = tool
        self.box.drop_outline()
        hand = {"pan": Qt.CursorShape.OpenHandCursor, "turn": Qt.CursorShape.SizeAllCursor}
        self.setCursor(hand.get(tool, Qt.CursorShape.CrossCursor))

    def row_at(self, scene: QPointF) -> int | None:
        """The drawn point nearest to a position of the scene, within REACH."""
        if self.data is None:
            return None
        pictured = self.thumbnails.row_at(scene)
        if pictured is not None:
            return pictured
        at, corner = (self.box.mapSceneToView(scene + QPointF(shift, shift)) for shift in (0, REACH))
        reach = max(abs(corner.x() - at.x()), abs(corner.y() - at.y()))
        near = self.cloud.rows_in((at.x() - reach, at.y() - reach, at.x() + reach, at.y() + reach))
        if not len(near):
            return None
        apart = np.hypot(*(on_screen(self._transform(), self.data.points[near]) - (scene.x(), scene.y())).T)
        over = self.cloud.foremost(near[apart <= self.point_width / 2])
        if over is not None:
            return over
        best = int(np.argmin(apart))
        return int(near[best]) if apart[best] <= REACH else None

    def place_of(self, row: int) -> QPointF:
        """Where a point is on this widget, in px."""
        assert self.data is not None
        return QPointF(*on_screen(self._transform(), self.data.points[row : row + 1])[0].tolist())

    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        super().mouseMoveEvent(ev)
        row = self.row_at(ev.position()) if not ev.buttons() else None
        if row != self.marks.hovered:
            self.marks.hover(row)
            self.hovered.emit(row, None if row is None else self.place_of(row))

    def keyPressEvent(self, ev: QKeyEvent) -> None:
        """Arrow keys turn a map of three dimensions."""
        way = ARROWS.get(Qt.Key(ev.key()))
        if way is None or self.data is None or self.data.space is None:
            super().keyPressEvent(ev)
            return
        self.turned.emit(*way, True)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu key asks for the menu of the query; the mouse asks when its right button is released."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard and self.marks.query is not None:
            self.menu_asked.emit(self.marks.query, self.place_of(self.marks.query))

    def _ask_menu(self, scene: QPointF) -> None:
        row = self.row_at(scene)
        if row is not None:
            self.menu_asked.emit(row, scene)

    def leaveEvent(self, ev: QEvent) -> None:
        super().leaveEvent(ev)
        self._unhover()

    def resizeEvent(self, ev: object) -> None:
        super().resizeEvent(ev)
        self.resized.emit()

    def look(self) -> None:
        """Show how many points are in view and request their pictures; a timer calls it when the view rests."""
        if self.data is None or self.closed:
            return
        in_view = self.in_view()
        self.thumbnails.lay_out(self._transform(), (self.width(), self.height()))
        self.thumbnails.ask()
        cloud, pictures, crowded = self.cloud, self.thumbnails.drawn, in_view > CROWD
        self.note.say(words_of(cloud.placed, cloud.drawn, in_view, pictures, crowded, cloud.away))
        self.names.keep_clear(QRectF(self.note.geometry()))  # of the widget, which is as large as its viewport

    def _points_in(self, area: QRect) -> int:
        """The number of drawn points in a rectangle of this widget."""
        corners = self.box.mapSceneToView(area.topLeft()), self.box.mapSceneToView(area.bottomRight())
        (left, right), (low, high) = (sorted(ends) for ends in zip(*((at.x(), at.y()) for at in corners), strict=True))
        return len(self.cloud.rows_in((left, low, right, high)))

    def _unhover(self) -> None:
        self.marks.hover(None)
        self.hovered.emit(None, None)

    def _transform(self) -> QTransform:
        self.box.updateMatrix()  # pyqtgraph delays it until the next paint
        transform: QTransform = self.box.childGroup.sceneTransform()
        return transform

    def _turned(self, moved: QPointF, rests: bool) -> None:
        """Turn the map so that a point at its front follows the mouse."""
        self.turned.emit(moved.x() * DEGREES, moved.y() * DEGREES, rests)

    def _outlined(self, outline: np.ndarray, keys: Qt.KeyboardModifier) -> None:
        if self.data is not None:
            self.selected.emit(self.cloud.rows_inside(outline), way_of(keys))

    def _clicked(self, scene: QPointF, keys: Qt.KeyboardModifier, double: bool) -> None:
        row = self.row_at(scene)
        if double and row is not None:
            self.opened.emit(row)
        else:
            self.selected.emit(np.array([] if row is None else [row], np.int64), way_of(keys))


def way_of(keys: Qt.KeyboardModifier) -> str:
    """How a click changes the selection: "add" with Shift, "remove" with Ctrl, else "replace"."""
    if keys & Qt.KeyboardModifier.ShiftModifier:
        return "add"
    return "remove" if keys & Qt.KeyboardModifier.ControlModifier else "replace"
