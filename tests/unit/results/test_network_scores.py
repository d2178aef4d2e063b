"""The tests of a run's networks beside its own test set, in Python, on the command line and in its report."""

import csv
from io import StringIO

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import store_run
from workbench.cli import cli
from workbench.events import Ended
from workbench.exchange.imported.importing import import_embeddings
from workbench.problem import Problem
from workbench.reports.content.gathering import gather
from workbench.reports.writing.run_sections import section_blocks
from workbench.results.network_scores import OWN_HALF, earlier_tests, network_scores, newest_scores
from workbench.workspace.folders import travelling
from workbench.workspace.recorder import Recorder

LABELS = np.repeat(np.arange(3), 6)


@pytest.fixture
def run(workspace):
    """A run with evaluations of epochs 1 and 2."""
    return store_run(workspace, LABELS, name="Trained").run_id


def add_test(workspace, folder, run_id, epoch, images):
    """A run with the facts of a test of that network, with embeddings of its own."""
    np.save(folder / "vectors.npy", np.eye(3, 4)[LABELS] + 0.1 * np.random.default_rng(epoch or 0).normal(size=(18, 4)))
    np.save(folder / "labels.npy", LABELS)
    np.save(folder / f"{images}.npy", np.zeros((18, 8, 8), np.uint8))
    made = import_embeddings(workspace, folder / "vectors.npy", folder / "labels.npy", folder / f"{images}.npy")
    facts = workspace.run(made).environment
    workspace.take_over(made)
    recorder = Recorder(workspace, made)
    recorder.environment(facts | {"imported": facts["imported"] | {"network": run_id, "epoch": epoch}})
    recorder(Ended("done"))
    return made


def test_tests_stand_behind_the_own_half_at_the_epochs_that_were_tested(workspace, run, tmp_path):
    store_run(workspace, LABELS, name="Another")
    first = add_test(workspace, tmp_path, run, 2, "night")
    assert [(score.run_id, score.epoch, score.images) for score in network_scores(workspace, run)] == [
        (run, 2, OWN_HALF), (first, 2, "night.npy"),
    ]  # fmt: skip
    second = add_test(workspace, tmp_path, run, 1, "snow")
    scores = network_scores(workspace, run)
    assert [(score.run_id, score.epoch) for score in scores] == [(run, 1), (run, 2), (first, 2), (second, 1)]
    assert scores[2].evaluation == workspace.evaluations(first)[-1]
    assert network_scores(workspace, second) == scores
    workspace.trash(first)
    assert [score.run_id for score in network_scores(workspace, run)] == [run, second]


def test_a_test_of_an_unknown_epoch_and_one_without_its_evaluation_are_left_out(workspace, run, tmp_path):
    add_test(workspace, tmp_path, run, None, "fog")
    assert network_scores(workspace, run) == []
    bare = add_test(workspace, tmp_path, run, 2, "night")
    whole = add_test(workspace, tmp_path, run, 2, "snow")
    with workspace.writing() as db:
        db.execute("delete from evaluations where run_id = ?", (bare,))
    assert [score.run_id for score in network_scores(workspace, run)] == [run, whole]


def test_a_run_that_was_never_tested_has_no_scores_and_a_missing_one_is_said(workspace, run):
    assert network_scores(workspace, run) == []
    with pytest.raises(Problem, match="There is no run 99"):
        network_scores(workspace, 99)


def test_a_test_that_came_from_another_workspace_is_no_test_of_the_run_of_that_number(workspace, run, tmp_path):
    made = add_test(workspace, tmp_path, run, 2, "night")
    workspace.file(made, travelling.CARD).write_text("{}", encoding="utf-8")
    assert network_scores(workspace, run) == network_scores(workspace, made) == []


def test_the_command_and_the_report_list_them(workspace, run, tmp_path):
    space = str(workspace.path)
    said = CliRunner().invoke(cli, ["test", str(run), "-w", space])
    assert said.output == f"Run {run} was not tested on other images.\n"
    made = add_test(workspace, tmp_path, run, 2, "night")
    lines = CliRunner().invoke(cli, ["test", str(run), "-w", space]).output.splitlines()
    assert lines[0].split() == ["run", "images", "epoch", "queries", "MAP@R", "R@1"]
    assert lines[2].split()[:4] == [str(made), "night.npy", "2", "18"]
    unused = CliRunner().invoke(cli, ["test", str(run), "-w", space, "--epoch", "last"])
    assert (unused.exit_code, "name its images, too" in unused.output) == (2, True)
    content = gather(workspace, run, ("metrics",), "")
    table = next(block for block in section_blocks("metrics", content) if getattr(block, "key", "") == "tests")
    assert [row[:3] for row in table.rows] == [(str(run), OWN_HALF, "2"), (str(made), "night.npy", "2")]
    CliRunner().invoke(cli, ["report", str(run), "--format", "csv", "--out", str(tmp_path / "out"), "-w", space])
    rows = list(csv.DictReader(StringIO((tmp_path / "out" / "tests.csv").read_text(encoding="utf-8"))))
    assert [row["run"] for row in rows] == [str(run), str(made)]
    assert float(rows[1]["map_at_r"]) == workspace.evaluations(made)[-1].metrics["MAP@R"]


def test_of_many_tests_the_newest_are_read_and_all_are_known(workspace, run, tmp_path):
    tests = [add_test(workspace, tmp_path, run, epoch, f"night{epoch}") for epoch in (2, 1, 2)]
    read = newest_scores(workspace, [run, tests[0]], most=2)
    assert [(score.run_id, score.epoch) for score in read.own] == [(run, 1), (run, 2)]
    assert [score.run_id for score in read.newest] == [tests[2], tests[1]]
    assert [test.id for test in read.tests] == tests


def test_a_test_that_has_the_result_already_is_of_the_network_and_the_path(workspace, run, tmp_path):
    of_best, of_first = (add_test(workspace, tmp_path, run, epoch, "night") for epoch in (2, 1))
    tests, trained = newest_scores(workspace, [run], most=1).tests, workspace.run(run)
    images = tmp_path / "night.npy"
    assert [test.id for test in earlier_tests(tests, [trained], images, "best")] == [of_best]
    assert [test.id for test in earlier_tests(tests, [workspace.run(of_first)], images, "best")] == [of_first]
    again = workspace.run(add_test(workspace, tmp_path, run, 2, "night"))
    assert earlier_tests([*tests, again], [trained], images, "best") == [again], "the newest alone"
    assert earlier_tests(tests, [trained], tmp_path / "snow.npy", "best") == []
