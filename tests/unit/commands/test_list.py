"""`workbench list`: everything, or what contains each of some words."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tests.unit.comparing.compared_runs import store
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.workspace import Workspace


def listed(*words):
    done = CliRunner().invoke(cli, ["list", *words])
    assert done.exit_code == 0, done.output
    return [line for line in done.output.splitlines() if not line.startswith(" ")]


def test_models_say_size_features_and_licence():
    (line,) = listed("models", "vit_small_patch16_224.dino")
    assert line.split() == ["vit_small_patch16_224.dino", "21.7", "M", "224", "px", "384", "features", "apache-2.0"]


def test_every_word_narrows_the_models():
    many, few = listed("models", "DINOv2"), listed("models", "DINOv2", "small")
    assert 0 < len(few) < len(many)
    assert all("dinov2" in line and "small" in line for line in few)


@pytest.mark.parametrize(
    ("what", "words", "first"),
    [("losses", ("proxy", "anchor"), "proxy_anchor"), ("presets", ("figure", "mnist"), ""), ("fields", ("bf16",), "")],
)
def test_words_leave_the_entries_that_contain_them(what, words, first):
    assert len(listed(what, *words)) < len(listed(what))
    if first:
        assert listed(what, *words)[0].startswith(first)


def test_a_list_without_a_line_says_so_on_the_error_output(tmp_path):
    done = CliRunner().invoke(cli, ["list", "losses", "no such", "word"])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "There are no losses with no such word.\n")
    Workspace(tmp_path / "space", create=True).close()
    done = CliRunner().invoke(cli, ["list", "runs", "--workspace", str(tmp_path / "space")])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "There are no runs.\n")


def test_a_field_that_no_run_has_is_named_and_a_long_search_is_cut(tmp_path):
    with Workspace(tmp_path / "space", create=True) as space:
        space.create_run(RunConfig())
    for words, said in (("lrr>1", "with lrr>1. No run has a field or a score “lrr”.\n"), ("a" * 5000, "aa….\n")):
        done = CliRunner().invoke(cli, ["list", "runs", words, "--workspace", str(tmp_path / "space")])
        assert done.stderr.endswith(said)
        assert len(done.stderr) < 300
    done = CliRunner().invoke(cli, ["list", "runs", "lrr>1", "--json", "--workspace", str(tmp_path / "space")])
    assert (done.stdout, done.stderr) == (
        "[]\n",
        "There are no runs with lrr>1. No run has a field or a score “lrr”.\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep", "list", "--workspace", "space"], "There are no sweeps."),
        (["place", "list"], "There are no places: `workbench place add` adds one."),
        (["plugins", "list"], "There are no plug-ins: `workbench plugins add FOLDER` adds some."),
    ],
)
def test_other_lists_without_a_line_say_so_too(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Workspace(tmp_path / "space", create=True).close()
    done = CliRunner().invoke(cli, words)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"{said}\n")


def test_a_field_of_an_entry_is_said_to_be_in_another_list():
    done = CliRunner().invoke(cli, ["list", "fields", "split.validation"])
    assert (done.exit_code, done.stdout) == (0, "")
    said = "There are no fields with split.validation. `workbench list splits` has split.validation.\n"
    assert done.stderr == said


@pytest.mark.parametrize(
    "what", ["losses", "backbones", "datasets", "splits", "samplers", "augmentations", "presets", "models", "fields"]
)
def test_json_has_what_the_lines_name(what):
    rows = json.loads(CliRunner().invoke(cli, ["list", what, "--json"]).stdout, parse_constant=pytest.fail)
    assert [row["name"] for row in rows] == [line.split()[0] for line in listed(what)]


def test_json_of_runs_has_their_scores_and_is_an_empty_list_without_runs(tmp_path):
    words = ["list", "runs", "--json", "--workspace", str(tmp_path / "space")]
    with Workspace(tmp_path / "space", create=True) as workspace:
        done = CliRunner().invoke(cli, words)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "[]\n", "")
        store(workspace, {1: np.full(6, 0.5)}, name="One", metrics={"NMI": np.nan})
    (run,) = json.loads(CliRunner().invoke(cli, words).stdout, parse_constant=pytest.fail)
    assert (run["run"], run["name"], run["status"], run["best_epoch"]) == (1, "One", "done", 1)
    assert run["best"]["MAP@R"] == pytest.approx(0.5)
