"""Data that refuse a run are named before it is made; one that is refused later stays in the list, as is said of it."""

import pytest
from click.testing import CliRunner

from tests.unit.class_folders import draw_classes
from workbench.cli import cli
from workbench.datasets.images.scan import find_images
from workbench.datasets.own import folder
from workbench.running.launch import prepare_run
from workbench.workspace import Workspace

CONFIG = """
seeds = {seeds}

[dataset]
name = "folder"
folder = "{folder}"

[backbone]
name = "{backbone}"
{weights}

[split]
name = "random"

[sampler]
name = "classes_images"
images_per_class = {images}

[training]
batch_size = {batch}
epochs = 1
label_decisions = "{decisions}"
"""
MISSING = {
    "folder": ("no such folder", "There is no folder or archive"),
    "weights": ("no such file.pth", "There is no weights file"),
    "decisions": ("no such file.csv", "The label decisions in"),
    "classes": ("", "A batch of 4 classes x 16 images needs more classes than the 2 of the training set"),
}


@pytest.fixture
def config(tmp_path):
    """Writes a config whose data can be read, unless something is missing."""
    draw_classes(tmp_path / "images", "ant", "bee", count=8)

    def written(missing="", seeds=1):
        place = (tmp_path / MISSING[missing][0]).as_posix() if missing else ""
        path = tmp_path / "job.toml"
        words = {
            "folder": place if missing == "folder" else (tmp_path / "images").as_posix(), "seeds": seeds,
            "backbone": "squeezenet1_0" if missing == "weights" else "conv4",
            "weights": f'weights = "file"\nweights_file = "{place}"' if missing == "weights" else "",
            "decisions": place if missing == "decisions" else "",
            "images": 16 if missing == "classes" else 2, "batch": 64 if missing == "classes" else 4,
        }  # fmt: skip
        path.write_text(CONFIG.format(**words), "utf-8")
        return str(path)

    return written


def test_weights_that_may_not_be_fetched_are_asked_for_before_a_run_is_made(config, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "hub"))
    words = ["run", config(), "-w", str(tmp_path / "space"), "--set", "backbone.name=resnet18"]
    said = CliRunner().invoke(cli, [*words, "--set", "backbone.weights=cache"])
    assert said.exit_code == 1
    assert 'Nothing was started. Tick "Allow download" to fetch them from' in " ".join(said.stderr.split())
    assert not (tmp_path / "space").exists()


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("missing", MISSING)
def test_data_or_weights_that_are_not_there_are_named_before_a_run_is_made(config, tmp_path, missing, seeds):
    said = CliRunner().invoke(cli, ["run", config(missing, seeds), "-w", str(tmp_path / "space")])
    assert said.exit_code == 1
    assert said.stderr.startswith(MISSING[missing][1])
    assert said.stdout == ""
    assert not (tmp_path / "space").exists(), "no empty workspace is left"


def test_a_run_is_prepared_from_a_config_alone(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        with pytest.raises(TypeError, match="from a RunConfig, not from 'sample-digits': "):
            prepare_run("sample-digits", workspace)
        assert workspace.runs() == []


def test_a_refused_run_leaves_a_workspace_that_was_there_as_it_was(config, tmp_path):
    with Workspace(tmp_path / "space", create=True):
        pass
    said = CliRunner().invoke(cli, ["run", config(), "--devices", "7", "-w", str(tmp_path / "space")])
    assert said.exit_code == 1
    with Workspace(tmp_path / "space") as workspace:
        assert workspace.runs() == []


def unreadable_images(tmp_path):
    """All but one image of a class, which only a run that decodes them finds out."""
    for path in sorted((tmp_path / "images" / "bee").iterdir())[1:]:
        path.write_bytes(b"no image")


def test_a_run_that_is_refused_later_is_kept_as_failed_and_said_to_be(config, tmp_path):
    unreadable_images(tmp_path)
    said = CliRunner().invoke(cli, ["run", config(), "-w", str(tmp_path / "space")])
    assert said.exit_code == 1
    assert "Nothing was trained; run 1 is kept as failed." in said.output
    assert "Nothing was started" not in said.output
    with Workspace(tmp_path / "space") as workspace:
        (run,) = workspace.runs()
        assert run.status == "failed"
        assert "Nothing was trained" in run.problem


def test_a_run_that_cannot_go_on_keeps_what_it_had(config, tmp_path):
    unreadable_images(tmp_path)
    words = ["run", config(), "-w", str(tmp_path / "space")]
    CliRunner().invoke(cli, words)
    assert "What run 1 had is kept." in CliRunner().invoke(cli, [*words, "--resume"]).output


def test_so_is_one_in_a_folder(config, tmp_path):
    said = CliRunner().invoke(cli, ["run", config("folder"), "--folder", str(tmp_path / "travels")])
    assert "Nothing was trained; the run in this folder is kept as failed." in said.output


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--set", "seeds=1"), ("run", "--set", "seeds=2"),
        ("sweep", "start", "--set", "seeds=1", "--param", "training.lr=0.01,0.1"),
    ],
)  # fmt: skip
def test_all_runs_take_what_the_check_has_listed(config, tmp_path, monkeypatch, words):
    """Millions of images take minutes to list."""
    listings = []

    def counted(*place):
        listings.append(place)
        return find_images(*place)

    monkeypatch.setattr(folder, "find_images", counted)
    command = [*words, config(), "--set", "dataset.image_size=32", "-w", str(tmp_path / "space")]
    said = CliRunner().invoke(cli, command)
    assert said.exit_code == 0, said.output
    assert len(listings) == 1
