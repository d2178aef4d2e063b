"""The linear probe and kNN on frozen features."""

import numpy as np
import pytest
import torch

from workbench.evaluation.linear_probe import linear_probe
from workbench.metric_names import metric_name
from workbench.problem import Problem


def blobs(n, classes, spread, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return (10 * np.eye(classes, 12)[labels] + spread * rng.normal(size=(n, 12))).astype(np.float32), labels + 5


def test_parted_classes_are_all_right_and_noise_is_chance():
    found = linear_probe(*blobs(400, 8, 0.5, 0), *blobs(200, 8, 0.5, 1))
    assert found == {"linear/top-1": 1.0, "linear/top-5": 1.0, "kNN": 1.0}
    x, y = blobs(800, 8, 0.5, 2)
    noise = np.random.default_rng(3).normal(size=x.shape).astype(np.float32)
    guessed = linear_probe(noise[:400], y[:400], noise[400:], y[400:])
    assert guessed["linear/top-1"] == pytest.approx(1 / 8, abs=0.08)
    assert guessed["linear/top-5"] == pytest.approx(5 / 8, abs=0.12)
    assert guessed["kNN"] == pytest.approx(1 / 8, abs=0.08)


def voted(train, labels, test):
    """The class of each test row by the definition, in float64."""
    mean, std = train.mean(0), train.std(0) + 1e-6
    x, z = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in ((train - mean) / std, (test - mean) / std))
    classes = []
    for cosines in z @ x.T:
        near = np.argsort(-cosines, kind="stable")[:20]
        votes = {label: sum(max(0.0, cosines[row]) for row in near if labels[row] == label) for label in labels[near]}
        classes.append(max(votes, key=votes.__getitem__))  # of equals the first, which is the nearer
    return np.array(classes)


@pytest.mark.parametrize(("count", "classes", "dim"), [(300, 7, 16), (60, 5, 3), (12, 12, 4), (9, 2, 4), (2, 2, 3)])
def test_the_vote_of_neighbours_is_that_of_its_definition(count, classes, dim):
    rng = np.random.default_rng(count)
    labels = np.arange(count) % classes
    centres = rng.normal(size=(classes, dim))
    train, test = centres[labels] + rng.normal(size=(count, dim)), rng.normal(size=(200, dim))
    wanted = voted(train, labels, test)
    assert linear_probe(train, labels, test, wanted)["kNN"] == 1
    assert len(set(wanted.tolist())) > 1


def test_few_classes_have_no_top_5():
    assert set(linear_probe(*blobs(60, 3, 0.5, 0), *blobs(30, 3, 0.5, 1))) == {"linear/top-1", "kNN"}


def test_it_is_the_same_again_and_leaves_torch_s_chance_alone():
    half = (*blobs(200, 6, 9.0, 0), *blobs(100, 6, 9.0, 1))
    before = torch.get_rng_state()
    assert linear_probe(*half) == linear_probe(*half)
    assert torch.equal(torch.get_rng_state(), before)


def test_unknown_classes_are_a_sentence():
    x, y = blobs(30, 3, 1.0, 0)
    with pytest.raises(Problem, match="classes of the test set"):
        linear_probe(x, y, x, y + 1)
    with pytest.raises(Problem, match="needs training and test"):
        linear_probe(x[:0], y[:0], x, y)


def test_the_two_votes_of_neighbours_have_different_names():
    assert metric_name("kNN") == "kNN on frozen features"
    assert metric_name("test/kNN") == "kNN on frozen features, test set"
    assert metric_name("kNN@10") == "kNN@10"
