"""The section of a report on how similar the embeddings of groups are."""

import csv
import io

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from tests.unit.comparing.compared_runs import store
from workbench import reports
from workbench.comparing.comparison_text import SEEDS_BESIDE, cka_meaning, neighbours_meaning
from workbench.comparing.overview import overview
from workbench.comparing.queries.replacing import replacing
from workbench.comparing.queries.similarity import similarity
from workbench.comparing.queries.together import together
from workbench.comparing.replacing_text import replacing_notes, replacing_rows
from workbench.comparing.together_text import together_notes, together_rows
from workbench.config import Choice, RunConfig
from workbench.problem import Problem
from workbench.reports.content import group_content
from workbench.reports.document import make
from workbench.reports.formats.tables import csv_tables
from workbench.reports.templates import templates
from workbench.reports.writing import similarity_blocks
from workbench.reports.writing.blocks import Heading, Paragraph, Plot, Table

pytestmark = pytest.mark.usefixtures("no_catalog")
LABELS = np.repeat(np.arange(4), 6)
LOSSES = ("ce", "triplet", "ice")


@pytest.fixture
def runs(workspace):
    """Three losses with two seeds each, on the same images."""
    return [
        store_run(
            workspace, LABELS, embeddings=[blobs(LABELS, 0.5, 10 * place + seed)], name="Same",
            config=RunConfig(name="Same", seed=seed, loss=Choice(name=loss)),
        ).run_id
        for place, loss in enumerate(LOSSES) for seed in range(2)
    ]  # fmt: skip


def made(workspace, runs):
    (section,) = (report := make(workspace, reports.wish_of(runs, ("similarity",)), reports.quiet)).document.sections
    return report, section.blocks


def test_all_pairs_are_drawn_and_listed_with_what_the_numbers_are(workspace, runs):
    report, (plot, table, *sentences) = made(workspace, runs)
    of_groups = similarity(workspace, overview(workspace, workspace.runs(), {}, "MAP@R", "best"))
    assert isinstance(plot, Plot)
    assert list(report.document.drawings) == ["similarity"]
    assert isinstance(table, Table)
    assert len(table.rows) == 6
    assert table.rows[0][:2] == ("loss ce", "other seeds of it")
    assert table.rows[1][:3] == ("loss ce", "loss triplet", f"{of_groups.cells[0, 1].cka:z.3f}")
    said = [span.text for block in sentences if isinstance(block, Paragraph) for span in block.spans]
    assert said[:3] == [cka_meaning(of_groups), neighbours_meaning(of_groups), SEEDS_BESIDE]


def test_below_them_stands_what_the_runs_find_together_and_in_place_of_each_other(workspace, runs):
    _, blocks = made(workspace, runs)
    at, end = (place for place, block in enumerate(blocks) if isinstance(block, Heading))
    table, *notes = blocks[at + 1 : end]
    joint = together(workspace, overview(workspace, workspace.runs(), {}, "MAP@R", "best"))
    assert table.rows == tuple(map(tuple, together_rows(joint)))
    assert len(table.rows) == 6 + 15 + 1
    assert [block.spans[0].text for block in notes] == together_notes(joint)
    out = workspace.path / "out"
    reports.write_report(workspace, runs, out, ("csv", "html", "pdf", "latex"), ("similarity",))
    rows = list(csv.DictReader(io.StringIO((out / "together.csv").read_text("utf-8"))))
    assert [float(row["MAP@R"]) for row in rows] == [ensemble.values["MAP@R"] for ensemble in joint.ensembles]
    table, *notes = blocks[end + 1 :]
    crossed = replacing(workspace, overview(workspace, workspace.runs(), {}, "MAP@R", "best"))
    assert table.rows == tuple(map(tuple, replacing_rows(crossed)))
    assert len(table.rows) == 6 * 5
    assert [block.spans[0].text for block in notes] == replacing_notes(crossed)
    rows = list(csv.DictReader(io.StringIO((out / "replace.csv").read_text("utf-8"))))
    assert [float(row["rotated"]) for row in rows] == [pair.rotated.value for pair in crossed.pairs]


def test_a_report_does_not_wait_minutes_for_it(workspace, runs, monkeypatch):
    monkeypatch.setattr(group_content, "MOST_PRODUCTS", 1e3)
    report, blocks = made(workspace, runs)
    assert (
        blocks[-1].spans[0].text.startswith("To search with the embeddings of these runs takes minutes. Compare has it")
    )
    assert "together.csv" not in csv_tables(report, workspace)


def test_a_run_whose_file_is_missing_is_named_and_what_fails_keeps_nothing_else_away(workspace, runs, monkeypatch):
    path = workspace.file(runs[1], "embeddings-1.npy")
    path.unlink()
    report, blocks = made(workspace, runs)
    said = [block.spans[0].text for block in blocks if isinstance(block, Paragraph)]
    assert sum(text.startswith(f"Run 2 is left out. The file {path} is missing.") for text in said) == 3
    assert "together.csv" in csv_tables(report, workspace)

    def refuse(*_asked):
        raise Problem("They cannot be compared.")

    monkeypatch.setattr(group_content, "similarity", refuse)
    report, blocks = made(workspace, runs)
    assert blocks[0].spans[0].text == "They cannot be compared."
    assert [len(block.rows) for block in blocks if isinstance(block, Table)] == [5 + 10 + 1, 5 * 4]


def test_of_many_pairs_the_most_and_the_least_alike_are_listed_and_the_file_has_all(workspace, runs, monkeypatch):
    monkeypatch.setattr(similarity_blocks, "MOST_ROWS", 2)
    _, (_, table, first, *_) = made(workspace, runs)
    assert len(table.rows) == 2
    assert float(table.rows[0][2]) > float(table.rows[1][2])
    assert first.spans[0].text.startswith("Runs of one group with other seeds: CKA ")
    out = workspace.path / "out"
    reports.write_report(workspace, runs, out, ("csv", "figures"), ("similarity",))
    rows = list(csv.DictReader(io.StringIO((out / "figures" / "similarity.csv").read_text("utf-8"))))
    assert [row["pairs_of_runs"] for row in rows] == ["1", "4", "4", "1", "4", "1"]
    assert (out / "figures" / "similarity.svg").stat().st_size > 1000


def test_without_two_runs_that_can_be_compared_a_sentence_says_so(workspace):
    report, (sentence,) = made(workspace, [store(workspace, {1: np.full(6, 0.5)})])
    assert "There are no two runs here that kept embeddings" in sentence.spans[0].text
    assert report.document.drawings == {}


def test_templates_of_several_runs_offer_it_without_ticking_it():
    for key in ("comparison", "paper-appendix"):
        assert "similarity" in templates()[key].order
        assert "similarity" not in templates()[key].ticked
