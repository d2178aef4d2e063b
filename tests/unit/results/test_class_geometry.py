"""Shapes of classes against float64 sums over every pair, written from the definitions."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench.evaluation.geometry import covering_radii
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.results import class_geometry as module
from workbench.results.class_geometry import ClassRow, ClassTable, class_shapes, measure_classes
from workbench.workspace import Workspace


def unit(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def by_pairs(vectors, labels, centres, of, metric):
    """One dict for each class, by loops over samples and pairs."""
    directions = unit(vectors)
    space, middle = (directions, unit(centres)) if metric == "cosine" else (vectors, centres)
    found = []
    for label in np.unique(labels):
        mine = np.flatnonzero(labels == label)
        others = np.flatnonzero(labels != label)
        apart = np.linalg.norm(space[mine][:, None] - space[mine], axis=2)
        margins, names = [], []
        for row in mine:
            away = np.linalg.norm(middle - space[row], axis=1)
            foreign = np.where(of == label, np.inf, away)
            margins.append(foreign.min() - away[of == label].min())
            names.append(of[foreign.argmin()])
        values, times = np.unique(names, return_counts=True)
        pairs = [directions[a] @ directions[b] for a in mine for b in mine if a != b]
        found.append({
            "radius": apart.max(axis=1).min(), "margin": np.mean(margins), "crossed": np.mean(np.array(margins) < 0),
            "confused": values[times.argmax()], "confused_share": times.max() / len(mine),
            "intra": np.mean(pairs) if pairs else np.nan,
            "inter": (directions[mine] @ directions[others].T).mean(),
        })  # fmt: skip
    return found


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.r_[np.repeat([3, 5, 9, 12], 15), 20])  # the last class has one sample
    vectors = rng.normal(size=(21, 6))[labels] + 0.8 * rng.normal(size=(61, 6))
    return vectors, labels


@pytest.mark.parametrize("metric", ["cosine", "l2"])
@pytest.mark.parametrize("kind", ["one proxy", "two proxies", "one to three proxies", "means"])
def test_equals_the_definitions(data, metric, kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 40)
    monkeypatch.setattr(module, "OUTER", 2)
    vectors, labels = data
    names = np.unique(labels)
    rng = np.random.default_rng(1)
    if kind == "means":
        space = unit(vectors) if metric == "cosine" else vectors
        centres, of, proxies = np.stack([space[labels == each].mean(0) for each in names]), names, None
    else:
        times = {"one proxy": 1, "two proxies": 2, "one to three proxies": [3, 1, 2, 1, 3, 1]}[kind]
        of = rng.permutation(np.repeat([*names, 30], times))  # 30 is no class of the map
        centres = rng.normal(size=(len(of), 6))
        proxies = (centres.astype(np.float32), of)
    found = class_shapes(vectors.astype(np.float32), labels, proxies, metric)
    assert found.by_proxies == (kind != "means")
    assert found.labels.tolist() == names.tolist()
    assert found.counts.tolist() == [15, 15, 15, 15, 1]
    for place, wanted in enumerate(by_pairs(vectors, labels, centres, of, metric)):
        for name, value in wanted.items():
            np.testing.assert_allclose(getattr(found, name)[place], value, atol=2e-6, err_msg=f"{name} of {place}")
    space = unit(vectors) if metric == "cosine" else vectors
    np.testing.assert_allclose(found.radius, covering_radii(space, labels)[:, 0], atol=1e-5)


@pytest.mark.parametrize("of", [[100, 101, 102], [3, 5, 9], [3, 3, 20]], ids=["none", "not all", "two"])
def test_proxies_of_other_classes_or_of_some_give_way_to_means(data, of):
    vectors, labels = data
    found = class_shapes(vectors, labels, (np.eye(3, 6), np.array(of)))
    assert not found.by_proxies
    np.testing.assert_array_equal(found.margin, class_shapes(vectors, labels).margin)


def test_a_lone_class_has_nothing_beside_it():
    found = class_shapes(np.eye(3), np.zeros(3, int))
    assert found.confused.tolist() == [-1]
    assert np.isnan([found.margin[0], found.crossed[0], found.inter[0], found.confused_share[0]]).all()
    assert found.radius[0] == pytest.approx(np.sqrt(2))


def test_copies_have_no_radius_and_a_zero_vector_no_direction():
    vectors = np.repeat(np.eye(2, 4), 3, axis=0)
    found = class_shapes(vectors, np.repeat([0, 1], 3))
    assert found.radius.tolist() == [0, 0]
    np.testing.assert_allclose(found.margin, np.sqrt(2))
    np.testing.assert_allclose(found.intra, 1)
    vectors[0] = 0
    assert class_shapes(vectors, np.repeat([0, 1], 3)).intra[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_embeddings_of_a_diverged_run_are_measured(data, metric):
    vectors, labels = data
    numbers, huge = (class_shapes((vectors * scale).astype(np.float32), labels, None, metric) for scale in (1, 2**80))
    scale = 2.0**80 if metric == "l2" else 1
    np.testing.assert_allclose(huge.margin, scale * numbers.margin, rtol=1e-4, atol=1e-6 * scale)
    np.testing.assert_allclose(huge.radius, scale * numbers.radius, rtol=1e-4)
    np.testing.assert_array_equal(huge.confused, numbers.confused)


@pytest.mark.parametrize(
    ("vectors", "labels", "proxies"),
    [
        (np.full((2, 2), np.nan), np.arange(2), None),
        (np.ones((2, 2)), np.arange(3), None),
        (np.ones((0, 2)), np.arange(0), None),
        (np.ones((2, 2)), np.arange(2), (np.ones((2, 3)), np.arange(2))),
    ],
    ids=["NaN", "lengths", "empty", "widths"],
)
def test_what_cannot_be_measured_is_refused(vectors, labels, proxies):
    with pytest.raises(Problem):
        class_shapes(vectors, labels, proxies)


def test_progress_may_end_the_work(data):
    told = []
    class_shapes(*data, progress=lambda *what: told.append(what))
    assert [text for text, _, _ in told] == ["Measuring covering radii", "Measuring margins"]


def test_in_csv_a_number_that_does_not_exist_is_an_empty_cell():
    nan = float("nan")
    rows = (ClassRow(0, "ant", 2, 0.125, -0.5, 0.25, nan, 0.0, "bee", 0.75), ClassRow(1, "bee", 1, *[nan] * 5, "", nan))
    _, first, second = ClassTable(1, "cosine", False, rows).csv().decode().splitlines()
    assert first == "ant,2,0.125,-0.5,25.0,,0.0,bee,75.0"
    assert second == "bee,1,,,,,,,"


def test_a_single_class_is_nearest_to_no_other(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, np.zeros(8, np.int64), with_proxies=False)
        (row,) = measure_classes(workspace, run.evaluations[-1], quiet).rows
    assert (row.name, row.count, row.confused) == ("class 00", 8, "")
