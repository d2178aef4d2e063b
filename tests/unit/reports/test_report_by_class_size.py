"""Classes by size in a report: the table and its sentences, in every format."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench import reports
from workbench.progress import quiet
from workbench.reports.document import Wish, make
from workbench.reports.writing.blocks import Paragraph, Table
from workbench.results.by_class_size import as_csv, by_class_size, rows_of
from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


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
