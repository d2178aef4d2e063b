"""The catalog that the wheel carries is that of the code: with it the form stands at the very first start."""

from pathlib import Path

import pytest

from workbench import registry
from workbench.entries import catalog
from workbench.files.resources import resources


def test_the_shipped_catalog_is_that_of_the_entries():
    for package in registry.PACKAGES:
        registry.discover(package)
    own = {
        key: described
        for key, described in registry.catalog().items()
        if registry.entry(*key.split("/")).build.__module__.startswith("workbench.")
    }
    shipped = (resources() / catalog.SHIPPED).read_text("utf-8")
    assert shipped == catalog.text_of(own), "run: python packaging/catalog.py"


def test_a_machine_without_a_catalog_has_the_shipped_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "nothing")
    assert catalog.read() is None
    assert {"loss/ce", "dataset/digits"} <= set(catalog.at_first())
