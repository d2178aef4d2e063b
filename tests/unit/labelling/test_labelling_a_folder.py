"""`workbench label` with a real network: suggestions, the list that a run trains with, and what is kept."""

import csv
import errno
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from tests.trained_sample import sample_space
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.labelling.keeping import ANSWERS, NAME, Labelling, Replaced, answers_for, give, keep, kept
from workbench.labelling.nearest import Threshold
from workbench.labelling.request import Suggested, Suggestion, suggest
from workbench.labelling.table import as_csv, groups_sentence, threshold_sentence
from workbench.problem import Problem, UnknownName
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
        labelling = keep(workspace, Labelling(suggested, {"noise-0.png": "other", "noise-1.png": ""}))
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
        lambda text: re.sub('"name":"[0-9a-f]+"', '"name":"../x"', text),
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


def answered(workspace):
    """A list with one answer, and the file of its answers."""
    evaluation = workspace.evaluations(1)[-1].id
    image = Suggestion("a.png", "", 0, 0.5, "class 0", 0, "class 1", 0.25)
    limit = Threshold(0.01, 0.7, 100, 100, None, None, None)
    images = [image, replace(image, path="b.png")]
    of = Suggested(1, evaluation, 1, "cosine", "folder", 12, 3, limit, "", None, images, [])
    labelling = keep(workspace, Labelling(of, {"a.png": "old"}))
    return labelling, workspace.folder(1) / ANSWERS.format(evaluation, labelling.name)


def test_answers_of_many_writers_at_once_are_all_kept(space):
    with Workspace(space) as workspace:
        labelling, _ = answered(workspace)
        given = {f"{number}.png": f"class {number}" for number in range(40)}
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda path: give(workspace, labelling, {path: given[path]}), given))
        assert kept(workspace, labelling.suggested.evaluation).answers == {"a.png": "old", **given}


def test_an_answer_is_undone_unless_another_program_changed_it(space):
    with Workspace(space) as workspace:
        labelling, _ = answered(workspace)
        assert give(workspace, labelling, {"a.png": "new"}) == {"a.png": "new"}
        give(workspace, labelling, {"b.png": "theirs"})
        assert give(workspace, labelling, {"a.png": None}, {"a.png": "new"}) == {"b.png": "theirs"}
        with pytest.raises(Problem, match="changed meanwhile by another window"):
            give(workspace, labelling, {"b.png": None}, {"b.png": "mine"})
        assert kept(workspace, labelling.suggested.evaluation).answers == {"b.png": "theirs"}


def test_a_line_that_a_power_cut_tore_is_left_out_and_written_over(space):
    with Workspace(space) as workspace:
        labelling, file = answered(workspace)
        with file.open("ab") as torn:
            torn.write(b'{"b.png": "a class of a very long na')
        assert kept(workspace, labelling.suggested.evaluation).answers == {"a.png": "old"}
        give(workspace, labelling, {"b.png": "x"})
        assert kept(workspace, labelling.suggested.evaluation).answers == {"a.png": "old", "b.png": "x"}


@pytest.mark.parametrize("line", [b"no json\n", b'{"a.png": 3}\n', b'{"../a.png": "x"}\n'])
def test_damaged_answers_are_refused(space, line):
    with Workspace(space) as workspace:
        labelling, file = answered(workspace)
        with file.open("ab") as damaged:
            damaged.write(line)
        with pytest.raises(Problem, match="Suggest the classes again"):
            kept(workspace, labelling.suggested.evaluation)
        with pytest.raises(Problem, match="Suggest the classes again"):
            give(workspace, labelling, {"a.png": "x"})


def test_a_full_disk_is_said_and_the_answers_before_stay(space, monkeypatch):
    with Workspace(space) as workspace:
        labelling, file = answered(workspace)
        before = file.read_bytes()

        def full(descriptor, content):
            raise OSError(errno.ENOSPC, "no space")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(Problem, match="no space left"):
            give(workspace, labelling, {"a.png": "x"})
        monkeypatch.undo()
        assert file.read_bytes() == before


def test_an_answer_to_a_replaced_list_is_refused_and_a_new_list_may_have_the_answers_of_the_old_one(space):
    with Workspace(space) as workspace:
        labelling, file = answered(workspace)
        give(workspace, labelling, {"gone.png": "x"})
        assert answers_for(workspace, labelling.suggested) == {"a.png": "old"}
        assert answers_for(workspace, replace(labelling.suggested, folder="other")) == {}
        keep(workspace, labelling)
        assert not file.exists()
        with pytest.raises(Replaced, match="another list"):
            give(workspace, labelling, {"a.png": "x"})


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
        labelling = keep(workspace, labelling)
        assert kept(workspace, evaluation) == labelling


def test_the_rate_is_an_upper_limit_and_classes_of_the_training_are_warned_of(space, folder):
    with Workspace(space) as workspace:
        suggested = suggest(workspace, workspace.evaluations(1)[-1].id, folder)
    warning = "The network was trained on these classes"
    assert "at most 1.0% of" in threshold_sentence(suggested)
    assert warning in threshold_sentence(replace(suggested, shares_classes=True))
    assert warning not in threshold_sentence(replace(suggested, shares_classes=False))


def test_the_epoch_before_training_is_refused_before_the_folder_is_looked_at(space, tmp_path):
    with Workspace(space) as workspace:
        untrained = next(one for one in workspace.evaluations(1) if one.epoch == 0)
        with pytest.raises(UnknownName, match="before training is not kept"):
            suggest(workspace, untrained.id, tmp_path / "gone")


def test_the_order_is_that_of_the_places_or_of_the_groups(space, folder, tmp_path):
    command = ["label", "1", str(folder), "--workspace", str(space), "--json", "--order"]
    typical = json.loads(CliRunner().invoke(cli, [*command, "typical"]).stdout)["images"]
    without = [image for image in typical if not image["label"]]
    assert without
    assert typical[: len(without)] == without
    assert [image["place"] for image in without] == list(range(1, len(without) + 1))
    assert not any(image["place"] for image in typical[len(without) :])
    grouped = json.loads(CliRunner().invoke(cli, [*command, "groups"]).stdout)["images"]
    assert [image["group"] for image in grouped[: len(without)]] == sorted(
        (image["group"] for image in without), key=lambda group: group or len(typical)
    )
    out = tmp_path / "list.csv"
    CliRunner().invoke(cli, [*command[:5], "--order", "typical", "--csv", str(out)])
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["path"] for row in rows] == [image["path"] for image in typical]
    assert [row["place"] for row in rows[: len(without)]] == [str(image["place"]) for image in without]
