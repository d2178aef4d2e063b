"""What has changed in the model, drawn on the widgets of the Map page."""

import numpy as np
from PySide6.QtCore import QObject

from workbench.ui.pages.map.layout import MapLayout
from workbench.ui.pages.map.model.cluster_names import words_of
from workbench.ui.pages.map.model.map_model import Change
from workbench.ui.state.in_turns import InTurns

CONTOURS = "map/contours"  # whether they are on, in the preferences
CONTOURED = (Change.MAP, Change.MOMENT, Change.GROUPS, Change.HIDDEN, Change.LOOK)
AT_ONCE = 100_000  # selected images whose clusters are named together with their drawing; of more, in a later turn
MOST_ENDS = 50  # most selected images that are offered as ends of an axis


class MapDrawing(QObject):
    """Knows what is drawn anew for each Change of the model; the page has its widgets before."""

    def __init__(self, page: MapLayout) -> None:
        super().__init__(page)
        self._page, self._model = page, page.model
        self._turns = InTurns(page.session, page)
        self._told = 0  # the evaluation whose unreadable class names were reported
        self._draw = {
            Change.WANTED: self._make,
            Change.MAP: self._draw_map,
            Change.MOMENT: self._draw_moment,
            Change.COLOURING: self._draw_colouring,
            Change.GROUPS: self._draw_groups,
            Change.HIDDEN: self._draw_hidden,
            Change.SELECTION: self._draw_selection,
            Change.QUERY: self._draw_query,
            Change.TIMELINE: self._page.time.draw,
            Change.TRAILS: self._draw_trails,
            Change.LOOK: self._draw_look,
            Change.CAMERA: self._draw_camera,
        }

    def draw(self, change: Change) -> None:
        """Draw what has changed."""
        self._draw[change]()
        if change in CONTOURED:
            self._page.contours.make(self._model.contoured)

    def _make(self) -> None:
        self._page.breadcrumb.show_path(self._model.path)
        self._page.canvas.note.place()
        self._page.settings.show_method(self._model.method)
        if self._model.evaluation is not None:
            self._page.maker.make(self._model.evaluation, self._model.request)
            self._page.second.make(self._model.request)

    def _draw_map(self) -> None:
        data = self._model.map
        self._page.problem.setText(self._model.problem)
        self._page.problem.setVisible(bool(self._model.problem))
        self._page.caption.setText(self._model.caption)
        if data is None:
            self._page.canvas.clear()
            self._page.legend.show_groups(None, frozenset())
        else:
            if data.unread and data.evaluation != self._told:
                self._told = data.evaluation
                self._page.session.notify(data.unread)
            self._page.settings.set_width(data.width)
            self._page.settings.set_classes(data.classes, data.stars > 0)
            self._offer_images()
            self.draw_colours()
        self._offer_turning(data is not None and data.space is not None)

    def _offer_turning(self, offered: bool) -> None:
        """Let a drag and the arrow keys turn a map of three dimensions; the slider keeps its arrow keys."""
        self._page.commands.offer_turning(offered)
        for action in self._page.time.steps:
            (self._page.canvas.removeAction if offered else self._page.canvas.addAction)(action)
        self._page.second.turn(self._model.view)

    def _draw_moment(self) -> None:
        """Draw the map between two epochs."""
        data, groups = self._model.drawn, self._model.groups
        assert data is not None
        self._page.caption.setText(data.caption)
        if groups is None or (self._model.scores_changed() and self._model.colouring != "class"):
            self.draw_colours()
        else:
            self._page.canvas.show_data(data, groups, self._model.hidden_groups)
        self._page.second.turn(self._model.view)

    def _draw_colouring(self) -> None:
        self._page.colouring.show_key(self._model.colouring)
        self._page.colours.choose(self._model.colouring)
        self.draw_colours()

    def draw_colours(self) -> None:
        """Draw the points in the colours that are chosen, as the theme has them."""
        if self._model.drawn is not None:
            self._model.show_groups(self._page.colours.groups(self._model.drawn))

    def _draw_groups(self) -> None:
        data, groups = self._model.drawn, self._model.groups
        if data is not None and groups is not None:
            self._page.legend.show_groups(groups, self._model.hidden_groups, self._model.scores)
            self._page.legend.look.show_stars(data.stars)
            self._page.canvas.show_data(data, groups, self._model.hidden_groups)
            self._colour_second()

    def _draw_hidden(self) -> None:
        self._page.legend.show_hidden(self._model.hidden_groups)
        self._page.canvas.set_hidden(self._model.hidden_groups)
        self._colour_second()

    def _draw_selection(self) -> None:
        self._page.second.show_selection()
        if self._model.map is not None:
            self._page.canvas.set_selected(self._model.selected if self._model.selected.any() else None)
        self._page.side.show_count(len(self._model.selection))
        self._turns.begin(self._offer_images, self._draw_clusters, long=len(self._model.selection) > AT_ONCE)

    def _draw_clusters(self) -> None:
        self._page.side.show_clusters(words_of(self._model.clusters))

    def _offer_images(self) -> None:
        if self._model.map is not None:
            self._page.settings.set_images(self._model.map.images(np.flatnonzero(self._model.selected)[:MOST_ENDS]))

    def _draw_query(self) -> None:
        self._page.canvas.set_query(self._model.row(self._model.query))
        self._page.second.show_query()

    def _draw_trails(self) -> None:
        self._page.canvas.marks.show_trails(*self._model.trails())

    def _draw_camera(self) -> None:
        self._page.canvas.show_camera(self._model.camera)

    def _colour_second(self) -> None:
        scale = None if self._model.groups is None else self._model.groups.scale
        self._page.second.recolour(self._model.hidden, None if scale is None else (scale.low, scale.high))

    def _draw_look(self) -> None:
        look = self._model.look
        self._page.session.preferences.set_flag(CONTOURS, look.contours)
        self._page.legend.look.show_look(look)
        self._page.commands.pictures.setChecked(look.pictures)
        self._page.canvas.show_look(look)
        self._page.second.show_look(look)
