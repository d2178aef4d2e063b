"""Training curves of groups: what is read of a long one, means of bins against NumPy and SciPy, and what is missing."""

import numpy as np
import pytest
from scipy import stats

from tests.unit.comparing.compared_runs import store
from workbench.comparing.curves.training_curves import (
    MOST_BINS,
    Points,
    scalar_names,
    training_curve_of,
    training_curves,
)
from workbench.comparing.grouping.groups import grouped
from workbench.config import Choice, TrainingParams
from workbench.workspace import Workspace
from workbench.workspace.measured import curves

OTHER = TrainingParams(lr=0.5)


@pytest.fixture
def workspace(tmp_path):
    made = Workspace(tmp_path / "workspace", create=True)
    yield made
    made.close()


def log(workspace, run_id, name, steps, values):
    """Points of a scalar, as a recorder stores them: NaN as NULL."""
    with workspace.writing() as db:
        db.execute("insert or ignore into metrics (name) values (?)", (name,))
        (metric,) = db.execute("select id from metrics where name = ?", (name,)).fetchone()
        db.executemany(
            "insert into scalar_points (run_id, metric_id, step, value) values (?, ?, ?, ?)",
            [
                (run_id, metric, int(step), None if np.isnan(value) else float(value))
                for step, value in zip(steps, values, strict=True)
            ],
        )


def group_of(workspace, seeds):
    for seed in seeds:
        store(workspace, {}, seed=seed)
    (group,) = grouped(workspace.runs(), {})
    return group


def thinned(workspace, run_id, name="batch/loss", most=300):
    return curves.thinned_scalars(workspace.reader(), run_id, name, most)


def test_a_repeated_run_is_once_in_the_mean(workspace):
    group = group_of(workspace, [0, 1, 0])
    steps = np.arange(4)
    points = {run.id: Points(steps, np.full(4, value)) for run, value in zip(group.runs, (9.0, 2.0, 4.0), strict=True)}
    curve = training_curve_of(group, points)
    assert (len(curve.runs), curve.mean.tolist()) == (3, [3.0] * 4)


def test_a_repeated_run_that_is_not_done_is_not_in_the_mean(workspace):
    for seed, status in ((0, "done"), (1, "done"), (0, "interrupted")):
        store(workspace, {}, seed=seed, status=status)
    (group,) = grouped(workspace.runs(), {})
    lengths, values = (4, 4, 2), (4.0, 2.0, 9.0)
    points = {
        run.id: Points(np.arange(length), np.full(length, value))
        for run, length, value in zip(group.runs, lengths, values, strict=True)
    }
    curve = training_curve_of(group, points)
    assert (len(curve.runs), curve.mean.tolist()) == (3, [3.0] * 4)


@pytest.mark.parametrize(("count", "gap", "first", "k"), [(3000, 1, 1, 10), (1000, 1, 0, 4), (2500, 7, 3, 9)])
def test_of_a_long_curve_every_kth_point_is_read(workspace, count, gap, first, k):
    run_id = store(workspace, {})
    steps, values = first + gap * np.arange(count), np.random.default_rng(0).normal(size=count)
    log(workspace, run_id, "batch/lr", steps, -values)
    log(workspace, run_id, "batch/loss", steps, values)
    found_steps, found_values, stride = thinned(workspace, run_id)
    np.testing.assert_array_equal(found_steps, steps[::k])
    np.testing.assert_array_equal(found_values, values[::k])
    assert len(found_steps) <= 300
    assert gap * (k - 1) < stride <= gap * k


def test_a_short_curve_is_read_whole_however_uneven(workspace):
    run_id = store(workspace, {})
    steps = np.unique(np.random.default_rng(0).integers(0, 10**9, 300)) ** 2 // 10**6
    log(workspace, run_id, "batch/loss", steps, np.sqrt(steps))
    found_steps, found_values, stride = thinned(workspace, run_id)
    np.testing.assert_array_equal(found_steps, np.unique(steps))
    np.testing.assert_array_equal(found_values, np.sqrt(np.unique(steps)))
    assert stride == 1


def test_uneven_points_are_never_more_than_asked_for_and_keep_their_stride(workspace):
    run_id = store(workspace, {})
    steps = np.unique((10_000 * np.random.default_rng(0).uniform(size=2000) ** 3).astype(int))
    log(workspace, run_id, "batch/loss", steps, steps)
    found, _, stride = thinned(workspace, run_id, most=50)
    assert 10 < len(found) <= 50
    assert np.diff(found).min() >= stride
    assert set(found) <= set(steps)


def test_nan_and_infinite_points_are_read_as_they_are(workspace):
    run_id = store(workspace, {})
    values = [1.0, np.nan, np.inf, -np.inf, 1 / 3]
    log(workspace, run_id, "batch/loss", range(5), values)
    np.testing.assert_array_equal(thinned(workspace, run_id)[1], values)


def test_a_run_without_the_scalar_has_no_points(workspace):
    run_id = store(workspace, {})
    for name in ("batch/loss", "no such"):
        steps, values, _ = thinned(workspace, run_id, name)
        assert len(steps) == len(values) == 0


def test_scalars_that_any_run_has_begin_with_the_losses(workspace):
    group = group_of(workspace, range(2))
    for run, name in zip((0, 0, 1, 1, 1), ("a", "probe/spce", "probe/ce", "batch/loss", "batch/lr"), strict=True):
        log(workspace, group.runs[run].id, name, [0], [1.0])
    assert scalar_names(workspace, group.runs) == ("batch/loss", "probe/ce", "probe/spce", "a", "batch/lr")
    assert scalar_names(workspace, group.runs[:1]) == ("probe/spce", "a")


def test_runs_of_a_group_that_logged_a_share_in_percent_and_as_a_fraction_have_one_mean_of_fractions(workspace):
    group = group_of(workspace, range(3))
    log(workspace, group.runs[0].id, "test/recall@1", [10, 20], [0.25, 0.5])
    log(workspace, group.runs[1].id, "test/recall@1", [10, 20], [35.0, 60.0])
    log(workspace, group.runs[2].id, "test/recall@1", [10, 20, 30], [0.3, 0.4, 40.0])  # percent, as its end shows
    (curve,) = training_curves(workspace, [group], "test/recall@1", most=9).curves
    np.testing.assert_allclose(curve.mean, [(0.25 + 0.35 + 0.003) / 3, (0.5 + 0.6 + 0.004) / 3])
    np.testing.assert_allclose(np.concatenate([values for *_, values in curve.runs]).max(), 0.6)


def test_a_scalar_that_is_no_share_keeps_its_values(workspace):
    group = group_of(workspace, range(1))
    log(workspace, group.runs[0].id, "batch/loss", [0, 1], [2.5, 0.5])
    (curve,) = training_curves(workspace, [group], "batch/loss", most=9).curves
    np.testing.assert_array_equal(curve.mean, [2.5, 0.5])


def interval(values):
    """[runs, k] -> mean and 95% limits by SciPy."""
    mean, error = values.mean(axis=0), stats.sem(values, axis=0)
    return mean, *stats.t.interval(0.95, len(values) - 1, mean, error)


def test_few_points_are_averaged_at_the_steps_of_all(workspace):
    group = group_of(workspace, range(4))
    steps, values = np.arange(0, 100, 5), np.random.default_rng(0).normal(size=(4, 20))
    curve = training_curve_of(group, {run.id: Points(steps, values[i]) for i, run in enumerate(group.runs)})
    np.testing.assert_array_equal(curve.places, steps)
    for found, wanted in zip((curve.mean, curve.low, curve.high), interval(values), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert (curve.n, curve.bin_width) == (4, 0)


def test_many_points_are_averaged_in_bins_first(workspace):
    group = group_of(workspace, range(3))
    steps, values = np.arange(1, 3001, 10), np.random.default_rng(0).normal(size=(3, 300))
    curve = training_curve_of(group, {run.id: Points(steps, values[i], 10) for i, run in enumerate(group.runs)})
    binned = values.reshape(3, MOST_BINS, 6).mean(axis=2)
    for found, wanted in zip((curve.mean, curve.low, curve.high), interval(binned), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert curve.bin_width == pytest.approx(2991 / 50)
    assert curve.stride == 10
    np.testing.assert_allclose(curve.places, 1 + curve.bin_width * (np.arange(50) + 0.5) - 0.5)


def test_runs_of_other_lengths_have_a_mean_where_all_of_them_are(workspace):
    group = group_of(workspace, range(2))
    long, short = Points(np.arange(0, 200), np.ones(200)), Points(np.arange(100, 130), np.full(30, 3.0))
    curve = training_curve_of(group, {group.runs[0].id: long, group.runs[1].id: short})
    np.testing.assert_array_equal(curve.places, np.arange(100, 130))
    np.testing.assert_array_equal(curve.mean, 2.0)
    assert np.isnan(curve.low).all(), "two seeds have no band"
    assert [len(steps) for _, steps, _ in curve.runs] == [200, 30]


def test_other_steps_meet_in_bins_and_a_bin_that_a_run_lacks_is_left_out(workspace):
    group = group_of(workspace, range(2))
    odd = Points(np.array([0, 10, 20, 30, 40, 59]), np.arange(6.0))
    even = Points(np.array([0, 5, 11, 52, 55, 59]), np.arange(6.0))
    curve = training_curve_of(group, {group.runs[0].id: odd, group.runs[1].id: even})
    assert curve.bin_width == 10
    np.testing.assert_allclose(curve.places, [4.5, 14.5, 54.5])
    np.testing.assert_allclose(curve.mean, [(0 + 0.5) / 2, (1 + 2) / 2, (5 + 4) / 2])


def test_runs_that_share_no_steps_have_no_mean(workspace):
    group = group_of(workspace, range(2))
    points = {run.id: Points(np.arange(5) + 100 * place, np.ones(5)) for place, run in enumerate(group.runs)}
    curve = training_curve_of(group, points)
    assert len(curve.runs) == 2
    assert len(curve.places) == len(curve.mean) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("count", [20, 300])
def test_where_a_run_is_no_number_the_mean_is_none(workspace, bad, count):
    group = group_of(workspace, range(3))
    values = np.random.default_rng(0).normal(size=(3, count))
    values[1, count // 2] = bad
    steps = np.arange(count)
    curve = training_curve_of(group, {run.id: Points(steps, values[i]) for i, run in enumerate(group.runs)})
    middle = len(curve.places) // 2
    for column in (curve.mean, curve.low, curve.high):
        np.testing.assert_array_equal(np.flatnonzero(~np.isfinite(column)), [middle])


def test_the_folds_of_a_seed_are_one_value(workspace):
    for seed, fold in ((0, 1), (0, 2), (1, 1)):
        store(workspace, {}, seed=seed, split=Choice(name="mlrc", params={"fold": fold}))
    (group,) = grouped(workspace.runs(), {})
    points = {
        run.id: Points(np.array([1]), np.array([value])) for run, value in zip(group.runs, (1, 3, 6), strict=True)
    }
    curve = training_curve_of(group, points)
    assert curve.mean.tolist() == [4.0]
    assert curve.n == 2


def test_what_is_missing_is_said_by_run_and_only_the_first_groups_are_read(workspace):
    for number in range(6):
        store(workspace, {}, seed=number, training=TrainingParams(lr=0.1 * (1 + number // 2)))
    for run_id, value in ((2, 1.0), (3, np.nan), (4, 2.0), (5, np.inf)):
        log(workspace, run_id, "batch/loss", [1, 2], [0.5, value])
    groups = grouped(workspace.runs(), {})
    found = training_curves(workspace, groups, "batch/loss", 2)
    assert found.without == (1, 6)
    assert found.not_finite == (3,), "run 5 is of a group that is not drawn"
    assert found.groups == 3
    assert [[run.id for run, _, _ in each.runs] for each in found.curves] == [[2], [3, 4]]
    assert training_curves(workspace, groups, "no such", 2).curves == ()
