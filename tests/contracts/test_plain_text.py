"""Names of runs, classes and files are text: no label, message or tooltip of the window takes them for markup.

Qt guesses markup in labels, message boxes and tooltips, and would show the picture that a name asks for.
"""

import ast
from pathlib import Path

import pytest
from source_rules import parsed

ROOT = Path(__file__).resolve().parents[2] / "workbench"
ESCAPED = {"plain_tip", "tooltip", "wrapped", "rich"}  # functions whose result is safe
TIPS = {"setToolTip", "setTabToolTip", "setStatusTip"}
GUESSING = {"QLabel", "QMessageBox"}  # until they are told that it is plain text
OWN_WORDS = {  # expressions of the program's own words
    "tip", "words", "f'{name}: {words}'", "f'{words} ({keys})' if keys else words",
    "f'{action.toolTip()}: {SELECTING}'",
    "name",  # ui/widgets/buttons.py: what a button is called
    "f'{box.text()} {note}'", "f'{changed} changed, {wrong} wrong'",
    "f'{name} of a listed query and its nearest neighbour'", "f'Show this run on the {widget.text()} page'",
    "f\"{self.tools['turn'].toolTip()}: drag a 3-D map, or use the arrow keys on it\"",
    "'' if width in (0, 2) else f'These embeddings have {width:,} dimensions'",
    "f'{timeline.missing:,} of {timeline.evaluations:,} evaluations have no map that starts from the one before'",
}  # fmt: skip
OWN = {ast.dump(ast.parse(words, mode="eval").body) for words in OWN_WORDS}  # how it is quoted differs between Pythons


def breaches(text: str) -> list[str]:
    """What of a module's source may show data as markup."""
    tree = parsed(text)
    seen = [
        f"{call.lineno}: {ast.unparse(call.args[-1])}"
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute) and call.func.attr in TIPS and not is_safe(call.args[-1])
    ]
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        made = {call.func.id: call for call in calls(function) if isinstance(call.func, ast.Name) and call.args}
        methods = {call.func.attr for call in calls(function) if isinstance(call.func, ast.Attribute)}
        if "setTextFormat" not in methods:
            seen += [f"{made[kind].lineno}: {kind}" for kind in GUESSING & set(made)]
    return seen


def calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def is_safe(node: ast.expr) -> bool:
    """Whether an expression holds constants or escaped text only, or is one of the program's own words."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(name):
            return name.isupper() or name in OWN_WORDS
        case ast.Call(ast.Name("own_keys"), [text]):  # which escapes nothing
            return is_safe(text)
        case ast.Call(ast.Name(name)):
            return name in ESCAPED
        case ast.JoinedStr([ast.Constant(str(start)), *_]) if start.startswith("<qt>"):
            return True
    if ast.dump(node) in OWN:
        return True
    match node:
        case ast.IfExp(_, chosen, other):
            return is_safe(chosen) and is_safe(other)
        case ast.BinOp(left, _, right):
            return is_safe(left) and is_safe(right)
        case ast.BoolOp(_, parts):
            return all(map(is_safe, parts))
        case ast.JoinedStr(parts):
            return all(is_safe(part.value) for part in parts if isinstance(part, ast.FormattedValue))
    return False


@pytest.mark.parametrize(
    "text",
    [
        "widget.setToolTip(run.name)",
        "widget.setToolTip(f'Run {run.name}')",
        "widget.setToolTip('' if good else problem)",
        "widget.setToolTip(own_keys(run.name))",
        "def show(path):\n    box = QMessageBox(ICON, 'Workbench', path)",
        "def show(path):\n    return QLabel(path)",
    ],
)
def test_a_planted_breach_is_seen(text):
    assert len(breaches(text)) == 1


def test_no_tooltip_label_or_message_guesses_markup_in_data():
    files = [*(ROOT / "ui").rglob("*.py"), ROOT / "app.py"]
    seen = [f"{path.relative_to(ROOT)}:{breach}" for path in files for breach in breaches(path.read_text("utf-8"))]
    assert not seen, "wrap it in plain_tip, or set the text format to plain text"
