"""Where curves cross, on curves whose crossings are known, and the sentences that refer to them by letters."""

import numpy as np
import pytest

from workbench.ui.pages.train.findings.crossings import crossings
from workbench.ui.pages.train.findings.reading import read_curves
from workbench.ui.plots.rings import Crossing, crossing_place

NAN = float("nan")
STEPS = np.arange(10, 110, 10)


def curves(**values):
    names = {"ce": "anatomy/ce", "pce": "anatomy/pce", "own_ce": "probe/ce", "spce": "probe/spce"}
    return {names[key]: (STEPS[: len(column)], np.asarray(column, float)) for key, column in values.items()}


def said(known):
    return [sentence.text for sentence in read_curves(known, [], crossed=crossings(known))]


def bound(letter, before, after):
    return Crossing(letter, "anatomy/pce", "anatomy/ce", before, after, wrong=True)


@pytest.mark.parametrize(
    ("pce", "found", "where"),
    [
        ([0, 2, 2, 0, 0], [bound("A", 10, 20), bound("B", 30, 40)], "from A to B (steps 20 to 30)"),
        ([0, 2, 0, 0, 0], [bound("A", 10, 20), bound("B", 20, 30)], "from A to B (step 20)"),
        ([0, 2, 0, 2, 2], [bound("A", 30, 40)], "longest from A (step 40) on"),
        ([2, 2, 0, 2, 0], [bound("A", 20, 30)], "longest up to A (step 20)"),
        ([0, 2, NAN, 0, 0], [bound("A", 10, 20), bound("B", 20, 40)], "from A to B (step 20)"),
        ([2, 2, 2, 2, 2], [], "first at step 10"),
    ],
)
def test_both_ends_of_the_longest_stretch_with_pce_above_ce_have_letters(pce, found, where):
    known = curves(ce=[1, 1, 1, 1, 1], pce=pce)
    assert crossings(known) == found
    (text,) = said(known)
    assert f"points, {where}. Possible reason:" in text


def test_where_ce_and_spce_come_together_or_cross_has_the_next_letter():
    together = curves(ce=[1, 1, 1], pce=[0, 2, 2], own_ce=[2, 1, 0.5, 0.5], spce=[2.5, 1.3, 0.51, 0.505])
    assert crossings(together) == [bound("A", 10, 20), Crossing("B", "probe/spce", "anatomy/ce", 30, 30, wrong=False)]
    assert said(together)[0] == "CE and SPCE meet: from B (step 30) on they differ by less than 0.02 nats."
    crossed = curves(own_ce=[2.0, 1.0, 0.5, 0.2], spce=[1.0, 0.9, 0.8, 0.7])
    assert crossings(crossed) == [Crossing("A", "probe/spce", "anatomy/ce", 20, 30, wrong=False)]
    assert said(crossed)[0].endswith("the two cross at A (step 30).")


@pytest.mark.parametrize("spce", [[1, 0.6, 0.25], [2.001, 1.001, 0.5], [NAN] * 3, [2.5]])
def test_curves_that_never_meet_or_always_agree_have_no_letter(spce):
    assert crossings(curves(own_ce=[2, 1, 0.5], spce=spce)) == []


def test_nothing_crosses_without_curves():
    assert crossings({}) == []
    assert crossings(curves(ce=[1, 1], pce=[0, 0])) == []


def test_two_lines_cross_where_their_heights_are_equal():
    assert crossing_place((0.0, 4.0), (1.0, 1.0)) == (0.25, 1.0)
    assert crossing_place((3.0, 1.0), (0.0, 2.0)) == (0.75, 1.5)
    assert crossing_place((1.0, 2.0), (0.0, 0.5)) == (0.5, 1.5), "they do not cross: the middle of the first"
