"""A map is stored once, whole or not at all, and what a kill left of one does not stay."""

import threading

import numpy as np
import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench import files
from workbench.config import RunConfig
from workbench.events import Ended, Status
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.measured.stored_maps import Measured, kept_neighbours, maps_of, store_map
from workbench.workspace.recorder import Recorder

RUN, EVALUATION = 1, 1
POINTS = np.arange(24, dtype=np.float32).reshape(12, 2)


@pytest.fixture
def space(tmp_path):
    """The folder of a workspace with a run of one evaluation."""
    with Workspace(tmp_path / "space", create=True) as made:
        images, recorder = Images(), Recorder(made, made.create_run(RunConfig()))
        recorder(Status("Loading"))
        recorder.dataset(made.register_dataset(images, None))
        recorder(evaluated(images, 0, 0))
        recorder(Ended("done"))
    return tmp_path / "space"


def store(workspace, **others):
    wanted = {"method": "umap", "params": {"neighbours": 5}, "seed": 0, "versions": {"umap": "1"}, **others}
    return store_map(
        workspace, EVALUATION, points=POINTS, proxies=None, measured=Measured(0.9, kept=np.ones(12)), **wanted
    )


def map_files(space):
    return sorted(path.name for path in (space / "runs" / "1").iterdir() if path.name.startswith(("map-", "kept-")))


def test_three_programs_that_made_one_map_at_once_store_it_once(space):
    together, numbers = threading.Barrier(3), []

    def program():
        with Workspace(space) as workspace:
            together.wait()
            numbers.append(store(workspace))

    threads = [threading.Thread(target=program) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(numbers) == 3
    assert len(set(numbers)) == 1
    assert len(map_files(space)) == 2


def test_a_map_of_another_seed_or_version_is_another(space):
    with Workspace(space) as workspace:
        numbers = {store(workspace), store(workspace, seed=1), store(workspace, versions={"umap": "2"})}
        assert len(numbers) == 3


@pytest.mark.parametrize("damaged", ["map-", "kept-"])
def test_a_map_whose_file_is_damaged_is_stored_anew(space, damaged):
    with Workspace(space) as workspace:
        first = store(workspace)
        [name] = [name for name in map_files(space) if name.startswith(damaged)]
        (workspace.folder(RUN) / name).write_bytes(b"damaged")
        second = store(workspace)
        assert second != first
        assert workspace.coordinates(second)[0].tolist() == POINTS.tolist()
        assert kept_neighbours(workspace, second).tolist() == [1.0] * 12


def test_a_map_whose_second_file_has_no_room_leaves_nothing(space, monkeypatch):
    whole, written = files.atomic_write, []

    def full_at_the_second(path):
        written.append(path)
        if len(written) == 2:
            raise files.NoSpace(f"There is no space left to write {path}.")
        return whole(path)

    monkeypatch.setattr(files, "atomic_write", full_at_the_second)
    with Workspace(space) as workspace:
        with pytest.raises(Problem, match=f"The disk of {space} is full: the map of run 1 cannot be stored"):
            store(workspace)
        assert map_files(space) == []
        assert maps_of(workspace, RUN) == []
        with workspace.reading() as db:
            assert not db.execute("select 1 from artefacts where kind = 'projection'").fetchall()


def test_files_that_a_killed_program_left_go_with_the_next_map_and_those_of_other_maps_stay(space):
    with Workspace(space) as workspace:
        store(workspace)
        before = map_files(space)
        for name in ("map-1-umap-20261128.npz", "kept-1-umap-20261128.npy", "map-11-umap-20261128.npz"):
            (workspace.folder(RUN) / name).write_bytes(b"left")
        store(workspace, seed=1)
        assert len(map_files(space)) == 5
        assert {*before, "map-11-umap-20261128.npz"} < set(map_files(space))
