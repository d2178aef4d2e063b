"""Changes in a workspace since the last read, by any process; read on a separate connection."""

import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from time import monotonic

from workbench.events import CHECKPOINTS
from workbench.files.room import is_full
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.choices.marks import Marks, marked_tables, marks
from workbench.workspace.database.connection import InPlace, at_one_moment, explained_errors, hearing
from workbench.workspace.database.problems import Full
from workbench.workspace.experiments import experiments
from workbench.workspace.folders.deleted_checkpoints import stands_still
from workbench.workspace.measured import curves, evaluations
from workbench.workspace.measured.artefacts import stored_paths
from workbench.workspace.measured.unkept import with_curves
from workbench.workspace.rows import Dataset, Evaluation, Experiment, Run
from workbench.workspace.tables import runs, samples
from workbench.workspace.workspace import Workspace

SHARE_EVERY = 5.0  # seconds between two tries to let other programs in, after a full disk
ROWS_AT_ONCE = 10_000  # points that are read at a time, which takes at most about 10 ms
Extent = tuple[int, int | None]  # the number of rows, and the highest id


@dataclass(frozen=True, slots=True)
class Followed:
    """The window's data about the run that it shows."""

    run_id: int | None = None
    evaluations: tuple[Evaluation, ...] = ()  # that are stored, by epoch
    measured: tuple[Evaluation, ...] = ()  # these, and those that the run did not keep
    chart_steps: tuple[int, ...] = ()  # at which its method drew charts, rising
    dataset: Dataset | None = None  # None before the run has read its data, or if its row cannot be read
    has_checkpoint: bool = False  # to go on from
    deleted: str = ""  # the day when the checkpoint was deleted from which it would go on
    has_best: bool = False  # whether the best checkpoint was kept then
    is_missing: bool = False  # whether the run saved checkpoints, and none is there, though none was deleted here


@dataclass(frozen=True, slots=True)
class Place:
    """How far the workspace, and the run that is followed, have been read."""

    run_id: int | None = None
    version: int = -1
    seq: int | None = None  # None: from the run's first point
    last: curves.Point | None = None  # the point of that number, of whatever run
    status: str = ""
    evaluations: Extent = (0, None)
    charts: Extent = (0, None)
    followed: Followed = field(default_factory=Followed)


@dataclass(frozen=True, slots=True)
class News:
    """What one call of `look` read, and where the next one starts."""

    before: Place
    after: Place
    runs: list[Run]  # that are not in the trash, newest first
    trashed: list[Run]
    experiments: list[Experiment]  # newest first
    scalars: list[tuple[str, int, float]]  # new points of the followed run, in the order written; NaN is NaN
    more: bool  # there are more points
    choices: Marks  # of what the person decided


class Watch:
    """Reads news of a workspace. Safe to call from any thread; a call may take as long as the disk.

    Args:
        workspace: stays open as long as the watch.
        progress: asked during the first call; it may raise Cancelled.

    Attributes:
        first: the news of the first call, which follows no run.

    Raises:
        Problem: the workspace cannot be read.
    """

    def __init__(self, workspace: Workspace, progress: Progress = quiet) -> None:
        self.workspace = workspace
        self._db, self._in_place, self._still = workspace.reader(), InPlace(workspace.database), workspace.still
        self._tried_to_share = monotonic()
        self._known: runs.Known = {}
        self._marked: list[str] | None = None  # tables of choices, once they are known
        self._lock, self._closed = threading.Lock(), False
        try:
            with hearing(self._db, progress):
                first = self.look(Place())
        except BaseException:
            self.close()
            raise
        assert first is not None
        self.first = first

    def close(self) -> None:
        """Close the connection; later calls return nothing."""
        with self._lock:
            self._closed = True
            self._db.close()

    def look(self, reached: Place) -> News | None:
        """What is new since `reached`; None for nothing.

        Raises:
            Problem: the workspace cannot be read; Gone if its database was replaced, which may be undone.
        """
        with self._lock:
            if self._closed:
                return None
            self._in_place.check()
            anew = self._connected_anew()
            with explained_errors(self._db):
                return self._look(reached, anew)

    def _connected_anew(self) -> bool:
        """Let other programs in again, where the disk was full and has room now; whether the connection is another.

        It is another, too, where somebody has begun to write what could only be read and lay still.
        """
        self.workspace.look_whether_still()
        if self.workspace.still != self._still:
            self._db.close()
            self._db, self._still = self.workspace.reader(), self.workspace.still
            return True
        if not self.workspace.alone or monotonic() - self._tried_to_share < SHARE_EVERY:
            return False
        self._tried_to_share = monotonic()
        if is_full(self.workspace.path):
            return False
        self._db.close()
        try:
            self.workspace.share()
        finally:
            self._db = self.workspace.reader()
        return True

    def _look(self, reached: Place, anew: bool) -> News | None:
        version = self._db.execute("pragma data_version").fetchone()[0]
        if version == reached.version and not anew:  # of another connection it says nothing
            return None
        every = runs.read_runs(self._db, "1", (), self._known)
        after, scalars, more = reached, list[tuple[str, int, float]](), False
        if reached.run_id is not None:
            run = next((run for run in every if run.id == reached.run_id), None)
            after, scalars, more = self._look_at_run(reached, reached.run_id, run)
        return News(
            before=reached,
            after=replace(after, version=-1 if more else version),
            runs=[run for run in every if run.trashed is None],
            trashed=[run for run in every if run.trashed is not None],
            experiments=experiments.experiments(self._db) if any(run.experiment_id for run in every) else [],
            scalars=scalars,
            more=more,
            choices=self._marks(),
        )

    def _marks(self) -> Marks:
        if self._marked is None:
            self._marked = marked_tables(self._db)
        return marks(self._db, self._marked)

    def _look_at_run(
        self, before: Place, run_id: int, run: Run | None
    ) -> tuple[Place, list[tuple[str, int, float]], bool]:
        points, upto, last, more = self._points(before, run_id)
        scored, charted = evaluations.extent(self._db, run_id), curves.charts_extent(self._db, run_id)
        reached = Place(
            run_id=run_id,
            version=before.version,
            seq=upto,
            last=last,
            status=before.status if run is None else run.status,
            evaluations=scored,
            charts=charted,
            followed=self._followed(before, run_id, run, scored, charted),
        )
        return reached, [(name, step, nan if value is None else value) for name, step, value in points], more

    def _points(
        self, before: Place, run_id: int
    ) -> tuple[list[tuple[str, int, float | None]], int, curves.Point | None, bool]:
        """New points, the number of the last that was read, that point, and whether there are more.

        A resumed run deletes its last points, and their numbers are used again: if the last point that is known is
        another one now, or gone, all are read from the first on.
        """
        with at_one_moment(self._db) as db:
            seq = before.seq
            if seq is None or curves.point_at(db, seq) != before.last:
                seq = curves.before_first_point(db, run_id)
            points, upto, more = curves.points_since(db, run_id, seq, ROWS_AT_ONCE)
            return points, upto, curves.point_at(db, upto), more

    def _followed(self, reached: Place, run_id: int, run: Run | None, scored: Extent, charted: Extent) -> Followed:
        """What is known of the run, read again where it changed."""
        known = reached.followed
        if scored != reached.evaluations or known.run_id != run_id:
            stored = tuple(evaluations.read_evaluations(self._db, "run_id", run_id))
            measured = stored if run is None else tuple(with_curves(self._db, run, stored))
            known = replace(known, evaluations=stored, measured=measured)
        if charted != reached.charts or known.run_id != run_id:
            known = replace(known, chart_steps=tuple(curves.chart_steps(self._db, run_id)))
        there, deleted = any(self.workspace.has_file(run_id, name) for name in CHECKPOINTS.values()), ""
        with suppress(Problem):  # a folder that is a link has none
            deleted = stands_still(self.workspace.folder(run_id))
        gone = not there and not deleted and bool(stored_paths(self._db, run_id, "checkpoint"))
        dataset = self._dataset(known.dataset, run)
        known = replace(known, run_id=run_id, dataset=dataset, deleted=deleted, is_missing=gone)
        return replace(known, has_checkpoint=there and not deleted, has_best=there and bool(deleted))

    def _dataset(self, known: Dataset | None, run: Run | None) -> Dataset | None:
        if run is None or run.dataset_id is None:
            return None
        if known is not None and known.id == run.dataset_id:
            return known
        with suppress(Problem):  # pages that need it report it
            return samples.read_dataset(self._db, run.dataset_id, self.workspace.path)
        return None


def watched(path: Path, *, sweep: bool = False, progress: Progress = quiet) -> Watch:
    """A watch on the workspace in a folder, which is created if missing. Raises Problem.

    `progress` is asked between parts and may raise Cancelled: nothing is open then, and the database is as it was, or
    upgraded whole.
    `sweep` marks runs whose owner is gone before they are read; where nothing can be written now they stay.
    """
    workspace = Workspace(path, create=True, progress=progress)
    try:
        if sweep:
            with suppress(Full):
                workspace.sweep_dead_runs()
        return Watch(workspace, progress)
    except BaseException:
        workspace.close()
        raise
