"""The smoothed line: the formula, and that it follows a curve from its first point on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.comparing.curves.smoothing import exponential_mean


@given(st.lists(st.floats(-1e3, 1e3) | st.sampled_from([np.nan, np.inf]), max_size=60), st.floats(0, 0.99))
def test_it_is_the_weighted_mean_of_what_came_before(values, weight):
    found = exponential_mean(np.asarray(values, np.float64), weight)
    total = count = 0.0
    for value, smooth in zip(values, found, strict=True):
        good = np.isfinite(value)
        total, count = weight * total + (value if good else 0.0), weight * count + good
        np.testing.assert_allclose(smooth, total / count if good else np.nan, rtol=1e-6, atol=1e-6)


def test_a_falling_loss_is_followed():
    """The loss of the issue: 2.3 to 0.6 in 30 steps, of which a mean over 30 points shows a flat line at 1.5."""
    loss = np.linspace(2.3, 0.6, 30)
    smooth = exponential_mean(loss, 0.9)
    assert smooth[0] == pytest.approx(2.3)
    assert (np.diff(smooth) < 0).all()
    assert smooth[-1] < 1.2


def test_a_weight_of_one_is_refused():
    with pytest.raises(ValueError, match="not in"):
        exponential_mean(np.ones(3), 1.0)
