"""The difference of two runs by class size: paired over classes, and by whose sizes."""

import csv
import io
import json
from math import isnan

import numpy as np
import pytest
from click.testing import CliRunner

from tests.trained_sample import sample_values, trained
from tests.ui.small_run import store_run
from workbench.cli import cli
from workbench.results.by_class_size import TRAINING, by_class_size
from workbench.results.size_differences import compared_by_size, compared_rows, paired_by_size
from workbench.workspace import Workspace

SIZES = (2, 3, 4, 6, 8, 12, 15, 20, 30)
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)


@pytest.fixture(scope="module")
def balanced_and_tailed(tmp_path_factory):
    """A workspace with two runs of one split: one trains on all images, one on fewer of later digits."""
    values = sample_values(1)
    values["split"] = {"name": "random", "train_fraction": 0.6}
    values["training"]["batch_size"] = 32
    with Workspace(tmp_path_factory.mktemp("two") / "space", create=True) as made:
        runs = trained(made, values), trained(made, values | {"sampler": {"name": "long_tailed", "ratio": 20}})
        yield made, runs


def test_a_difference_is_paired_over_classes(workspace):
    runs = [store_run(workspace, LABELS, name=name, with_proxies=False) for name in "ab"]
    measured = by_class_size(workspace, runs[0].evaluations[1])
    queries = workspace.queries(runs[0].evaluations[1])
    second = queries.ap.astype(np.float64)
    first = second - 0.01 * queries.labels
    rows = paired_by_size(measured, queries.sample_ids, first, second)
    assert [row.difference.value for row in rows] == pytest.approx([0.07, 0.04, 0.01])
    assert [row.classes for row in rows] == [3, 3, 3]
    assert all(row.difference.low <= row.difference.value <= row.difference.high for row in rows)
    assert rows[0].second - rows[0].first == pytest.approx(rows[0].difference.value)


def test_queries_that_only_one_run_has_are_no_pairs(workspace):
    run = store_run(workspace, LABELS, with_proxies=False)
    measured = by_class_size(workspace, run.evaluations[0])
    ids = np.append(run.ids[LABELS == 8], 5)
    scores = np.append(np.full(30, 0.5), 9.0)
    (row,) = paired_by_size(measured, ids, scores, scores)
    assert (row.title, row.classes, row.first) == ("Large", 1, 0.5)
    assert isnan(row.difference.low)
    assert paired_by_size(measured, ids[:0], scores[:0], scores[:0]) == []


def test_classes_are_grouped_by_the_run_whose_sizes_differ_more(balanced_and_tailed):
    workspace, runs = balanced_and_tailed
    evaluations = tuple(workspace.evaluations(run)[-1].id for run in runs)
    first, second = (workspace.queries(number) for number in evaluations)
    made = compared_by_size(workspace, evaluations, first.sample_ids, first.ap, second.ap)
    assert (made.measured.run_id, made.measured.counted) == (runs[1], TRAINING)
    assert f"Run {runs[0]} was trained with other numbers of images of these classes." in made.remarks
    small = made.measured.members[-1]
    labels = made.measured.classes.labels[small]
    means = [
        [queries.ap[queries.labels == label].astype(float).mean() for label in labels] for queries in (first, second)
    ]
    assert made.rows[-1].difference.value == pytest.approx(np.mean(np.subtract(means[1], means[0])), abs=1e-7)
    assert compared_rows(made)[-1][3] == f"{100 * np.mean(means[0]):.1f}"


def test_the_command_compares_by_class_size(balanced_and_tailed):
    workspace, runs = balanced_and_tailed
    asked = ["compare", *map(str, runs), "--workspace", str(workspace.path), "--at", "last", "--by-size"]
    shown = CliRunner().invoke(cli, asked)
    assert shown.exit_code == 0, shown.output
    assert "### By class size" in shown.stdout
    assert "| Group | Training images | Classes | First % | Second % | Δ points | 95% |" in shown.stdout
    assert "are no test images" not in shown.stdout
    (made,) = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)["by_class_size"].values()
    assert [group["group"] for group in made["groups"]] == ["Large", "Middle", "Small"]
    assert all(group["low_95"] <= group["difference"] <= group["high_95"] for group in made["groups"])


def test_the_csv_has_a_row_for_each_group_of_classes_below_those_of_the_groups(balanced_and_tailed, tmp_path):
    workspace, runs = balanced_and_tailed
    asked = ["compare", *map(str, runs), "--workspace", str(workspace.path), "--at", "last"]
    plain, sized = tmp_path / "plain.csv", tmp_path / "sized.csv"
    for file, more in ((plain, ()), (sized, ("--by-size",))):
        written = CliRunner().invoke(cli, [*asked, *more, "--csv", str(file)])
        assert written.exit_code == 0, written.output
    before, after = (list(csv.DictReader(io.StringIO(file.read_text("utf-8")))) for file in (plain, sized))
    assert [{name: row[name] for name in before[0]} for row in after[:2]] == before
    assert [row["class_group"] for row in after] == ["", "", "Large", "Middle", "Small"]
    (made,) = json.loads(CliRunner().invoke(cli, [*asked, "--by-size", "--json"]).stdout)["by_class_size"].values()
    assert [float(row["difference"]) for row in after[2:]] == [group["difference"] for group in made["groups"]]
    assert {(row["group"], row["counted"], row["metric"]) for row in after[2:]} == {
        (before[1]["group"], TRAINING, "MAP@R")
    }


def test_queries_of_other_images_are_counted_and_left_out(balanced_and_tailed):
    workspace, runs = balanced_and_tailed
    evaluations = tuple(workspace.evaluations(run)[-1].id for run in runs)
    queries = workspace.queries(evaluations[0])
    ids, scores = np.append(queries.sample_ids, [5, 6]), np.append(queries.ap, [1.0, 1.0])
    made = compared_by_size(workspace, evaluations, ids, scores, scores)
    assert f"Queries that are no test images of run {runs[1]}, as of other folds: 2, left out." in made.remarks


def test_a_metric_without_values_of_queries_is_a_sentence(balanced_and_tailed):
    workspace, runs = balanced_and_tailed
    asked = ["compare", *map(str, runs), "--workspace", str(workspace.path), "--metric", "kNN@10", "--by-size"]
    shown = CliRunner().invoke(cli, asked)
    assert "There are no values of single queries to compare by class size." in shown.stdout
