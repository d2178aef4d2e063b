"""Robustness of a trained run: measured, stored after each change, read again, refused, and on the command line."""

import csv
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.trained_sample import sample_values, trained
from tests.ui.small_run import blobs, store_run
from workbench.cli import cli
from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.robustness import request
from workbench.robustness.kinds import CHANGES
from workbench.robustness.table import sure
from workbench.workspace import Workspace
from workbench.workspace.measured.deployments import DAMAGED, newest_deployment
from workbench.workspace.measured.robustness import checked_robustness, read_robustness, store_robustness
from workbench.workspace.repairs.verification import verify


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    place, values = tmp_path_factory.mktemp("sample") / "space", sample_values(1)
    values["evaluation"]["probe_size"] = 0
    with Workspace(place, create=True) as workspace:
        trained(workspace, values)
    return place


@pytest.fixture
def sample(space):
    """The workspace with its last evaluation, of which nothing is measured yet."""
    with Workspace(space) as workspace:
        with workspace.writing() as db:
            db.execute("delete from deployments")
        yield SimpleNamespace(workspace=workspace, evaluation=workspace.evaluations(1)[-1])


def test_the_unchanged_queries_have_the_metrics_of_the_evaluation(sample):
    measured = request.robustness(sample.workspace, sample.evaluation.id, ["noise"], device="cpu")
    assert measured["queries"] == measured["queries_there"] == sample.evaluation.metrics["queries"] == 899
    assert measured["apart"] < 1e-5
    for name in ("MAP@R", "recall@1"):
        stored = {f"{name}{end}": sample.evaluation.metrics[f"{name}{end}"] for end in ("", "/low", "/high")}
        measured_again = {key: measured["unchanged"]["metrics"][key] for key in stored}
        assert measured_again == pytest.approx(stored, abs=1e-6)
    (noise,) = measured["changes"]
    assert [level["words"] for level in noise["levels"]][:2] == ["σ 0.08", "σ 0.12"]
    worst = noise["levels"][-1]
    mean, low, high = worst["difference"]["MAP@R"]
    assert mean == pytest.approx(worst["metrics"]["MAP@R"] - measured["unchanged"]["metrics"]["MAP@R"])
    assert low < mean < high < 0
    stored = read_robustness(sample.workspace, sample.evaluation.id)
    assert json.loads(json.dumps(stored)) == json.loads(json.dumps(measured))
    assert newest_deployment(sample.workspace, sample.evaluation.id) is None


def test_what_was_measured_is_read_and_only_what_is_missing_is_measured(sample, monkeypatch):
    workspace, number = sample.workspace, sample.evaluation.id
    first = request.robustness(workspace, number, ["noise"], 40, "cpu")
    assert (first["queries"], first["queries_there"]) == (40, 899)
    done = []
    measure = request.changed_scores
    monkeypatch.setattr(
        request, "changed_scores", lambda change, *rest: done.append(change.name) or measure(change, *rest)
    )
    both = request.robustness(workspace, number, ["jpeg", "noise"], 40, "cpu")
    assert done == ["jpeg"]
    assert json.loads(json.dumps(both["changes"][1])) == json.loads(json.dumps(first["changes"][0]))
    assert [change["name"] for change in request.robustness(workspace, number, ["noise"], 40, "cpu")["changes"]] == [
        "noise"
    ]
    assert done == ["jpeg"]
    request.robustness(workspace, number, ["noise"], 50, "cpu")
    assert done == ["jpeg", "noise"]
    replaced = read_robustness(workspace, number)
    assert (replaced["queries"], len(replaced["changes"])) == (50, 1)


def test_a_cancel_keeps_the_changes_that_are_measured(sample):
    def progress(text, done, total):
        if text == "Darker":
            raise Cancelled

    with pytest.raises(Cancelled):
        request.robustness(sample.workspace, sample.evaluation.id, ["jpeg", "dark", "crop"], 30, "cpu", progress)
    kept = read_robustness(sample.workspace, sample.evaluation.id)
    assert [change["name"] for change in kept["changes"]] == ["jpeg"]


def test_an_epoch_without_a_network_and_an_unknown_number_of_queries_are_refused(sample):
    early = sample.workspace.evaluations(1)[0]
    with pytest.raises(Problem, match="Run 1 has no checkpoint of epoch 0, only of epoch 1"):
        request.robustness(sample.workspace, early.id)
    with pytest.raises(Problem, match="1 to 100,000 queries can be drawn, not 0"):
        request.robustness(sample.workspace, sample.evaluation.id, queries=0)
    with pytest.raises(Problem, match="they are grey"):
        request.robustness(sample.workspace, sample.evaluation.id, ["colour"])


def test_a_workspace_that_cannot_be_written_is_refused_before_the_work(sample, monkeypatch):
    monkeypatch.setattr(sample.workspace, "read_only", True)
    monkeypatch.setattr(request, "network_of", None)  # nothing is embedded
    with pytest.raises(Problem, match="is open for reading only"):
        request.robustness(sample.workspace, sample.evaluation.id, ["jpeg"], 30, "cpu")


def test_weights_of_another_network_are_refused(sample, monkeypatch):
    from workbench.running.search import image_search

    kept_network = image_search.kept_network

    def other(*where, **which):
        network, evaluation = kept_network(*where, **which)
        for weights in network.model.parameters():
            weights.data.mul_(1.2)
        return network, evaluation

    monkeypatch.setattr(image_search, "kept_network", other)
    with pytest.raises(Problem, match="The unchanged images do not have their stored embeddings: 30 of 30"):
        request.robustness(sample.workspace, sample.evaluation.id, ["jpeg"], 30, "cpu")
    assert read_robustness(sample.workspace, sample.evaluation.id) is None


def test_the_command_prints_a_table_json_and_csv(sample, tmp_path):
    def said(*words):
        done = CliRunner().invoke(cli, ["robustness", "1", "-w", str(sample.workspace.path), "--epoch", "last", *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    asked = ["--change", "noise", "--change", "jpeg", "--queries", "30", "--device", "cpu"]
    table = said(*asked)
    assert table.startswith("Run 1, epoch 1: 30 of 899 queries with changed images, searched among the 899 stored")
    assert [line for line in table.splitlines() if line in ("JPEG", "Gaussian noise")] == ["JPEG", "Gaussian noise"]
    assert len(table.splitlines()) == 3 + 1 + 2 * 6 + 2
    plain = json.loads(said(*asked, "--json", "--csv", str(tmp_path / "table.csv")))
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["change"] for row in rows] == ["unchanged", *["jpeg"] * 5, *["noise"] * 5]
    strongest = plain["changes"][1]["levels"][4]
    assert float(rows[10]["MAP@R"]) == pytest.approx(strongest["metrics"]["MAP@R"])
    assert float(rows[10]["MAP@R change low"]) == pytest.approx(strongest["difference"]["MAP@R"][1])
    wrong = CliRunner().invoke(cli, ["robustness", "1", "-w", str(sample.workspace.path), "--change", "blurr"])
    assert isinstance(wrong.exception, SystemExit)
    assert wrong.exit_code == 2
    assert "There is no change named 'blurr'. Known: blur," in wrong.stderr


@pytest.fixture
def measured(tmp_path):
    """A made-up measurement of a stored evaluation."""
    import numpy as np

    labels = np.repeat(np.arange(3), 4)
    scores = {f"{name}{end}": 0.5 for name in ("MAP@R", "recall@1") for end in ("", "/low", "/high")}
    level = {"words": "quality 25", "strength": 25.0, "metrics": scores,
             "difference": {name: [-0.1, -0.2, 0.0] for name in ("MAP@R", "recall@1")}}  # fmt: skip
    change = {"name": "jpeg", "title": "JPEG", "source": "somebody", "levels": [level]}
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, labels, embeddings=[blobs(labels, 1.0, 0)])
        yield workspace, run.evaluations[0], {
            "epoch": 1, "queries": 12, "queries_there": 12, "gallery": 12, "side": 8, "apart": 0.0,
            "unchanged": {"metrics": scores}, "changes": [change],
        }  # fmt: skip


def test_an_imported_run_is_refused(measured):
    workspace, evaluation, _ = measured
    with pytest.raises(Problem, match="has no checkpoint, so there is no network to embed an image with"):
        request.robustness(workspace, evaluation)


def test_a_measurement_is_stored_and_read(measured):
    workspace, evaluation, plain = measured
    assert read_robustness(workspace, evaluation) is None
    store_robustness(workspace, evaluation, plain)
    assert json.loads(json.dumps(read_robustness(workspace, evaluation))) == plain
    store_robustness(workspace, evaluation + 1, plain)  # deleted meanwhile
    assert read_robustness(workspace, evaluation + 1) is None


@pytest.mark.parametrize(
    "harm",
    [
        lambda plain: plain.clear(),
        lambda plain: plain.update(changes=[]),
        lambda plain: plain.update(changes=plain["changes"] * 2),
        lambda plain: plain.update(queries=0),
        lambda plain: plain.update(queries=2**40),
        lambda plain: plain.update(apart=-1.0),
        lambda plain: plain["unchanged"]["metrics"].pop("MAP@R/low"),
        lambda plain: plain["unchanged"]["metrics"].update({"MAP@R": 7.0}),
        lambda plain: plain["changes"][0].update(levels=[]),
        lambda plain: plain["changes"][0].update(levels=plain["changes"][0]["levels"] * 30),
        lambda plain: plain["changes"][0].update(title="x" * 10_000),
        lambda plain: plain["changes"][0]["levels"][0]["difference"].pop("MAP@R"),
        lambda plain: plain["changes"][0]["levels"][0]["difference"].update({"MAP@R": [0.1, None, 0.2]}),
        lambda plain: plain["changes"][0]["levels"][0].update(words=7),
        lambda plain: plain["changes"][0]["levels"][0].update(words="\u202eytilauq"),
        lambda plain: plain["changes"][0].update(title="JPEG\x1b[2J"),
        lambda plain: plain.update(queries=13),
    ],
)
def test_a_measurement_of_another_form_is_not_read(measured, harm):
    workspace, evaluation, plain = measured
    copy = json.loads(json.dumps(plain))
    harm(copy)
    store_robustness(workspace, evaluation, copy)
    assert read_robustness(workspace, evaluation) is None
    assert checked_robustness(workspace, evaluation) == (None, DAMAGED)
    store_robustness(workspace, evaluation, plain)
    assert read_robustness(workspace, evaluation) is not None
    assert checked_robustness(workspace, evaluation)[1] == ""


def test_a_measurement_that_is_too_large_is_not_parsed(measured):
    workspace, evaluation, plain = measured
    with workspace.writing() as db:
        text = json.dumps(plain)
        sql = "insert into deployments values (?, 'robustness', ?, '9999')"
        db.execute(sql, (evaluation, text + "\0" + " " * (1 << 20)))
    assert read_robustness(workspace, evaluation) is None
    assert checked_robustness(workspace, evaluation) == (None, DAMAGED)


def test_a_damaged_measurement_is_named_by_the_doctor_and_the_command(sample):
    workspace, number = sample.workspace, sample.evaluation.id
    measured = request.robustness(workspace, number, ["dark"], 5, "cpu")
    assert not [damage for damage in verify(workspace, quiet) if not damage.good]
    store_robustness(workspace, number, {**measured, "apart": -1.0})
    (damage,) = [damage for damage in verify(workspace, quiet) if not damage.good]
    assert damage.what == "Run 1, Robustness of epoch 1"
    assert damage.said == f"{DAMAGED} Measure it again."
    words = ["robustness", "1", "--workspace", str(workspace.path), "--change", "dark", "--queries", "5"]
    assert DAMAGED in CliRunner().invoke(cli, words).stderr
    assert DAMAGED not in CliRunner().invoke(cli, words).stderr


def test_what_another_program_measured_meanwhile_stays(sample, monkeypatch):
    workspace, number = sample.workspace, sample.evaluation.id
    measure = request.changed_scores
    beside = []

    def changed_scores(change, *rest):
        if change.name == "dark" and not beside:
            beside.append(True)
            request.robustness(workspace, number, ["crop"], 5, "cpu")
        return measure(change, *rest)

    monkeypatch.setattr(request, "changed_scores", changed_scores)
    asked = request.robustness(workspace, number, ["dark"], 5, "cpu")
    assert [change["name"] for change in asked["changes"]] == ["dark"]
    assert [change["name"] for change in read_robustness(workspace, number)["changes"]] == ["dark", "crop"]


def test_a_workspace_that_cannot_be_written_is_refused_before_anything_is_embedded(sample, monkeypatch):
    known = request.robustness(sample.workspace, sample.evaluation.id, ["dark"], 5, "cpu")
    monkeypatch.setattr(sample.workspace, "read_only", True)
    again = request.robustness(sample.workspace, sample.evaluation.id, ["dark"], 5, "cpu")
    assert again["unchanged"] == known["unchanged"]
    with pytest.raises(Problem, match="is open for reading only"):
        request.robustness(sample.workspace, sample.evaluation.id, ["crop"], 5, "cpu", lambda *_: pytest.fail("began"))


def test_one_query_says_nothing_about_others(sample):
    measured = request.robustness(sample.workspace, sample.evaluation.id, ["noise"], 1, "cpu")
    assert (measured["unchanged"]["metrics"]["MAP@R/low"], measured["unchanged"]["metrics"]["MAP@R/high"]) == (0, 1)
    for level in measured["changes"][0]["levels"]:
        assert not sure(level["difference"]["MAP@R"])


def test_every_change_has_a_way():
    from workbench.robustness.changing import WAYS

    assert set(WAYS) == {change.name for change in CHANGES}
