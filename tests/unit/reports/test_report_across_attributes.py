"""Scores across the values of attributes in a report: tables and sentences in every format, and what is left out."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench import reports
from workbench.progress import quiet
from workbench.reports.document import Wish, make
from workbench.reports.formats.tables import csv_tables
from workbench.reports.writing.blocks import Paragraph, Table
from workbench.results import by_attribute as module
from workbench.results.by_attribute import HOW_TO_READ, as_csv, by_attribute, matrix_rows, points_words
from workbench.workspace.choices.sample_tags import change_tags

LABELS = np.repeat(np.arange(6), 10)


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS)


def tag(workspace, run, name, values):
    """Give the images values of an attribute, one after the other."""
    tags = [(number, f"{name}={values[at % len(values)]}") for at, number in enumerate(run.ids.tolist())]
    change_tags(workspace, workspace.run(run.run_id).dataset_id, tags)


def section(workspace, run):
    """The report, its tables by their keys, and the sentences of the section on classes."""
    report = make(workspace, Wish((run.run_id,), sections=("classes",)), quiet)
    blocks = report.document.sections[0].blocks
    said = ["".join(span.text for span in block.spans) for block in blocks if isinstance(block, Paragraph)]
    return report, {block.key: block for block in blocks if isinstance(block, Table)}, said


def test_each_attribute_has_its_tables_and_the_csv_has_all(workspace, run, tmp_path):
    tag(workspace, run, "camera", ["front", "rear", "side <b>"])
    tag(workspace, run, "light", ["day", "night"])
    shown = workspace.evaluations(run.run_id)[-1].id
    camera, light = (by_attribute(workspace, shown, name) for name in ("camera", "light"))
    _, tables, said = section(workspace, run)
    assert list(tables)[-8:] == [
        "across-1-r-1", "own-1-r-1", "across-1-map-r", "own-1-map-r",
        "across-2-r-1", "own-2-r-1", "across-2-map-r", "own-2-map-r",
    ]  # fmt: skip
    assert tables["across-1-map-r"].head == ("MAP@R", "front", "rear", "side <b>")
    assert list(tables["across-1-map-r"].rows) == matrix_rows(camera, "MAP@R")
    every = tables["own-2-r-1"].rows[-1]
    assert (every[0], every[-1]) == ("All", points_words(light.own[-1].difference["recall@1"]))
    assert said[-len(HOW_TO_READ) :] == list(HOW_TO_READ)
    assert {camera.verdict, light.verdict} < set(said)
    written = reports.write_report(workspace, run.run_id, tmp_path / "out", formats=("html", "latex", "csv"))
    page = next(path for path in written if path.suffix == ".html").read_text("utf-8")
    assert "side &lt;b&gt;" in page
    assert "side <b>" not in page
    assert (tmp_path / "out" / "across-values.csv").read_text("utf-8") == as_csv(camera, light)


def test_many_values_are_numbered_and_chance_is_in_the_csv(workspace, run):
    tag(workspace, run, "camera", [f"a camera with the number {number}" for number in range(10)])
    _, tables, _ = section(workspace, run)
    table = tables["across-1-r-1"]
    assert table.head == ("R@1", *(str(number) for number in range(1, 11)))
    assert table.rows[3][0] == "4: a camera with the number 3"
    assert "(" not in "".join(table.rows[3][1:])
    assert table.caption.endswith("chance is in across-values.csv.")


def test_one_value_is_a_sentence(workspace, run):
    tag(workspace, run, "camera", ["front"])
    _, tables, said = section(workspace, run)
    assert not [key for key in tables if key.startswith(("across", "own"))]
    assert said[-1] == "All images have the value front of camera: there is nothing to search across."


def test_without_attributes_nothing_is_said(workspace, run):
    report, tables, said = section(workspace, run)
    assert not [key for key in tables if key.startswith(("across", "own"))]
    assert not [sentence for sentence in said if "across" in sentence]
    assert "across-values.csv" not in csv_tables(report, workspace)


def test_attributes_that_would_take_long_are_named(workspace, run, monkeypatch):
    for name in ("camera", "light", "season"):
        tag(workspace, run, name, ["a", "b"])
    monkeypatch.setattr(module, "MOST_PAIRS", 2 * len(LABELS) ** 2 - 1)  # one attribute fits
    _, tables, said = section(workspace, run)
    assert [key for key in tables if key.startswith("across")] == ["across-1-r-1", "across-1-map-r"]
    assert said[-1].startswith("Not searched across, because that takes longer: light, season.")


def test_embeddings_that_are_gone_are_said_and_the_report_is_made(workspace, run):
    tag(workspace, run, "camera", ["a", "b"])
    tag(workspace, run, "light", ["a", "b"])
    for path in workspace.folder(run.run_id).glob("embeddings-*.npy"):
        path.unlink()
    _, tables, said = section(workspace, run)
    assert "classes" in tables
    assert [sentence for sentence in said if sentence.startswith("Not searched across attributes.")] == said[-1:]
