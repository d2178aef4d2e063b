"""The words of a report: titles instead of registry keys, times that can be read."""

import pytest

from tests.ui.trained import trained_run
from workbench import reports
from workbench.reports.content.entry_titles import in_sentence, moment
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
