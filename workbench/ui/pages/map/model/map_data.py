"""The data of a map, without widgets: points, labels, scores and caption."""

from dataclasses import dataclass, replace

import numpy as np

from workbench.projection.coordinates import has_coordinates
from workbench.projection.islands import Cells, cells_of
from workbench.ui.pages.map.model.point_classes import ClassMeans, PointClasses, classes_of
from workbench.ui.pages.map.model.spatial import PointIndex
from workbench.ui.pages.map.model.turning import Space, View
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.workspace.rows import Projection


@dataclass(frozen=True, slots=True, eq=False)
class MapData:
    """One evaluation in two dimensions; rows are in the order of its embeddings.

    For a map of three dimensions, `space` has the map, and `points` are its projection on the screen from that view.
    """

    points: np.ndarray  # [n, 2] float32
    proxies: np.ndarray | None  # [p, 2]
    proxy_labels: np.ndarray  # [p]
    ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n]
    ap: np.ndarray  # [n]; NaN if the class has no other sample
    right: np.ndarray  # [n] bool
    class_names: tuple[str, ...]
    caption: str
    method: str = "pca"
    index: PointIndex | None = None  # of the points, if a thread has built it
    rows: SampleRows | None = None  # of the ids, likewise
    counted: PointClasses | None = None  # of the labels, likewise
    means: ClassMeans | None = None  # of these classes, likewise
    gridded: Cells | None = None  # of the points, in three dimensions those of `space`, likewise
    evaluation: int = 0  # its id
    made: Projection | None = None  # the stored map; None if it is shown but not stored
    kept: np.ndarray | None = None  # [n] share of each point's true neighbours that the map keeps, in 0..1 or NaN
    width: int = 0  # dimensions of the embeddings
    shown: str = ""  # how many of all images are mapped, and how they were chosen
    title: str = ""  # run and epoch
    space: Space | None = None  # for a map of three dimensions
    depth: np.ndarray | None = None  # [n] for such a map: how near each point is to the viewer, 0..1
    unread: str = ""  # why classes have numbers instead of names; empty if the names could be read

    def turned(self, view: View) -> "MapData":
        """The same map from another side; a map of two dimensions is unchanged."""
        if self.space is None:
            return self
        space = replace(self.space, view=view)
        return replace(
            self,
            space=space,
            points=space.places(space.points),
            proxies=None if space.proxies is None else space.places(space.proxies),
            depth=space.depth,
            made=self.made and replace(self.made, doubts=space.outlines),
            index=None,
        )

    @property
    def placed(self) -> int:
        """How many points have finite coordinates."""
        return int(has_coordinates(self.points).sum())

    @property
    def stars(self) -> int:
        """How many proxies have finite coordinates."""
        return 0 if self.proxies is None else int(np.isfinite(self.proxies).all(1).sum())

    def class_name(self, label: int) -> str:
        """The name of a label; its number where the data set is not known."""
        return name_of(self.class_names, label)

    def images(self, rows: np.ndarray) -> list[tuple[int, str]]:
        """Id and name of the samples in these rows, for the choice of the ends of an axis."""
        return [(int(self.ids[row]), image_words(self.class_name(int(self.labels[row])), row)) for row in rows.tolist()]

    @property
    def classes(self) -> list[tuple[int, str]]:
        """Label and name of each class with a point on the map, in the order of labels."""
        known, placed = self.numbered, has_coordinates(self.points)
        counts = np.bincount(known.of if placed.all() else known.of[placed], minlength=len(known.labels))
        names = zip(known.labels.tolist(), known.names, counts.tolist(), strict=True)
        return [(label, name) for label, name, count in names if count]

    @property
    def numbered(self) -> PointClasses:
        """The classes of the points; counted now unless a thread has counted those of these labels."""
        known = self.counted
        return known if known is not None and known.source is self.labels else classes_of(self.labels, self.class_names)

    def class_means(self, of: np.ndarray) -> ClassMeans | None:
        """The means over groups [n] of the points, if a thread has made them: those are the classes of this map."""
        means = self.means
        if means is None or means.of is not of or means.points is not self.points or means.ap is not self.ap:
            return None
        return means

    @property
    def cells(self) -> Cells:
        """The cells of the points, for clusters; made now unless a thread has made those of these points."""
        points = self.points if self.space is None else self.space.points
        if self.gridded is not None and self.gridded.points is points:
            return self.gridded
        return cells_of(points, points)

    def verdict(self, row: int) -> str:
        """Whether the first neighbour of a point is of its class, as a sign and words."""
        if np.isnan(self.ap[row]):
            return "no other image of its class"
        return "✓ first neighbour right" if self.right[row] else "✗ first neighbour wrong"


def image_words(class_name: str, row: int) -> str:
    """The name of an image at the end of an axis: its class, and its number among the evaluation's images."""
    return f"{class_name}, image {row + 1}"


def name_of(names: tuple[str, ...], label: int) -> str:
    """The name of a label; its number where the data set is not known."""
    return names[label] if label < len(names) else str(label)
