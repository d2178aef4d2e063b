"""The maps of one run over its epochs, and the frames between two of them. No Qt."""

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from workbench.problem import Problem
from workbench.projection.align import matched
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.method import Request, fits
from workbench.ui.pages.map.model.spatial import Box, box_around
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_scores
from workbench.workspace.measured.stored_maps import kept_neighbours, longest_chain, maps_of, same_course

BETWEEN = "Between two epochs: positions are interpolated; scores and colours are those of the nearer epoch"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One evaluation; rows are in the order of the chain's ids, and NaN for samples that the evaluation lacks."""

    evaluation: int
    projection: int
    epoch: int
    points: np.ndarray  # [n, k] float32, k being 2 or 3
    proxies: np.ndarray | None  # [p, k]
    ap: np.ndarray  # [n]
    right: np.ndarray  # [n] bool
    kept: np.ndarray | None  # [n]
    score: float = nan  # MAP@R of the evaluation, 0..1


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Maps, each of which starts from the one before. A time is a number from 0 (the first) to `end` (the last)."""

    ids: np.ndarray  # [n]
    frames: tuple[Frame, ...]
    evaluations: int  # of the run; more than frames where some are not mapped
    box: Box | None = field(init=False)  # around all points and proxies of all frames; None if there is none

    def __post_init__(self) -> None:
        tables = [table for frame in self.frames for table in (frame.points, frame.proxies) if table is not None]
        tables = [table for table in tables if table.shape[1] == 2]  # of three dimensions the view shows all points
        boxes = [box for table in tables if (box := box_around(table)) is not None]
        corners = np.array(boxes).reshape(-1, 2, 2)
        box = box_around(corners.reshape(-1, 2)) if len(corners) else None
        object.__setattr__(self, "box", box)

    @property
    def complete(self) -> bool:
        """Whether every evaluation of the run has a map here."""
        return len(self.frames) == self.evaluations

    @property
    def end(self) -> int:
        """The position of the last epoch, from 0."""
        return max(0, len(self.frames) - 1)

    def nearest(self, time: float) -> int:
        """The index of the frame nearest to a time."""
        return int(np.clip(round(time), 0, self.end))

    def frame_of(self, evaluation: int) -> int | None:
        """The index of an evaluation's frame, or None."""
        return next((number for number, frame in enumerate(self.frames) if frame.evaluation == evaluation), None)

    def points_at(self, time: float) -> tuple[np.ndarray, np.ndarray | None]:
        """Points [n, k] and proxies [p, k] at a time; between two frames they speed up and slow down smoothly.

        Proxies that the two frames do not share stay in place until the next frame.
        """
        low = int(np.clip(np.floor(time), 0, self.end))
        high = min(low + 1, self.end)
        share = float(np.clip(time - low, 0, 1))
        eased = np.float32(share * share * (3 - 2 * share))
        before, after = self.frames[low], self.frames[high]
        points = before.points + eased * (after.points - before.points)
        if before.proxies is None or after.proxies is None or before.proxies.shape != after.proxies.shape:
            return points, before.proxies
        return points, before.proxies + eased * (after.proxies - before.proxies)

    def moment(self, data: MapData, time: float) -> MapData:
        """What the map shows at a time: `data` with other points, and the scores of the nearest frame."""
        points, proxies = self.points_at(time)
        frame = self.frames[self.nearest(time)]
        now = replace(
            data, ap=frame.ap, right=frame.right, kept=frame.kept, made=None,
            caption="   ·   ".join(filter(None, (data.shown, BETWEEN))), index=None,
        )  # fmt: skip
        if now.space is None:
            return replace(now, points=points, proxies=proxies)
        space = replace(now.space, points=points, proxies=proxies, doubts=())
        return replace(now, space=space).turned(space.view)

    def trails(self, rows: np.ndarray, time: float) -> np.ndarray:
        """The positions of some points up to a time, [s, m, k]; the last of the m is the current one."""
        past = [frame.points[rows] for frame in self.frames[: int(np.ceil(time))]]
        return np.stack([*past, self.points_at(time)[0][rows]], axis=1)


def read_chain(workspace: Workspace, data: MapData, wanted: Request) -> Chain:
    """The longest chain of maps of the run of `data`, in the order of its samples; the chain may be empty.

    Args:
        wanted: the request to the analysis process: method, params and seed.

    Raises:
        Problem: a file of a map or ranking is missing or damaged.
    """
    evaluations = same_course(workspace, data.evaluation)
    known = {evaluation.id: evaluation for evaluation in evaluations}
    maps = maps_of(workspace, evaluations[0].run_id) if evaluations else []
    frames = []
    for stored in longest_chain(
        maps, lambda projection: fits(projection, wanted) and projection.evaluation_id in known
    ):
        try:
            points, proxies = workspace.coordinates(stored.id)
            ids, first_hit, ap = read_scores(workspace, stored.evaluation_id)
            kept = kept_neighbours(workspace, stored.id)
        except Problem:
            if workspace.has_evaluation(stored.evaluation_id):
                raise
            continue  # its run has deleted it meanwhile
        columns = [np.stack([ap, first_hit == 1], 1)] + ([] if kept is None else [np.stack([kept, kept], 1)])
        scores = [matched(data.ids, ids, column) for column in columns]
        frames.append(
            Frame(
                stored.evaluation_id, stored.id, known[stored.evaluation_id].epoch, matched(data.ids, ids, points),
                proxies,
                scores[0][:, 0], scores[0][:, 1] == 1, None if kept is None else scores[1][:, 0],
                known[stored.evaluation_id].metrics.get("MAP@R", nan),
            )
        )  # fmt: skip
    return Chain(data.ids, tuple(frames), len(evaluations))
