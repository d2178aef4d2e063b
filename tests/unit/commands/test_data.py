"""`workbench data`: what is in a data set, in words and as JSON."""

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from workbench.cli import cli
from workbench.entries import catalog
from workbench.settings.changed import changed, read_config
from workbench.settings.proposals import for_images


@pytest.fixture
def config(tmp_path):
    """Of three classes; b/0.png is saved again in c, and a/0.png copied there."""
    folder = tmp_path / "data"
    for seed, label in enumerate("abc"):
        (folder / label).mkdir(parents=True)
        for number in range(3):
            values = np.random.default_rng(10 * seed + number).integers(0, 256, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(values).save(folder / label / f"{number}.png")
    Image.open(folder / "b" / "0.png").save(folder / "c" / "again.jpg", quality=95, subsampling=0)
    (folder / "c" / "copy.png").write_bytes((folder / "a" / "0.png").read_bytes())
    (folder / "c" / "broken.png").write_bytes(b"")
    path = tmp_path / "config.toml"
    path.write_text(f'[dataset]\nname = "folder"\nfolder = "{folder.as_posix()}"\nimage_size = 16\n', encoding="utf-8")
    return str(path)


def asked(*words):
    done = CliRunner().invoke(cli, ["data", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_says_what_is_there(config):
    lines = asked(config, "--set", "split.name=classes", "--near-duplicates").splitlines()
    assert lines == [
        "Images: 11, classes: 3",
        "In train: 6, classes: 2",
        "In test: 5, classes: 1",
        "Left out: 1",
        "  c/broken.png: is empty (0 bytes)",
        "Groups of images with the same pixels: 1",
        "  a/0.png (train), c/copy.png (test)",
        "Test images with a copy in the training set: 1",
        "Groups whose images have different labels: 1",
        "Pairs of near-duplicates: 1",
        lines[10],
        "Test images with a near-duplicate in the training set: 1",
        "Pairs of two classes: 1",
    ]
    similarity, pair = lines[10].strip().split("  ")
    assert 0.98 <= float(similarity) < 1
    assert pair == "b/0.png (train), c/again.jpg (test)"


def test_long_lists_are_cut_and_counted(config):
    lines = asked(config, "--set", "split.name=classes", "--most", "0").splitlines()
    assert lines[3:5] == ["Left out: 1", "  ... and 1 more; --most and --json print them"]
    assert "Pairs of near-duplicates" not in "".join(lines)


def test_json_has_everything(config):
    told = json.loads(asked(config, "--set", "split.name=classes", "--near-duplicates", "--json", "--most", "0"))
    assert told["classes"]["c"] == {"train": 0, "test": 5}
    assert told["problems"] == [["c/broken.png", "is empty (0 bytes)"]]
    assert told["copies"] == [
        [{"path": "a/0.png", "class": "a", "half": "train"}, {"path": "c/copy.png", "class": "c", "half": "test"}]
    ]
    assert told["copies_of_two_classes"] == 1
    near = told["near_duplicates"]
    assert (near["total"], near["in_both_halves"], near["of_two_classes"]) == (1, 1, 1)
    assert near["pairs"][0]["images"][1] == {"path": "c/again.jpg", "class": "c", "half": "test"}


def test_of_a_folder_it_prints_the_command_that_trains_on_it(config, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "none"))
    folder = tmp_path / "data"
    (folder / "d").mkdir()
    for number in range(3):
        (folder / "d" / f"{number}.png").write_bytes((folder / "a" / f"{number}.png").read_bytes())
    *lines, last = asked(str(folder), "--set", "dataset.image_size=16", "--set", "training.epochs=1").splitlines()
    assert "Half of the classes train, the others are searched, as with classes that come later." in lines
    start, _, command = last.partition("Train on it with: ")
    program, *words = shlex.split(command)
    assert (start, program, words[0]) == ("", "workbench", "run")
    changes = tuple(change for option, change in zip(words[2::2], words[3::2], strict=True) if option == "--set")
    trained = read_config(words[1], changes)
    assert (trained.name, trained.dataset.params["folder"]) == ("data", str(folder))
    assert (trained.split.name, trained.augmentation.name, trained.training.epochs) == ("classes", "crop_flip", 1)
    proposed = for_images(folder, [], catalog.current()).config
    wanted = changed(proposed, {"dataset.image_size": 16, "training.epochs": 1}, catalog.current(), "test")
    assert trained.filled(catalog.current()) == wanted.filled(catalog.current())
    parsed = json.loads(asked(str(folder), "--set", "dataset.image_size=16", "--json"))
    assert parsed["train"][:2] == ["workbench", "run"]


def test_weights_beside_a_folder_are_in_its_command(config, tmp_path):
    (tmp_path / "weights").mkdir()
    file = tmp_path / "weights" / "squeezenet1_0.pth"
    file.write_bytes(b"")
    words = json.loads(asked(str(tmp_path / "data"), "--set", "split.name=random", "--json"))["train"]
    assert words[2] == "photographs-unseen"
    assert f"backbone.weights_file={file}" in words
    assert "split.name=random" in words


def test_run_of_a_folder_names_the_command(tmp_path):
    refused = CliRunner().invoke(cli, ["run", str(tmp_path)])
    assert refused.exit_code == 2
    assert (
        "It is a folder, not a file. `workbench data FOLDER` prints the command that trains on its images."
        in refused.stderr
    )
