"""The scripts that the pages of docs/ call: they are there, and know the options that they are given."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from source_rules import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ {4,}((?:[A-Z_]+=\S+ )*python3? (?:.*\\\n)*.+)$", re.MULTILINE)
SPAN = re.compile(r"`((?:[A-Z_]+=\S+ )*python3? [^`]+)`")
SCRIPT = re.compile(r"python3? (?:-m (?P<module>tests[\w.]+)|(?P<path>[\w/]+\.py))\b(?P<words>[^#]*)")


def calls(text: str) -> list[tuple[Path, list[str]]]:
    """The script of each call in blocks and in the text, and the options that it is given."""
    called = []
    for line in [*BLOCK.findall(text), *SPAN.findall(text)]:
        if script := SCRIPT.search(line.replace("\\\n", " ")):
            path = script["path"] or script["module"].replace(".", "/") + ".py"
            called.append((ROOT / path, re.findall(r"(?<!\S)--[\w-]+", script["words"])))
    return called


def unknown(text: str) -> list[str]:
    """Scripts that are not there, and options that their source does not name."""
    wrong = []
    for path, options in calls(text):
        source = path.read_text("utf-8") if path.is_file() else ""
        wrong += (
            [path.name] if not source else [word for word in options if not re.search(rf'"(--)?{word[2:]}"', source)]
        )
    return wrong


def broken(text: str) -> list[str]:
    """Lines of blocks that go on in the next one without saying so: a shell would take half of the command."""
    pairs = re.findall(r"^( {4,}.*)\n {4,}(\S*).*$", text, re.MULTILINE)
    return [
        line
        for line, next_word in pairs
        if not line.endswith("\\") and (next_word.startswith("--") or line.endswith("--set"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_script_is_there_and_knows_its_options(page: Path) -> None:
    assert unknown(page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_goes_on_where_it_says_so(page: Path) -> None:
    assert broken(page.read_text("utf-8")) == []


def test_planted_faults_are_found() -> None:
    assert unknown("    python tests/benchmarks/gone.py\n") == ["gone.py"]
    assert unknown("| `OMP_NUM_THREADS=1 python tests/benchmarks/start.py --rounds 7 --fast` |") == ["--fast"]
    assert unknown("    python -m tests.benchmarks.decode_speed FOLDER \\\n        --fast\n") == ["--fast"]
    assert len(broken("    workbench run a --set x=1\n    --set y=2\n")) == 1
    assert len(broken("    workbench run a --set\n    x=2\n")) == 1
    assert broken("    workbench run a \\\n        --set x=2\n") == []


def test_an_unknown_look_of_the_pictures_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    command = [sys.executable, "tests/pictures.py", str(tmp_path / "out"), "--looks", "light-1440", "sepia-1440"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "sepia-1440" in done.stderr
    assert "dark-1280" in done.stderr
    assert not (tmp_path / "out").exists()
