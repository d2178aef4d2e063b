"""The pages of docs/ say what is so: commands, fields and messages exist, links lead somewhere."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from source_rules import ROOT

from workbench.commands.training.sweep import planned_from
from workbench.config import KINDS
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.settings.run_fields import common_fields

PAGES = sorted((ROOT / "docs").glob("*.md"))
COMMAND = re.compile(r"^ {4,}(?:(?:srun|torchrun) .*?)?workbench ((?:.*\\\n)*.+)$", re.MULTILINE)
MENTIONED = re.compile(r"`workbench ([^`|]+)(?:\| [^`]+)?`")  # in a sentence, perhaps with a pipe
PLACEHOLDERS = {"ARGS", "COMMAND"}  # stand for any command
WIDEST = 120
LARGEST_PICTURE, LARGEST_DOCS = 300_000, 4_000_000  # bytes
QUOTED = re.compile(r'\*\*"(.+?)"\*\*', re.DOTALL)
OF_THE_WINDOW = (
    "first-run", "photographs", "data", "choosing-a-loss", "map", "ce-and-spce", "reach", "ranks", "plugins",
    "questions", "papers", "appendix", "architecture",
)  # fmt: skip
SLANTED = re.compile(r"(?<![*\w`/\\(])\*(?!\*)([^*`|]+?)\*(?![*\w/])")
FIELD = re.compile(r"`(?:--set )?([a-z]+)\.([a-z_0-9]+)(?: ?= ?[^`]+)?`")
EMPHASISED = {"never seen", "Not run here"}  # words of a page, not of the window


def commands(text: str) -> list[list[str]]:
    """The words of each `workbench` command of a page; comments and continued lines are understood.

    Other than `tests/docs`, which runs examples, it takes lines within lists, those that a marker excepts, and commands
    that a sentence names.
    """
    lines = [command.replace("\\\n", " ") for command in COMMAND.findall(text)]
    lines += [" ".join(command.split()) for command in MENTIONED.findall(text)]
    return [shlex.split(re.sub(r" {2,}#.*", "", line).replace("[", "").replace("]", "")) for line in lines]


def command_of(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The command that the words name, and the words behind its name; None where there is none."""
    from workbench.cli import cli

    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not {words[0], words[0][:1]} & {"-", *PLACEHOLDERS}:
        command, words = command.commands.get(words[0]), words[1:]
    return command, words


def misunderstood(text: str) -> list[str]:
    """Commands of a page that the program's own parser refuses, or whose choices, presets or fields are unknown."""
    wrong = []
    for words in commands(text):
        command, rest = command_of(words)
        try:
            if command is None:
                raise click.UsageError("no such command")
            given, left, _ = command.make_parser(click.Context(command)).parse_args(list(rest))
            if set(left) - PLACEHOLDERS or other_choices(command, given):
                raise click.UsageError("an argument too many, or a choice that there is not")
            check_settings(words[:2], given)
        except (click.UsageError, Problem):
            wrong.append(" ".join(words))
    return wrong


def other_choices(command: click.Command, given: dict[str, Any]) -> list[str]:
    """Values that are none of their parameter's choices; `a|b` stands for either."""
    wrong = []
    for parameter in command.params:
        choices = getattr(parameter.type, "choices", None)
        value = given.get(str(parameter.name))
        if choices and isinstance(value, (str, list, tuple)):
            values = "|".join([value] if isinstance(value, str) else value).split("|")
            wrong += [word for word in values if word not in choices]
    return wrong


def check_settings(name: list[str], given: dict[str, Any]) -> None:
    """Read a preset and changes as the command does. Raises Problem where it, a field or a value is unknown.

    Names in capitals, and files, are the reader's own; so are settings of a plug-in.
    """
    config = given.get("config")
    is_own = not isinstance(config, str) or config.isupper() or config.endswith(".toml")
    changes = tuple(change for change in given.get("changes") or () if "my_" not in change)
    if name[0] == "run" and not is_own:
        read_config(config, changes)
    elif name == ["sweep", "start"] and not is_own:
        counts = [int(given[count]) if given.get(count) else None for count in ("trials", "seeds")]
        ranges = tuple(given.get("parameters") or ())
        planned_from(config, ranges, changes, given.get("how"), *counts, given.get("metric") or "")
    elif name == ["benchmark", "fair"]:
        read_config("sample-digits", changes)


def source_of(*endings: str) -> str:
    """The text of all files of the package and of `resources` with these endings."""
    files = sorted(path for folder in ("workbench", "resources") for path in (ROOT / folder).rglob("*.*"))
    source = " ".join(path.read_text("utf-8") for path in files if path.suffix in endings)
    return re.sub(r'"\s*f?"', "", source)  # a sentence that goes on in the next line


def unnamed(text: str) -> list[str]:
    """Names in italics that no file of the program has: buttons, fields, tabs and titles are written so."""
    source = source_of(".py", ".json", ".toml")
    names = {" ".join(name.split()) for name in SLANTED.findall(text)} - EMPHASISED
    return sorted(name for name in names if name.rstrip(".…:") not in source)


def unknown_fields(text: str) -> list[str]:
    """Fields of a config that a page names and that neither the config nor any of its entries has."""
    known = {*common_fields(), *(f"{kind}.name" for kind in KINDS)}
    for key, described in catalog.current().items():
        known |= {f"{key.partition('/')[0]}.{field}" for field in described["params"]}
    sections = {field.partition(".")[0] for field in known if "." in field}
    named = [".".join(words) for words in FIELD.findall(text) if words[0] in sections]
    return [field for field in named if field not in known]


def invented(text: str) -> list[str]:
    """Messages that a page quotes and no file of the package holds; `...` stands for what differs."""
    source = source_of(".py")
    parts = [part.strip(" .") for quoted in QUOTED.findall(text) for part in quoted.replace("\n", " ").split("...")]
    return [part for part in parts if part and part not in source]


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_every_command_of_the_pages_is_understood(page: Path) -> None:
    assert misunderstood(page.read_text("utf-8")) == []


def test_every_quoted_message_is_one_of_the_program() -> None:
    text = (ROOT / "docs" / "questions.md").read_text("utf-8")
    assert len(QUOTED.findall(text)) > 5
    assert invented(text) == []


def test_every_name_in_italics_is_one_of_the_program() -> None:
    text = "\n".join((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in OF_THE_WINDOW)
    assert len(SLANTED.findall(text)) > 50
    assert unnamed(text) == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_every_field_of_the_pages_is_one_of_a_config(page: Path) -> None:
    assert unknown_fields(page.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (unknown_fields, "Set `training.speed = 1` first, or `split.name`.\n"),
        (unnamed, "Press *Fly away*.\n"),
        (misunderstood, "    workbench fly\n"),
        (misunderstood, "    workbench run sample-digits \\\n        --fast\n"),
        (misunderstood, "    workbench run no-such-preset\n"),
        (misunderstood, "    workbench report 1 --format docx\n"),
        (misunderstood, "    workbench run sample-digits --set training.speed=1\n"),
        (misunderstood, "    workbench run sample-digits twice\n"),
        (misunderstood, "Type `workbench sweep\nfly 3` first.\n"),
        (misunderstood, "Type `workbench list ghosts | head -1` first.\n"),
        (misunderstood, "    workbench sweep start ice-scale --set training.speed=1\n"),
        (misunderstood, "    workbench sweep start sample-digits -p loss.speed=1,2\n"),
        (misunderstood, "    torchrun --nproc-per-node 2 -m workbench run CONFIG --fast\n"),
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
    """Rows of tables cannot be wrapped."""
    wide = [
        f"{page.name}, line {number}: {line}"
        for page in (*PAGES, ROOT / "CHANGELOG.md")
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if len(line) > WIDEST and not line.startswith("|")
    ]
    assert wide == []


def test_pictures_stay_small() -> None:
    pictures = [path for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".jpg", ".svg")]
    assert [path.name for path in pictures if path.stat().st_size >= LARGEST_PICTURE] == []
    assert sum(path.stat().st_size for path in (ROOT / "docs").iterdir()) < LARGEST_DOCS
    shown = " ".join(page.read_text("utf-8") for page in PAGES)
    assert [path.name for path in pictures if f"({path.name})" not in shown] == []


def other_ranks(choosing: str, results: str) -> list[str]:
    """Losses whose rank in the table of choices is not that of the table measured on Omniglot or on photographs."""
    ranked = [section for section in results.split("\n## ") if section.startswith("Losses tuned in the same way")]
    rows = [line.split("|") for line in choosing.splitlines() if line.startswith("| ") and line.count("|") == 6]
    wrong = []
    for column, section in zip((4, 5), ranked, strict=True):
        measured = re.findall(r"^\| ([\d.]+) \([\d.]+ to [\d.]+\) \| (\w+) \|", section, re.MULTILINE)
        rank_of = {name: rank for rank, name in measured}
        quoted = re.findall(r"`(\w+)` ([\d.]+)", " ".join(row[column] for row in rows))
        assert quoted
        wrong += [name for name, rank in quoted if rank_of.get(name) != rank]
    return wrong


def test_the_choice_of_a_loss_quotes_the_ranks_that_were_measured() -> None:
    choosing, results = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("choosing-a-loss", "results"))
    assert other_ranks(choosing, results) == []
    assert other_ranks(choosing.replace("`ce` 3", "`ce` 2"), results) == ["ce"]
