"""The strings of the program hold none of the words that docs/words.md gives up."""

import ast
from pathlib import Path

import pytest
from source_rules import ROOT

GIVEN_UP = (
    "nothing is being worked on", "no run is shown", "share that trains", "least distance", "points at most",
    "looking for it", "seeds of each", "flatters", "preflight begins when", "and 1 other classes",
    "picture (png)", "drawing (svg)", "png picture", "svg drawing", "runs in line", "run in line", "out of the line",
    "back into the line", "waits in line", "stands here", "stand here", "worked out", "being read", "being found",
    "are forgotten", "fair match", "tuned alike", "input should", "string should", "evaluations left out",
    "say it as", "driver of now", "dry steps", "looked into", "is not reached", "greatest memory", "processor, %",
    "where it ended", "there is no dataset", "that is published", "told as", "is called in", "may work",
    "is none of", "is no file of", "is no text", "is no number", "is no name", "is no whole number", "is no multiple",
    "mend the", " anew", "tells of", "at work", "so many images", "so many blocks", "goes back in line",
    "has in excess", "were loaded", "points it had told", "drown", "gave no thread", "goes with neither",
    "goes with none",
)  # fmt: skip


def strings(path: Path) -> list[tuple[int, str]]:
    """Every text of a module that is no docstring, with its line."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def breaches(paths: list[Path]) -> list[str]:
    """Place and word of every string that holds a word that was given up."""
    return [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {word}"
        for path in paths
        for line, text in strings(path)
        for word in GIVEN_UP
        if word in text.casefold()
    ]


def test_a_planted_word_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "page.py").write_text('"""No run is shown."""\nTITLE = "Nothing is being worked on"\n')
    monkeypatch.setattr("test_words_of_the_window.ROOT", tmp_path)
    assert breaches([tmp_path / "page.py"]) == ["page.py:2: nothing is being worked on"]


def test_no_string_holds_a_word_that_was_given_up():
    assert breaches(sorted((ROOT / "workbench").rglob("*.py"))) == []
