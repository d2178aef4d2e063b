"""What a run says in the terminal; and that it goes on where nobody reads it any more."""

import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from workbench.__main__ import main as start
from workbench.cli import main
from workbench.commands import terminal
from workbench.commands.terminal import ProgressLine, best_in_words
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.events import Noted, Progress, Remarked, Scalar, Status
from workbench.running.facts import in_words


class Gone(io.StringIO):
    """A terminal that was closed."""

    def write(self, text):
        raise BrokenPipeError("nobody reads this")


def test_a_run_goes_on_where_its_terminal_is_gone(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setattr(sys, "stdout", Gone())
    line = ProgressLine(1)
    line(Noted("First."))
    line(Noted("Second."))
    line.finish("Run 1 done.")


def test_a_file_gets_a_line_of_progress_now_and_then(monkeypatch, capsys):
    """As under nohup or Slurm: an epoch of hours is not silent, and lines of evaluations count as signs of life."""
    clock = [100.0]
    monkeypatch.setattr(terminal, "monotonic", lambda: clock[0])
    line, quiet = ProgressLine(1), ProgressLine(1, quiet=True)  # the second is given all but the note
    for seconds, event in (
        (1, Status("Decoding images", 10, 5000)), (31, Status("Decoding images", 3000, 5000)),
        (32, Status("Loading the engine")), (40, Noted("Noted.")), (62, Progress(1, 90, 80.0)),
        (71, Scalar("batch/loss", 8, 0.5)), (71, Progress(9, 90, 80.0, seconds_left=130)), (72, Progress(10, 90, 80.0)),
    ):  # fmt: skip
        clock[0] = 100.0 + seconds
        line(event)
        if not isinstance(event, Noted):
            quiet(event)
    assert capsys.readouterr().err.splitlines() == [
        "Decoding images 3,000 of 5,000", "Noted.", "10%  step 9 / 90  loss 0.5000  80 img/s  2 min 10 s left",
    ]  # fmt: skip


def test_a_quiet_run_says_its_notes_and_its_last_line(capsys):
    line = ProgressLine(1, quiet=True)
    for event in (
        Status("Decoding images"), Noted("backbone.weights_file: This file is not read."),
        Remarked("1 file was left out."), Progress(9, 90, 80.0),
    ):  # fmt: skip
        line(event)
    line.finish("Run 1 done.")
    said = capsys.readouterr()
    assert said.err.splitlines() == ["backbone.weights_file: This file is not read.", "1 file was left out."]
    assert said.out == "Run 1 done.\n"


def test_a_run_that_is_followed_has_no_loss_in_its_line(monkeypatch, capsys):
    """Nothing tells it; a loss that is not a number is another matter."""
    monkeypatch.setattr(terminal, "SILENT", -1.0)
    line = ProgressLine(0)
    line(Progress(9, 90, 80.0, seconds_left=130))
    line(Scalar("batch/loss", 10, float("nan")))
    line(Progress(10, 90, 80.0, seconds_left=130))
    assert capsys.readouterr().err.splitlines() == [
        "10%  step 9 / 90  80 img/s  2 min 10 s left", "11%  step 10 / 90  loss nan  80 img/s  2 min 10 s left",
    ]  # fmt: skip


def test_names_of_files_move_no_cursor(capsys):
    ProgressLine(1)(Remarked("1 file was left out: \x1b]0;title\x07\x1b[2J.jpg is empty."))
    assert capsys.readouterr().err == "1 file was left out:  ]0;title  [2J.jpg is empty.\n"


@pytest.mark.parametrize(
    ("problems", "more", "said"),
    [
        ([("a.png", "is empty")], 0, "1 row was left out: a.png is empty."),
        ([("split a", "has 7 rows")], 6, "7 rows were left out: split a has 7 rows."),
        ([("x", "is 1"), ("y", "is 2")], 0, "2 rows were left out: x is 1, and 1 more; the run's report names them."),
        ([("x", "is 4"), ("y", "is 1")], 3, "5 rows were left out: x is 4; the run's report names the others."),
    ],
)
def test_what_is_left_out_is_one_sentence(problems, more, said):
    assert in_words.data_in_words([], [], problems, len(problems) + more, "row") == [said]


def test_other_counts_than_the_published_ones_are_said_before_training():
    differs = [("sop", "was published with 22,634 classes and has 8 here: 22,626 are missing")]
    assert in_words.data_in_words(differs, [("1 class", "has one image")], [], 0, "file") == [
        "sop was published with 22,634 classes and has 8 here: 22,626 are missing.", "1 class has one image.",
    ]  # fmt: skip


@pytest.mark.parametrize(("more", "said"), [(1, "1 more note on the data is"), (2, "2 more notes on the data are")])
def test_only_some_notes_on_the_data_are_said_before_training(more, said):
    notes = [(f"class {number}", "has one image") for number in range(3 + more)]
    sentences = in_words.data_in_words([], notes, [], 0, "file")
    assert sentences[2:] == ["class 2 has one image.", f"{said} in the run's report."]


def test_what_is_left_out_of_the_data_is_said_before_training(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name in ("ant", "bee", "cat", "dog"):
        (tmp_path / "data" / name).mkdir(parents=True)
        for number in range(4):
            pixels = rng.integers(0, 255, (16, 16, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / "data" / name / f"{number}.png")
    (tmp_path / "data" / "empty").mkdir()
    for name in ("half", "none"):
        (tmp_path / "data" / "ant" / f"{name}.jpg").write_bytes(b"\xff\xd8\xff")
    images = {"folder": str(tmp_path / "data"), "image_size": 16}
    config = RunConfig(
        name="Four", device="cpu", dataset=Choice(name="folder", params=images),
        split=Choice(name="classes"), embedding=EmbeddingParams(dim=4), training=TrainingParams(epochs=1, batch_size=4),
        evaluation=EvaluationParams(probe_size=0),
    )  # fmt: skip
    (tmp_path / "four.toml").write_text(config.to_toml())
    assert main(["run", str(tmp_path / "four.toml"), "--workspace", str(tmp_path / "space")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "empty is a folder without images."
    assert lines[1].startswith("2 files were left out: ant/half.jpg is not an image")
    assert lines[1].endswith(", and 1 more; the run's report names them.")
    assert lines[2].startswith("R@8 is 100% with any network")
    assert lines[3].startswith("Epoch 0 / 1")


@pytest.mark.parametrize(
    ("best", "said"),
    [
        ({}, ""),
        (
            {"MAP@R": 0.9789, "recall@1": 0.996},
            "Best MAP@R 97.89%, R@1 99.60% at epoch 7; optimistic, as it was chosen on the test set.",
        ),
        (
            {"MAP@R": 0.5, "validation/MAP@R": 0.4},
            "Best MAP@R 50.00%, R@1 – at epoch 7, chosen on held-out images.",
        ),
    ],
)
def test_the_last_line_says_on_which_images_the_best_epoch_was_chosen(best, said):
    assert best_in_words(SimpleNamespace(best=best, best_epoch=7)) == said


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
@pytest.mark.parametrize("words", [["list", "losses"], ["list", "fields"], ["list", "presets"], ["sweep", "presets"]])
def test_a_file_of_a_small_character_set_gets_the_program_s_signs_in_ascii(monkeypatch, words, encoding):
    """A file or a pipe on Windows has the character set of the country, which has no "≥" and no "λ"."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert start(words) == 0
    text = written.getvalue().decode("utf-8" if encoding == "ascii" else encoding)  # click knows better than ASCII
    assert len(text.splitlines()) > 3
    assert not re.search(r"\\[ux][0-9a-f]", text)
    if words == ["list", "losses"] and encoding == "cp1252":
        assert "temperature = 0.05 (> 0, <= 10)" in text


def test_letters_that_a_file_cannot_have_are_written_as_their_numbers(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    terminal.spell_out()
    ProgressLine(1).finish("Run 1 of “猫”, é: Σ ≥ −2.")
    assert written.getvalue().decode("cp1252").strip() == r"Run 1 of “\u732b”, é: Sum >= -2."
