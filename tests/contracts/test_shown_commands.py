"""A command that a message shows is put together by command_line, so that a folder with a space in its name works."""

import ast
import re
from collections.abc import Iterator

from source_rules import ROOT, nodes_of

COMMAND = re.compile(r"\bworkbench [a-z]")
QUOTING = {"command_line", "typed", "join"}
PLAIN = {"run", "run_id", "number", "what", "self._id", "trained.epoch", "fields[kind]", "config_name(run)"}


def unquoted(source: str) -> list[str]:
    """Values that f-strings write behind `workbench` and the name of a command, and that a shell may read as more."""
    return [value for node in nodes_of(source) if isinstance(node, ast.JoinedStr) for value in _in_command(node)]


def _in_command(node: ast.JoinedStr) -> Iterator[str]:
    before = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            before += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            _, begun, rest = before.rpartition("workbench ")
            inside = begun and COMMAND.match(begun + rest) and not re.search(r"[`,;]|\. ", rest)
            is_quoted = isinstance(part.value, ast.Call) and ast.unparse(part.value.func).split(".")[-1] in QUOTING
            if inside and not is_quoted and ast.unparse(part.value) not in PLAIN:
                yield ast.unparse(part.value)
            before += "…"


def test_no_folder_or_name_is_written_into_a_command_as_it_is() -> None:
    files = sorted((ROOT / "workbench").rglob("*.py"))
    assert {path.name: wrong for path in files if (wrong := unquoted(path.read_text("utf-8")))} == {}


def test_a_planted_one_is_found() -> None:
    assert unquoted('f"Continue: workbench run CONFIG --workspace {workspace.path} --resume"') == ["workspace.path"]
    assert unquoted('f"`workbench export {run} --out {folder}` writes {name}."') == ["folder"]
    assert unquoted('f"`workbench report {shlex.join(parts)} --workspace DIR` in {folder}"') == []
