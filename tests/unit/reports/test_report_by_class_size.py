"""Classes by size in a report: the table and its sentences, in every format."""

import numpy as np

from tests.ui.small_run import store_run
from workbench import reports
from workbench.config import RunConfig, TrainingParams
from workbench.progress import quiet
from workbench.reports.document import Wish, make
from workbench.reports.formats.tables import csv_tables
from workbench.reports.writing.blocks import Paragraph, Table
from workbench.results.by_class_size import as_csv, by_class_size, rows_of
from workbench.results.size_differences import compared_rows, compared_titles

A, B = (RunConfig(name=name, training=TrainingParams(lr=lr)) for name, lr in (("A", 0.1), ("B", 0.2)))


def classes_of(workspace, run_id):
    """The tables by their keys, and the sentences, of the section on classes."""
    document = make(workspace, Wish((run_id,), sections=("classes",)), quiet).document
    blocks = document.sections[0].blocks
    said = ["".join(span.text for span in block.spans) for block in blocks if isinstance(block, Paragraph)]
    return {block.key: block for block in blocks if isinstance(block, Table)}, said


def test_groups_stand_below_the_classes_in_every_format(workspace, tmp_path):
    run = store_run(workspace, np.repeat(np.arange(6), (2, 3, 5, 8, 13, 21)))
    measured = by_class_size(workspace, workspace.evaluations(run.run_id)[-1].id)
    tables, said = classes_of(workspace, run.run_id)
    assert list(tables["class-sizes"].rows) == rows_of(measured)
    assert said[-len(measured.sentences) :] == measured.sentences
    written = reports.write_report(workspace, run.run_id, tmp_path / "out", formats=("html", "latex", "csv"))
    for suffix in (".html", ".tex"):
        text = next(path for path in written if path.suffix == suffix).read_text("utf-8")
        assert "Rare and frequent classes: scores by class size." in text
    assert (tmp_path / "out" / "class-sizes.csv").read_text("utf-8") == as_csv(measured)


def test_classes_of_one_size_are_a_sentence_alone(workspace):
    tables, said = classes_of(workspace, store_run(workspace, np.repeat(np.arange(3), 4)).run_id)
    assert "class-sizes" not in tables
    assert "All 3 classes have 4 searched images: there is nothing to compare by class size." in said


def test_differences_of_groups_have_a_table_by_class_size(workspace, tmp_path):
    labels = np.repeat(np.arange(6), (2, 3, 5, 8, 13, 21))
    runs = [store_run(workspace, labels, config=config, name="Sized") for config in (A, B)]
    wish = Wish(tuple(run.run_id for run in runs), sections=("differences",), at="last")
    report = make(workspace, wish, quiet)
    (made,) = report.groups.by_size.values()
    tables = {block.key: block for block in report.document.sections[0].blocks if isinstance(block, Table)}
    assert list(tables["class-size-difference-1"].rows) == compared_rows(made)
    assert tables["class-size-difference-1"].head == compared_titles(made)
    assert tables["class-size-difference-1"].caption == "MAP@R by class size: B minus A."
    rows = csv_tables(report, workspace)["class-size-differences.csv"].splitlines()
    assert len(rows) == 1 + len(made.rows)


def test_differences_over_classes_of_one_size_have_no_table_of_sizes(workspace):
    runs = [store_run(workspace, np.repeat(np.arange(3), 4), config=config, name="Even") for config in (A, B)]
    report = make(workspace, Wish(tuple(run.run_id for run in runs), sections=("differences",), at="last"), quiet)
    keys = [block.key for block in report.document.sections[0].blocks if isinstance(block, Table)]
    assert keys == ["difference-1"]
    assert "class-size-differences.csv" not in csv_tables(report, workspace)
