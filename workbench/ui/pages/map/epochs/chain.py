"""The maps of one run over its epochs as something to play: places between two epochs, and trails."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.projection.align import matched
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.pages.map.settings import fits
from workbench.workspace import Workspace
from workbench.workspace.ranking import read_scores
from workbench.workspace.stored_maps import kept_neighbours, longest_chain, maps_of, same_course

BETWEEN = "On the way between two epochs: places are interpolated, scores and colours are those of the nearer epoch"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One evaluation; rows are in the order of the chain's ids, NaN for samples that it has not."""

    evaluation: int
    projection: int
    epoch: int
    points: np.ndarray  # [n, 2] float32
    proxies: np.ndarray | None  # [p, 2]
    ap: np.ndarray  # [n]
    right: np.ndarray  # [n] bool
    kept: np.ndarray | None  # [n]


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A chain of maps. A place in it is a number from 0 (the first frame) to len(frames) - 1 (the last)."""

    ids: np.ndarray  # [n]
    frames: tuple[Frame, ...]
    evaluations: int  # of the run; more than frames where some are not mapped

    @property
    def end(self) -> int:
        """The last place."""
        return max(0, len(self.frames) - 1)

    def nearest(self, place: float) -> int:
        """The number of the frame nearest to a place."""
        return int(np.clip(round(place), 0, self.end))

    def frame_of(self, evaluation: int) -> int | None:
        """The number of the frame of an evaluation, or None."""
        return next((at for at, each in enumerate(self.frames) if each.evaluation == evaluation), None)

    def places(self, place: float) -> tuple[np.ndarray, np.ndarray | None]:
        """Points [n, 2] and proxies [p, 2] at a place; between two frames they start and end slowly.

        Proxies that the two frames do not share stand still until the next frame.
        """
        low = int(np.clip(np.floor(place), 0, self.end))
        high = min(low + 1, self.end)
        share = float(np.clip(place - low, 0, 1))
        eased = np.float32(share * share * (3 - 2 * share))
        one, other = self.frames[low], self.frames[high]
        points = one.points + eased * (other.points - one.points)
        if one.proxies is None or other.proxies is None or one.proxies.shape != other.proxies.shape:
            return points, one.proxies
        return points, one.proxies + eased * (other.proxies - one.proxies)

    def moment(self, data: MapData, place: float) -> MapData:
        """What the map shows at a place: `data` with other places, and the scores of the nearest frame."""
        points, proxies = self.places(place)
        frame = self.frames[self.nearest(place)]
        return replace(
            data, points=points, proxies=proxies, ap=frame.ap, right=frame.right, kept=frame.kept, made=None,
            caption="   ·   ".join(filter(None, (data.shown, BETWEEN))), index=None,
        )  # fmt: skip

    def box(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of all points of all frames; zeros where there is none."""
        every = [each.points[np.isfinite(each.points).all(1)] for each in self.frames]
        low = [each.min(0) for each in every if len(each)]
        high = [each.max(0) for each in every if len(each)]
        if not low:
            return (0.0, 0.0, 0.0, 0.0)
        (left, bottom), (right, top) = np.min(low, axis=0).tolist(), np.max(high, axis=0).tolist()
        return (left, bottom, right, top)

    def trails(self, rows: np.ndarray, place: float) -> np.ndarray:
        """Where some points have been up to a place: [s, m, 2], the last of m being where they are."""
        past = [each.points[rows] for each in self.frames[: int(np.ceil(place))]]
        return np.stack([*past, self.places(place)[0][rows]], axis=1)


def read_chain(workspace: Workspace, data: MapData, wanted: dict[str, Any]) -> Chain:
    """The longest chain of maps of the run of `data`, in the order of its samples; it may have no frame.

    Args:
        wanted: method, params and seed, as the analysis process takes them.

    Raises:
        Problem: a file of a map or ranking is missing or damaged.
    """
    chain = same_course(workspace, data.evaluation)
    epochs = {each.id: each.epoch for each in chain}
    maps = maps_of(workspace, chain[0].run_id) if chain else []
    frames = []
    for made in longest_chain(maps, lambda each: fits(each, wanted) and each.evaluation_id in epochs):
        points, proxies = workspace.coordinates(made.id)
        ids, first_hit, ap = read_scores(workspace, made.evaluation_id)
        kept = kept_neighbours(workspace, made.id)
        columns = [np.stack([ap, first_hit == 1], 1)] + ([] if kept is None else [np.stack([kept, kept], 1)])
        scores = [matched(data.ids, ids, each) for each in columns]
        frames.append(
            Frame(
                made.evaluation_id, made.id, epochs[made.evaluation_id], matched(data.ids, ids, points), proxies,
                scores[0][:, 0], scores[0][:, 1] == 1, None if kept is None else scores[1][:, 0],
            )
        )  # fmt: skip
    return Chain(data.ids, tuple(frames), len(chain))
