"""Similarity of embeddings: CKA against its definition with kernels, and pairs of groups in a real workspace."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.small_run import blobs, store_run
from workbench import cli
from workbench.comparing.comparison_text import NO_SEEDS_BESIDE, SEEDS_BESIDE, seeds_beside
from workbench.comparing.overview import overview
from workbench.comparing.queries import similarity as alike
from workbench.comparing.queries.similarity import linear_cka, similarity
from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.problem import Problem

LABELS = np.repeat(np.arange(4), 8)


def hsic(first, second):
    """Song et al. 2012, equation 5, from whole kernels [n, n] in float64."""
    n = len(first)
    kernels = [vectors @ vectors.T for vectors in (first, second)]
    for kernel in kernels:
        np.fill_diagonal(kernel, 0)
    k, l = kernels  # noqa: E741  as in the paper
    ones = np.ones(n)
    inner = np.trace(k @ l) + (ones @ k @ ones) * (ones @ l @ ones) / ((n - 1) * (n - 2))
    return (inner - 2 / (n - 2) * (ones @ k @ l @ ones)) / (n * (n - 3))


@given(st.integers(5, 40), st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_cka_is_that_of_the_kernels(n, d, e, seed):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(n, d))
    second = 0.5 * first @ rng.normal(size=(d, e)) + rng.normal(size=(n, e)) + 3
    spreads = hsic(first, first) * hsic(second, second)
    if min(hsic(first, first), hsic(second, second)) > 1e-6:
        assert linear_cka(first, second) == pytest.approx(hsic(first, second) / np.sqrt(spreads), abs=1e-9)


def test_a_rotation_a_shift_and_another_scale_change_nothing():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(50, 8))
    turned = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    assert linear_cka(first, 3 * first @ turned + 7) == pytest.approx(1, abs=1e-9)


def test_unrelated_embeddings_of_few_images_in_many_dimensions_are_not_similar():
    """The plain estimate, tr(KL) of centred kernels over their norms, is above a half here."""
    rng = np.random.default_rng(0)
    found = [linear_cka(rng.normal(size=(40, 60)), rng.normal(size=(40, 60))) for _ in range(20)]
    assert abs(np.mean(found)) < 0.05


def test_an_embedding_that_does_not_vary_has_no_cka():
    assert np.isnan(linear_cka(np.ones((9, 3)), np.random.default_rng(0).normal(size=(9, 3))))


def stored(workspace, tables, labels=LABELS, name="Digits"):
    """A run for each (loss, seed, embeddings); names of a loss are those of its group."""
    for loss, seed, table in tables:
        config = RunConfig(name=loss, seed=seed, loss=Choice(name=loss))
        store_run(workspace, labels, embeddings=[table], with_proxies=False, name=name, config=config)
    return overview(workspace, workspace.runs(), catalog.current(), "MAP@R", "last")


def test_groups_are_compared_with_each_other_and_over_their_own_seeds(workspace):
    tables = [blobs(LABELS, 0.5, seed) for seed in range(3)]
    shown = stored(workspace, [("ce", 0, tables[0]), ("ce", 1, tables[1]), ("triplet", 0, tables[2])])
    found = similarity(workspace, shown)
    assert (found.images, found.drawn, found.k, found.left_out) == (32, 32, 10, ())
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in tables]
    first, second = (found.titles.index(group.title) for group in shown.groups)
    assert found.cells[first, first].cka == pytest.approx(linear_cka(unit[0], unit[1]), abs=1e-5)
    between = np.mean([linear_cka(unit[seed], unit[2]) for seed in (0, 1)])
    assert found.cells[first, second].cka == found.cells[second, first].cka == pytest.approx(between, abs=1e-5)
    assert (found.cells[first, first].pairs, found.cells[first, second].pairs) == (1, 2)
    assert (second, second) not in found.cells, "it has one run"


def test_neighbours_in_common_are_those_of_the_stored_lists(workspace):
    tables = [blobs(LABELS, 0.5, seed) for seed in range(2)]
    shown = stored(workspace, [("ce", 0, tables[0]), ("triplet", 0, tables[1])])
    read = similarity(workspace, shown)
    assert seeds_beside(read) == NO_SEEDS_BESIDE
    found = read.cells[0, 1]
    shares = []
    for sample_id in workspace.samples(workspace.run(1).dataset_id).ids.tolist():
        sets = [{near.sample_id for near in workspace.neighbours(run, sample_id)[:10]} for run in (1, 2)]
        shares.append(len(sets[0] & sets[1]) / 10)
    assert found.neighbours == pytest.approx(np.mean(shares))


def test_of_many_images_some_are_drawn_the_same_for_all(workspace, monkeypatch):
    monkeypatch.setattr(alike, "MOST_IMAGES", 20)
    table = blobs(LABELS, 0.5, 0)
    shown = stored(workspace, [("ce", 0, table), ("triplet", 0, table)])
    found = similarity(workspace, shown)
    assert (found.images, found.drawn) == (32, 20)
    assert found.cells[0, 1].cka == pytest.approx(1, abs=1e-5)
    assert found.cells[0, 1].neighbours == 1


def test_a_group_of_other_images_is_left_out_and_alone_there_is_nothing_to_compare(workspace):
    table = blobs(LABELS, 0.5, 0)
    shown = stored(workspace, [("ce", 0, table)])
    with pytest.raises(Problem, match="no two runs here that kept embeddings of the same test images"):
        similarity(workspace, shown)
    stored(workspace, [("triplet", 0, table)])
    few = LABELS[:24]
    shown = stored(workspace, [("margin", 0, blobs(few, 0.5, 0))], few, "Others")
    found = similarity(workspace, shown)
    assert sorted(found.cells) == [(0, 1), (1, 0)]
    assert found.left_out == (shown.groups[2].title,)


def test_the_command_prints_a_row_for_each_pair_of_groups(workspace, capsys):
    tables = [blobs(LABELS, 0.5, seed) for seed in range(3)]
    stored(workspace, [("ce", 0, tables[0]), ("ce", 1, tables[1]), ("triplet", 0, tables[2])])
    asked = ["compare", "1", "2", "3", "--similarity", "--workspace", str(workspace.path)]
    assert cli.main(asked) == 0
    lines = capsys.readouterr().out.partition("## Similarity of embeddings")[2].splitlines()
    assert lines[2] == "| group | other group | CKA | same neighbours | pairs n |"
    assert [line.split(" | ")[-1] for line in lines[4:6]] == ["1 |", "2 |"]
    assert f"- {SEEDS_BESIDE}" in lines
    assert cli.main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["similarity"]
    unit = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in tables]
    assert found["pairs"][0]["cka"] == pytest.approx(linear_cka(unit[0], unit[1]), abs=1e-5)
    assert (found["images"], found["neighbours"]) == (32, 10)
    assert cli.main(["compare", "3", "--similarity", "--workspace", str(workspace.path)]) == 0
    assert "no two runs here" in capsys.readouterr().out
