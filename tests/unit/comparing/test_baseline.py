"""Groups by several metrics, with differences from a baseline over seeds."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing.difference.baseline import against_baseline, usual_metrics
from workbench.comparing.difference.forest import forest_of
from workbench.comparing.overview import overview
from workbench.config import Choice, TrainingParams

FASTER, SLOWER = TrainingParams(lr=0.5), TrainingParams(lr=1e-5)


def look(workspace, metric="MAP@R"):
    return overview(workspace, workspace.runs(), {}, metric, "best")


def test_paired_seeds_give_the_mean_difference_with_its_interval(workspace):
    gains = {0: 0.1, 1: 0.2, 2: 0.3}
    for seed, gain in gains.items():
        base = 0.2 + 0.1 * seed
        store(workspace, {1: np.full(6, base)}, seed=seed, name="Plain", metrics={"NMI": 0.5})
        store(workspace, {1: np.full(6, base + gain)}, seed=seed, name="Bold", training=FASTER, metrics={"NMI": 0.5})
    found = look(workspace)
    assert usual_metrics(found) == ["MAP@R", "recall@1", "NMI"]
    plain, bold = against_baseline(found, found.groups[0], ["MAP@R", "NMI"])
    assert plain.is_baseline
    assert not bold.is_baseline
    gained, equal = (cell.difference for cell in bold.cells)
    assert (gained.mean, gained.n) == (pytest.approx(0.2), 3)
    assert gained.high - gained.mean == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-5)
    assert (equal.low, equal.mean, equal.high) == (0, 0, 0)
    assert [cell.best for cell in bold.cells] == [True, True]
    assert [cell.best for cell in plain.cells] == [False, True]


def test_the_chosen_baseline_stands_first_and_the_signs_turn(workspace):
    store(workspace, {1: np.full(6, 0.25)}, name="Plain")
    store(workspace, {1: np.full(6, 0.75)}, name="Bold", training=FASTER)
    found = look(workspace)
    bold, plain = against_baseline(found, found.groups[1], ["MAP@R"])
    assert (bold.group.title, plain.group.title) == ("Bold", "Plain")
    assert plain.cells[0].difference.mean == pytest.approx(-0.5)
    assert not plain.cells[0].difference.known, "one seed has no interval"


def test_groups_without_a_seed_in_common_are_independent(workspace):
    for seed in range(3):
        store(workspace, {1: np.full(6, 0.2 + 0.1 * seed)}, seed=seed, name="Plain")
        store(workspace, {1: np.full(6, 0.5 + 0.1 * seed)}, seed=seed + 3, name="Bold", training=FASTER)
    found = look(workspace)
    over = against_baseline(found, found.groups[0], ["MAP@R"])[1].cells[0].difference
    assert over.mean == pytest.approx(0.3)
    assert over.high - over.mean == pytest.approx(2.776445 * 0.1 * np.sqrt(2 / 3), rel=1e-5)


def test_other_data_and_groups_without_values_have_no_difference(workspace):
    store(workspace, {1: np.full(6, 0.5)}, name="Plain")
    store(workspace, {1: np.full(6, 0.5)}, name="Cars", shown=images(6, "cars"), training=FASTER)
    store(workspace, {}, name="Bare", training=SLOWER)
    found = look(workspace)
    rows = against_baseline(found, found.groups[0], ["MAP@R"])
    assert [row.cells[0].difference.n for row in rows[1:]] == [0, 0]


def of_split(workspace, name, fraction, rows, score, split="classes"):
    """Three seeds of a split with these test images."""
    for seed in range(3):
        store(
            workspace, {1: np.full(len(rows), score + 0.01 * seed)}, seed=seed, name=name, rows=rows,
            shown=images(60), split=Choice(name=split, params={"train_fraction": fraction} if fraction else {}),
        )  # fmt: skip


def test_groups_tested_on_different_images_have_no_difference_and_none_is_the_best(workspace):
    of_split(workspace, "Half", 0.5, np.arange(30), 0.5)
    of_split(workspace, "More", 0.7, np.arange(12, 30), 0.6)
    found = look(workspace)
    _, other = against_baseline(found, found.groups[0], ["MAP@R"])
    assert (other.cells[0].difference.n, other.cells[0].best) == (0, False)
    assert "Tested on different images, so no difference between them is shown: “Half”; “More”." in found.guards
    assert not forest_of(against_baseline(found, found.groups[0], ["MAP@R"])).tests


def test_other_splits_with_the_same_test_images_are_compared(workspace):
    of_split(workspace, "Half", 0.5, np.arange(30), 0.5)
    of_split(workspace, "Folds", 0, np.arange(30)[::-1], 0.6, "mlrc")
    found = look(workspace)
    (cell,) = against_baseline(found, found.groups[0], ["MAP@R"])[1].cells
    assert (cell.difference.mean, cell.difference.n, cell.best) == (pytest.approx(0.1), 3, True)
    assert not [said for said in found.guards if said.startswith("Tested on")]


def test_the_best_of_two_data_sets_is_none(workspace):
    store(workspace, {1: np.full(6, 0.5)}, name="Birds", shown=images(6, "birds"))
    store(workspace, {1: np.full(6, 0.6)}, name="Cars", shown=images(6, "cars"), training=FASTER)
    found = look(workspace)
    assert [row.cells[0].best for row in against_baseline(found, found.groups[0], ["MAP@R"])] == [False, False]


def test_the_same_images_at_two_sizes_are_compared(workspace):
    for seed in range(3):
        store(workspace, {1: np.full(6, 0.5 + 0.01 * seed)}, seed=seed, name="Small")
        store(
            workspace, {1: np.full(6, 0.6 + 0.01 * seed)}, seed=seed, name="Large",
            shown=replace(images(6), image_size=16), training=FASTER,
        )  # fmt: skip
    found = look(workspace)
    (cell,) = against_baseline(found, found.groups[0], ["MAP@R"])[1].cells
    assert (cell.difference.mean, cell.difference.n, cell.best) == (pytest.approx(0.1), 3, True)


def test_a_seed_is_compared_over_the_folds_that_both_have(workspace):
    def store_fold(fold, value, **config):
        split = Choice(name="mlrc", params={"fold": fold})
        store(workspace, {1: np.full(6, value)}, split=split, **config)

    for fold, value in ((1, 0.25), (2, 0.75)):
        store_fold(fold, value, name="Plain")
    store_fold(1, 0.25, name="Bold", training=FASTER)
    store_fold(3, 0.9, name="Bold", training=FASTER)
    store_fold(1, 0.5, name="Other", training=SLOWER)
    found = look(workspace)
    rows = against_baseline(found, found.groups[0], ["MAP@R"])
    bold, other = (row.cells[0].difference for row in rows[1:])
    assert (bold.mean, bold.n) == (pytest.approx(0), 1), "fold 2 is an easier one, and only the baseline has it"
    assert (other.mean, other.n) == (pytest.approx(0.25), 1)
