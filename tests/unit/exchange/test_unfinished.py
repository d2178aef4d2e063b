"""What a killed test of a network leaves: a run that says so, which is deleted, at every stage of its storing."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.trained_sample import sample_space
from tests.waits import HANG
from workbench.config import IMPORTED, KINDS, RunConfig
from workbench.exchange.imported.unfinished import remove_unfinished
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import RUNS

STAGES = ("the images are embedded", "its row is there", "it has its data", "it has its facts", "it has its evaluation")
KILLED = """
import os, sys
from pathlib import Path
from workbench.events import Evaluated
from workbench.exchange.imported import importing
from workbench.exchange.imported.other_images import evaluate_images
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

stage = sys.argv[3]

class Dying(Recorder):
    def __init__(self, *run):
        super().__init__(*run)
        self.die_at("its row is there")

    def die_at(self, reached):
        if stage == reached:
            os._exit(9)

    def dataset(self, dataset_id):
        super().dataset(dataset_id)
        self.die_at("it has its data")

    def environment(self, facts):
        super().environment(facts)
        self.die_at("it has its facts")

    def __call__(self, event):
        super().__call__(event)
        if isinstance(event, Evaluated):
            self.die_at("it has its evaluation")

def progress(text, done, total):
    if stage == "the images are embedded" and text == "Finding the neighbours":
        os._exit(9)

importing.Recorder = Dying
evaluate_images(Workspace(Path(sys.argv[1])), 1, Path(sys.argv[2]), progress=progress)
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Two classes of three images."""
    place, rng = tmp_path_factory.mktemp("pages"), np.random.default_rng(0)
    for name in ("one", "two"):
        (place / name).mkdir()
        for row in range(3):
            Image.fromarray(rng.integers(0, 255, (10, 10), np.uint8)).save(place / name / f"{row}.png")
    return place


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace whose run 1 is the sample project after one epoch."""
    return sample_space(tmp_path_factory.mktemp("killed"), 1)


@pytest.mark.parametrize("stage", [*STAGES[:2], *(pytest.param(stage, marks=pytest.mark.slow) for stage in STAGES[2:])])
def test_a_killed_test_says_so_and_is_deleted_with_its_folder(space, pages, stage):
    command = [sys.executable, "-c", KILLED, str(space), str(pages), stage]
    assert subprocess.run(command, timeout=HANG, check=False).returncode == 9
    with Workspace(space) as workspace:
        workspace.sweep_dead_runs()
        left = [run for run in workspace.runs() if run.id > 1]
        assert len(left) == (stage != STAGES[0])
        for run in left:
            assert (run.status, run.tested) == ("interrupted", 1)
            assert run.problem.endswith("Delete it, and test again.")
        assert remove_unfinished(workspace, 1, patience=0) == [run.id for run in left]
        assert [run.id for run in workspace.runs()] == [1]
        assert sorted(path.name for path in (space / RUNS).iterdir() if path.is_dir()) == ["1"]


def test_only_half_stored_imports_of_later_runs_are_deleted(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        imported = RunConfig.model_validate({"name": "a", **dict.fromkeys(KINDS, IMPORTED)})
        before, half, working, whole = (workspace.create_run(imported) for _ in range(4))
        training = workspace.create_run(RunConfig(name="b"))
        for run_id in (before, half, training):
            workspace.set_status(run_id, "interrupted")
        workspace.set_status(whole, "done")
        assert remove_unfinished(workspace, before, patience=0) == [half]
        assert {run.id for run in workspace.runs()} == {before, working, whole, training}
