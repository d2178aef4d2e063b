"""`workbench data`: what is in a data set, in words and as JSON."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from workbench.cli import cli


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
