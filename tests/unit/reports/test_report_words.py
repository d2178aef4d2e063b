"""The words of a report: titles instead of registry keys, times that can be read."""

from dataclasses import replace

import pytest

from tests.ui.trained import trained_run
from workbench import reports
from workbench.progress import quiet
from workbench.reports.content.entry_titles import in_sentence, moment
from workbench.reports.content.provenance import facts_of
from workbench.reports.document import make
from workbench.reports.writing.blocks import Table
from workbench.workspace import Workspace
from workbench.workspace.run_names import title_of

KNOWN = {"loss/ce": {"title": "Cross-entropy (CE)"}, "dataset/digits": {"title": "Digits"}}


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Cross-entropy (CE)", "cross-entropy (CE)"), ("Normalised CE", "normalised CE"), ("N-pairs", "N-pairs"),
        ("SNCA with memory", "SNCA with memory"), ("ProxyNCA++", "ProxyNCA++"),
        ("Triplet, semi-hard", "triplet, semi-hard"),
        ("", ""),
    ],
)  # fmt: skip
def test_titles_amid_a_sentence(title, said):
    assert in_sentence(title) == said


def test_what_the_catalog_does_not_know_keeps_its_name():
    assert title_of(KNOWN, "loss", "ce") == "Cross-entropy (CE)"
    assert title_of(KNOWN, "loss", "gone") == "gone"


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ("2026-11-22T10:49:48+00:00", "22 November 2026, 10:49 UTC"),
        ("2026-11-22T00:30:00+02:00", "21 November 2026, 22:30 UTC"),
        ("2026-11-22T10:49:48", "2026-11-22T10:49:48"),
        ("some day", "some day"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_times_name_their_zone(stamp, said):
    assert moment(stamp) == said


def test_a_report_says_titles_and_times_in_every_format(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache", name="First")
        run = workspace.run(run_id)
        written = reports.write_report(workspace, run_id, tmp_path / "out", formats=["html", "latex"])
    texts = [path.read_text("utf-8") for path in written if path.suffix == ".html" or path.name == "report.tex"]
    assert len(texts) == 2
    for text in texts:
        assert run.created not in text
        assert moment(run.created) in text
        assert "Four convolutions trained with " in text


def test_facts_and_settings_have_separated_thousands_and_units_and_no_empty_values(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache", name="First")
        run = workspace.run(run_id)
        document = make(workspace, reports.wish_of(run_id, ("settings",)), quiet).document
    assert facts_of(replace(run, environment={"parameters": 26894, "cores": 2}))["Parameters"] == "26,894"
    tables = {block.key: block for section in document.sections for block in section.blocks if isinstance(block, Table)}
    rows = (*tables["settings"].rows, *tables["default-settings"].rows)
    fields = {(part, field) for part, field, _ in rows}
    assert {("Data set", "Image size, px"), ("Training", "Batch, images"), ("Run", "Seed")} <= fields
    assert ("Training", "Label decisions", "–") in rows
    assert "" not in {value for _, _, value in rows}
