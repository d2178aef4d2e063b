"""The notes of a release, and its bill of materials of the environment that runs the tests."""

import json
from importlib.metadata import PackageNotFoundError, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import workbench

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release():
    spec = spec_from_file_location("release", ROOT / "packaging" / "release.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_of_the_package_has_notes(release, capsys):
    assert release.version() == workbench.__version__
    assert release.main(["notes"]) == 0
    said = capsys.readouterr().out
    assert "### Added" in said
    assert "## [" not in said.replace("### ", "")


def test_notes_are_one_section(release):
    text = "# Changelog\n\n## [2.0.0] - 2026-02-02\n\nNew.\n\n## [1.0.0]\n\nOld.\n"
    assert release.notes(text, "2.0.0") == "New.\n"
    assert release.notes(text, "1.0.0") == "Old.\n"
    with pytest.raises(KeyError):
        release.notes(text, "1.0")


def test_the_bill_names_every_package_with_version_and_licence(release, tmp_path):
    assert release.main(["sbom", str(tmp_path)]) == 0
    bill = json.loads((tmp_path / "sbom.cdx.json").read_text("utf-8"))
    parts = {part["name"].lower(): part for part in bill["components"]}
    assert parts["torch"]["version"] == version("torch")
    assert "llvmlite" in parts, "which only umap-learn's numba asks for"
    assert "pytest" not in parts, "it is installed, but not for Workbench"
    references = {part["bom-ref"] for part in bill["components"]}
    assert len(references) == len(bill["components"])
    told = {other for row in bill["dependencies"] for other in row["dependsOn"]}
    assert told == references, "each is asked for, and each that is asked for is there"
    texts = (tmp_path / "licences.txt").read_text("utf-8")
    for part in parts.values():
        assert f"{part['name']} {part['version']}: " in texts


def test_a_package_that_is_not_installed_is_no_part_only_where_it_is_optional(release):
    assert "no-such-package" not in release.installed(["click"], ["no-such-package>=1"])
    with pytest.raises(PackageNotFoundError):
        release.installed(["no-such-package"], [])
