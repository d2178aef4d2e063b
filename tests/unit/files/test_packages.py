"""What is said where a package is missing: that pip installs it, or that a bundle has no pip."""

import sys

import numpy as np
import pytest

from workbench.commands.machine.findings import Cuda, judge_driver
from workbench.files import packages
from workbench.problem import Problem
from workbench.projection.maps import make_map

NO_CUDA = Cuda(gpu=True, status=0, driver=(12, 4), built=None)


@pytest.fixture(params=[False, True], ids=["installed", "bundle"])
def bundle(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    return request.param


def test_a_package_that_is_there_is_not_missing(bundle):
    assert packages.is_bundle() is bundle
    assert packages.missing("Arrays", "arrays", ("numpy",)) == ""


def test_a_missing_package_is_installed_by_pip_or_not_in_the_bundle(bundle, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    said = packages.missing("Parquet", "parquet", ("pyarrow",))
    by_pip = "Parquet needs pyarrow: install the extra parquet with pip (page Install)."
    without = "this bundle is without it and has no pip, so use an installation with the extra parquet (page Install)."
    assert said == (f"Parquet needs pyarrow: {without}" if bundle else by_pip)
    with pytest.raises(Problem, match="t-SNE needs openTSNE") as refused:
        make_map(np.eye(5, dtype=np.float32), None, "tsne", {})
    assert (refused.value.todo == "") is bundle, "what pip does on ARM is no help where there is none"


def test_another_pytorch_comes_by_pip_or_with_another_bundle(bundle):
    (finding,) = judge_driver(NO_CUDA)
    assert ("pip install --force-reinstall torch" in finding.said) is not bundle
    assert ("take one that was built with it" in finding.said) is bundle
