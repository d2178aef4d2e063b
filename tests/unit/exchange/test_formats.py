"""Runs as files: tables without formulas, arrays, the config, and what is said when something cannot be written."""

import csv
import errno
import json
import os

import numpy as np
import pyarrow.parquet as parquet
import pytest

from workbench.commands.results.deploy import evaluation_of
from workbench.config import EvaluationParams, RunConfig
from workbench.control import Cancelled
from workbench.events import Ended, Scalar, Status
from workbench.exchange.formats import FORMATS, export_run, refusal
from workbench.exchange.source import source_of
from workbench.files import packages
from workbench.files.spreadsheet import PART, csv_cell, csv_parts, csv_text, pasted, plain_cell
from workbench.problem import Problem
from workbench.workspace.recorder import Recorder

CLASSES = ["=1+1", "<b>cat</b>", "@dog"]  # of the stored run


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@a", "\t=1", "plain", "", "'quoted'", "'=1+1", "''-1", "'", "''", "\uff1d1+1", "'\uff20a"],
)
def test_a_cell_is_harmless_and_comes_back(text):
    written = csv_cell(text)
    assert written[:1] not in ("=", "+", "-", "@", "\t", "\uff1d", "\uff20")
    assert plain_cell(written) == text
    assert csv_cell(-0.5) == -0.5, "a number is no formula"
    assert csv_text([text], []) == csv_text([], [[text]])[1:], "a title is a cell as any other"
    assert not {"\t", "\n", "\r"} & set(pasted(f"{text}\t\r\n"))
    assert pasted(text)[:1] not in ("=", "+", "-", "@")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a;=1+1;b", "a;'=1+1;b"), ("a\r@b", "a\r'@b"), ("a\t\"-1", "a\t'\"-1"), ("a;'+1", "a;''+1"),
        ("a; -1; b", "a; -1; b"), ("a;b\r\nc", "a;b\r\nc"),
    ],
)  # fmt: skip
def test_no_cell_is_a_formula_for_a_spreadsheet_that_separates_them_otherwise(name, written):
    assert csv_cell(name) == written
    assert plain_cell(written) == name
    assert pasted("a;=1") == "a;'=1"


def test_a_long_table_is_texts_of_some_rows_each():
    rows = [[number, f"row {number}"] for number in range(2 * PART + 1)]
    parts = list(csv_parts(["number", "row"], iter(rows)))
    assert "".join(parts) == "number,row\n" + "".join(f"{number},row {number}\n" for number in range(len(rows)))
    assert max(part.count("\n") for part in parts) == PART
    assert list(csv_parts(["number"], [])) == ["number\n"]


def test_curves_are_a_long_table(workspace, stored_run, tmp_path):
    [path] = export_run(workspace, stored_run, ["csv"], tmp_path)
    header, *points = rows(path)
    assert header == ["name", "step", "value"]
    assert points[0] == ["'=batch", "2", "1.0"]
    assert points[1:4] == [["probe/spce", "1", "2.5"], ["probe/spce", "2", ""], ["probe/spce", "300", "-0.125"]]


def test_parquet_holds_the_same_numbers(workspace, stored_run, tmp_path):
    [path] = export_run(workspace, stored_run, ["parquet"], tmp_path)
    table = parquet.read_table(path).to_pydict()
    assert list(table) == ["name", "step", "value"]
    assert table["name"] == ["=batch", "probe/spce", "probe/spce", "probe/spce"]
    np.testing.assert_array_equal(table["value"], [1.0, 2.5, np.nan, -0.125])


def test_numbers_that_no_float32_holds_are_not_written_as_infinite(workspace, stored_run, tmp_path, monkeypatch):
    ids, labels, vectors = workspace.embeddings(workspace.evaluations(stored_run)[0].id)
    wide = vectors.astype(np.float64)
    monkeypatch.setattr(workspace, "embeddings", lambda evaluation_id: (ids, labels, wide))
    export_run(workspace, stored_run, ["npy"], tmp_path / "some")
    wide[0, 0] = 1e300
    with pytest.raises(Problem, match=r"beyond the range of float32\. Nothing was written\."):
        export_run(workspace, stored_run, ["npy"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_best_evaluation_is_written_unless_an_epoch_is_named(workspace, stored_run, tmp_path):
    first, second = (workspace.embeddings(each.id)[2] for each in workspace.evaluations(stored_run))
    export_run(workspace, stored_run, ["npy"], tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "embeddings.npy", allow_pickle=False), first)
    export_run(workspace, stored_run, ["npy"], tmp_path, epoch=2)
    np.testing.assert_array_equal(np.load(tmp_path / "embeddings.npy", allow_pickle=False), second)
    labels = np.load(tmp_path / "labels.npy", allow_pickle=False)
    header, *samples = rows(tmp_path / "samples.csv")
    assert header == ["sample_id", "path", "label"]
    assert [plain_cell(each[2]) for each in samples] == [CLASSES[label] for label in labels]
    assert all(cell[:1] != "=" for each in samples for cell in each)
    with pytest.raises(Problem, match=r"was not evaluated after epoch 9\. Evaluated epochs: 1, 2"):
        export_run(workspace, stored_run, ["npy"], tmp_path, epoch=9)


def test_an_epoch_whose_evaluation_was_not_kept_is_not_said_to_be_without_one(workspace, stored_run):
    text = RunConfig(evaluation=EvaluationParams(keep="best and last")).to_toml()
    with workspace.writing() as db:
        db.execute("update runs set config = ? where id = ?", (text, stored_run))
    said = r"has no evaluation of epoch 9: it keeps only the best and the last one\..* Kept epochs: 1, 2"
    with pytest.raises(Problem, match=said):
        source_of(workspace, stored_run, 9)


def test_the_best_is_chosen_on_held_out_classes_in_exports_and_deployments(workspace, stored_run):
    """As in the list of runs: the test set chooses nothing."""
    scores = {1: {"MAP@R": 0.9, "validation/MAP@R": 0.1}, 2: {"MAP@R": 0.2, "validation/MAP@R": 0.8}}
    with workspace.writing() as db:
        for epoch, metrics in scores.items():
            values = (json.dumps(metrics), metrics["validation/MAP@R"], stored_run, epoch)
            db.execute("update evaluations set metrics = ?, score = ? where run_id = ? and epoch = ?", values)
    assert workspace.run(stored_run).best_epoch == 2
    assert source_of(workspace, stored_run, "best").evaluated.epoch == 2
    assert evaluation_of(workspace, stored_run, "best").epoch == 2


@pytest.mark.parametrize("why", ["cancelled", "no samples"])
def test_an_export_for_the_projector_that_ends_early_leaves_both_files(
    workspace, stored_run, tmp_path, monkeypatch, why
):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("vectors.tsv", "metadata.tsv"):
        (out / name).write_text("before")

    def progress(text, done, total):
        if text == "Writing the vectors" and why == "cancelled":
            raise Cancelled

    def samples(dataset_id):
        raise Problem("The samples could not be read.")

    if why == "no samples":
        monkeypatch.setattr(workspace, "samples", samples)
    with pytest.raises((Cancelled, Problem)):
        export_run(workspace, stored_run, ["projector"], out, progress)
    left = {path.name: path.read_text("utf-8") for path in out.iterdir()}
    assert left == {"vectors.tsv": "before", "metadata.tsv": "before"}


def test_the_projector_gets_one_line_for_each_vector(workspace, stored_run, tmp_path):
    points, metadata = export_run(workspace, stored_run, ["projector"], tmp_path)
    vectors = np.loadtxt(points, delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(vectors, workspace.embeddings(workspace.evaluations(stored_run)[0].id)[2])
    header, *lines = [line.split("\t") for line in metadata.read_text("utf-8").splitlines()]
    assert header == ["label", "path", "sample_id"]
    assert len(lines) == len(vectors)
    assert {len(line) for line in lines} == {3}, "tabs in names do not make columns"
    assert {line[0] for line in lines} == {"'=1+1", "<b>cat</b>", "'@dog"}


def test_the_config_is_the_runs_own(workspace, stored_run, tmp_path):
    [path] = export_run(workspace, stored_run, ["config"], tmp_path)
    assert RunConfig.from_toml(path).name == "=HYPERLINK(1)"
    assert path.read_text("utf-8") == workspace.run(stored_run).config


def test_only_what_may_still_come_is_said_to_come(workspace, stored_run, tmp_path):
    recorder = Recorder(workspace, workspace.create_run(RunConfig(name="gallery")))
    recorder.environment({"gallery": {"rows": 6}})
    recorder(Ended("done"))
    source = source_of(workspace, recorder.run_id)
    ending = "it was imported to be searched only."
    assert refusal("npy", source) == f"Run {recorder.run_id} has no evaluation: {ending}"
    with pytest.raises(Problem, match=rf"^Run {recorder.run_id} has no evaluation: {ending}$"):
        _ = source.evaluated
    ended = Recorder(workspace, workspace.create_run(RunConfig(name="bare")))
    ended(Ended("done"))
    assert refusal("npy", source_of(workspace, ended.run_id)) == f"Run {ended.run_id} has no evaluation."


def test_an_unfinished_run_is_written_as_it_is(workspace, tmp_path):
    run_id = workspace.create_run(RunConfig(name="young"))
    source = source_of(workspace, run_id)
    assert {name: refusal(name, source) for name in ("config", "csv", "tensorboard", "npy", "torch")} == {
        "config": "", "csv": f"Run {run_id} has no curves yet.", "tensorboard": f"Run {run_id} has no curves yet.",
        "npy": f"Run {run_id} has no evaluation yet.", "torch": f"Run {run_id} has no checkpoint.",
    }  # fmt: skip
    with pytest.raises(Problem, match=r"has no evaluation yet\. Nothing was written"):
        export_run(workspace, run_id, ["config", "npy"], tmp_path / "out")
    assert not (tmp_path / "out").exists(), "all is checked before anything is written"
    recorder = Recorder(workspace, run_id)
    recorder(Status("Training"))
    recorder(Scalar("batch/loss", 1, 0.5))
    recorder.flush()
    recorder.close()
    [path] = export_run(workspace, run_id, ["csv"], tmp_path / "out")
    assert rows(path)[1:] == [["batch/loss", "1", "0.5"]]


def test_a_missing_package_is_named_with_what_to_install(workspace, stored_run, tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"Parquet needs pyarrow: install the extra parquet with pip"):
        export_run(workspace, stored_run, ["parquet"], tmp_path)
    assert "ONNX needs onnx and onnxscript" in refusal("onnx", source_of(workspace, stored_run))
    with pytest.raises(Problem, match="Parquet needs pyarrow"):
        packages.load("pyarrow.parquet", "Parquet", "parquet")


def test_a_full_disk_keeps_the_earlier_export(workspace, stored_run, tmp_path, monkeypatch):
    [path] = export_run(workspace, stored_run, ["csv"], tmp_path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for name in ("csv", "tensorboard", "npy", "projector", "config"):
        with pytest.raises(Problem, match="no space left"):
            export_run(workspace, stored_run, [name], tmp_path)
    assert path.read_bytes() == before
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cannot_be_made_is_a_sentence(workspace, stored_run, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Problem, match="could not be written"):
        export_run(workspace, stored_run, ["csv"], tmp_path / "file")
    with pytest.raises(Problem, match="There is no format 'mp3'"):
        export_run(workspace, stored_run, ["mp3"], tmp_path)


def test_every_format_says_what_it_is():
    assert all(each.title and each.help and bool(each.extra) == bool(each.packages) for each in FORMATS.values())


@pytest.mark.parametrize("name", ["config", "csv", "npy"])
def test_an_export_that_is_cancelled_before_its_first_file_makes_no_folder(workspace, stored_run, tmp_path, name):
    def progress(text, done, total):
        raise Cancelled

    with pytest.raises((Cancelled, Problem)):
        export_run(workspace, stored_run, [name], tmp_path / "new" / "out", progress)
    assert not (tmp_path / "new").exists()
