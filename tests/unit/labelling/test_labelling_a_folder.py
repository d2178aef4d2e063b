"""`workbench label` with a real network: suggestions, the list that a run trains with, and what is kept."""

import csv
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from tests.trained_sample import sample_space
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.labelling.keeping import NAME, Labelling, keep, kept
from workbench.labelling.request import suggest
from workbench.labelling.table import as_csv, groups_sentence, threshold_sentence
from workbench.problem import Problem
from workbench.running import launch
from workbench.workspace import Workspace

COUNT = 30


@pytest.fixture
def space(tmp_path):
    return sample_space(tmp_path, 1)


@pytest.fixture
def folder(tmp_path, space):
    """Digits of the test set as files, two pictures of noise, one file that is no image."""
    new = tmp_path / "new"
    (new / "deeper").mkdir(parents=True)
    with Workspace(space) as workspace:
        ids, labels, _ = workspace.embeddings(workspace.evaluations(1)[-1].id)
        pictures = workspace.pictures(workspace.run(1).dataset_id)
        for row in range(COUNT):
            name = new / ("deeper" if row % 2 else "") / f"{labels[row]}-{row:02}.png"
            Image.fromarray(pictures.thumbnail(int(ids[row]))).convert("L").save(name)
    noise = np.random.default_rng(0).integers(0, 256, (2, 8, 8), np.uint8)
    for number, pixels in enumerate(noise):
        Image.fromarray(pixels).save(new / f"noise-{number}.png")
    (new / "broken.jpg").write_bytes(b"no image")
    return new


def test_images_of_the_test_half_are_given_their_class_and_the_list_can_be_trained_with(space, folder, tmp_path):
    out = tmp_path / "list.csv"
    done = CliRunner().invoke(cli, ["label", "1", str(folder), "--workspace", str(space), "--csv", str(out)])
    assert done.exit_code == 0, done.output
    assert "broken.jpg is not an image of a known format" in done.stderr
    with out.open(encoding="utf-8", newline="") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    assert len(rows) == COUNT + 2
    with Workspace(space) as workspace:
        paths = set(workspace.samples(workspace.run(1).dataset_id).paths)
        names = workspace.dataset(workspace.run(1).dataset_id).class_names
    for path, row in rows.items():
        assert row["nearest"] in paths
        if "noise" not in path:
            assert row["label"] == row["nearest class"] == names[int(path.split("/")[-1][0])]
            assert float(row["similarity"]) == pytest.approx(1, abs=1e-4)
            assert row["group"] == ""
        elif not row["label"]:
            assert float(row["similarity"]) < 1
    config = {
        "dataset": {"name": "csv", "file": str(out), "folder": str(folder), "image_size": 8, "colour": "grey"},
        "split": {"name": "images"}, "backbone": {"name": "conv4", "width": 8}, "device": "cpu",
        "training": {"epochs": 1, "batch_size": 8},
    }  # fmt: skip
    with Workspace(tmp_path / "second", create=True) as workspace:
        made = launch.prepare_run(RunConfig.model_validate(config), workspace)
        assert workspace.run(made).status == "queued"


def test_the_command_prints_lines_or_json(space, folder):
    command = ["label", "1", str(folder), "--workspace", str(space)]
    lines = CliRunner().invoke(cli, [*command, "--most", "3"]).stdout.splitlines()
    assert lines[0].startswith("A class is suggested from similarity 0.")
    assert "are given one of 10 classes" in lines[1]
    assert len([line for line in lines if ".png" in line]) == 3
    assert lines[-1] == f"{COUNT + 2 - 3} more: write all with --csv FILE."
    plain = json.loads(CliRunner().invoke(cli, [*command, "--json", "--false-positives", "0.05"]).stdout)
    assert plain["threshold"]["fpir"] == 0.05
    assert len(plain["images"]) == COUNT + 2
    assert plain["left_out"] == [["broken.jpg", "is not an image of a known format"]]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("\udcff", "cannot be kept"),
        ("gone", "is no folder"),
        ("empty", "No image in"),
        ("bad", "No image in .* x.png is"),
    ],
)
def test_a_folder_without_images_is_refused(space, tmp_path, where, said):
    for name in ("empty", "bad"):
        (tmp_path / name).mkdir()
    (tmp_path / "bad" / "x.png").write_bytes(b"x")
    with Workspace(space) as workspace, pytest.raises(Problem, match=said):
        suggest(workspace, workspace.evaluations(1)[-1].id, tmp_path / where)


def test_what_is_kept_comes_back_with_its_answers(space, folder):
    with Workspace(space) as workspace:
        evaluation = workspace.evaluations(1)[-1].id
        assert kept(workspace, evaluation) is None
        suggested = suggest(workspace, evaluation, folder)
        labelling = Labelling(suggested, {"noise-0.png": "other", "noise-1.png": ""})
        keep(workspace, labelling)
        assert kept(workspace, evaluation) == labelling
        assert kept(workspace, workspace.evaluations(1)[0].id) is None
        text = as_csv(suggested, {}, labelling.answers)
        assert "noise-0.png,other," in text
        assert threshold_sentence(suggested)
        assert groups_sentence(suggested)
        for image, answer in zip(
            (suggested.images[0], replace(suggested.images[0], label="")), ("one", "none"), strict=True
        ):
            one = groups_sentence(replace(suggested, images=[image]))
            assert one == f"The only image is given {answer} of {suggested.classes} classes."


def test_a_file_that_was_tampered_with_is_refused(space, folder):
    changes = (
        lambda text: text[:50],
        lambda text: text.replace('"evaluation":', '"evaluation":7'),
        lambda text: text.replace("noise-0.png", "../noise-0.png"),
        lambda text: text.replace("noise-0.png", "/noise-0.png"),
        lambda text: text.replace('"similarity":', '"other":'),
        lambda text: text.replace("noise-0.png", "noise\\u0000.png"),
        lambda text: re.sub('"nearest":[0-9]+', f'"nearest":{2**70}', text),
        lambda text: re.sub('"similarity":[0-9.]+', '"similarity":NaN', text),
    )
    with Workspace(space) as workspace:
        evaluation = workspace.evaluations(1)[-1].id
        keep(workspace, Labelling(suggest(workspace, evaluation, folder), {}))
        place = workspace.folder(1) / NAME.format(evaluation)
        good = place.read_text("utf-8")
        for change in changes:
            assert change(good) != good
            place.write_text(change(good), "utf-8")
            with pytest.raises(Problem, match="Suggest the classes again"):
                kept(workspace, evaluation)


@pytest.mark.skipif(os.name == "nt", reason="Windows allows neither mark in a name")
def test_colons_and_backslashes_in_names_are_kept(space, tmp_path):
    with Workspace(space) as workspace:
        evaluation = workspace.evaluations(1)[-1].id
        folder = tmp_path / "shots"
        folder.mkdir()
        for name in ("10:30.png", "a\\..\\b.png"):
            Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / name)
        labelling = Labelling(suggest(workspace, evaluation, folder), {"10:30.png": "shot"})
        assert [image.path for image in labelling.suggested.images] == ["10:30.png", "a\\..\\b.png"]
        keep(workspace, labelling)
        assert kept(workspace, evaluation) == labelling


def test_the_rate_is_an_upper_limit_and_classes_of_the_training_are_warned_of(space, folder):
    with Workspace(space) as workspace:
        suggested = suggest(workspace, workspace.evaluations(1)[-1].id, folder)
    warning = "The network was trained on these classes"
    assert "at most 1.0% of" in threshold_sentence(suggested)
    assert warning in threshold_sentence(replace(suggested, shares_classes=True))
    assert warning not in threshold_sentence(replace(suggested, shares_classes=False))
