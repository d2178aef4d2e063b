"""Data that changes between two runs is told, and a run is never resumed on other data than it began with."""

import os

import pytest
from PIL import Image

from tests.class_folders import class_folders
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Remarked
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace


@pytest.fixture
def folder(tmp_path):
    return class_folders(tmp_path / "data", "abcd", 6, (12, 12, 3))


def config(folder, **changes):
    data = Choice(name="folder", params={"folder": str(folder), "image_size": 16, **changes})
    return RunConfig(
        device="cpu", dataset=data, split=Choice(name="classes"), backbone=Choice(name="conv4", params={"width": 4}),
        training=TrainingParams(epochs=1, batch_size=4), evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip


def train(workspace, run_id, *, resume=False, listen=None):
    make_job(workspace, run_id, Control(), listen, resume=resume).start().join()
    return workspace.run(run_id)


def said_of(workspace, folder):
    """What who watches the next run is told of its data."""
    events = []
    train(workspace, prepare_run(config(folder), workspace), listen=events.append)
    return [event.text for event in events if isinstance(event, Remarked)]


def test_another_run_on_changed_files_says_so_and_the_first_is_not_resumed(folder, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        first = train(workspace, prepare_run(config(folder), workspace))
        assert train(workspace, prepare_run(config(folder), workspace)).environment["data"]["changed"] == ""
        Image.new("RGB", (40, 40)).save(folder / "a" / "0.png")
        other = train(workspace, prepare_run(config(folder, image_size=24), workspace))
        assert other.environment["data"]["changed"] == "", "read in another way: nothing can be said"
        later = train(workspace, prepare_run(config(folder), workspace))
        assert later.environment["data"]["changed"] == ("The files of folder are not those of run 2: they have changed")
        workspace.take_over(first.id)
        resumed = train(workspace, first.id, resume=True)
        assert resumed.status == "failed"
        assert "The data set has changed since run 1 began" in resumed.problem


def test_a_resumed_run_says_that_files_were_written_again_with_the_same_sizes(folder, tmp_path):
    told = []
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = train(workspace, prepare_run(config(folder), workspace))
        for written in (False, True):
            if written:
                image = folder / "a" / "0.png"
                os.utime(image, ns=(1, image.stat().st_mtime_ns + 1_000_000_000))
            events = []
            workspace.take_over(run.id)
            train(workspace, run.id, resume=True, listen=events.append)
            told.append([event.text for event in events if isinstance(event, Remarked)])
    assert told == [
        [],
        [
            "Files of folder were written again since run 1 began, with the same names and sizes: it continues with "
            "the images that they hold now."
        ],
    ]


def test_images_in_both_halves_are_told(folder, tmp_path):
    (folder / "d" / "copy.png").write_bytes((folder / "a" / "1.png").read_bytes())
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = train(workspace, prepare_run(config(folder), workspace))
        assert run.environment["data"]["shared"] == "1 test image has an exact copy in the training set"


def test_both_are_said_to_who_watches_the_run_begin(folder, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert said_of(workspace, folder) == []
        (folder / "d" / "copy.png").write_bytes((folder / "a" / "1.png").read_bytes())
        assert said_of(workspace, folder) == [
            "1 test image has an exact copy in the training set.",
            "The files of folder are not those of run 1: they have changed.",
        ]
