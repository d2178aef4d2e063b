"""A run's geometry over its epochs, and its command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import blobs, store_run
from workbench.cli import cli
from workbench.results.geometry_watch import class_means, watch
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(5), 10)


@pytest.fixture
def space(tmp_path):
    tables = [blobs(LABELS, spread, 0, width=8) for spread in (2.0, 0.8, 0.4)]
    tables[-1][LABELS == 2] = np.random.default_rng(1).normal(size=(10, 8))  # one class falls apart
    with Workspace(tmp_path / "space", create=True) as made:
        yield made, store_run(made, LABELS, embeddings=tables)


def test_each_epoch_is_looked_at(space):
    workspace, run = space
    watched = watch(workspace, run.run_id)
    assert watched.epochs == [1, 2, 3]
    assert watched.of_classes.shape == (3, 5)
    for label in range(5):
        assert watched.of_classes[-1, label] == pytest.approx(run.ap[label == LABELS].mean(), rel=1e-6)
    assert watched.labels[watched.falling].tolist() == [2]
    assert watched.looks[1].numbers["overlap"] < watched.looks[0].numbers["overlap"]
    assert len(watched.alarms(2)) == 4


@pytest.mark.parametrize(("first", "told"), [(0, True), (1, False)])
def test_only_an_evaluation_before_the_first_step_is_called_untrained(space, first, told):
    workspace, run = space
    watched = watch(workspace, run.run_id)
    watched.evaluations[0] = replace(watched.evaluations[0], epoch=first)
    assert any("untrained" in alarm.words for alarm in watched.alarms(2)) == told


def test_class_means_leave_out_what_is_no_query():
    scores = np.array([0.5, np.nan, 1.0, np.nan])
    np.testing.assert_array_equal(
        class_means(np.array([3, 3, 7, 9]), scores, np.array([3, 7, 9])), np.array([0.5, 1.0, np.nan])
    )


def test_the_command_prints_a_table_or_json(space):
    workspace, run = space
    words = ["geometry", str(run.run_id), "-w", str(workspace.path)]
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 0, told.output
    assert "No collapse" in told.output
    assert "Fall while the mean rises: class 02 (1 of 5 classes)" in told.output
    data = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert [row["epoch"] for row in data["epochs"]] == [1, 2, 3]
    assert data["falling"] == ["class 02"]
    assert CliRunner().invoke(cli, ["geometry", "77", "-w", str(workspace.path)]).exit_code == 1
