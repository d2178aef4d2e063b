"""Digits are those of scikit-learn, read without loading scikit-learn."""

from importlib.machinery import ModuleSpec

import numpy as np
import pytest
from sklearn.datasets import load_digits

from workbench.datasets.benchmarks import digits
from workbench.problem import Problem
from workbench.progress import quiet


def read():
    return digits.digits(digits.DigitsParams(), progress=quiet)


def test_images_and_labels_are_those_of_scikit_learn():
    images, published = read(), load_digits()
    assert images.labels.tolist() == published.target.tolist()
    shown = np.stack([images.read(row) for row in range(len(images.labels))])
    np.testing.assert_array_equal(shown, np.round(published.images * (255 / 16)).astype(np.uint8))
    assert images.paths[:2] == ["digits/0/0000.png", "digits/1/0001.png"]


@pytest.mark.parametrize("missing", ["library", "file"])
def test_a_scikit_learn_without_them_is_a_problem(monkeypatch, tmp_path, missing):
    spec = None if missing == "library" else ModuleSpec("sklearn", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(digits, "find_spec", lambda name: spec)
    with pytest.raises(Problem, match=r"which comes with scikit-learn, is not there\. Nothing was started"):
        read()
