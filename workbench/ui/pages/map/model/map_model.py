"""What the Map page shows, and the user's choices on it, without widgets. The page draws it; tests use it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np

from workbench.projection.axes import ACROSS, UP
from workbench.projection.coordinates import has_coordinates
from workbench.ui.pages.map.model.chain import Chain
from workbench.ui.pages.map.model.cluster_names import Cluster, named_clusters
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.method import MapMethod, Request
from workbench.ui.pages.map.model.point_classes import scores_of
from workbench.ui.pages.map.model.spatial import Box, box_around
from workbench.ui.pages.map.model.steps import Hiding, Selecting, Step
from workbench.ui.pages.map.model.timeline import Timeline
from workbench.ui.pages.map.model.turning import View
from workbench.ui.state.selection.sample_rows import SampleRows

AROUND = 0.25  # margin on each side when the view moves to some points, as a share of their box
MOST_TRAILS = 300  # most selected points that get a trail: the first ones
NOTHING = np.empty(0, np.int64)


class Change(Enum):
    """What has changed in the model."""

    WANTED = auto()  # another map was requested
    MAP = auto()  # another map is shown, or none
    MOMENT = auto()  # the timeline moved: the same map at another time
    COLOURING = auto()  # the points get another colouring
    GROUPS = auto()  # other groups or colours
    HIDDEN = auto()  # other groups are hidden
    SELECTION = auto()
    QUERY = auto()
    TIMELINE = auto()  # other epochs, another time, playing or not
    TRAILS = auto()
    LOOK = auto()  # the map is drawn differently
    CAMERA = auto()  # the canvas brings something into view


@dataclass(frozen=True, slots=True)
class Look:
    """How the map is drawn.

    Args:
        proxies, names, pictures: whether stars, names of classes and thumbnails are drawn.
        size: factor of the points' usual width, which depends on their number.
        opacity: of points, 0..1.
        contours: whether lines show where the points are dense.
    """

    proxies: bool = True
    names: bool = True
    pictures: bool = True
    size: float = 1.0
    opacity: float = 0.7
    contours: bool = False


@dataclass(frozen=True, slots=True)
class Camera:
    """What the canvas brings into view.

    Args:
        box: a part of the map; None: all points.
        widen: keep the view, but widen it until it contains the box; not if the view shows only a part of the points.
        row: a point that is moved to the middle, at the same zoom, if it is out of view.
    """

    box: Box | None = None
    widen: bool = False
    row: int | None = None


class MapModel:
    """The state of the page. Ids are sample ids; rows are rows of the shown map."""

    def __init__(self) -> None:
        self.method = MapMethod()
        self.evaluation: int | None = None  # whose map is requested
        self.isolated: list[np.ndarray] = []  # ids, each within the one before
        self.map: MapData | None = None  # the last map that was made
        self.drawn: MapData | None = None  # that map, at the timeline's time
        self.problem = ""  # why there is no map
        self.colouring = "class"
        self.groups: Groups | None = None
        self.hidden: frozenset[str] = frozenset()  # names of groups
        self.selection = NOTHING  # ids
        self.query: int | None = None  # id
        self.timeline = Timeline()
        self.chain: Chain | None = None
        self.trails_shown = True
        self.look = Look()
        self.camera = Camera()
        self.view = View()  # of maps of three dimensions
        self.turning = False  # while the user drags such a map
        self.on_step: Callable[[Step], None] = lambda step: None
        self.selected = np.empty(0, bool)  # [n] which points of the map are selected
        self._rows = SampleRows(NOTHING)
        self._scored = 0  # the evaluation whose scores are drawn
        self._listeners: list[Callable[[Change], None]] = []

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Call `listener` after every change."""
        self._listeners.append(listener)

    def _tell(self, *changes: Change) -> None:
        for change in changes:
            for listener in self._listeners:
                listener(change)

    # Which map is requested

    def show_run(self, evaluation: int, metric: str) -> None:
        """Request the map of an evaluation of another run, by the distance of that evaluation."""
        self.method = replace(self.method, metric=metric)
        self.isolated = []
        self.show_evaluation(evaluation)

    def forget_classes(self) -> None:
        """Reset custom axes to principal components: another data set is shown, and its classes are different."""
        self.method = replace(self.method, x=ACROSS, y=UP)

    def show_evaluation(self, evaluation: int) -> None:
        """Request the map of another evaluation of the same run."""
        self.evaluation = evaluation
        self._tell(Change.WANTED)

    def choose_method(self, method: MapMethod) -> None:
        """Request a map by another method, or with other parameters."""
        self.method = method
        self._tell(Change.WANTED)

    def isolate(self) -> bool:
        """Request a map of the selected points that are drawn; again, it is no step.

        If there are none, change nothing and return False.
        """
        if self.map is None or not (chosen := self.map.ids[self.selected & self.visible]).size:
            return False
        wanted = np.unique(chosen)
        if not self.isolated or not np.array_equal(wanted, self.isolated[-1]):
            self.isolated = [*self.isolated, wanted]
            self._tell(Change.WANTED)
        return True

    def back_to(self, step: int) -> None:
        """Request the map of an earlier step of isolating; 0 is all points."""
        self.isolated = self.isolated[:step]
        self._tell(Change.WANTED)

    def want_again(self) -> None:
        """Look for the requested map again, because other maps were stored."""
        self._tell(Change.WANTED)

    @property
    def path(self) -> list[str]:
        """The titles of the steps of isolating, from all points to those of the requested map."""
        return ["All", *(f"{len(ids):,} selected" for ids in self.isolated)]

    @property
    def request(self) -> Request:
        """The request to the analysis process for the requested map."""
        return self.method.request(self.isolated[-1].tolist() if self.isolated else None)

    # Which map is shown

    def show_map(self, data: MapData) -> None:
        """A map was made. All its points come into view unless it is one of the chain that is played, or has as many
        points as the one before and is only there until a better one is made."""
        before = self.map
        if data.space is not None and data.space.view != self.view:
            data = data.turned(self.view)
        known = self._in_chain(data)
        same = before is not None and _size(before) == _size(data)
        self.map = self.drawn = data
        self.problem, self._scored = "", data.evaluation
        self._rows = data.rows or SampleRows(data.ids)
        self.selected = self._rows.among(self.selection)
        if known and self.chain is not None and np.array_equal(self.chain.ids, data.ids):
            self._stand()
        self._tell(Change.MAP, Change.SELECTION, Change.QUERY)
        if not same or (not data.method.startswith("pca") and not known):
            self._look(Camera())
        self._bring_one()

    def clear(self, problem: str = "") -> None:
        """Show no map, and why."""
        self.map = self.drawn = self.chain = self.groups = None
        self.problem = problem
        self._rows, self.selected = SampleRows(NOTHING), np.empty(0, bool)
        self.timeline.show((), 0, 0.0)
        self._tell(Change.MAP, Change.GROUPS, Change.TIMELINE, Change.TRAILS)

    def forget(self) -> None:
        """Show no map: the run has no evaluation."""
        self.evaluation = None
        self.clear()

    @property
    def caption(self) -> str:
        """The caption of the drawn map; empty without one."""
        return "" if self.drawn is None else self.drawn.caption

    # Colours and hidden groups

    def colour_by(self, colouring: str) -> None:
        """Colour the points by a key of colouring.COLOURINGS, or by an attribute."""
        self.colouring = colouring
        self._tell(Change.COLOURING)

    def show_groups(self, groups: Groups) -> None:
        """Take the groups of the drawn map. Groups with the names of hidden ones stay hidden, unless all would be."""
        self.groups = groups
        names = frozenset(groups.names)
        self.hidden = frozenset() if names <= self.hidden else self.hidden & names
        self._tell(Change.GROUPS)

    def draw_as(self, look: Look) -> None:
        """Draw the map with another look."""
        self.look = look
        self._tell(Change.LOOK)

    @property
    def scores(self) -> np.ndarray | None:
        """MAP@R [g] of each group, 0..1 or NaN; None unless the groups are classes, tags or published split."""
        if self.drawn is None or self.groups is None or (self.groups.labels is None and not self.groups.scored):
            return None
        drawn, of = self.drawn, self.groups.of
        means = drawn.class_means(of)
        return scores_of(drawn.ap, drawn.points, of, len(self.groups.names)) if means is None else means.scores

    @property
    def hidden_groups(self) -> frozenset[int]:
        """Numbers of the groups that are hidden."""
        names = [] if self.groups is None or not self.hidden else self.groups.names
        return frozenset(number for number, name in enumerate(names) if name in self.hidden)

    def toggle(self, group: int) -> None:
        """Hide a group, or show it again; the user can undo it."""
        name = self._name(group)
        verb = "showing" if name in self.hidden else "hiding"
        self._act(self.hidden ^ {name}, name, alone=False, words=f"{verb} {name}")

    def show_alone(self, group: int) -> None:
        """Hide all other groups, or show all groups if it is shown alone already; the user can undo it.

        It is called by a double-click, whose first click has already toggled the group.
        """
        name = self._name(group)
        others = frozenset(() if self.groups is None else self.groups.names) - {name}
        alone = bool(others) and self.hidden in (others, others | {name})
        words = "showing all groups" if alone else f"showing {name} alone"
        self._act(frozenset() if alone else others, name, alone=True, words=words)

    def hide(self, names: frozenset[str]) -> None:
        """Hide the groups of these names, and show all others."""
        self.hidden = names
        self._tell(Change.HIDDEN)

    def _act(self, hidden: frozenset[str], name: str, *, alone: bool, words: str) -> None:
        before, colouring = self.hidden, self.colouring
        self.hide(hidden)
        self.on_step(Hiding(colouring, before, hidden, name, alone, words))

    def _name(self, group: int) -> str:
        return "" if self.groups is None else self.groups.names[group]

    @property
    def visible(self) -> np.ndarray:
        """Bool [n]: points with finite coordinates whose group is not hidden."""
        if self.drawn is None:
            return np.empty(0, bool)
        visible: np.ndarray = has_coordinates(self.drawn.points)
        if self.groups is not None and self.hidden:
            shown = np.ones(len(self.groups.names), bool)
            shown[list(self.hidden_groups)] = False
            visible &= shown[self.groups.of]
        return visible

    @property
    def contoured(self) -> np.ndarray | None:
        """The points [k, 2] whose density is drawn as contours; None if contours are off or the points are moving."""
        if not self.look.contours or self.map is None or self.drawn is not self.map or self.turning:
            return None
        points: np.ndarray = self.map.points[self.visible]
        return points

    # Selection and query

    def select(self, ids: np.ndarray, *, step: bool = True) -> None:
        """Select other samples; `step`: the user can undo it."""
        before, self.selection = self.selection, ids
        if step:
            self.on_step(Selecting(before, ids))
        self.selected = self._rows.among(ids)
        self._tell(Change.SELECTION, Change.TRAILS)
        self._bring_one()

    @property
    def clusters(self) -> list[Cluster]:
        """Clusters of the selected points on the map, the largest first."""
        return [] if self.map is None or not self.selected.any() else named_clusters(self.map, self.selected)

    def changed_rows(self, rows: np.ndarray, way: str) -> np.ndarray:
        """The selected ids after rows replace the selection, are added to it or removed from it.

        `way` is "replace", "add" or "remove".
        """
        return self._rows.changed(self.selection, rows, way)

    def changed_ids(self, ids: np.ndarray, way: str) -> np.ndarray:
        """As `changed_rows`, for sample ids."""
        if way == "add":
            return np.union1d(self.selection, ids)
        return np.setdiff1d(self.selection, ids) if way == "remove" else ids

    def show_query(self, sample: int | None) -> None:
        """Mark another query of the Retrieval page; None marks none."""
        self.query = sample
        self._tell(Change.QUERY)

    def row(self, sample: int | None) -> int | None:
        """The point of a sample, or None if it is not on the map."""
        rows = [] if self.map is None or sample is None else np.flatnonzero(self.map.ids == sample).tolist()
        return rows[0] if rows else None

    # What is in view

    def turn(self, turn: float, tilt: float, *, resting: bool = True) -> None:
        """Turn a map of three dimensions by these degrees; `resting`: the drag has ended."""
        if self.map is None or self.drawn is None or self.map.space is None:
            return
        self.view, self.turning = self.view.moved(turn, tilt), not resting
        stands = self.drawn is self.map
        self.map = self.map.turned(self.view)
        self.drawn = self.map if stands else self.drawn.turned(self.view)
        self._tell(Change.MOMENT, Change.TRAILS)

    def fit(self) -> None:
        """Bring all points into view."""
        self._look(Camera())

    def look_at(self, points: np.ndarray) -> None:
        """Bring points [k, 2] into the middle of the view, with a margin."""
        box = box_around(points, AROUND)
        if box is not None:
            self._look(Camera(box))

    def rows_of_class(self, label: int) -> np.ndarray:
        """Rows of the points of a class."""
        return NOTHING if self.map is None else np.flatnonzero(self.map.labels == label)

    def _bring_one(self) -> None:
        """Bring the selected point into view if only one is selected."""
        rows = np.flatnonzero(self.selected)
        if len(rows) == 1:
            self._look(Camera(row=int(rows[0])))

    def _look(self, camera: Camera) -> None:
        self.camera = camera
        self._tell(Change.CAMERA)

    # Epochs

    def show_chain(self, chain: Chain) -> None:
        """Take the chain of maps over the run's epochs that the shown map belongs to."""
        self.chain = chain
        self._stand()

    @property
    def whole_chain(self) -> bool:
        """Whether the shown map belongs to a chain in which no evaluation is missing."""
        chain = self.chain
        return chain is not None and self.map is not None and self._in_chain(self.map) and chain.complete

    def go_to(self, time: float) -> None:
        """Show the map at a time; between epochs, points are interpolated and scores are those of the nearer one."""
        if self.chain is None or self.map is None:
            return
        self.timeline.time = time
        resting = time == self.chain.frame_of(self.map.evaluation)
        self.drawn = self.map if resting else self.chain.moment(self.map, time)
        if not resting:
            self._look(Camera(self.chain.box, widen=True))
        self._tell(Change.MOMENT, Change.TIMELINE, Change.TRAILS)

    def scores_changed(self) -> bool:
        """Whether the drawn scores belong to a different epoch from the last call's."""
        if self.chain is None or not self.chain.frames:
            return False
        before, self._scored = self._scored, self.chain.frames[self.chain.nearest(self.timeline.time)].evaluation
        return before != self._scored

    def show_trails(self, shown: bool) -> None:
        """Draw the trails of the selected points, or stop drawing them."""
        self.trails_shown = shown
        self._tell(Change.TRAILS)

    def trails(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows [s] of selected points, and the trail of each up to the current time, [s, m, 2]."""
        rows = NOTHING
        if self.chain is not None and len(self.chain.frames) > 1 and self.trails_shown and self.map is not None:
            rows = np.flatnonzero(self.selected)[:MOST_TRAILS]
        if self.chain is None or self.map is None or not len(rows):
            return NOTHING, np.empty((0, 0, 2))
        trails = self.chain.trails(rows, self.timeline.time)
        return rows, trails if self.map.space is None else self.map.space.places(trails)

    def _in_chain(self, data: MapData) -> bool:
        stored = None if data.made is None else data.made.id
        return self.chain is not None and any(frame.projection == stored for frame in self.chain.frames)

    def _stand(self) -> None:
        """Move the timeline to the epoch of the shown map."""
        assert self.chain is not None
        at = self.chain.frame_of(self.map.evaluation) if self.map is not None and self._in_chain(self.map) else None
        frames = () if at is None else self.chain.frames
        epochs, scores = (tuple(getattr(frame, name) for frame in frames) for name in ("epoch", "score"))
        self.timeline.show(epochs, self.chain.evaluations, float(at or 0), scores)
        self._tell(Change.TIMELINE, Change.TRAILS)


def _size(data: MapData) -> tuple[str, int, int]:
    """The method of a map, its number of points, and how many of them have finite coordinates."""
    return data.method, len(data.ids), data.placed
