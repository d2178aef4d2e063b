"""A task that the Activity panel offers to cancel hears it: its work asks `progress`, which raises Cancelled."""

import ast
from collections.abc import Iterator

import pytest
from source_rules import ROOT, Source, read_package

UI = [source for source in read_package(ROOT / "workbench") if source.room == "ui"]


def deaf(source: Source) -> Iterator[str]:
    """Tasks with Cancel whose work, written in the same file, takes `progress` and does nothing with it."""
    works = {node.name: node for node in source.nodes if isinstance(node, ast.FunctionDef)}
    for owner in source.nodes:
        if not isinstance(owner, ast.FunctionDef):
            continue
        near = works | {node.name: node for node in ast.walk(owner) if isinstance(node, ast.FunctionDef)}
        for call in ast.walk(owner):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            quiet = any(word.arg == "quiet" and ast.unparse(word.value) != "False" for word in call.keywords)
            if call.func.attr not in ("run_in_thread", "ask") or quiet or len(call.args) < 2:
                continue
            work = call.args[1]
            body = near.get(work.id) if isinstance(work, ast.Name) else work if isinstance(work, ast.Lambda) else None
            if body is not None and not _uses(body):
                yield f"{source.name}:{call.lineno}: {ast.unparse(call.args[0])} does not hear its cancel"


def _uses(work: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether the first argument of the work is used in it; one without arguments reports nothing to anyone."""
    names = [argument.arg for argument in work.args.args]
    inside = work.body if isinstance(work.body, list) else [work.body]
    nodes = [node for part in inside for node in ast.walk(part)]
    return not names or any(isinstance(node, ast.Name) and node.id == names[0] for node in nodes)


def test_every_task_with_cancel_hears_it():
    assert [breach for source in UI for breach in deaf(source)] == []


@pytest.mark.parametrize(
    ("text", "breaches"),
    [
        ("def f(s):\n    def work(progress):\n        return 1\n    s.run_in_thread('A', work)", 1),
        ("def f(s):\n    def work(progress):\n        progress('B', 0, 0)\n    s.run_in_thread('A', work)", 0),
        ("def f(s):\n    s.run_in_thread('A', lambda progress: g())", 1),
        ("def f(s):\n    s.run_in_thread('A', lambda progress: g(), quiet=True)", 0),
        ("def f(s):\n    s.newest.ask('A', lambda progress: g(progress))", 0),
    ],
)
def test_the_rule_finds_what_does_not_hear(text, breaches):
    assert len(list(deaf(Source("workbench.ui.example", text)))) == breaches
