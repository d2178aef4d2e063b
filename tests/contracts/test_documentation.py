"""The pages of docs/ say what is so: commands, fields and messages exist, links lead somewhere."""

import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from source_rules import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
COMMAND = re.compile(r"^ {4,}workbench ((?:.*\\\n)*.+)$", re.MULTILINE)
WIDEST = 120
LARGEST_PICTURE, LARGEST_DOCS = 300_000, 4_000_000  # bytes
QUOTED = re.compile(r'^\*\*"(.+?)"\*\*', re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The words of each `workbench` command of a page; comments and continued lines are understood.

    Other than `tests/docs`, which runs examples, it takes lines within lists and those that a marker excepts.
    """
    lines = [command.replace("\\\n", " ") for command in COMMAND.findall(text)]
    return [shlex.split(re.sub(r" {2,}#.*", "", line).replace("[", "").replace("]", "")) for line in lines]


def command_of(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The command that the words name, and the words behind its name; None where there is none."""
    from workbench.cli import cli

    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command.commands.get(words[0]), words[1:]
    return command, words


def misunderstood(text: str) -> list[str]:
    """Commands of a page that Workbench does not know: their name, options, choices, presets or fields."""
    from workbench.settings.changed import read_config
    from workbench.settings.presets import presets

    wrong = []
    known = {preset.key for preset in presets()} | {
        path.stem for path in (ROOT / "resources" / "sweeps").glob("*.toml")
    }
    for words in commands(text):
        command, rest = command_of(words)
        options = {option: found for found in (command.params if command else ()) for option in found.opts}
        changes = []
        for before, word in itertools.pairwise(rest):
            choices = getattr(getattr(options.get(before), "type", None), "choices", None)
            if choices is not None and word not in choices and "|" not in word:
                wrong.append(f"{before} {word}")
            if before == "--set":
                changes.append(word)
        unknown = [word for word in rest if word.startswith("-") and word not in options]
        if command is None or unknown:
            wrong.append(" ".join(words))
        elif words[0] == "run" and not rest[0].isupper() and not rest[0].endswith(".toml"):
            if rest[0] not in known:
                wrong.append(rest[0])
            else:
                changes = [change for change in changes if "my_" not in change]  # a plug-in of the reader's
                read_config(rest[0], tuple(changes))  # raises where a field is unknown or out of its range
    return wrong


def invented(text: str) -> list[str]:
    """Messages that a page quotes and no file of the package holds; `...` stands for what differs."""
    source = " ".join(path.read_text("utf-8") for path in sorted((ROOT / "workbench").rglob("*.py")))
    source = re.sub(r'"\s*f?"', "", source)  # a sentence that goes on in the next line
    parts = [part.strip(" .") for quoted in QUOTED.findall(text) for part in quoted.replace("\n", " ").split("...")]
    return [part for part in parts if part and part not in source]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_the_pages_is_understood(page: Path) -> None:
    assert misunderstood(page.read_text("utf-8")) == []


def test_every_quoted_message_is_one_of_the_program() -> None:
    text = (ROOT / "docs" / "questions.md").read_text("utf-8")
    assert len(QUOTED.findall(text)) > 5
    assert invented(text) == []


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (misunderstood, "    workbench fly\n"),
        (misunderstood, "    workbench run sample-digits \\\n        --fast\n"),
        (misunderstood, "    workbench run no-such-preset\n"),
        (misunderstood, "    workbench report 1 --format docx\n"),
        (invented, '**"All is well with ..."** No.\n'),
    ],
)
def test_a_planted_untruth_is_found(check, planted) -> None:
    assert len(check(planted)) == 1


def test_the_navigation_has_every_page() -> None:
    text = (ROOT / "packaging" / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": ([\w-]+\.md)$", text, re.MULTILINE))
    assert listed == {page.name for page in PAGES}


def test_the_pages_build_without_a_broken_link(tmp_path: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for extra in ("docs", "test"):  # a suite that leaves this test out would not see a broken link
        assert any(name.startswith("mkdocs-material") for name in extras[extra])
    words = [
        "-c",
        f"import documentation, pathlib; raise SystemExit(documentation.build(pathlib.Path({str(tmp_path)!r})))",
    ]
    done = subprocess.run([sys.executable, *words], cwd=ROOT / "packaging", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "index.html").exists()


def test_no_line_is_too_wide() -> None:
    """Rows of tables and pictures cannot be wrapped; the reference is written by a program."""
    wide = [
        f"{page.name}, line {number}: {line}"
        for page in PAGES
        if page.name != "reference.md"
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if len(line) > WIDEST and not line.startswith(("|", "!["))
    ]
    assert wide == []


def test_pictures_stay_small() -> None:
    pictures = [path for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".jpg", ".svg")]
    assert [path.name for path in pictures if path.stat().st_size >= LARGEST_PICTURE] == []
    assert sum(path.stat().st_size for path in (ROOT / "docs").iterdir()) < LARGEST_DOCS
    shown = " ".join(page.read_text("utf-8") for page in PAGES)
    assert [path.name for path in pictures if f"({path.name})" not in shown] == []


def other_ranks(choosing: str, results: str) -> list[str]:
    """Losses whose rank in the table of choices is not that of the measured table of all losses, on Omniglot."""
    results = results.partition("(Omniglot, unseen characters)")[2].partition("\n## ")[0]
    measured = {
        name: rank for rank, name in re.findall(r"^\| ([\d.]+) \([\d.]+ to [\d.]+\) \| (\w+) \|", results, re.M)
    }
    rows = [line.split("|") for line in choosing.splitlines() if line.startswith("| ") and line.count("|") == 5]
    quoted = re.findall(r"`(\w+)` ([\d.]+)", " ".join(row[4] for row in rows))
    return [name for name, rank in quoted if measured.get(name) != rank]


def test_the_choice_of_a_loss_quotes_the_ranks_that_were_measured() -> None:
    choosing, results = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("choosing-a-loss", "results"))
    assert other_ranks(choosing, results) == []
    assert other_ranks(choosing.replace("`ce` 3", "`ce` 2"), results) == ["ce"]
