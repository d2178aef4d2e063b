"""A deployment asked for, stored, read again, exported, and on the command line."""

import json
from dataclasses import replace
from hashlib import blake2b

import faiss
import numpy as np
import pytest
import torch
from click.testing import CliRunner

from tests.ui.small_run import blobs, store_run
from tests.unit.workspace.older import make_older
from workbench.cli import cli
from workbench.commands.results.deploy import as_text
from workbench.deploying import request
from workbench.deploying.kinds import kind
from workbench.deploying.measure import measure, search_of
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.results.stored import read_stored
from workbench.workspace import Workspace
from workbench.workspace.measured import deployments
from workbench.workspace.measured.artefacts import add_artefact
from workbench.workspace.measured.deployments import newest_deployment, store_deployment
from workbench.workspace.measured.stored_evaluation import training_path
from workbench.workspace.repairs.verification import verify

LABELS = np.repeat(np.arange(4), 12)


def filled(workspace):
    """The run of two evaluations that is stored there."""
    return store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.5, seed, width=16) for seed in range(2)])


@pytest.fixture
def space(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made, filled(made)


@pytest.fixture(scope="module")
def measured_space(tmp_path_factory):
    """A workspace, its measured evaluation, and the measurement as the text that is stored."""
    with Workspace(tmp_path_factory.mktemp("measured") / "space", create=True) as made:
        evaluation = filled(made).evaluations[-1]
        measured = request.deployment(made, evaluation, ["int8", "pca4"], 0.01)
        yield made, evaluation, json.dumps(measured)


def test_a_measurement_is_stored_and_read_again(space, monkeypatch):
    workspace, run = space
    evaluation = run.evaluations[-1]
    assert newest_deployment(workspace, evaluation) is None
    measured = request.deployment(workspace, evaluation, ["int8", "pca4"], 0.01)
    assert [store["name"] for store in measured["stores"]] == ["float32", "int8", "pca4"]
    assert measured["fitted_on"] == "the searched images themselves"
    monkeypatch.setattr(request, "measure", None)  # nothing is measured twice
    assert request.deployment(workspace, evaluation, ["int8", "pca4"], 0.01) == measured
    assert newest_deployment(workspace, evaluation) == measured
    assert newest_deployment(workspace, run.evaluations[0]) is None


@pytest.mark.parametrize(
    "harm",
    [
        lambda measured: measured.clear(),
        lambda measured: measured.update(gallery=0),
        lambda measured: measured.update(stores=5),
        lambda measured: measured["stores"][0].update(ms=None),
        lambda measured: measured["stores"][0]["metrics"].pop("MAP@R/low"),
        lambda measured: measured["stores"][1].update(grows="fast"),
        lambda measured: measured["stores"][1].update(refused=7),
        lambda measured: measured["stores"][1].update(constant_ms=-1.0),
        lambda measured: measured["stores"][1].update(constant_ms=1e9),
        lambda measured: measured["stores"][1].update(detail=7),
        lambda measured: measured["limit"].update(similarity_range=["low", "high"]),
        lambda measured: measured["limit"]["edges"].pop(),
        lambda measured: measured["limit"]["classes"][0].update(label=2**70),
        lambda measured: measured["new_classes"].pop("trained_on"),
        lambda measured: measured["new_classes"]["points"][0].update(by_mean=[2.0, 0.0, 0.0]),
        lambda measured: measured["new_classes"]["points"].extend(measured["new_classes"]["points"] * 20),
        lambda measured: measured.update(open_set=[]),
        lambda measured: measured["open_set"].pop("trained_on"),
        lambda measured: measured["open_set"]["points"].extend(measured["open_set"]["points"] * 20),
        lambda measured: measured["open_set"]["points"][0].update(images="many"),
        lambda measured: measured["open_set"]["points"][0]["by_mean"].update(oscr=[0.5, 0.4, 1.5]),
        lambda measured: measured["open_set"]["points"][0]["by_mean"]["curve"].pop(),
        lambda measured: measured["open_set"]["points"][0]["by_mean"]["rates"].pop(),
        lambda measured: measured["open_set"]["points"][0]["by_mean"]["rates"][0].update(threshold=[0.5, None, 0.6]),
        lambda measured: measured["open_set"]["points"][0]["by_mean"]["rates"][0].update(fpir=0.0),
        lambda measured: measured["open_set"]["curve"].reverse(),
        lambda measured: measured["open_set"]["curve"].__setitem__(0, 0.0),
    ],
)
def test_a_measurement_of_another_form_is_not_read(measured_space, harm):
    workspace, evaluation, text = measured_space
    measured = json.loads(text)
    harm(measured)
    for stored, read in ((json.dumps(measured), (None, deployments.DAMAGED)), (text, (json.loads(text), ""))):
        with workspace.writing() as db:
            db.execute("update deployments set measured = ?", (stored,))
        assert deployments.read_deployment(workspace, evaluation) == read


@pytest.mark.parametrize("before", ["", "\0"], ids=["long", "long behind a zero byte"])
def test_a_measurement_that_is_too_large_is_not_read_and_an_older_one_is(space, monkeypatch, before):
    workspace, run = space
    evaluation = run.evaluations[-1]
    measured = request.deployment(workspace, evaluation, ["int8"], 0.01)
    text = json.dumps(measured)
    monkeypatch.setattr(deployments, "LARGEST", len(text) + 100)
    newer = {**measured, "evaluation": before + " " * 200}
    with workspace.writing() as db:
        sql = "insert into deployments values (?, 'newer', ?, '9999')"
        db.execute(sql, (evaluation, before + json.dumps(newer)))
    read = []
    monkeypatch.setattr(deployments, "parsed", lambda content, kind: read.append(len(content)) or json.loads(content))
    assert deployments.read_deployment(workspace, evaluation) == (measured, deployments.NEWER_DAMAGED)
    assert read == [len(text)], "the large one is not even parsed"


def test_a_damaged_measurement_is_named_by_the_doctor_and_before_it_is_measured_again(space):
    workspace, run = space
    measured = request.deployment(workspace, run.evaluations[-1], ["int8"], 0.01)
    store_deployment(workspace, run.evaluations[-1], "int8 0.01", {**measured, "gallery": -1})
    (damage,) = verify(workspace, quiet)
    assert damage.what == "Run 1, Deployment of epoch 2"
    assert damage.said == f"{deployments.DAMAGED} Measure it again."
    of_command = ["deploy", "1", "--store", "int8", "--false-accepts", "0.01", "-w", str(workspace.path)]
    ended = CliRunner().invoke(cli, [*of_command, "--epoch", "last"], catch_exceptions=False)
    assert ended.stderr.startswith(deployments.DAMAGED)
    assert verify(workspace, quiet) == []


def test_a_measurement_of_too_many_stores_is_not_read(space):
    workspace, run = space
    measured = request.deployment(workspace, run.evaluations[-1], ["int8"], 0.01)
    measured["stores"] *= 300
    store_deployment(workspace, run.evaluations[-1], "int8 0.01", measured)
    assert newest_deployment(workspace, run.evaluations[-1]) is None


@pytest.mark.parametrize("lacking", [["new_classes", "open_set"], ["open_set"]])
def test_what_was_measured_before_new_classes_and_the_open_set_were_is_kept(space, monkeypatch, lacking):
    workspace, run = space
    whole = request.deployment(workspace, run.evaluations[-1], ["int8"], 0.01)
    older = {name: value for name, value in whole.items() if name not in lacking}
    store_deployment(workspace, run.evaluations[-1], "int8 0.01", older)
    assert newest_deployment(workspace, run.evaluations[-1]) == older
    monkeypatch.setattr(request, "measure", None)  # nothing else is measured
    assert request.deployment(workspace, run.evaluations[-1], ["int8"], 0.01) == whole
    assert newest_deployment(workspace, run.evaluations[-1]) == whole


def test_what_was_measured_before_search_methods_were_gets_them_alone(space, monkeypatch):
    workspace, run = space
    whole = request.deployment(workspace, run.evaluations[-1], [], 0.01)
    names = [store["name"] for store in whole["stores"]]
    assert names[-3:] == ["float32+aqe10", "float32+dba10", "float32+reciprocal"]
    older = {**whole, "rules": 1, "stores": whole["stores"][:-3]}
    for store in older["stores"]:
        del store["constant_ms"]
    store_deployment(workspace, run.evaluations[-1], " 0.01", older)
    assert newest_deployment(workspace, run.evaluations[-1]) == older, "it is valid as it is"
    monkeypatch.setattr(request, "limit_of", None)  # the threshold is kept
    again = request.deployment(workspace, run.evaluations[-1], [], 0.01)
    assert again["stores"][:-3] == older["stores"]
    assert [store["name"] for store in again["stores"]] == names
    assert [store["metrics"] for store in again["stores"][-3:]] == [store["metrics"] for store in whole["stores"][-3:]]
    monkeypatch.setattr(request, "measure", None)
    assert request.deployment(workspace, run.evaluations[-1], [], 0.01) == again


def test_an_evaluation_by_l2_has_re_ranking_alone_among_the_usual(space, monkeypatch):
    workspace, run = space
    read = request.read_stored
    monkeypatch.setattr(request, "read_stored", lambda *of: replace(read(*of), distance="l2"))
    measured = request.deployment(workspace, run.evaluations[-1], [], 0.01)
    assert [store["name"] for store in measured["stores"] if "float32+" in store["name"]] == ["float32+reciprocal"]
    assert not measured["stores"][-1]["refused"]


@pytest.mark.parametrize(
    ("facts", "trained_on"),
    [
        ({"train": 40, "classes_disjoint": True}, False),
        ({"train": 40, "classes_disjoint": False}, True),
        ({"train": 0, "classes_disjoint": False}, None),
        (None, None),
    ],
)
def test_it_is_told_whether_the_classes_were_in_training(space, monkeypatch, facts, trained_on):
    workspace, run = space
    known = replace(workspace.run(run.run_id), environment={"data": facts} if facts else {})
    monkeypatch.setattr(workspace, "run", lambda _: known)
    measured = request.deployment(workspace, run.evaluations[-1], ["int8"], 0.01)
    assert measured["new_classes"]["trained_on"] is measured["open_set"]["trained_on"] is trained_on


@pytest.mark.parametrize(("zero", "there"), [(None, True), (slice(0, 4), False), (slice(None), False)])
def test_an_earlier_measurement_of_embeddings_without_a_direction_is_not_read(tmp_path, zero, there):
    """Stores of those ranked them wrongly before they were refused."""
    vectors = blobs(LABELS, 1.5, 0, width=16)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[vectors])
        measured = request.deployment(workspace, run.evaluations[-1], ["int8", "first4"])
        assert newest_deployment(workspace, run.evaluations[-1]) == measured
        if zero is not None:
            vectors = vectors.copy()
            vectors[7, zero] = 0
        again = store_run(workspace, LABELS, embeddings=[vectors])
        measured.pop("rules")
        store_deployment(workspace, again.evaluations[-1], "int8,first4 0.001", measured)
        assert (newest_deployment(workspace, again.evaluations[-1]) is not None) == there


def test_the_thread_that_measured_has_its_threads_again(space, tmp_path):
    workspace, run = space
    threads = torch.get_num_threads()  # faiss sets those of torch as well
    torch.set_num_threads(2)
    try:
        request.deployment(workspace, run.evaluations[0], ["int8"])
        assert torch.get_num_threads() == 2
        request.export(workspace, run.evaluations[0], "int8", tmp_path / "index")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_stores_are_fitted_on_the_training_half_where_it_was_stored(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 1.5, 0, width=16)])
        number, step = run.evaluations[-1], workspace.evaluation(run.evaluations[-1]).step
        plain = search_of(read_stored(workspace, number))
        assert plain.fitted_on is plain.gallery
        rng = np.random.default_rng(1)
        vectors = rng.normal(size=(40, 16)).astype(np.float32)
        path = training_path(workspace.file(run.run_id, "x").parent, workspace.evaluation(number).epoch)
        np.savez(path, sample_ids=run.ids[:40], vectors=vectors)
        with workspace.writing() as db:
            add_artefact(db, path.parent, run.run_id, "embeddings", path, step)
        search = search_of(read_stored(workspace, number))
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(search.fitted_on, unit, atol=1e-6)
        measured = request.deployment(workspace, number, ["pca4"], 0.01)
        assert measured["fitted_on"] == "the training set"
        on_gallery, on_training = measure(plain, [kind("pca4")])[1], measured["stores"][1]
        assert on_training["metrics"]["MAP@R"] < on_gallery.metrics["MAP@R"], "random axes keep less of it"


def test_it_goes_with_its_run(space):
    workspace, run = space
    request.deployment(workspace, run.evaluations[-1], ["int8"])
    workspace.trash(run.run_id)
    workspace.delete(run.run_id)
    assert newest_deployment(workspace, run.evaluations[-1]) is None


def test_an_older_workspace_gets_the_tables(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        run = store_run(made, LABELS)
    make_older(made.database, "m013_deployments_and_labels")
    with Workspace(tmp_path / "space") as again:
        assert newest_deployment(again, run.evaluations[-1]) is None
        assert len(again.evaluations(run.run_id)) == 2


@pytest.mark.parametrize("name", ["int8", "binary+int8"])
def test_an_exported_index_finds_what_the_evaluation_found(space, tmp_path, name):
    workspace, run = space
    out = tmp_path / "index"
    paths = request.export(workspace, run.evaluations[-1], name, out, 0.05)
    note = json.loads((out / "note.json").read_text())
    assert note["run"]["number"] == run.run_id
    assert note["index"]["images"] == len(LABELS)
    for file, digest in note["files"].items():
        assert blake2b((out / file).read_bytes(), digest_size=16).hexdigest() == digest
    assert {path.name for path in paths} == {*note["files"], "note.json"}
    assert 0 < note["same_or_different"]["false_accepts"] <= 0.05
    fine = faiss.read_index(str(out / ("int8.faiss" if name == "int8" else "binary-int8-fine.faiss")))
    _, _, vectors = workspace.embeddings(run.evaluations[-1])
    asked = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = fine.search(np.ascontiguousarray(asked), 2)[1]
    ids = [int(line.split(",")[1]) for line in (out / "ids.csv").read_text().splitlines()[1:]]
    assert [ids[row] for row in rows[:, 0]] == run.ids.tolist()
    nearest = [workspace.neighbours(run.run_id, int(number))[0].sample_id for number in run.ids]
    assert np.mean([ids[row] == near for row, near in zip(rows[:, 1], nearest, strict=True)]) > 0.8


def test_the_note_has_the_thresholds_of_the_open_set_where_they_were_measured(space, tmp_path):
    workspace, run = space
    number = run.evaluations[-1]
    request.export(workspace, number, "int8", tmp_path / "before", 0.05)
    assert json.loads((tmp_path / "before" / "note.json").read_text())["open_set"] is None
    measured = request.deployment(workspace, number, ["int8"], 0.05)["open_set"]
    request.export(workspace, number, "int8", tmp_path / "after", 0.05)
    noted = json.loads((tmp_path / "after" / "note.json").read_text())["open_set"]
    assert (noted["draws"], noted["trained_on"]) == (measured["draws"], measured["trained_on"])
    rates = [at for point in measured["points"] for rule in ("by_nearest", "by_mean") for at in point[rule]["rates"]]
    assert len(rates) == len(noted["thresholds"]) > 0
    assert [line["similarity"] for line in noted["thresholds"]] == [at["threshold"][0] for at in rates]
    assert noted["thresholds"][0]["class_of"] == "nearest image"
    assert noted["thresholds"][0]["false_identifications_wanted"] == rates[0]["fpir"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("float32+aqe4", "Search the index for the 4 nearest of an embedding. Add each of them"),
        ("float32+dba4", "The index holds the mean of each embedding with its 4 nearest others"),
        ("float32+reciprocal", "look up the 20 nearest of each of them once"),
        ("float32", None),
    ],
)
def test_the_note_of_an_exported_index_says_how_it_is_searched(space, tmp_path, name, said):
    workspace, run = space
    out = tmp_path / "index"
    request.export(workspace, run.evaluations[-1], name, out, 0.05)
    note = json.loads((out / "note.json").read_text(encoding="utf-8"))
    search = search_of(read_stored(workspace, run.evaluations[-1]))
    held = faiss.read_index(str(out / f"{name.replace('+', '-')}.faiss")).reconstruct_n(0, len(LABELS))
    if said is None:
        assert "search" not in note["index"]
    else:
        assert said in note["index"]["search"]
    assert np.array_equal(held, search.gallery) is ("dba" not in name)


def test_the_command_prints_a_table_or_json_and_exports(space, tmp_path):
    workspace, run = space
    words = ["deploy", str(run.run_id), "-w", str(workspace.path), "--store", "float16"]
    told = CliRunner().invoke(cli, [*words, "--false-accepts", "0.01", "--export", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert "float16" in told.output
    assert "Same or different at 1% false accepts" in told.output
    assert "A few images of each of 4 classes are stored, and 8 others are classified." in told.output
    lines = told.output.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("stored "))
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == ["1", "2", "5", "10"]
    assert len({len(line) for line in lines[head : head + 5]}) == 1, "numbers are below their heads"
    head = next(at for at, line in enumerate(lines) if line.startswith("stored by "))
    assert [tuple(line.split()[:3]) for line in lines[head + 1 : head + 7]] == [
        (images, rule, "10") for images in ("1", "5", "all") for rule in ("nearest", "mean")
    ]
    assert len({len(line) for line in lines[head : head + 7]}) == 1
    assert "With 5 images stored of each known class, " in told.output
    assert "FPIR 1% needs 100 queries of unknown classes and is left out." in told.output
    assert (tmp_path / "out" / "float16.faiss").exists()
    data = json.loads(CliRunner().invoke(cli, [*words, "--epoch", "1", "--json"]).output)
    assert data["evaluation"] == run.evaluations[0]
    assert [point["images"] for point in data["open_set"]["points"]] == [1, 5, None]
    nothing = as_text(run.run_id, 1, data | {"open_set": {"points": []}})
    assert nothing.endswith("Open-set identification was not measured: no two classes have two images.")
    data["stores"][-1]["difference"][0] = -1e-6
    assert " ? 0.00 " in as_text(run.run_id, 1, data), "what is written as zero has no sign"
    assert "marked ? may be 0" in as_text(run.run_id, 1, data), "the legend is below the table"
    data["stores"][-1]["difference"] = [-0.0357, -0.05, -0.02]
    assert "  −3.57 " in as_text(run.run_id, 1, data)
    wrong = CliRunner().invoke(cli, ["deploy", str(run.run_id), "-w", str(workspace.path), "--export", str(tmp_path)])
    assert wrong.exit_code == 2


def test_an_unknown_store_and_a_run_without_evaluation_are_said(space):
    workspace, run = space
    with pytest.raises(Problem, match="no store named"):
        request.deployment(workspace, run.evaluations[0], ["zip"])
    told = CliRunner().invoke(cli, ["deploy", str(run.run_id), "-w", str(workspace.path), "--epoch", "9"])
    assert told.exit_code == 2
