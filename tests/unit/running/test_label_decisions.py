"""Runs with a person's label decisions: what trains, what is scored beside the labels as they are, and bad files."""

from dataclasses import replace

import numpy as np
import pytest

from tests.ui.trained import CLASSES, image_set
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.datasets.decisions import PathDecision, decided_labels, decisions_text, read_decisions
from workbench.datasets.split import Split
from workbench.evaluation.retrieval import retrieve
from workbench.events import Evaluated
from workbench.problem import Problem
from workbench.running.building import Data, load_data, training_classes, training_labels, with_decisions
from workbench.running.engine import Engine


def data_of(images, disjoint):
    rows = np.arange(len(images.labels))
    trains = images.labels < 3 if disjoint else rows % 2 == 0
    return Data(images, np.empty((0, 8, 8, 1), np.uint8), None, Split(rows[trains], rows[~trains], disjoint))


def config_with(path):
    return RunConfig(training=TrainingParams(label_decisions=str(path)))


def test_the_training_half_is_relabelled_and_dropped(tmp_path):
    images = image_set(40)
    rows = [PathDecision(images.paths[0], CLASSES[0], "relabel", CLASSES[1]), PathDecision(images.paths[4], "", "drop"),
            PathDecision(images.paths[2], "", "keep"), PathDecision(images.paths[1], "", "drop")]  # fmt: skip
    file = tmp_path / "decisions.csv"
    file.write_text(decisions_text(rows))
    assert [row.decision for row in read_decisions(file)] == ["relabel", "drop", "keep", "drop"]
    data = with_decisions(config_with(file), data_of(images, False))
    assert data.split.train.tolist() == [row for row in range(0, 40, 2) if row != 4]
    assert len(data.split.test) == 20  # image 1 is of the test set: nothing trains with it
    assert data.notes[-1] == ("the label decisions of decisions.csv", "change 2 of 20 training images")
    assert data.train_labels[0] == 1
    assert data.images.labels[0] == 0  # the data set is as it was
    assert training_labels(data).tolist() == np.searchsorted(training_classes(data), data.train_labels).tolist()


def test_decisions_that_are_all_about_the_other_half_are_said_to_change_nothing(tmp_path):
    images, file = image_set(40), tmp_path / "decisions.csv"
    rows = [PathDecision(images.paths[0], "", "keep"), PathDecision(images.paths[1], CLASSES[1], "relabel", CLASSES[0])]
    file.write_text(decisions_text(rows), encoding="utf-8")
    about_test = with_decisions(config_with(file), data_of(images, False))
    assert about_test.train_labels.tolist() == images.labels[::2].tolist()
    said = "change no training image: training is as without them"
    assert about_test.notes[-1] == ("the label decisions of decisions.csv", said)
    scored = RunConfig(evaluation=EvaluationParams(label_decisions=str(file)))
    assert with_decisions(scored, data_of(images, False)).decisions == []
    file.write_text(decisions_text(rows[:1]), encoding="utf-8")
    said = "change no test image: the scores with them are those without"
    assert with_decisions(scored, data_of(images, False)).decisions == [("the label decisions of decisions.csv", said)]


@pytest.mark.parametrize(("encoding", "named"), [("utf-8-sig", ""), ("utf-16", ""), ("utf-8-sig", "sep=;\n")])
def test_decisions_that_a_spreadsheet_saved_with_semicolons_are_read(tmp_path, encoding, named):
    rows = [PathDecision("a, b.jpg", "=x", "relabel", "y"), PathDecision("c.jpg", "", "drop")]
    file = tmp_path / "decisions.csv"
    file.write_text(named + decisions_text([rows[1]]).replace(",", ";") + "a, b.jpg;'=x;relabel;y\n", encoding)
    assert read_decisions(file) == rows[::-1]


def test_a_class_of_the_test_half_never_trains(tmp_path):
    images, file = image_set(40), tmp_path / "decisions.csv"
    file.write_text(decisions_text([PathDecision(images.paths[0], CLASSES[0], "relabel", CLASSES[3])]))
    data = with_decisions(config_with(file), data_of(images, True))
    assert 0 not in data.split.train
    assert set(data.train_labels.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("queries", [None, 4])
def test_decisions_that_leave_nothing_to_retrieve_are_refused_before_the_run(tmp_path, queries):
    images, file = image_set(40), tmp_path / "decisions.csv"
    data = data_of(images, True)
    test = data.split.test
    data.split = replace(data.split, is_query=None if queries is None else np.arange(len(test)) < queries)
    config = RunConfig(evaluation=EvaluationParams(label_decisions=str(file)))
    alone = {int(images.labels[row]): images.paths[row] for row in test}  # one image of each class
    dropped = [images.paths[row] for row in test if images.paths[row] not in alone.values()]
    file.write_text(decisions_text(PathDecision(path, "", "drop") for path in dropped))
    with pytest.raises(Problem, match="no image of the test set whose class has another") as raised:
        with_decisions(config, data)
    assert raised.value.field == "evaluation.label_decisions"
    file.write_text(decisions_text(PathDecision(path, "", "drop") for path in dropped[4:]))
    assert with_decisions(config, data).decided is not None


def test_without_decisions_nothing_is_different():
    data = data_of(image_set(20), False)
    same = with_decisions(RunConfig(), data)
    assert same.training is None
    assert same.decided is None
    assert same.train_labels.tolist() == data.images.labels[data.split.train].tolist()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("path,class\na,b\n", "needs the columns"),
        ("path,decision\na,guess\n", "Line 2"),
        ("path,decision\na,keep\n\nb,guess\n", "Line 4"),
        ('path,decision,why\na,drop,\nb,drop,"blurred\nc,drop,\n', "a quotation mark in line 3 is not closed"),
        ("path,decision,new_class\na,relabel,\n", "Line 2"),
        ("path,decision,new_class\na,keep,b\n", "Line 2"),
        ("path,decision\nelsewhere.png,drop\n", "None of the 1 label decisions"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, text, what):
    file = tmp_path / "decisions.csv"
    file.write_text(text)
    with pytest.raises(Problem, match=what):
        decided_labels(image_set(8), read_decisions(file))
    with pytest.raises(Problem, match="cannot be read"):
        read_decisions(tmp_path / "none.csv")


def test_a_run_has_both_scores(tmp_path):
    settings = {"every": 1, "probe_size": 0, "untrained": False}
    config = RunConfig(
        device="cpu", split=Choice(name="random"), embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1, batch_size=128), evaluation=EvaluationParams(**settings),
    )  # fmt: skip
    data = load_data(config, lambda *words: None)
    test, images = data.split.test, data.images
    rows = [PathDecision(images.paths[row], "", "relabel", images.class_names[(images.labels[row] + 1) % 10])
            for row in test[:30]]  # fmt: skip
    rows += [PathDecision(images.paths[row], "", "drop") for row in test[30:60]]
    file = tmp_path / "decisions.csv"
    file.write_text(decisions_text(rows))
    config = config.model_copy(update={"evaluation": EvaluationParams(**settings, label_decisions=str(file))})
    heard = []
    Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), heard.append).run()
    (event,) = [event for event in heard if isinstance(event, Evaluated)]
    labels = images.labels[test].copy()
    labels[:30] = (labels[:30] + 1) % 10
    stays = np.ones(len(test), bool)
    stays[30:60] = False
    expected = retrieve(event.embeddings[stays], labels[stays], event.sample_ids[stays], k=1).metrics
    plain = retrieve(event.embeddings, images.labels[test], event.sample_ids, k=1).metrics
    assert event.metrics["decided/MAP@R"] == expected["MAP@R"]
    assert event.metrics["MAP@R"] == plain["MAP@R"]
    assert event.metrics["decided/MAP@R"] < event.metrics["MAP@R"]
