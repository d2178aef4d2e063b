"""A run folder that arrives in pieces, in whatever order, ends as the rows that the run would have written itself."""

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.travelling_runs import directly, in_folder, rows
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import travelling


class Stages:
    """Kept short when hypothesis names the arguments of a failure."""

    def __init__(self, killed, end, wanted):
        self.killed, self.end, self.wanted = killed, end, wanted


@pytest.fixture(scope="module", params=[(), (1, 3)], ids=["all", "some"])
def stages(tmp_path_factory, request):
    """The folder as the kill left it, the folder at the end, and the rows of the run that was told to a workspace.

    The run keeps all its evaluations, or deletes that of epoch 2 at its end.
    """
    base = tmp_path_factory.mktemp("travelling")
    in_folder(base / "end", [base / "killed"], request.param)
    with Workspace(base / "direct", create=True) as workspace:
        directly(workspace, request.param)
        wanted = rows(workspace)
    return Stages(contents(base / "killed"), contents(base / "end"), wanted)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Of each file of a stage as many bytes as one draw says; the draws are used up in turn.
cuts = st.lists(st.one_of(st.just(1.0), st.floats(0, 1)), min_size=1, max_size=8)
arrivals = st.lists(st.tuples(st.integers(0, 1), cuts, st.integers(0, 1000)), max_size=6)


@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # a failure is small as it is
@given(arrivals)
def test_any_cuts_in_any_order_end_as_the_direct_run(stages, tmp_path_factory, arriving):
    by_stage, wanted = (stages.killed, stages.end), stages.wanted
    base = tmp_path_factory.mktemp("arriving")
    folder = base / "folder"
    folder.mkdir()
    with Workspace(base / "space", create=True) as workspace:
        furthest = 0
        for stage, shares, order in arriving:
            furthest = max(furthest, stage)  # a folder does not go back in time
            names = sorted(by_stage[furthest])
            Random(order).shuffle(names)
            for number, name in enumerate(names):
                whole = by_stage[furthest][name]
                (folder / name).write_bytes(whole[: round(shares[number % len(shares)] * len(whole))])
            with suppress(travelling.Unfinished):
                ingest(workspace, folder)
        for name, whole in by_stage[1].items():
            (folder / name).write_bytes(whole)
        first, again = ingest(workspace, folder), ingest(workspace, folder)
        assert (first.doubts, again.new, again.points, again.evaluations) == ([], False, 0, 0)
        assert rows(workspace) == wanted
        assert {path.name for path in workspace.folder(1).iterdir()} == set(by_stage[1]) - {travelling.LOCK}
