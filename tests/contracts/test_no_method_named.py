"""The engine knows no method by name: what one needs it says itself, by its contract and its facts."""

import ast

import pytest
import source_rules as rules
from source_rules import ROOT, Source

from workbench import registry
from workbench.losses.contract import Loss
from workbench.params import NoParams
from workbench.registry import register

ROOMS = {"running", "config", "commands", "training", "sweeps", "fair"}
# The same word for another thing: a key of stored data, how proposals are drawn, how the embedding's layer begins, a
# distance.
OTHER_THINGS = {
    ("running", "random"), ("running", "classes"), ("config", "random"), ("sweeps", "random"),
    ("commands", "random"), ("running", "hyperbolic"), ("commands", "hyperbolic"),
}  # fmt: skip


def named(source: Source, entries: set[str], homes: set[str]) -> list[str]:
    """Where a module writes an entry's name as text, or imports the module or the folder that registers one."""
    docstrings = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    found = [
        f"{source.name}:{node.lineno} names {node.value!r}"
        for node in source.nodes
        if isinstance(node, ast.Constant) and node.value in entries and id(node) not in docstrings
        and (source.room, node.value) not in OTHER_THINGS
    ]  # fmt: skip
    return found + [
        f"{source.name}:{line} imports {name}"
        for name, line in source.imports
        if name in homes or name.rpartition(".")[0] in homes
    ]


@pytest.fixture(scope="module")
def shipped():
    """Names of all losses, splits and samplers, and the modules and folders of the losses."""
    registry.discover_all()
    every = [each for kind in ("loss", "split", "sampler") for each in registry.entries(kind)]
    every = [each for each in every if each.build.__module__.startswith("workbench.")]
    homes = {each.build.__module__ for each in every if each.kind == "loss"}
    folders = {home.rpartition(".")[0] for home in homes} - {"workbench.losses"}
    return {each.name for each in every}, homes | folders


@pytest.mark.parametrize(
    "text",
    [
        'if config.split.name == "mlrc":\n    pass',
        'pairs = sampler in ("classes_images", "random")',
        "from workbench.losses.ccp import CCP",
        "def late():\n    import workbench.losses.ccp.projections",
        "from workbench.losses.ce import CE",
    ],
)
def test_a_planted_name_is_found(text, shipped):
    assert named(Source("workbench.running.folds_and_seeds", text), *shipped)


def test_no_method_is_named(shipped):
    sources = [source for source in rules.read_package(ROOT / "workbench") if source.room in ROOMS]
    assert {source.room for source in sources} == ROOMS
    assert [found for source in sources for found in named(source, *shipped)] == []


@pytest.mark.parametrize(("kind", "fact"), [("loss", "need_pairs"), ("sampler", "needs_pairs"), ("dataset", "marker")])
def test_a_misspelt_fact_is_an_error_at_import(kind, fact):
    with pytest.raises(TypeError, match=fact):
        register(kind, "planted", title="Planted", params=NoParams, source="This test", **{fact: True})


def test_an_unknown_kind_is_an_error_at_import():
    with pytest.raises(ValueError, match="there is no kind 'losses'"):
        register("losses", "planted", title="Planted", params=NoParams, source="This test")


def test_every_loss_keeps_the_contract():
    registry.discover("workbench.losses")
    shipped = [each for each in registry.entries("loss") if each.build.__module__.startswith("workbench.")]
    assert [each.name for each in shipped if not (isinstance(each.build, type) and issubclass(each.build, Loss))] == []
