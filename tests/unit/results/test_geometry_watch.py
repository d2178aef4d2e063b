"""A run's geometry over its epochs, and its command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import blobs, store_run
from workbench.cli import cli
from workbench.evaluation.health import look
from workbench.events import ProbeEmbeddings
from workbench.problem import Problem
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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e308])
def test_embeddings_that_are_not_finite_are_refused_in_a_sentence(tmp_path, bad):
    tables = [blobs(LABELS, 0.8, 0).astype(np.float64), blobs(LABELS, 0.4, 0).astype(np.float64)]
    tables[1][3, 2] = bad
    with Workspace(tmp_path / "space", create=True) as workspace, np.errstate(invalid="ignore", over="ignore"):
        run = store_run(workspace, LABELS, embeddings=tables)
        with pytest.raises(Problem, match=r"^1 of 50 embeddings of epoch 2 contain NaN, infinity or numbers above 3e"):
            watch(workspace, run.run_id)


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
    seen = watch(workspace, run.run_id).looks[0].numbers
    cells = told.output.splitlines()[1].split()
    assert cells[2] == "0"
    assert cells[4] == f"−{abs(seen['pairs_uniformity']):.3f}"
    assert cells[8] == f"{seen['largest_hub']:.0f}"
    assert "Fall while the mean rises: class 02 (1 of 5 classes)" in told.output
    data = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert [row["epoch"] for row in data["epochs"]] == [1, 2, 3]
    assert data["falling"] == ["class 02"]
    assert CliRunner().invoke(cli, ["geometry", "77", "-w", str(workspace.path)]).exit_code == 2


PROBED = np.repeat(np.arange(4), 6)


def probe(spread):
    return ProbeEmbeddings(np.arange(24), PROBED, blobs(PROBED, spread, 2, width=8))


@pytest.fixture
def probed(tmp_path):
    """A run of which two of three evaluations stored the probe, as if it had been resumed by a newer Workbench."""
    tables = [blobs(LABELS, spread, 0, width=8) for spread in (2.0, 0.8, 0.4)]
    with Workspace(tmp_path / "space", create=True) as made:
        yield made, store_run(made, LABELS, embeddings=tables, probes=[None, probe(1.5), probe(0.1)]).run_id


def test_the_probe_is_looked_at_where_it_was_stored(probed):
    workspace, run_id = probed
    watched, half = watch(workspace, run_id, images="probe"), watch(workspace, run_id)
    assert half.epochs == [1, 2, 3]
    assert watched.epochs == [2, 3]
    assert watched.labels.tolist() == [0, 1, 2, 3]
    wanted = look(probe(0.1).vectors, PROBED)
    assert watched.looks[-1].numbers == pytest.approx(wanted.numbers)
    assert watched.scores[-1] == pytest.approx(np.nanmean(watched.of_classes[-1]))
    assert watched.scores[0] < watched.scores[1] == pytest.approx(1.0)
    assert half.scores == [evaluation.metrics["MAP@R"] for evaluation in half.evaluations]


def test_a_probe_of_classes_with_one_image_each_has_no_score(tmp_path):
    alone = ProbeEmbeddings(np.arange(5), np.arange(5), blobs(np.arange(5), 1.0, 0))
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.0, 0)], probes=[alone])
        watched = watch(workspace, run.run_id, images="probe")
    words = ["geometry", str(run.run_id), "--probe", "--json", "-w", str(workspace.path)]
    (row,) = json.loads(CliRunner().invoke(cli, words).stdout, parse_constant=pytest.fail)["epochs"]
    assert row["positive_cosine"] is None
    assert np.isnan(watched.scores[0])
    assert np.isnan(watched.of_classes).all()


def test_the_command_looks_at_the_probe(probed, space):
    workspace, run_id = probed
    words = ["geometry", str(run_id), "--probe", "--json", "-w", str(workspace.path)]
    assert [row["epoch"] for row in json.loads(CliRunner().invoke(cli, words).output)["epochs"]] == [2, 3]
    without, run = space
    said = CliRunner().invoke(cli, ["geometry", str(run.run_id), "--probe", "-w", str(without.path)])
    assert said.exit_code == 1
    assert "stored no embeddings of its probe" in said.output
