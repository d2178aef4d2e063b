"""A watch tells all points of a run, whatever is written, deleted and written again between two looks."""

import tempfile
from math import isnan
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.config import RunConfig
from workbench.ui.plots.curve import Curve
from workbench.workspace import Workspace
from workbench.workspace.news import Place, Watch
from workbench.workspace.tables.runs import forget_after

NAMES = ("probe/ce", "probe/spce")
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 4)),
        st.tuples(st.just("other"), st.integers(1, 3)),
        st.tuples(st.just("resume"), st.integers(0, 8)),
        st.tuples(st.just("look"), st.just(0)),
    ),
    max_size=25,
)


class Trained:
    """A followed run and another one that write points, each value another one; what a window has seen of the first."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.watch = workspace, Watch(workspace)
        self.run, self.other = workspace.create_run(RunConfig()), workspace.create_run(RunConfig())
        self.step, self.value = 0, 0.0
        self.place, self.seen = Place(self.run), {name: Curve() for name in NAMES}
        with workspace.writing() as db:
            db.executemany("insert into metrics (name) values (?)", [(name,) for name in NAMES])

    def write(self, count: int) -> None:
        for _ in range(count):
            self.step += 1
            self._point(self.run, self.step)

    def write_other(self, count: int) -> None:
        for _ in range(count):
            self._point(self.other, 1)

    def resume(self, step: int) -> None:
        self.step = min(self.step, step)
        with self.workspace.writing() as db:
            forget_after(db, self.run, self.step)

    def look(self) -> None:
        while (news := self.watch.look(self.place)) is not None:
            self.place = news.after
            for name, step, value in news.scalars:
                self.seen[name].append([step], [value])

    def stored(self, name: str) -> list[tuple[int, float]]:
        with self.workspace.reading() as db:
            sql = "select step, value from scalars where run_id = ? and name = ? order by step"
            return [(step, value) for step, value in db.execute(sql, (self.run, name))]

    def _point(self, run_id: int, step: int) -> None:
        self.value += 1
        sql = "insert into scalar_points (run_id, metric_id, step, value) select ?, id, ?, ? from metrics"
        with self.workspace.writing() as db:
            db.execute(sql, (run_id, step, self.value))


@settings(max_examples=60)
@example([("write", 4), ("look", 0), ("resume", 2), ("write", 4)])
@example([("write", 4), ("look", 0), ("resume", 2), ("other", 3), ("write", 1)])
@given(DEEDS)
def test_every_point_is_told_also_after_numbers_were_used_again(deeds):
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder) / "space", create=True) as workspace:
        trained = Trained(workspace)
        does = {"write": trained.write, "other": trained.write_other, "resume": trained.resume}
        for deed, number in [*deeds, ("write", 1)]:
            if deed == "look":
                trained.look()
            else:
                does[deed](number)
        trained.look()
        trained.watch.close()
        for name, curve in trained.seen.items():
            told = [(int(step), value) for step, value in zip(curve.steps, curve.values, strict=True)]
            assert told == trained.stored(name)
            assert not any(isnan(value) for _, value in told)
