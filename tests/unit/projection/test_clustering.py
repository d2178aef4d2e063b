"""NMI of k-means clusters."""

import numpy as np
import pytest

from workbench.problem import Problem
from workbench.projection.clustering import nmi


def test_separate_classes_are_found_and_noise_is_not():
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 4
    vectors = np.eye(4)[labels] + 0.01 * rng.normal(size=(120, 4))
    assert nmi(vectors, labels) == pytest.approx(1)
    assert nmi(rng.normal(size=(120, 4)), labels) < 0.2
    assert nmi(vectors, labels, seed=3) == nmi(vectors, labels, seed=3)


def test_copies_and_one_class():
    assert nmi(np.ones((6, 2)), np.arange(6) % 2) == 0
    assert nmi(np.eye(3), np.zeros(3)) == pytest.approx(1)


def test_lengths_that_differ_are_said():
    with pytest.raises(Problem, match="3 embeddings but 4 labels"):
        nmi(np.eye(3), np.arange(4))
