"""docs/architecture.md names files that exist and is wrapped; docs/reference.md says what the docstrings say."""

import importlib.util
import re
from pathlib import Path

from source_rules import ARCHITECTURE, ROOT

WIDEST = 120
TREE = re.compile(r"^ {6}(\w+)/ ", re.MULTILINE)


def missing_files(text: str) -> list[str]:
    """Files, folders and modules that the text names and that are not there; in a room's lines, not in that room."""
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if ".venv" not in path.parts]
    missing = []
    parts = TREE.split(text)
    for room, lines in [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
        inside, _, after = lines.partition("\n    resources/")
        for prefix, words in ((f"workbench/{room}/" if room else "", inside), ("", after)):
            for name in re.findall(r"[\w./]*\w\.(?:py|md|toml|json)\b", words):
                if not any(file.startswith(prefix) and f"/{file}".endswith(f"/{name}") for file in files):
                    missing.append(prefix + name)
    rooms = [room for room in parts[1::2] if not (ROOT / "workbench" / room).is_dir()]
    modules = re.findall(r"\bworkbench(?:\.\w+)+", text)
    return missing + rooms + [module for module in modules if not _is_module_or_name(module)]


def _is_module_or_name(dotted: str) -> bool:
    """Whether a module of that name is there, or one that may hold its last part."""
    for name in (dotted, dotted.rpartition(".")[0]):
        path = ROOT.joinpath(*name.split("."))
        if "." in name and (path.is_dir() or path.with_suffix(".py").is_file()):
            return True
    return False


def test_the_architecture_names_files_that_exist() -> None:
    assert missing_files("see cli.py, docs/train.md.") == ["docs/train.md"]
    assert missing_files("\n      jobs/   threads.py, engine.py\n    resources/  cli.py") == [
        "workbench/jobs/engine.py"
    ]
    assert missing_files("from workbench.gone.away import x; workbench.jobs.serving.run") == ["workbench.gone.away"]
    assert missing_files(ARCHITECTURE.read_text("utf-8")) == []


def test_its_lines_are_not_too_wide_and_a_diagram_comes_first() -> None:
    lines = ARCHITECTURE.read_text("utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDEST] == []
    assert any("-->" in line for line in lines[:15])


def test_every_room_has_its_lines() -> None:
    named = set(TREE.findall(ARCHITECTURE.read_text("utf-8")))
    assert named == {path.parent.name for path in (ROOT / "workbench").glob("*/__init__.py")}


def test_the_reference_is_what_the_docstrings_say() -> None:
    path = ROOT / "packaging" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    said = "run: python packaging/reference.py"
    assert Path(script.REFERENCE).read_text("utf-8") == script.reference(), said
