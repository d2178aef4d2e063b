"""Scores by class size, of stored runs: groups, chance, sizes of the training set, and what cannot be measured."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from tests.trained_sample import sample_values, trained
from tests.ui.small_run import blobs, store_run
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.evaluation.class_sizes import Estimate
from workbench.problem import Problem
from workbench.results.by_class_size import (
    GALLERY,
    NO_CLASS,
    TRAINING,
    as_csv,
    as_data,
    by_class_size,
    cells_of,
    grouped,
    scores_of_classes,
)
from workbench.results.stored import read_training_half
from workbench.workspace import Workspace
from workbench.workspace.rows import Queries
from workbench.workspace.training_sizes import training_sizes

SIZES = (2, 3, 4, 6, 8, 12, 15, 20, 30)  # images of each class
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)
RATIO = 20


@pytest.fixture(scope="module")
def long_tailed(tmp_path_factory):
    """A workspace with a run that was trained with fewer images of later digits."""
    values = sample_values(1)
    values["split"] = {"name": "random", "train_fraction": 0.6}
    values["sampler"] = {"name": "long_tailed", "ratio": RATIO}
    values["training"]["batch_size"] = 32
    values["evaluation"]["store_training"] = True
    with Workspace(tmp_path_factory.mktemp("tail") / "space", create=True) as made:
        yield made, trained(made, values)


def queries_of(labels, ap, first_hit, r):
    columns = (np.asarray(ap, np.float32), np.asarray(first_hit, np.int32), np.asarray(r, np.int32))
    return Queries(np.arange(len(labels)) + 100, np.asarray(labels), *columns, np.asarray(first_hit) == 1)


def test_each_score_is_that_of_the_definition(workspace):
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.2, 0)], with_proxies=False)
    measured = by_class_size(workspace, run.evaluations[0])
    assert (measured.counted, measured.shots, measured.remarks) == (GALLERY, False, ())
    assert [(group.title, group.size_words, group.classes) for group in measured.groups] == [
        ("Large", "15 to 30", 3), ("Middle", "6 to 12", 3), ("Small", "2 to 4", 3),
    ]  # fmt: skip
    ap, first_hit = run.ap.astype(np.float64), run.first_hit
    for group, labels in zip(measured.groups, ((6, 7, 8), (3, 4, 5), (0, 1, 2)), strict=True):
        assert group.queries == sum(SIZES[label] for label in labels)
        precision = [ap[run.labels == label].mean() for label in labels]
        recall = [(first_hit[run.labels == label] == 1).mean() for label in labels]
        chance = [(SIZES[label] - 1) / (len(LABELS) - 1) for label in labels]
        assert group.scores["MAP@R"].value == pytest.approx(np.mean(precision), abs=1e-12)
        assert group.scores["recall@1"].value == pytest.approx(np.mean(recall), abs=1e-12)
        assert group.chance["recall@1"] == pytest.approx(np.mean(chance), abs=1e-12)
        assert group.scores["MAP@R"].low <= group.scores["MAP@R"].value <= group.scores["MAP@R"].high


def test_chance_is_what_random_embeddings_score(workspace):
    labels = np.repeat(LABELS, 10)
    run = store_run(workspace, labels, embeddings=[blobs(np.zeros_like(labels), 1, 3)], with_proxies=False)
    groups = by_class_size(workspace, run.evaluations[0]).groups
    large, _, small = groups
    for group in groups:
        assert group.scores["recall@1"].value == pytest.approx(group.chance["recall@1"], abs=0.06)
        assert group.scores["MAP@R"].value == pytest.approx(group.chance["MAP@R"], abs=0.01)
    assert large.chance["recall@1"] > 5 * small.chance["recall@1"]


def test_the_nearest_class_is_that_of_the_class_vectors(workspace):
    vectors = blobs(LABELS, 1.2, 0)
    run = store_run(workspace, LABELS, embeddings=[vectors])
    measured = by_class_size(workspace, run.evaluations[0])
    centres = np.stack([vectors[label == LABELS].mean(0) for label in range(len(SIZES))]).astype(np.float64)
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in (vectors.astype(np.float64), centres)]
    right = (unit[0] @ unit[1].T).argmax(1) == LABELS
    wanted = [right[label == LABELS].mean() for label in range(len(SIZES))]
    assert measured.classes.values["nearest class"] == pytest.approx(wanted)
    assert measured.groups[0].chance["nearest class"] == 1 / len(SIZES)


def test_embeddings_that_are_gone_leave_out_the_nearest_class_alone(workspace):
    run = store_run(workspace, LABELS)
    for path in workspace.folder(run.run_id).glob("embeddings-*.npy"):
        path.unlink()
    measured = by_class_size(workspace, run.evaluations[0])
    assert measured.metrics == ("recall@1", "MAP@R")
    assert len(measured.groups) == 3
    assert "The nearest class is not measured." in measured.remarks[0]


def test_class_vectors_that_are_not_finite_are_not_searched(workspace, monkeypatch):
    run = store_run(workspace, LABELS)
    vectors, labels = workspace.proxies(run.evaluations[0])
    diverged = np.where(labels[:, None] == 3, np.nan, vectors)
    monkeypatch.setattr(workspace, "proxies", lambda number: (diverged, labels))
    measured = by_class_size(workspace, run.evaluations[0])
    assert measured.metrics == ("recall@1", "MAP@R")
    assert measured.remarks[0] == "The class vectors are not finite. The nearest class is not measured."


@pytest.mark.parametrize(("classes", "whose"), [(3, "All 3 classes have"), (1, "The only class has")])
def test_classes_of_one_size_are_not_compared(workspace, classes, whose):
    run = store_run(workspace, np.repeat(np.arange(classes), 4))
    measured = by_class_size(workspace, run.evaluations[0])
    assert measured.groups == ()
    assert measured.sentences == [f"{whose} 4 searched images: there is nothing to compare by class size."]


def test_images_without_another_of_their_class_have_no_score(workspace):
    run = store_run(workspace, np.array([0, 0, 1, 2, 3, 3, 3]))
    measured = by_class_size(workspace, run.evaluations[0])
    assert measured.classes.labels.tolist() == [0, 3]
    assert measured.remarks == ("2 classes have no query with a match: left out.",)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0]])
def test_an_evaluation_without_a_match_says_so(labels):
    classes = scores_of_classes(queries_of(labels, [np.nan] * len(labels), [0] * len(labels), [0] * len(labels)), ())
    measured = grouped(1, 1, GALLERY, classes)
    assert measured.sentences == [NO_CLASS]
    assert as_data(measured)["groups"] == []
    assert len(as_csv(measured).splitlines()) == 1


def test_a_query_whose_precision_is_not_a_number_does_not_count():
    queries = queries_of([0, 0, 0, 1, 1], [1, np.nan, 0.5, 1, 1], [1, 1, 2, 1, 1], [2, 2, 2, 1, 1])
    classes = scores_of_classes(queries, ("a",))
    assert classes.names == ("a", "1")
    assert classes.queries.tolist() == [2, 2]
    assert classes.values["MAP@R"].tolist() == [0.75, 1]


def test_a_gallery_of_its_own_is_what_is_counted():
    labels = [0, 0, 0, 1, 1, 1, 1]  # one query each, the others are the gallery
    queries = queries_of(labels, [1, *[np.nan] * 2, 1, *[np.nan] * 3], [1, 0, 0, 1, 0, 0, 0], [2, 0, 0, 3, 0, 0, 0])
    classes = scores_of_classes(queries, ("a", "b"))
    assert classes.sizes.tolist() == [2, 3]
    assert classes.chance["recall@1"].tolist() == pytest.approx([2 / 5, 3 / 5])


def test_training_images_are_those_that_the_sampler_draws(long_tailed):
    workspace, run_id = long_tailed
    evaluation = workspace.evaluations(run_id)[-1]
    half = read_training_half(workspace, evaluation.id)
    there = np.bincount(half.labels).tolist()
    kept = (int(max(there) * (1 / RATIO) ** (place / 9)) for place in range(10))
    wanted = [min(count, most) for count, most in zip(there, kept, strict=True)]
    sizes = training_sizes(workspace, run_id, workspace.queries(evaluation.id).sample_ids)
    assert (sizes.labels.tolist(), sizes.counts.tolist()) == (list(range(10)), wanted)
    assert sizes.of(np.array([9, 0, 12])).tolist() == [wanted[9], wanted[0], 0]
    measured = by_class_size(workspace, evaluation.id)
    assert measured.counted == TRAINING
    assert measured.classes.sizes.tolist() == wanted
    assert measured.groups[0].low > measured.groups[-1].high


def test_without_a_long_tail_all_images_of_the_training_half_count(tmp_path):
    values = sample_values(1)
    values["split"] = {"name": "random", "train_fraction": 0.6}
    values["evaluation"]["store_training"] = True
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained(workspace, values)
        evaluation = workspace.evaluations(run_id)[-1]
        half = read_training_half(workspace, evaluation.id)
        sizes = training_sizes(workspace, run_id, workspace.queries(evaluation.id).sample_ids)
    assert sizes.counts.tolist() == np.bincount(half.labels).tolist()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('seed = 0', 'seed = 1', "gives another test set than it has"),
        ('name = "random"', 'name = "of_a_plug_in"', "that of a plug-in"),
        ("train_fraction = 0.6", "train_fraction = 7.0", "its config cannot be read"),
        ("[split]", "[split", "its config cannot be read"),
    ],
)  # fmt: skip
def test_sizes_that_cannot_be_worked_out_are_not_guessed(long_tailed, before, after, words):
    workspace, run_id = long_tailed
    evaluation = workspace.evaluations(run_id)[-1]
    config = workspace.run(run_id).config
    assert before in config
    changed = f"update runs set config = ? where id = {run_id}"
    with workspace.writing() as db:
        db.execute(changed, (config.replace(before, after),))
    try:
        with pytest.raises(Problem, match=words):
            training_sizes(workspace, run_id, workspace.queries(evaluation.id).sample_ids)
        measured = by_class_size(workspace, evaluation.id)
        assert measured.counted == GALLERY
        assert "Searched images are counted instead." in measured.remarks[-1]
    finally:
        with workspace.writing() as db:
            db.execute(changed, (config,))


def test_a_run_without_facts_of_its_data_counts_what_is_searched(workspace):
    run = store_run(workspace, LABELS, config=RunConfig(name="Small"))
    with workspace.writing() as db:
        db.execute('update runs set environment = \'{"data": {"train": 5, "classes_disjoint": "no"}}\'')
    assert by_class_size(workspace, run.evaluations[0]).counted == GALLERY


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0.25, 0.75, "25.0 to 75.0"), (0.5, 0.5, "–"), (np.nan, np.nan, "–")]
)
def test_an_interval_without_a_width_is_a_dash(low, high, words):
    assert cells_of(Estimate(0.5, low, high), 0.1) == ("50.0", words, "10.0")


def test_the_table_of_classes_has_a_row_for_each_class(workspace):
    run = store_run(workspace, LABELS, class_names=("=1+1", *(f"class {at}" for at in range(1, 9))))
    rows = list(csv.DictReader(io.StringIO(as_csv(by_class_size(workspace, run.evaluations[0])))))
    assert [int(row["size"]) for row in rows] == sorted(SIZES, reverse=True)
    assert (rows[0]["class"], rows[0]["group"], rows[-1]["class"]) == ("class 8", "Large", "'=1+1")
    assert 0 <= float(rows[0]["MAP@R"]) <= 1


def test_the_command_prints_a_table_json_and_a_csv_of_classes(workspace, tmp_path):
    run = store_run(workspace, LABELS, with_proxies=False)
    asked = ["tags", str(run.run_id), "--workspace", str(workspace.path), "--epoch", "last", "--by-size"]
    shown = CliRunner().invoke(cli, [*asked, "--csv", str(tmp_path / "classes.csv")])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:4] == ["Score", "Group", "Searched", "images"]
    assert lines[1].split()[:5] == ["R@1", "Large", "15", "to", "30"]
    assert any(line.startswith("Recall@1 and MAP@R depend on class size") for line in lines)
    assert len((tmp_path / "classes.csv").read_text("utf-8").splitlines()) == 1 + len(SIZES)
    read = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert [group["group"] for group in read["groups"]] == ["Large", "Middle", "Small"]
    assert read["rank_correlation"].keys() == {"recall@1", "MAP@R"}
    wrong = CliRunner().invoke(cli, [*asked[:-1], "--csv", str(tmp_path / "no.csv")])
    assert wrong.exit_code == 2
    assert "--csv needs --by-size" in wrong.stderr
    assert not (tmp_path / "no.csv").exists()
