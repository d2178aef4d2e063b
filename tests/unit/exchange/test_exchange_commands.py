"""`workbench export` and `workbench import` as a person types them."""

import sys

import numpy as np
import pytest

from tests.full_disk import full_for
from workbench.cli import main
from workbench.workspace import Workspace


@pytest.fixture
def place(workspace, stored_run):
    """The folder of a workspace with one stored run, as an argument."""
    return str(workspace.path)


def test_out_and_in_again(place, stored_run, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["export", str(stored_run), "-w", place, "--out", str(out), "--format", "npy", "--format", "csv"]) == 0
    printed = capsys.readouterr().out.split()
    assert printed == [str(out / name) for name in ("embeddings.npy", "labels.npy", "samples.csv", "scalars.csv")]
    words = [
        "import",
        str(out / "embeddings.npy"),
        "--labels",
        str(out / "samples.csv"),
        "--name",
        "again",
        "-w",
        place,
    ]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"Run {stored_run + 1} done. MAP@R ")
    assert "over 12 queries" in said
    with Workspace(place) as opened:
        assert opened.run(stored_run + 1).name == "again"


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["export", "1", "--format", "npy"], "Writing the embeddings"),
        (["report", "1", "--section", "summary"], "Reading the runs"),
        (["compare", "1"], "Metrics"),
        (["deploy", "1", "--store", "float16"], "Reading the embeddings"),
    ],
)
def test_what_takes_long_shows_on_a_terminal_how_far_it_is(place, capsys, monkeypatch, words, first):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main([*words, "-w", place]) == 0
    drawn = capsys.readouterr().err
    assert drawn.startswith(f"\r\x1b[2K{first}")
    assert drawn.endswith("\r\x1b[2K"), "the line is cleared before the answer"


def test_a_problem_is_one_sentence_and_status_1(place, stored_run, tmp_path, capsys):
    assert main(["export", str(stored_run), "-w", place, "--out", str(tmp_path / "out"), "--format", "torch"]) == 1
    assert capsys.readouterr().err == f"Run {stored_run} has no checkpoint. Nothing was written.\n"
    assert main(["export", "99", "-w", place]) == 2
    assert "There is no run 99" in capsys.readouterr().err
    np.save(tmp_path / "e.npy", np.zeros((2, 2)))
    assert main(["import", str(tmp_path / "e.npy"), "-w", place]) == 1
    said = capsys.readouterr().err
    assert "has no labels. Nothing was imported. Name a second file with a label for each row: `--labels FILE`" in said
    assert main(["export", str(stored_run), "-w", place, "--format", "mp3"]) == 2


@pytest.mark.parametrize(("words", "epoch"), [((), 1), (("--epoch", "last"), 2), (("--epoch", "2"), 2)])
def test_the_epoch_is_best_last_or_a_number(workspace, place, stored_run, tmp_path, capsys, words, epoch):
    out = tmp_path / "out"
    assert main(["export", str(stored_run), "-w", place, "--out", str(out), "--format", "npy", *words]) == 0
    [wanted] = [each.id for each in workspace.evaluations(stored_run) if each.epoch == epoch]
    np.testing.assert_array_equal(np.load(out / "embeddings.npy"), workspace.embeddings(wanted)[2])


def test_an_epoch_that_is_none_is_refused(place, stored_run, capsys):
    assert main(["export", str(stored_run), "-w", place, "--epoch", "first"]) == 2
    assert "'first' is neither best nor last" in capsys.readouterr().err
    assert main(["export", str(stored_run), "-w", place, "--epoch", "7"]) == 2
    assert "was not evaluated after epoch 7" in capsys.readouterr().err


def test_an_export_for_which_there_is_no_room_leaves_no_file_and_no_folder(place, stored_run, tmp_path, monkeypatch):
    full_for(monkeypatch, "labels.npy")  # after the scalars and the embeddings
    words = ["export", str(stored_run), "-w", place, "--format", "csv", "--format", "npy"]
    assert main([*words, "--out", str(tmp_path / "new" / "out")]) == 1
    assert not (tmp_path / "new").exists()
