"""Tests speak to models and to what a person sees, not to private names, of which a few are listed with a reason."""

import ast
from collections import Counter
from collections.abc import Iterator

import pytest
from source_rules import ROOT

OWN = ("self", "cls")
DOCUMENTED = {("os", "_exit"), ("sys", "_getframe")}  # by Python, as for everybody's use
KEPT = {  # (file, private name) -> why it is needed
    ("tests/campaign/starter.py", "_run_exitfuncs"): "a forked child ends as a program does, but frees nothing",
    ("tests/gpu_with_numbers.py", "_disabled_torch_function_impl"): "torch has this face of a tensor there only",
    ("tests/gpu_with_numbers.py", "_make_subclass"): "torch.nn.Parameter is made in the same way",
    ("tests/gpu_with_numbers.py", "_parse_to"): "what the arguments of `to` mean, as torch reads them",
    ("tests/unit/entries/test_plugins.py", "_ENTRIES"): "an entry that a test's own import registers has no way out",
    ("tests/unit/training/test_precision_and_average.py", "_dynamo"): "torch names its compiler's errors there only",
}


def private_names(text: str) -> Iterator[str]:
    """Private names of other objects that a test reads, imports or patches."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id=holder), attr=name):
                if holder not in OWN and (holder, name) not in DOCUMENTED:
                    yield from filter(_private, [name])
            case ast.Attribute(attr=name):
                yield from filter(_private, [name])
            case ast.ImportFrom(names=names):
                yield from filter(_private, (alias.name for alias in names))
            case ast.Call(func=ast.Attribute(attr="setattr" | "delattr"), args=args):
                words = [
                    word.value for word in args[:2] if isinstance(word, ast.Constant) and isinstance(word.value, str)
                ]
                yield from filter(_private, (word.rpartition(".")[2] for word in words))


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize(
    "planted",
    [
        "assert page._shown == 3", "page.model._rows[0].text", "make()._rows",
        "from workbench.reports.content.run_content import _map", "patch.setattr(Recorder, '_commit', none)",
        "patch.setattr('workbench.ui.window.page_stack.PageStack._make', blank)",
    ],
)  # fmt: skip
def test_a_planted_reach_is_found(planted):
    assert len(list(private_names(planted))) == 1


def test_a_test_s_own_names_and_documented_ones_are_not_reported():
    allowed = "self._count = 1\ncls._made\nos._exit(0)\nrow.__class__\nmonkeypatch.setattr(Recorder, '__call__', held)"
    assert list(private_names(allowed)) == []


def test_no_test_reaches_for_a_private_name_that_is_not_listed_here():
    reaches = Counter(
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "tests").rglob("*.py")
        for name in private_names(path.read_text("utf-8"))
    )
    assert reaches == Counter(KEPT.keys())
