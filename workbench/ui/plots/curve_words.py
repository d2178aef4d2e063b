"""Descriptions of curves in words, without Qt: for screen readers, and where they have gaps."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.numerals import raised, significant
from workbench.ui.plots.curve import Curve

if TYPE_CHECKING:
    from workbench.ui.plots.items import Series


def breaks_named(shown: Sequence["Series"], curves: Mapping[str, Curve], x_title: str) -> list[tuple[float, str]]:
    """(step, words) where values first are no number, with the titles of the curves; `curves` by name of a series."""
    named: dict[tuple[float, str], list[str]] = {}
    for series in shown:
        for step, what in curves[series.name].breaks():
            if what != "NaN" or not series.may_be_undefined:
                named.setdefault((step, what), []).append(series.title)
    return [(step, f"{', '.join(titles)}: {what} at {x_title} {step:,.0f}") for (step, what), titles in named.items()]


def course(title: str, curve: Curve, x_title: str) -> str:
    """The first and the last value of a curve, in words."""
    good = np.flatnonzero(np.isfinite(curve.values))
    if not len(good):
        return f"{title} has no numbers" if len(curve) else f"{title} has no values yet"
    first, last = good[0], good[-1]
    return (
        f"{title} goes from {raised(significant(curve.values[first], 4))} at {x_title} {curve.steps[first]:,.0f} "
        f"to {raised(significant(curve.values[last], 4))} at {x_title} {curve.steps[last]:,.0f}"
    )
