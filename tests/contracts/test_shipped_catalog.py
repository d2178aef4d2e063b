"""What the wheel carries of entries, presets and fields is what the code says: the form stands at the first start."""

from pathlib import Path

import pytest

from workbench import registry
from workbench.entries import catalog
from workbench.files.resources import resources
from workbench.settings import presets, sections


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


@pytest.mark.parametrize("part", [presets, sections], ids=["presets", "sections"])
def test_what_was_shipped_is_what_the_files_say(part):
    shipped = (resources() / part.SHIPPED).read_text("utf-8")
    assert shipped == part.shipped_text(), "run: python packaging/catalog.py"


def test_a_preset_that_was_changed_since_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch):
    before = presets.presets()
    monkeypatch.setattr(presets, "files_hash", lambda: "another")
    monkeypatch.setattr(presets, "parsed", lambda: [])
    assert presets.presets() == []
    monkeypatch.undo()
    monkeypatch.setattr(presets, "parsed", lambda: pytest.fail("nothing was changed"))
    assert presets.presets() == before


def test_fields_that_were_changed_since_are_described_anew(monkeypatch: pytest.MonkeyPatch):
    sections.sections.cache_clear()
    monkeypatch.setattr(sections, "source_hash", lambda: "another")
    monkeypatch.setattr(sections, "described", lambda: {"training": {}})
    assert sections.sections() == {"training": {}}
    sections.sections.cache_clear()
