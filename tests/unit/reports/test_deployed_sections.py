"""The sections of a report on a run in use: what Deployment and Robustness measured of the evaluation."""

import csv
import io

import numpy as np
import pytest

from tests.made_up_robustness import made_up
from tests.ui.small_run import blobs, store_run
from workbench import reports
from workbench.deploying.request import deployment
from workbench.reports.content.run_content import percent
from workbench.reports.document import make
from workbench.reports.formats.tables import csv_tables
from workbench.reports.templates import templates
from workbench.reports.writing import deployed_blocks
from workbench.reports.writing.blocks import Paragraph, Plot, Table
from workbench.workspace.measured.deployments import DAMAGED, NEWER_DAMAGED, store_deployment
from workbench.workspace.measured.robustness import checked_robustness, store_robustness

pytestmark = pytest.mark.usefixtures("no_catalog")
LABELS = np.repeat(np.arange(4), 6)


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.5, 1, width=16)])


def section(workspace, run, key):
    report = make(workspace, reports.wish_of([run.run_id], (key,)), reports.quiet)
    (only,) = report.document.sections
    return report, only.blocks


def sentences(blocks):
    return ["".join(span.text for span in block.spans) for block in blocks if isinstance(block, Paragraph)]


def test_one_run_offers_both_unticked():
    offered = templates()["one-run"]
    assert offered.order[-2:] == ("deployment", "robustness")
    assert not {"deployment", "robustness"} & offered.ticked


@pytest.mark.parametrize(
    ("key", "why"),
    [("deployment", deployed_blocks.NOT_DEPLOYED), ("robustness", deployed_blocks.NOT_CHANGED)],
)
def test_what_was_not_measured_says_how_to_measure_it(workspace, run, key, why):
    assert sentences(section(workspace, run, key)[1]) == [why]


def test_stores_threshold_and_new_classes_are_listed_as_they_were_measured(workspace, run):
    measured = deployment(workspace, run.evaluations[-1], ["int8", "pca64"], 0.01)
    report, blocks = section(workspace, run, "deployment")
    stores, new, *others = [block for block in blocks if isinstance(block, Table)]
    whole, small, refused = measured["stores"]
    assert [row[0] for row in stores.rows] == [whole["title"], small["title"]]
    assert stores.rows[0][5] == "–", "the difference of float32 from itself"
    assert stores.rows[1][3] == f"{100 * small['metrics']['MAP@R']:.2f}"
    assert [row[0] for row in new.rows] == [str(point["images"]) for point in measured["new_classes"]["points"]]
    assert [table.key for table in others] == ["open-set"]
    first = measured["open_set"]["points"][0]["by_nearest"]
    assert others[0].rows[0][:2] == ("1", "Nearest image")
    assert others[0].rows[0][-1] == percent(first["auroc"][0])
    told = sentences(blocks)
    assert any(words.startswith(f"{refused['title']}: not measured. {refused['refused']}") for words in told)
    assert any(words.startswith("Same or different at 1% false accepts: threshold ") for words in told)
    head, *rows = csv.reader(io.StringIO(csv_tables(report, workspace)["stores.csv"]))
    assert len(rows) == 3
    assert float(rows[1][head.index("map_at_r")]) == pytest.approx(small["metrics"]["MAP@R"])
    assert rows[2][head.index("not_measured_because")] == refused["refused"]


def test_a_damaged_measurement_is_named(workspace, run):
    store_deployment(workspace, run.evaluations[-1], "int8 0.01", {"gallery": -1})
    assert sentences(section(workspace, run, "deployment")[1]) == [DAMAGED]
    deployment(workspace, run.evaluations[-1], ["int8"], 0.02)
    store_deployment(workspace, run.evaluations[-1], "int8 0.03", {"gallery": -1})
    assert sentences(section(workspace, run, "deployment")[1])[0] == NEWER_DAMAGED
    store_robustness(workspace, run.evaluations[-1], {"gallery": -1})
    assert sentences(section(workspace, run, "robustness")[1]) == [
        checked_robustness(workspace, run.evaluations[-1])[1]
    ]


def test_changes_are_drawn_and_listed_by_strength(workspace, run):
    measured = made_up(["jpeg", "colour"])
    measured["changes"][0]["levels"][0]["difference"]["MAP@R"] = [-0.05, -0.1, 0.01]
    store_robustness(workspace, run.evaluations[-1], measured)
    report, (plot, scores, recalls, *_) = section(workspace, run, "robustness")
    assert isinstance(plot, Plot)
    assert scores.caption == "MAP@R in percent by the strength of the change; unchanged: 90.00%."
    assert scores.rows == (
        ("JPEG", "quality 25", "quality 7", "? 85.0", "80.0", "75.0", "70.0", "65.0"),
        ("Less colour", "75% colour", "0% colour", "85.0", "80.0", "75.0", "70.0", "–"),
    )
    assert recalls.rows[0][3] == "85.0", "its own difference is sure"
    head, *rows = csv.reader(io.StringIO(csv_tables(report, workspace)["figures/robustness.csv"]))
    assert [row[0] for row in rows] == ["unchanged", *["jpeg"] * 5, *["colour"] * 4]
    assert float(rows[5][head.index("map_at_r")]) == pytest.approx(0.65)
    assert report.document.drawings["robustness"].figure().axes[0].get_legend() is not None
