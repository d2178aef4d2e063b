"""Reports of several runs: what workbench/comparing finds, said in full and honest about what is missing."""

import csv
import io
import json
import re
import shlex
import zipfile
from hashlib import sha256
from itertools import pairwise
from statistics import fmean, stdev

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tests.unit.comparing.compared_runs import images, store, store_test
from workbench import cli, files, reports
from workbench.colours import OF_RUNS
from workbench.comparing.statistics.intervals import t_interval
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.problem import Problem
from workbench.reports.document import make
from workbench.reports.figures.group_figures import apart
from workbench.reports.formats import html
from workbench.reports.sections import GROUP_SECTIONS
from workbench.reports.writing.blocks import Paragraph, Table
from workbench.reports.writing.group_sections import NO_CURVES

pytestmark = pytest.mark.usefixtures("no_catalog")
EVIL = "=1+1 <script>alert(1)</script> \\input{x}"
FIRST, SECOND = (0.90, 0.92, 0.97), (0.50, 0.61, 0.70)


@pytest.fixture
def runs(workspace):
    """Two groups of three seeds."""
    found = []
    for seed, (one, other) in enumerate(zip(FIRST, SECOND, strict=True)):
        found.append(store(workspace, {0: np.full(6, 0.1), 1: np.full(6, one)}, seed=seed, name=EVIL))
        lr = TrainingParams(lr=0.5)
        found.append(store(workspace, {0: np.full(6, 0.1), 1: np.full(6, other)}, seed=seed, name="B", training=lr))
    return found


def made(workspace, runs, *sections, **wish):
    return make(workspace, reports.wish_of(runs, sections or tuple(GROUP_SECTIONS), **wish), reports.quiet)


def tables(found):
    return {
        block.key: block for section in found.document.sections for block in section.blocks if isinstance(block, Table)
    }


def test_many_groups_have_a_row_each_with_the_settings_that_they_have(workspace):
    losses = (
        ("ce", {}),
        ("triplet", {"margin": 0.2}),
        ("margin", {"margin": 0.3}),
        ("ice", {"scale": 8}),
        ("psce", {}),
    )
    runs = [
        store(workspace, {1: np.full(6, 0.5)}, name="Sample: Digits", loss=Choice(name=loss, params=params))
        for loss, params in losses
    ]
    every = tables(made(workspace, runs, "changed-settings", "provenance", "all-settings"))
    (table,) = (table for key, table in every.items() if key.startswith("changed-settings"))
    assert table.head == ("Group", "Settings")
    named = dict(table.rows)
    assert list(named) == ["loss ce", "loss triplet", "loss margin", "loss ice", "loss psce"], "without what all share"
    assert "loss triplet" in named["loss triplet"]
    assert "0.2" in named["loss triplet"]
    assert "margin" not in named["loss ice"]
    assert every["all-settings-1"].head == ("Setting", "loss ce", "loss triplet", "loss margin", "loss ice")


def test_a_fact_that_differs_names_the_runs_of_each_value(workspace, runs):
    for run, device in zip(runs, ("cpu", "cpu", "cpu", "cuda:0", "cpu", "cuda:0"), strict=True):
        with workspace.writing() as db:
            db.execute("update runs set environment = ? where id = ?", (json.dumps({"device": device}), run))
    every = tables(made(workspace, runs, "provenance"))
    assert every["unlike-facts"].rows == (("Device", "cpu", "1 to 3, 5"), ("Device", "cuda:0", "4, 6"))


def test_tests_on_other_images_have_no_curve_and_the_section_says_so(workspace, runs):
    tests = [store_test(workspace, run, np.full(9, 0.3)) for run in runs]
    alone = made(workspace, tests, "group-curves")
    assert sentences(alone) == NO_CURVES
    assert alone.document.drawings == {}
    both = made(workspace, [*runs, *tests], "group-curves")
    assert sentences(both) == f"{NO_CURVES} Groups without a curve: 2."
    names = {row[0] for row in both.document.drawings["group-curves"].table[1]}
    assert len(names) == 2, "the groups that trained"


def sentences(found):
    blocks = (block for section in found.document.sections for block in section.blocks)
    return " ".join(span.text for block in blocks if isinstance(block, Paragraph) for span in block.spans)


def test_groups_have_mean_deviation_and_interval_over_seeds(workspace, runs):
    rows = tables(made(workspace, runs, "groups"))["groups"].rows
    for row, values in zip(rows, (FIRST, SECOND), strict=True):
        over = t_interval(values)
        limits = f"[{100 * over.low:.2f}, {100 * over.high:.2f}]"
        assert row[1:5] == (f"{100 * fmean(values):.2f}", f"{100 * stdev(values):.2f}", limits, "3")


def test_differences_settings_runs_and_commands_are_told(workspace, runs):
    found = made(workspace, runs)
    every = tables(found)
    assert every["difference-1"].rows[-1][0] == "All seeds"
    assert every["changed-settings-1"].rows == (("Training: Learning rate", "0.001", "0.5"),)
    assert [row[0] for row in every["runs"].rows] == ["1", "3", "5", "2", "4", "6"]
    assert every["commands"].rows[0][2] == "workbench run configs/run-1.toml --workspace DIR"
    assert "is better: the 95% interval over seeds excludes zero" in sentences(found)
    assert set(found.document.drawings) == {"group-curves", "group-means", "similarity"}


def test_the_first_run_determines_what_the_others_are_compared_with(workspace, runs):
    rows = tables(made(workspace, [runs[1], *runs], "groups", "differences"))
    assert [row[0] for row in rows["groups"].rows] == ["B", EVIL]
    assert rows["difference-1"].caption.startswith(f"MAP@R % ↑: {EVIL} minus B;")


def test_all_settings_of_two_losses_stand_together(workspace):
    runs = [
        store(workspace, {1: np.full(6, 0.5)}, name=name, loss=Choice(name=name, params={param: 1.0}))
        for name, param in (("ce", "dropout"), ("margin", "beta"))
    ]
    rows = [row[0] for row in tables(made(workspace, runs, "all-settings"))["all-settings-1"].rows]
    at = rows.index("Loss")
    assert rows[at : at + 3] == ["Loss", "Loss: Dropout", "Loss: Beta"]


def test_several_differences_are_corrected_for_their_number(workspace, runs):
    third = [
        store(workspace, {1: np.full(6, value)}, seed=seed, name="C", training=TrainingParams(lr=0.7))
        for seed, value in enumerate((0.1, 0.115, 0.18))
    ]
    assert "Holm" not in sentences(made(workspace, runs, "differences"))
    said = sentences(made(workspace, [*runs, *third], "differences"))
    assert f"“B” and “C” are worse than “{EVIL}” on MAP@R. 2 tests, Holm-corrected within each metric." in said


@pytest.mark.parametrize("count", [3, 10])
def test_the_plot_of_means_has_the_names_of_the_groups_in_full(workspace, count):
    names = [f"{number} Proxy-Anchor, ResNet-50, 512 dimensions, scale {2 * number}" for number in range(count)]
    groups = [
        store(workspace, {1: np.full(6, 0.5)}, name=name, training=TrainingParams(lr=0.1 + number / 100))
        for number, name in enumerate(names)
    ]
    figure = made(workspace, groups, "groups").document.drawings["group-means"].figure()
    FigureCanvasAgg(figure).draw()
    labels = figure.axes[0].get_yticklabels()
    written = [" ".join(label.get_text().split()) for label in labels]
    assert written == names
    boxes = [label.get_window_extent() for label in labels]
    assert all(box.x0 >= 0 for box in boxes)
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes)), "they do not cover each other"
    assert figure.axes[0].bbox.width > figure.bbox.width / 3


def test_groups_have_the_colours_of_the_window(workspace, runs):
    workspace.set_colours({1: 3, 2: 9})  # the same, one turn later: it takes the first that nobody wants
    drawings = made(workspace, runs, "groups", "group-curves").document.drawings
    assert len(drawings) == 2
    for drawing in drawings.values():
        host = Figure()
        drawing.paint(host)
        assert {line.get_color() for line in host.axes[0].lines} == {OF_RUNS[3], OF_RUNS[0]}


def test_papers_rows_stand_beside_the_means_of_groups(workspace):
    birds = {"dataset": Choice(name="cub"), "split": Choice(name="classes"), "backbone": Choice(name="resnet50")}
    runs = [
        store(workspace, {1: np.full(6, 0.9)}, seed=seed, metrics={"recall@1": value}, name="Birds", **birds)
        for seed, value in enumerate((0.60, 0.62, 0.67))
    ]
    found = made(workspace, runs, "group-published")
    paper = next(each for each in tables(found).values() if "Cross-Entropy" in [row[0] for row in each.rows])
    own = paper.rows[-1]
    assert own[:3] == ("Birds (here, n = 3)", "resnet50", "100")
    assert own[paper.head.index("R@1 %")] == "63.0"
    assert paper.strong == {len(paper.rows) - 1}
    assert "“Birds”: This run's embeddings have 100 dimensions, the table's 2048." in sentences(found)


def test_sections_of_one_run_are_about_the_first(workspace, runs):
    found = made(workspace, runs, "summary", "groups")
    assert [section.title for section in found.document.sections] == ["Summary (run 1)", "Results over seeds"]


def test_one_seed_is_not_enough(workspace, runs):
    found = made(workspace, runs[:2], "groups", "differences")
    assert [row[3] for row in tables(found)["groups"].rows] == ["not enough seeds"] * 2
    assert "Not enough seeds (n = 1)" in sentences(found)
    assert "better: the 95%" not in sentences(found)


def test_other_data_and_an_unfinished_run_are_told(workspace, runs):
    other = store(workspace, {1: np.ones(6)}, shown=images(6, "other"), name="C", status="interrupted")
    said = sentences(made(workspace, [runs[0], other], "guards", "differences"))
    assert "The runs saw different data" in said
    assert f"Not finished, so the numbers may not be the last: run {other} (interrupted" in said
    assert said.count("The runs saw different data") == 2


def test_a_metric_or_epoch_that_no_run_has_is_named(workspace, runs):
    with pytest.raises(Problem, match=r"None of runs 1, 2, 3, 4, 5, 6 has NMI\. There is MAP@R"):
        made(workspace, runs, "groups", metric="NMI")
    with pytest.raises(Problem, match=r"has MAP@R at epoch 7\. Epochs of all runs: 0, 1\."):
        made(workspace, runs, "groups", at=7)


def test_a_metric_missing_in_some_runs_is_a_dash_and_a_sentence(workspace, runs):
    extra = store(workspace, {1: np.ones(6)}, metrics={"NMI": 0.5}, name="C", training=TrainingParams(lr=0.2))
    found = made(workspace, [*runs, extra], "guards", "groups", "runs", metric="NMI", at="last")
    assert "Without NMI: runs 1, 3, 5, 2, 4 and 1 more." in sentences(found)
    assert [row[1] for row in tables(found)["groups"].rows] == ["–", "–", "50.00"]


def test_runs_without_any_evaluation_are_said_to_have_none(workspace):
    runs = [workspace.create_run(RunConfig(name="young", seed=seed)) for seed in range(2)]
    found = made(workspace, runs)
    assert "None of these runs has an evaluation yet." in sentences(found)
    assert not found.document.drawings
    assert "young" in html.page(found.document)


def test_two_hundred_runs_are_one_report(workspace):
    runs = [
        store(workspace, {1: np.full(6, 0.5)}, name=f"run {number}", training=TrainingParams(lr=0.1 * (number + 1)))
        for number in range(10)
    ]
    for number in range(190):
        config = RunConfig(name=f"later {number}", training=TrainingParams(lr=0.00011 * (number + 1)))
        runs.append(workspace.create_run(config))
    found = made(workspace, runs, *(key for key in GROUP_SECTIONS if key != "differences"))
    assert len(tables(found)["groups"].rows) == 200
    assert "The first 8 of 10 groups are drawn" in sentences(found)
    assert "176 more groups are not listed" in sentences(found)
    assert len(html.page(found.document)) < 3_000_000


def test_the_bundle_says_how_each_run_is_made_again(workspace, runs, tmp_path):
    wish = reports.wish_of(runs, ("notes", "groups", "group-curves"), notes="**own** text")
    reports.write_bundle(workspace, wish, tmp_path / "out" / "all.zip")
    with zipfile.ZipFile(tmp_path / "out" / "all.zip") as packed:
        assert packed.testzip() is None
        held = {name: packed.read(name) for name in packed.namelist()}
    told = json.loads(held["manifest.json"])
    assert {each["name"] for each in told["files"]} == set(held) - {"manifest.json"}
    assert all(sha256(held[each["name"]]).hexdigest() == each["sha256"] for each in told["files"])
    assert {"report.html", "report.pdf", "latex/main.tex", "latex/figures/group-curves.pdf", "csv/groups.csv"} <= set(
        held
    )
    for run, each in zip(runs, told["runs"], strict=True):
        assert held[each["config"]].decode() == workspace.run(run).config
        assert each["seed"] == workspace.run(run).seed
        assert each["command"] == f"workbench run {each['config']} --workspace DIR"
        assert each["evaluated"]["metrics"]["MAP@R"] == pytest.approx(workspace.run(run).best["MAP@R"])
        assert {"versions", "hardware", "data", "weights_fingerprint"} <= set(each)
    assert "<strong>own</strong> text" in held["report.html"].decode()
    assert told["report"]["command"].startswith("workbench report 1 2 3 4 5 6 --section=notes --section=groups")


@pytest.mark.parametrize("title", [pytest.param("", marks=pytest.mark.slow), '--It\'s "quoted" & $HOME'])
def test_the_command_of_a_bundle_makes_the_same_bundle_again(workspace, runs, tmp_path, monkeypatch, title):
    text = "**own** text\n\n- of two\n- lines é" if title else ""
    wish = reports.wish_of(runs[:2], ("notes", "runs", "groups"), title, text, "MAP@R", 1)
    reports.write_bundle(workspace, wish, tmp_path / "first.zip")
    with zipfile.ZipFile(tmp_path / "first.zip") as packed:
        packed.extractall(tmp_path / "unpacked")
        told = json.loads(packed.read("manifest.json"))
    monkeypatch.chdir(tmp_path / "unpacked")
    places = {"FILE": str(tmp_path / "again.zip"), "DIR": str(workspace.path)}
    words = [places.get(word, word) for word in shlex.split(told["report"]["command"])]
    assert words[0] == "workbench"
    cli.cli.main(words[1:], standalone_mode=False)
    with zipfile.ZipFile(tmp_path / "first.zip") as first, zipfile.ZipFile(tmp_path / "again.zip") as again:
        assert first.namelist() == again.namelist()
        assert ("text.md" in again.namelist()) == bool(text)
        assert json.loads(again.read("manifest.json"))["report"] == told["report"]
        for name in ("report.html", "csv/groups.csv"):
            assert first.read(name) == again.read(name)
        page = again.read("report.html").decode()
    assert re.findall(r'<section id="([^"]+)"', page) == (["notes"] if text else []) + ["runs", "groups"]


def test_csv_of_groups_and_figures_hold_no_formula_and_full_precision(workspace, runs, tmp_path):
    reports.write_report(workspace, runs, tmp_path, ["csv"], ("groups", "group-curves"))
    assert {path.name for path in tmp_path.rglob("*.csv")} == {
        "groups.csv", "group-runs.csv", "group-curves.csv", "group-means.csv",
    }  # fmt: skip
    for path in tmp_path.rglob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text("utf-8"))):
            assert not [cell for cell in row if cell[:1] in "=+@" and cell]
    rows = list(csv.DictReader((tmp_path / "groups.csv").read_text("utf-8").splitlines()))
    assert rows[0]["group"] == f"'{EVIL}"
    assert float(rows[0]["mean"]) == fmean(FIRST)
    assert {row["unfinished_runs"] for row in rows} == {""}
    workspace.set_status(runs[0], "stopped")
    reports.write_report(workspace, runs[:1], tmp_path, ["csv"], ("groups",))
    (row,) = csv.DictReader((tmp_path / "groups.csv").read_text("utf-8").splitlines())
    assert row["unfinished_runs"] == str(runs[0])


def test_a_name_is_text_in_every_format(workspace, runs, tmp_path):
    written = reports.write_report(workspace, runs, tmp_path, ["html", "latex"], tuple(GROUP_SECTIONS))
    page, tex = (path.read_text("utf-8") for path in written[:2])
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\\input" not in tex
    assert "\\textbackslash{}input" in tex


def test_a_full_disk_keeps_the_old_bundle(workspace, runs, tmp_path, monkeypatch):
    place = tmp_path / "all.zip"
    place.write_bytes(b"before")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(
        Problem, match=r"There is no space left to write .*all\.zip\. What was there before is unchanged\."
    ):
        reports.write_bundle(workspace, reports.wish_of(runs, ("runs",)), place)
    assert place.read_bytes() == b"before"
    assert [path.name for path in tmp_path.glob("*all*")] == ["all.zip"]


def test_a_report_that_another_program_holds_open_is_said(workspace, runs, tmp_path, monkeypatch):
    def held(path, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "replace", held)
    with pytest.raises(Problem, match="close the program that has it open"):
        reports.write_report(workspace, runs, tmp_path / "out", ["csv"], ("runs",))
    assert list((tmp_path / "out").rglob("*.*")) == []


def test_the_command_line_takes_several_runs_a_template_and_own_text(workspace, runs, tmp_path, capsys):
    (tmp_path / "own.md").write_text("# Mine\n", "utf-8")
    said = ["report", *map(str, runs[:2]), "--template", "comparison", "--text", str(tmp_path / "own.md")]
    status = cli.main([*said, "--workspace", str(workspace.path), "--out", str(tmp_path / "out"), "--at", "last"])
    assert status == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "report.html")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<h3>Mine</h3>" in page
    assert "last epoch of each run" in page
    assert cli.main([*said, "--workspace", str(workspace.path), "--metric", "none"]) == 2
    assert capsys.readouterr().err.startswith("None of runs 1, 2 has none. There is "), "one fault, one sentence"


def test_own_text_that_is_no_text_is_refused(workspace, runs, tmp_path, capsys):
    (tmp_path / "own.md").write_bytes(b"Gr\xf6\xdfe")
    asked = ["report", str(runs[0]), "--workspace", str(workspace.path), "--out", str(tmp_path / "out")]
    assert cli.main([*asked, "--text", str(tmp_path / "own.md")]) == 1
    assert "own.md cannot be read (it is not text in UTF-8). No report was written." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_metric_for_the_sections_of_one_run_is_said_to_change_nothing(workspace, runs, tmp_path, capsys):
    asked = ["report", str(runs[0]), "--workspace", str(workspace.path), "--out", str(tmp_path)]
    assert cli.main([*asked, "--section", "summary", "--metric", "recall@9"]) == 0
    assert capsys.readouterr().err == "--metric changes nothing here: the sections of one run show every metric.\n"
    assert cli.main([*asked, "--section", "summary"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main([*asked, "--section", "groups", "--metric", "recall@9"]) == 2
    assert f"Run {runs[0]} has no recall@9." in capsys.readouterr().err
    assert cli.main([*asked, "--section", "summary", "--bundle", str(tmp_path / "one.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        assert "--metric" not in json.loads(packed.read("manifest.json"))["report"]["command"]


def test_names_in_figures_leave_out_what_all_begin_with():
    assert apart(["omniglot ce, fixed", "omniglot spce"]) == ["ce, fixed", "spce"]
    assert apart(["omniglot ce", "omniglot"]) == ["omniglot ce", "omniglot"], "a name never becomes empty"
    assert apart(["only one"]) == ["only one"]
    assert apart(["Digits: epochs 8", "Digits: epochs 30"]) == ["epochs 8", "epochs 30"], "a number of something"
    assert apart(["same", "same"]) == ["same", "same"]


def test_the_manifest_is_json_without_nan_and_its_command_names_the_paper(workspace, tmp_path):
    run = store(workspace, {1: np.full(6, 0.5)}, metrics={"NMI": np.nan})
    reports.write_bundle(workspace, reports.wish_of(run, ("groups",), paper="letter"), tmp_path / "report.zip")

    def refused(word):
        raise AssertionError(word)

    with zipfile.ZipFile(tmp_path / "report.zip") as packed:
        manifest = json.loads(packed.read("manifest.json"), parse_constant=refused)
    assert manifest["runs"][0]["evaluated"]["metrics"]["NMI"] is None
    assert "--paper=letter" in manifest["report"]["command"]
