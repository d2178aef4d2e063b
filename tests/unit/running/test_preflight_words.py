"""What Preflight says of a run is whole sentences; what it shows of an augmentation is what training draws."""

import contextlib
import re

import numpy as np
import pytest

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Cancelled, Control
from workbench.datasets.split import Split
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running import building
from workbench.running import preflight as preflights
from workbench.running.building import load_data
from workbench.running.facts.augmented import augmented_pictures
from workbench.running.facts.environment import recall_notes, split_notes
from workbench.running.launch import make_job, prepare_run
from workbench.running.preflight import preflight
from workbench.workspace import Workspace


@pytest.mark.parametrize("split", ["random", "classes", "mlrc"])
def test_every_sentence_begins_with_a_capital_or_a_number_and_ends_with_a_full_stop(split):
    params = {"folds": 2, "fold": 0} if split == "mlrc" else {}
    found = preflight(
        RunConfig(
            device="cpu", split=Choice(name=split, params=params), backbone=Choice(name="conv4", params={"width": 4}),
            evaluation=EvaluationParams(probe_size=0),
        )
    )  # fmt: skip
    sentences = re.split(r"(?<=\.) ", found.note)
    assert len(sentences) == 2
    assert all(re.fullmatch(r"[A-Z0-9].*[^.]\.", sentence) for sentence in sentences), found.note


@pytest.mark.parametrize(
    ("augmentation", "shown"),
    [
        (Choice(name="none"), 0), (Choice(name="shift"), 6), (Choice(name="strong", params={"crop": 0.75}), 6),
        (Choice(name="crop_flip", params={"crops_of": "whole", "evaluated": "whole", "crop": 0.75}), 6),
    ],
)  # fmt: skip
def test_one_image_is_shown_as_it_is_augmented(augmentation, shown, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.running.building.cache_folder", lambda: tmp_path)
    settings = RunConfig(device="cpu", augmentation=augmentation)
    data = load_data(settings, quiet)
    pictures = augmented_pictures(settings, data, 3)
    side = 16 if augmentation.name == "shift" else 12
    assert [picture.shape for picture in pictures] == [(side, side, 3)] * shown
    assert len({picture.tobytes() for picture in pictures}) == shown
    if augmentation.name == "shift":
        assert np.array_equal(pictures[0], np.broadcast_to(data.pixels[3], (16, 16, 3))), "as it is evaluated"


@pytest.mark.parametrize(
    ("backbone", "backbone_lr", "said"),
    [
        ({"frozen": "all"}, 1.0, True),
        ({}, 0.0, True),
        ({}, 1.0, False),
        ({"frozen": "all", "frozen_batch_norm": True}, 1.0, False),
    ],
)
def test_frozen_layers_with_statistics_that_change_are_told(backbone, backbone_lr, said):
    found = preflight(
        RunConfig(
            device="cpu", backbone=Choice(name="resnet18", params=backbone), evaluation=EvaluationParams(probe_size=0),
            training=TrainingParams(batch_size=8, backbone_lr=backbone_lr),
        )
    )  # fmt: skip
    told = [words for subject, words in found.notes if subject == "the frozen layers"]
    assert ["20 batch-norm layers" in words for words in told if "random" not in words] == [True] * said
    assert any(words.startswith("are random") for words in told) == (backbone != {} or not backbone_lr)


@pytest.mark.parametrize(
    ("ks", "is_query", "said"),
    [
        ("1 2 4", None, []),
        ("1 4 5", None, [("R@5", "is 100% with any network, for a query searches only 5 images; ask for a smaller k")]),
        (
            "1 3 4 100",
            [True] * 2 + [False] * 4,
            [("R@4 and R@100", "are 100% with any network, for a query searches only 4 images; ask for smaller k")],
        ),
    ],
)
def test_a_rank_that_takes_in_all_that_is_searched_is_told(ks, is_query, said):
    asked = None if is_query is None else np.array(is_query)
    split = Split(np.arange(4), np.arange(4, 10), True, is_query=asked)
    assert recall_notes(RunConfig(evaluation=EvaluationParams(recall_at=ks)), split) == said


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([0, 1, 0, 1, 0, 1], []),
        ([0, 0, 0, 0, 1, 1], ["the training set has one class: the network cannot learn to distinguish classes"]),
        ([0, 1, 0, 1, 1, 1], ["the test set has one class: R@k and MAP@R are 100% with any network"]),
    ],
)
def test_a_half_of_one_class_is_told(labels, said):
    split = Split(np.arange(3), np.arange(3, 6), False)
    config = RunConfig(evaluation=EvaluationParams(recall_at="1"))
    assert [" ".join(note) for note in split_notes(config, np.array(labels), split)] == said
    config = RunConfig(evaluation=EvaluationParams(recall_at="1 2"))
    ranks = [subject for subject, _ in split_notes(config, np.array(labels), split) if subject.startswith("R@")]
    assert ranks == ([] if any("test set" in words for words in said) else ["R@2"])


def test_such_a_rank_is_told_before_the_training_and_in_the_run(tmp_path):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}), training=TrainingParams(epochs=1),
        evaluation=EvaluationParams(probe_size=0, recall_at="1 2000", untrained=False),
    )  # fmt: skip
    (told_before,) = [words for subject, words in preflight(config).notes if subject == "R@2000"]
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        heard = []
        make_job(workspace, run_id, Control(), heard.append).start().join()
        assert ["R@2000", told_before] in workspace.run(run_id).environment["data"]["notes"]
        assert any(f"R@2000 {told_before}." in str(event) for event in heard)


def end(*_args, **_named):
    raise Cancelled


def told(text, done, total):
    """Cancelled as soon as the data are looked at, which is after they were loaded."""
    if text.startswith(("Looking for copies", "Reading sizes")):
        raise Cancelled


@pytest.mark.parametrize(
    "ask",
    [
        lambda config: preflights.preflight(config, counted=end),
        lambda config: preflights.preflight(config, told),
        lambda config: preflights.preflight(config, cancelled=lambda: True),
        lambda config: preflights.preflight(config.model_copy(update={"device": "cuda:99"})),
        lambda config: preflights.inspect_data(config, told),
        lambda config: preflights.count_classes(config, quiet),
        lambda config: preflights.steps_per_epoch(config, quiet),
    ],
    ids=["counting", "copies", "at once", "no engine", "look", "classes", "steps"],
)
def test_the_data_that_were_loaded_are_closed_however_it_ends(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "cache_folder", lambda: tmp_path)
    loaded, closed = [], []
    load = building.load_data
    monkeypatch.setattr(building, "load_data", lambda *asked: loaded.append(load(*asked)) or loaded[-1])
    monkeypatch.setattr(building.Data, "close", lambda data: closed.append(id(data)))
    with contextlib.suppress(Cancelled, Problem):
        ask(RunConfig(device="cpu", backbone=Choice(name="conv4", params={"width": 4})))
    assert closed == [id(data) for data in loaded]
