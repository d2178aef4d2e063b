"""`workbench compare`: the tables of the page on the command line."""

import csv
import json
from functools import partial

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import images, store
from workbench import cli
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.events import Ended
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker, sweeps
from workbench.workspace.experiments.sweeps import Point
from workbench.workspace.recorder import Recorder

OTHER = TrainingParams(lr=0.5)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.entries.catalog.current", dict)
    with Workspace(tmp_path / "space", create=True) as workspace:
        for seed in range(3):
            store(workspace, {0: np.full(8, 0.1), 1: np.linspace(0.4, 0.6, 8)}, seed=seed, name="A | B")
            better = np.linspace(0.5, 0.8, 8) + seed / 100
            store(workspace, {0: np.full(8, 0.1), 1: better}, seed=seed, training=OTHER, name="C")
        store(workspace, {1: np.ones(6)}, shown=images(6, "other"), name="D", training=TrainingParams(lr=0.1))
    return tmp_path / "space"


def run(capsys, folder, *arguments):
    status = cli.main(["compare", *arguments, "--workspace", str(folder)])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_tables_differences_and_verdict(capsys, folder):
    status, out, _ = run(capsys, folder, "1", "2", "3", "4", "5", "6")
    assert status == 0
    assert "| A \\| B | 1, 3, 5 | 3 | 50.00 | 0.00 | [50.00, 50.00] |" in out
    assert "| Training: Learning rate | 0.001 | 0.5 |" in out
    assert "## C minus A | B" in out
    assert "| 0 (runs 1, 2) | 50.00 | 65.00 | +15.00 |" in out
    assert "| 8 queries |" in out
    assert "“C” is better" in out
    assert "Queries: 8 better in “C”, 0 worse, 0 equal." in out


def test_the_first_named_run_determines_the_baseline(capsys, folder):
    out = run(capsys, folder, "2", "1", "3", "4", "5", "6")[1]
    assert out.index("| C | 2, 4, 6 |") < out.index("| A \\| B | 1, 3, 5 |")
    assert "## A | B minus C" in out
    assert "| seed | C | A \\| B | difference, points | 95% | n |" in out
    assert "| 0 (runs 2, 1) | 65.00 | 50.00 | −15.00 |" in out


def test_a_sweep_is_compared_by_its_settings_and_a_run_chooses_the_baseline(capsys, folder):
    """Its trials are not in the order of its runs; one of them failed."""
    with Workspace(folder) as workspace:
        points = [Point({"training.lr": rate}, [(seed, 0) for seed in range(3)]) for rate in (0.001, 0.5)]
        number = sweeps.create(
            workspace, RunConfig(name="many"), how="grid", parameters=["training.lr=0.001,0.5"], points=2,
            metric="MAP@R", reported=True, first=points,
        )  # fmt: skip
        trials = sweeps.trials(workspace, number)
    assert "Sweep 1 has no run that is done." in run(capsys, folder, "--sweep", "1")[2]
    with Workspace(folder) as workspace:
        for trial, made in zip(trials, (1, 3, 5, 2, 4, 6), strict=True):
            sweep_worker.begin(workspace, trial, partial(int, made))
            sweep_worker.end(workspace, trial, "failed" if made == 6 else "done", objective=0.5)
    status, out, _ = run(capsys, folder, "--sweep", "1")
    assert status == 0
    assert "| A \\| B | 1, 3, 5 | 3 |" in out
    assert "| C | 2, 4 | 2 |" in out
    assert "## C minus A | B" in out
    assert "## A | B minus C" in run(capsys, folder, "4", "--sweep", "1")[1]
    with Workspace(folder) as workspace:
        workspace.trash(2)
    assert "| C | 4 | 1 |" in run(capsys, folder, "--sweep", "1")[1]
    with Workspace(folder) as workspace:
        workspace.trash_several([1, 3, 4, 5])
    assert "All runs of sweep 1 that are done are in the trash, or deleted." in run(capsys, folder, "--sweep", "1")[2]
    status, _, err = run(capsys, folder)
    assert (status, "Missing argument 'RUN...': name runs, or a sweep with --sweep." in err) == (2, True)


def test_negative_numbers_have_the_sign_of_minus(capsys, folder):
    with Workspace(folder) as workspace:
        worse = [
            store(workspace, {1: np.linspace(0.3, 0.4, 8) - seed / 100}, seed=seed, name="E", training=OTHER,
                  metrics={"geometry/uniformity": -2.5}, sampler=Choice(name="plain"))
            for seed in range(3)
        ]  # fmt: skip
    out = run(capsys, folder, "1", "3", "5", *map(str, worse))[1]
    assert "| 0 (runs 1, 8) | 50.00 | 35.00 | −15.00 | [−" in out
    assert "| all seeds |  |  | −16.00 | [−18.48, −13.52] | 3 seeds |" in out
    assert " -1" not in out
    assert "| 3 | −2.5 |" in run(capsys, folder, *map(str, worse), "--metric", "geometry/uniformity")[1]


def test_of_several_groups_it_is_said_who_differs_once_p_is_corrected(capsys, folder):
    with Workspace(folder) as workspace:
        for seed, mean in enumerate((0.52, 0.5201, 0.57)):
            store(workspace, {1: np.full(8, mean)}, seed=seed, name="Near", training=TrainingParams(lr=0.7))
    two = run(capsys, folder, "1", "2", "3", "4", "5", "6")[1]
    assert "All groups" not in two, "one test needs no correction"
    out = run(capsys, folder, "1", "2", "3", "4", "5", "6", "8", "9", "10")[1]
    assert "“C” is better: p" in out
    assert "is better: the 95% interval" not in out
    assert out.split("## All groups against A | B\n\n")[1].splitlines()[:2] == [
        "- “C” beats “A | B” on MAP@R.", "- 2 tests, Holm-corrected within each metric.",
    ]  # fmt: skip


def test_json_has_the_values_of_the_tables_in_full_precision(capsys, folder):
    status, out, err = run(capsys, folder, "1", "2", "3", "4", "5", "6", "7", "--json")
    assert (status, err) == (0, "")
    data = json.loads(out, parse_constant=pytest.fail)
    assert (data["metric"], data["at"]) == ("MAP@R", "best")
    first, second, third = data["groups"]
    assert [row["run"] for row in first["runs"]] == [1, 3, 5]
    assert first["mean"] == pytest.approx(0.5)
    assert first["difference"] is None
    assert second["difference"] == pytest.approx(0.16)
    assert second["difference_low_95"] < 0.16 < second["difference_high_95"]
    assert second["p"] < 0.01
    assert third["difference"] is None, "it is of other data"
    values = {"A | B": 0.001, "C": 0.5, "D": 0.1}
    assert data["settings"] == [{"field": "training.lr", "values": values}]
    better, other = data["comparisons"]
    assert [pair["runs"] for pair in better["seeds"]] == [[1, 2], [3, 4], [5, 6]]
    assert better["queries"] == {"better": 8, "equal": 0, "worse": 0}
    assert "“C” is better" in better["verdict"]
    assert "different data" in other["problem"]


def test_csv_has_a_row_for_each_group(capsys, folder, tmp_path):
    table = tmp_path / "made" / "here" / "groups.csv"
    status, out, _ = run(capsys, folder, "1", "2", "3", "4", "5", "6", "--csv", str(table))
    assert (status, out) == (0, f"{table}\n")
    with table.open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["group"], first["runs"], first["seeds"], first["difference"]) == ("A | B", "1 3 5", "3", "")
    assert (second["group"], second["runs"]) == ("C", "2 4 6")
    assert first["unfinished_runs"] == second["unfinished_runs"] == ""
    assert float(second["mean"]) == pytest.approx(0.66)
    assert float(second["difference"]) == pytest.approx(0.16)
    status, out, err = run(capsys, folder, "1", "2", "--json", "--csv", str(table))
    assert json.loads(out)["groups"]
    assert err == f"{table}\n"


def test_csv_names_the_runs_that_are_not_done(capsys, folder, tmp_path):
    with Workspace(folder) as workspace:
        workspace.set_status(6, "stopped")
    table = tmp_path / "groups.csv"
    assert run(capsys, folder, "1", "2", "6", "--csv", str(table))[0] == 0
    with table.open(encoding="utf-8", newline="") as file:
        assert [row["unfinished_runs"] for row in csv.DictReader(file)] == ["", "6"]


def test_an_epoch_and_another_metric(capsys, folder):
    status, out, _ = run(capsys, folder, "1", "2", "--metric", "recall@1", "--epoch", "0")
    assert status == 0
    assert "## R@1 % ↑, epoch 0" in out
    assert "not enough seeds" in out


def test_different_data_is_said_and_the_tables_stay(capsys, folder):
    status, out, _ = run(capsys, folder, "1", "7")
    assert status == 0
    assert "The runs saw different data" in out
    assert "better" not in out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("1", "99"), 2, "There is no run 99"),
        (("1", "--metric", "NMI"), 2, "Run 1 has no NMI. There is MAP@R, recall@1."),
        (("1", "--at", "7"), 2, "Run 1 has no MAP@R at epoch 7. Epochs of all runs: 0, 1."),
        (("1", "--epoch", "soon"), 2, "neither best nor last nor the number of an epoch"),
        ((), 2, "RUN"),
    ],
)
def test_wrong_wishes_are_one_sentence(capsys, folder, arguments, status, said):
    found, _, err = run(capsys, folder, *arguments)
    assert found == status
    assert said in err


def test_only_a_run_that_may_still_be_evaluated_is_waited_for(capsys, folder):
    with Workspace(folder) as workspace:
        ended = store(workspace, {}, name="Ended")
        queued = workspace.create_run(RunConfig(name="Queued"))
        recorder = Recorder(workspace, workspace.create_run(RunConfig(name="Gallery")))
        recorder.environment({"gallery": {"rows": 6}})
        recorder(Ended("done"))
    assert run(capsys, folder, str(ended))[2] == f"Run {ended} has no evaluation. Choose other runs.\n"
    assert f"Run {queued} has no evaluation yet. Wait for one" in run(capsys, folder, str(queued))[2]
    gallery = f"Run {recorder.run_id} has no evaluation: search-only runs have no metrics. Choose other runs.\n"
    assert run(capsys, folder, str(recorder.run_id))[2] == gallery
