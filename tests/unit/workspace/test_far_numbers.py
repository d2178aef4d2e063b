"""Numbers at the ends of what SQLite stores, in a damaged workspace: the rest is read, and new runs are made."""

import pytest

from tests.campaign.hostile import in_sql, make_space
from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import run_number
from workbench.workspace.news import Place, watched
from workbench.workspace.paths import LARGEST

MOST_LOOKS = 5


@pytest.fixture
def space(tmp_path):
    make_space(tmp_path / "space")
    return tmp_path / "space"


@pytest.mark.parametrize("number", [LARGEST, 2**62, -5])
def test_a_run_with_such_a_number_leaves_one_for_the_next(space, number):
    in_sql(space, ("pragma foreign_keys = off", ()), (f"update runs set id = {number} where id = 3", ()))
    with Workspace(space) as workspace:
        run_id = workspace.create_run(RunConfig())
        assert run_id == 4
        assert run_number(workspace.folder(run_id).name) == run_id


@pytest.mark.parametrize("order", [LARGEST, -LARGEST - 1, -5])
def test_the_points_of_a_run_are_read_in_a_few_looks(space, order):
    points = f"insert into scalar_points values (5, 1, 77, 1, 0.5), (6, 1, 77, 2, 0.25), ({order}, 1, 77, 3, 0.125)"
    in_sql(space, ("insert into metrics values (77, 'far', null)", ()), (points, ()))
    watch = watched(space)
    place, steps = Place(1), set()
    for _ in range(MOST_LOOKS):
        news = watch.look(place)
        if news is None:
            break
        place = news.after
        steps |= {step for _, step, _ in news.scalars}
    assert news is None
    assert steps >= {1, 2}
    watch.close()
    watch.workspace.close()
