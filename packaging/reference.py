"""Writes docs/reference.md from the signatures and docstrings of public modules: `python packaging/reference.py`.

Nothing is imported, so it needs no library and runs anywhere.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference.md"
WIDEST = 120  # letters of a line
# The interfaces for other programs and plug-ins, and between rooms: module -> names; all
# public ones where none is listed.
DOORS: dict[str, tuple[str, ...]] = {
    "workbench.config": ("RunConfig",),
    "workbench.registry": ("register", "Entry"),
    "workbench.entries.facts": (),
    "workbench.params": (),
    "workbench.progress": (),
    "workbench.problem": (),
    "workbench.control": (),
    "workbench.events": (),
    "workbench.charts": (),
    "workbench.losses": (),
    "workbench.losses.contract": (),
    "workbench.losses.batch_loss": ("BatchLoss",),
    "workbench.losses.cosine_softmax": ("CosineSoftmax", "proxy_rate"),
    "workbench.losses.anatomy": ("spce", "pce", "tightness_contrastive", "mutual_information"),
    "workbench.losses.prototypes": ("simplex", "canonical", "repelling"),
    "workbench.datasets.image_set": ("ImageSet",),
    "workbench.datasets.split": ("Split",),
    "workbench.datasets.pictures": ("Pictures",),
    "workbench.evaluation.retrieval": ("Retrieval", "retrieve", "retrieval_metrics"),
    "workbench.evaluation.geometry": ("covering_radius",),
    "workbench.evaluation.clusters": ("nmi",),
    "workbench.running.launch": ("prepare_run", "make_job"),
    "workbench.running.preflight": ("Preflight", "preflight"),
    "workbench.running.rate_range": ("RateTest", "find_rate"),
    "workbench.running.facts.rate_curve": ("Suggestion",),
    "workbench.running.trained_network": ("best_checkpoint", "trained", "Trained"),
    "workbench.jobs.threads": ("Job",),
    "workbench.jobs.processes": ("AnalysisProcess",),
    "workbench.jobs.serving": ("run",),
    "workbench.exchange.formats": ("export_run", "refusal"),
    "workbench.exchange.own_loop": ("record_run",),
    "workbench.exchange.own_loop.recorded_run": ("RecordedRun",),
    "workbench.workspace.workspace": ("Workspace",),
    "workbench.workspace.rows": (),
}
HEAD = """<!-- no example: signatures without bodies; a test compares them with the source -->

# Reference

Written by packaging/reference.py from the docstrings of the code; do not edit it. What is not here may change without
notice. `Problem` is the only error that a caller has to expect beside those that a docstring names.
"""


def reference() -> str:
    """The whole text of docs/reference.md."""
    return "\n".join([HEAD, *(_section(module, names) for module, names in DOORS.items())])


def _section(module: str, names: tuple[str, ...]) -> str:
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(path.read_text("utf-8"))
    public = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    if missing := [name for name in names if name not in public]:
        raise SystemExit(f"{module} defines no {', '.join(missing)}: change DOORS in packaging/reference.py")
    shown = [public[name] for name in names] if names else [node for node in public.values() if node.name[0] != "_"]
    stubs = "\n\n".join(_written(_stub(node)) for node in shown)
    return f"## {module}\n\n{ast.get_docstring(tree) or ''}\n\n```python\n{stubs}\n```\n"


def _stub(node: ast.FunctionDef | ast.ClassDef) -> ast.stmt:
    """The signature with its docstring; of a class also its fields and public methods."""
    has_docstring = ast.get_docstring(node) is not None
    if isinstance(node, ast.FunctionDef):
        node.body = [node.body[0] if has_docstring else ast.Expr(ast.Constant(...))]
    else:
        parts = [node.body[0]] if has_docstring else []
        for part in node.body[len(parts) :]:
            if isinstance(part, ast.FunctionDef) and (part.name[0] != "_" or part.name in ("__init__", "__call__")):
                parts.append(_stub(part))
            elif isinstance(part, ast.AnnAssign) or (parts and isinstance(part, ast.Expr)):
                parts.append(part)
        node.body = parts or [ast.Expr(ast.Constant(...))]
    return node


def _written(stub: ast.stmt) -> str:
    """The source of a stub: a field's docstring in its own lines, the parameters of a wide signature in one each."""
    return "\n".join(_line(line) for line in ast.unparse(stub).splitlines())


def _line(line: str) -> str:
    space = line[: len(line) - len(line.lstrip())]
    if re.fullmatch(r" *(['\"])(?!\1).*\1", line):  # of a field: ast writes it in one line
        return f'{space}"""{ast.literal_eval(line.strip())}"""'
    signature = re.fullmatch(r"( *def \w+\()(.*)(\).*:)", line)
    if len(line) <= WIDEST or signature is None:
        return line
    return "\n".join([signature[1], *(f"{space}    {part}," for part in _parts(signature[2])), space + signature[3]])


def _parts(parameters: str) -> list[str]:
    """Parameters, split at the commas that are neither in brackets nor in a string."""
    parts, depth, quoted = [""], 0, False
    for letter in parameters:
        quoted ^= letter == "'"
        depth += 0 if quoted else (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


if __name__ == "__main__":
    REFERENCE.write_text(reference(), "utf-8")
