"""Bootstrap limits of a mean."""

import numpy as np
import pytest

from workbench.evaluation import intervals
from workbench.evaluation.intervals import bootstrap_interval


def test_agrees_with_the_normal_limits_of_many_values():
    values = np.random.default_rng(0).exponential(size=5_000)
    low, high = bootstrap_interval(values, resamples=2_000)
    half = 1.96 * values.std() / np.sqrt(5_000)
    assert low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.1 * half)


@pytest.mark.parametrize(("level", "normal"), [(0.95, 1.960), (0.5, 0.6745)])
def test_each_tail_has_half_of_what_the_level_leaves(level, normal):
    values = np.random.default_rng(5).normal(size=500)
    limits = np.array(bootstrap_interval(values, resamples=20_000, level=level))
    half = values.std() / np.sqrt(500)
    np.testing.assert_allclose((limits - values.mean()) / half, [-normal, normal], atol=0.05)


def test_every_resample_counts():
    for values in (np.full(50, 0.25), np.array([0.25, 0.25])):
        assert bootstrap_interval(values, level=1.0) == (0.25, 0.25)


def test_columns_are_resampled_together_and_chunks_change_nothing(monkeypatch):
    values = np.random.default_rng(1).normal(size=(50, 2))
    low, high = bootstrap_interval(values)
    alone = bootstrap_interval(values[:, 1])
    assert low.shape == high.shape == (2,)
    np.testing.assert_allclose((low[1], high[1]), alone)
    monkeypatch.setattr(intervals, "CHUNK", 120)
    np.testing.assert_allclose(bootstrap_interval(values), (low, high))


def test_values_that_come_often_have_the_limits_of_single_draws(monkeypatch):
    values = np.random.default_rng(3).choice([0.0, 0.25, 1.0], size=(4_000, 2))
    limits = np.array(bootstrap_interval(values, resamples=4_000))
    again = np.array(bootstrap_interval(values, resamples=4_000, seed=1))
    monkeypatch.setattr(intervals, "DEARER", 4_000)  # draws of single queries
    drawn = np.array(bootstrap_interval(values, resamples=4_000))
    width = drawn[1] - drawn[0]
    assert (np.abs(limits - drawn) < 0.04 * width).all()
    assert (np.abs(again - drawn) < 0.04 * width).all()
    assert not np.array_equal(limits, drawn)


def test_values_that_come_often_are_chunked_and_shaped_alike(monkeypatch):
    values = np.random.default_rng(4).choice([0.0, 1.0], size=300)
    limits = bootstrap_interval(values)
    assert limits[0].shape == ()
    assert bootstrap_interval(np.stack([values, 1 - values], 1))[0].shape == (2,)
    monkeypatch.setattr(intervals, "CHUNK", 700)
    assert bootstrap_interval(values) == limits
    assert bootstrap_interval(np.ones(50)) == (1.0, 1.0)


def test_level_and_seed_matter():
    values = np.random.default_rng(2).normal(size=80)
    wide, narrow = bootstrap_interval(values, level=0.99), bootstrap_interval(values, level=0.5)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_few_values():
    assert np.isnan(bootstrap_interval(np.zeros(0))).all()
    assert np.isnan(bootstrap_interval(np.zeros((0, 2)))).all()
    assert bootstrap_interval(np.array([0.25])) == (0.25, 0.25)
