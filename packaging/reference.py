"""Writes docs/reference.md from the signatures and docstrings of public modules: `python packaging/reference.py`.

Nothing is imported, so it needs no library and runs anywhere.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference.md"
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
    "workbench.running.launch": ("prepare_run", "make_job"),
    "workbench.running.preflight": ("Preflight", "preflight"),
    "workbench.running.trained_network": ("best_checkpoint", "trained", "Trained"),
    "workbench.jobs.threads": ("Job",),
    "workbench.jobs.processes": ("AnalysisProcess",),
    "workbench.jobs.serving": ("run",),
    "workbench.exchange.formats": ("export_run", "refusal"),
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
    stubs = "\n\n".join(ast.unparse(_stub(node)) for node in shown)
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


if __name__ == "__main__":
    REFERENCE.write_text(reference(), "utf-8")
