"""What runs find together: against a plain search by the definition, in a real workspace."""

import numpy as np
import pytest

from tests.unit.comparing.searched_runs import LABELS, blobs_of, plain_search, store_searched, unit_rows
from workbench.comparing.overview import overview
from workbench.comparing.queries import searched_alike as alike
from workbench.comparing.queries import together as joining
from workbench.comparing.queries.together import METRICS, together
from workbench.comparing.statistics.intervals import paired_bootstrap
from workbench.control import Cancelled
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as opened:
        yield opened


def compared(workspace, *numbers):
    runs = [workspace.run(number) for number in numbers] if numbers else workspace.runs()
    return overview(workspace, runs, catalog.current(), "MAP@R", "last")


def of(result, *runs):
    return next(ensemble for ensemble in result.ensembles if set(ensemble.runs) == set(runs))


def agrees(ensemble, tables, distance, labels=LABELS, asks=None):
    """Values and gains are those of the tables side by side and of the better table alone."""
    hits, precision = plain_search(np.hstack(tables), labels, distance, asks)
    assert ensemble.values["recall@1"] == pytest.approx(hits.mean())
    assert ensemble.values["MAP@R"] == pytest.approx(precision.mean(), abs=1e-6)
    for metric, both, column in zip(METRICS, (hits, precision), (0, 1), strict=True):
        alone = [plain_search(part, labels, distance, asks)[column] for part in tables]
        best = max(range(len(tables)), key=lambda place, alone=alone: alone[place].mean())
        assert ensemble.better[metric] == ensemble.runs[best]
        wanted, gain = paired_bootstrap(alone[best], both), ensemble.gains[metric]
        assert (gain.mean, gain.low, gain.high) == pytest.approx((wanted.mean, wanted.low, wanted.high), abs=1e-6)
        assert gain.n == len(hits)


def test_runs_searched_by_cosine_are_normalised_and_searched_side_by_side(workspace):
    tables = [blobs_of(seed, width, scale) for seed, width, scale in ((0, 6, 1), (1, 4, 30), (2, 5, 0.1))]
    for loss, table in zip(("ce", "triplet", "margin"), tables, strict=True):
        store_searched(workspace, table, loss=loss)
    result = together(workspace, compared(workspace))
    assert [ensemble.runs for ensemble in result.ensembles] == [
        (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)
    ]  # fmt: skip
    assert [ensemble.dim for ensemble in result.ensembles] == [6, 4, 5, 10, 11, 9, 15]
    assert of(result, 1, 2, 3).bytes_per_image == 60
    unit = [unit_rows(table) for table in tables]
    for place, table in enumerate(unit, start=1):
        hits, precision = plain_search(table, LABELS, "cosine")
        assert of(result, place).values == pytest.approx({"recall@1": hits.mean(), "MAP@R": precision.mean()})
    for runs in ((1, 2), (1, 3), (2, 3), (1, 2, 3)):
        agrees(of(result, *runs), [unit[run - 1] for run in runs], "cosine")
    assert (result.sets, result.queries, result.scaled, result.left_out) == (((1, 2, 3),), (len(LABELS),), (), ())


def test_another_order_of_the_runs_changes_no_value(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    first, second = (together(workspace, compared(workspace, *runs)) for runs in ((1, 2, 3), (3, 2, 1)))
    for ensemble in first.ensembles:
        other = of(second, *ensemble.runs)
        assert (other.values, other.gains, other.better) == (
            pytest.approx(ensemble.values), ensemble.gains, ensemble.better
        )  # fmt: skip


def test_images_that_were_stored_in_another_order_are_matched_by_their_ids(workspace):
    tables, order = [blobs_of(0), blobs_of(1)], np.random.default_rng(5).permutation(len(LABELS))
    store_searched(workspace, tables[0], loss="ce")
    store_searched(workspace, tables[1], loss="triplet", order=order)
    agrees(of(together(workspace, compared(workspace)), 1, 2), [unit_rows(table) for table in tables], "cosine")


def spread_of(rows):
    return np.sqrt(np.square(rows - rows.mean(0)).sum(1).mean())


@pytest.mark.parametrize("distances", [("l2", "l2"), ("l2", "cosine")])
def test_a_run_searched_by_euclidean_distance_is_divided_by_its_spread(workspace, distances):
    tables = [blobs_of(0, scale=40), blobs_of(1)]
    for loss, table, distance in zip(("ce", "triplet"), tables, distances, strict=True):
        store_searched(workspace, table, loss=loss, distance=distance)
    rows = [
        unit_rows(table) if distance == "cosine" else table.astype(np.float64)
        for table, distance in zip(tables, distances, strict=True)
    ]
    result = together(workspace, compared(workspace))
    agrees(of(result, 1, 2), [part / spread_of(part) for part in rows], "l2")
    assert result.scaled == ((1, 2) if distances[1] == "l2" else (1,))


def test_with_a_gallery_only_its_queries_are_scored_and_only_it_is_searched(workspace):
    asks = np.arange(len(LABELS)) % 4 == 0
    tables = [blobs_of(0), blobs_of(1)]
    for loss, table in zip(("ce", "triplet"), tables, strict=True):
        store_searched(workspace, table, loss=loss, asks=asks)
    result = together(workspace, compared(workspace))
    agrees(of(result, 1, 2), [unit_rows(table) for table in tables], "cosine", asks=asks)
    assert result.queries == (int(asks.sum()),)


def test_runs_of_other_images_form_sets_of_their_own_and_one_alone_is_named(workspace):
    few = LABELS[:-8]
    for number, (loss, labels, name) in enumerate(
        (("ce", LABELS, "A"), ("triplet", LABELS, "A"), ("ce", few, "B"), ("triplet", few, "B"), ("ice", LABELS, "C"))
    ):
        store_searched(workspace, blobs_of(number, labels=labels), loss=loss, labels=labels, name=name)
    result = together(workspace, compared(workspace))
    assert result.sets == ((1, 2), (3, 4))
    assert result.left_out == ((alike.ALONE, (5,)),)
    agrees(of(result, 3, 4), [unit_rows(blobs_of(seed, labels=few)) for seed in (2, 3)], "cosine", few)
    with pytest.raises(Problem, match="There are no two runs here that kept embeddings of the same test images"):
        together(workspace, compared(workspace, 1, 3, 5))


def test_runs_by_hyperbolic_distance_and_more_than_six_are_left_out(workspace):
    for seed in range(8):
        store_searched(workspace, blobs_of(seed), loss="ce", seed=seed)
    store_searched(workspace, 0.01 * blobs_of(9), loss="hyperbolic", distance="hyperbolic")
    result = together(workspace, compared(workspace))
    assert result.sets == ((1, 2, 3, 4, 5, 6),)
    assert dict(result.left_out) == {alike.HYPERBOLIC: (9,), alike.TOO_MANY: (7, 8)}


def test_the_first_run_of_each_group_comes_before_the_second_ones(workspace, monkeypatch):
    monkeypatch.setattr(alike, "MOST_RUNS", 3)
    for loss, seed in (("ce", 0), ("ce", 1), ("triplet", 0)):
        store_searched(workspace, blobs_of(seed), loss=loss, seed=seed)
    assert together(workspace, compared(workspace)).sets == ((1, 3, 2),)


def test_what_would_not_fit_into_memory_is_not_searched(workspace, monkeypatch):
    monkeypatch.setattr(joining, "MOST_NUMBERS", 12 * len(LABELS))
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    result = together(workspace, compared(workspace))
    assert (of(result, 1, 2, 3).values, of(result, 1, 2, 3).dim) == ({}, 18)
    assert of(result, 1, 2).values
    assert len(result.pairs()) == 3


def test_a_damaged_file_of_embeddings_is_named(workspace):
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    (path,) = workspace.file(2, "embeddings-1.npy").parent.glob("embeddings-1.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(Problem, match=r"embeddings-1\.npy is damaged"):
        together(workspace, compared(workspace))


@pytest.mark.parametrize("asks", [None, np.arange(len(LABELS)) % 4 == 0])
@pytest.mark.parametrize("word", ["Run 2", "Runs 1 and 2 together", "Runs all 3 together"])
def test_a_cancel_is_heard_at_every_stage(workspace, word, asks):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss, asks=asks)

    def progress(text, done, total):
        assert done <= total
        if text == word:
            raise Cancelled

    with pytest.raises(Cancelled):
        together(workspace, compared(workspace), progress)
