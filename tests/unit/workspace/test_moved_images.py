"""Images that were moved: found by one folder, whatever of it is named; refused in words where they are not."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.image_set import ImageSet
from workbench.events import Ended
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.moved_images import find_images
from workbench.workspace.recorder import Recorder

PATHS = ["ant/0.png", "ant/1.png", "bee/0.png"]


@pytest.fixture
def moved(tmp_path):
    """A workspace with a run on three images, whose folder was moved afterwards and whose cache is gone."""
    old = tmp_path / "old"
    for grey, path in enumerate(PATHS):
        (old / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((9, 9), 50 * grey, np.uint8)).save(old / path)
    images = ImageSet("small", old, PATHS, np.array([0, 0, 1]), ["ant", "bee"], 1, 8,
                      lambda row: np.full((8, 8), 50 * row, np.uint8))  # fmt: skip
    _, _, pixels = decoded(images, tmp_path / "cache", lambda text, done, total: None)
    with Workspace(tmp_path / "workspace", create=True) as workspace:
        run_id = workspace.create_run(RunConfig(name="moved"))
        dataset = workspace.register_dataset(images, pixels)
        recorder = Recorder(workspace, run_id)
        recorder.dataset(dataset)
        recorder(Ended("done"))
        pixels.unlink()
        (tmp_path / "new").mkdir()
        shutil.move(old, tmp_path / "new" / "photos")
        yield workspace, run_id, dataset


@pytest.mark.parametrize("chosen", ["new/photos", "new", "new/photos/ant"])
def test_all_images_are_there_again_by_one_folder(moved, tmp_path, chosen):
    workspace, run_id, dataset = moved
    sample = int(workspace.samples(dataset).ids[2])
    with pytest.raises(Problem, match="Put it back"):
        workspace.pictures(dataset).thumbnail(sample)
    assert find_images(workspace, dataset, tmp_path / chosen) == (3, 3)
    assert workspace.pictures(dataset).thumbnail(sample).shape == (9, 9, 3)
    kept = json.loads((workspace.folder(run_id) / "dataset.json").read_text("utf-8"))
    assert kept["root"] == str(tmp_path / "new" / "photos"), "a rebuilt workspace finds them, too"


def test_a_folder_without_them_changes_nothing(moved, tmp_path):
    workspace, _, dataset = moved
    (tmp_path / "empty").mkdir()
    before = workspace.dataset(dataset).root
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(Problem, match="Nothing was changed"):
            find_images(workspace, dataset, folder)
    assert workspace.dataset(dataset).root == before


def test_some_of_them_are_counted(moved, tmp_path):
    workspace, _, dataset = moved
    (tmp_path / "new" / "photos" / "ant" / "1.png").unlink()
    assert find_images(workspace, dataset, tmp_path / "new" / "photos") == (2, 3)


def test_a_search_that_is_cancelled_while_it_counts_changes_nothing(moved, tmp_path):
    workspace, _, dataset = moved
    before, said = workspace.dataset(dataset).root, []

    def progress(text, done, total):
        said.append(text)
        if text == "Looking for images":
            raise Cancelled

    with pytest.raises(Cancelled):
        find_images(workspace, dataset, tmp_path / "new", progress)
    assert set(said) == {"Trying folders", "Looking for images"}
    assert workspace.dataset(dataset).root == before
