"""What the charts of the System tab say in figures: the value of now behind a title, the course below the curves."""

from collections.abc import Mapping

import numpy as np

from workbench.numerals import percentage
from workbench.ui.pages.train.system.costs import FEED, StepCost
from workbench.ui.pages.train.system.load_charts import CHARTS, LoadChart
from workbench.ui.style.words import short_time

STEP = CHARTS[-1]  # parts of a step: what they are is known from the costs of a step
FINE = 10  # figures below it have a decimal, and those below 1 two where they need them


def figures_of(chart: LoadChart, values: Mapping[str, np.ndarray], cost: StepCost | None) -> tuple[str, str]:
    """The value of now and a caption, in the unit of the chart; both empty if nothing was measured.

    Args:
        values: [n] as stored, by the names of the chart's curves.
        cost: of a step of the run, where it is known.
    """
    if chart is STEP:
        return _of_step(cost)
    known = {title: chart.factor * measured[np.isfinite(measured)] for name, title, _ in chart.curves
             if len(measured := np.asarray(values.get(name, ()), float))}  # fmt: skip
    known = {title: measured for title, measured in known.items() if len(measured)}
    if not known:
        return "", ""
    first, unit = next(iter(known)), chart.unit.split()[0]
    now = _written(known[first][-1]) + ("%" if unit == "%" else f" {unit}")
    if len(chart.curves) > 1:
        now = f"{first} {now}"  # else it would be read as the value of the last in the legend, which stands beside it
    said = [f"mean {_written(measured.mean())}, highest {_written(measured.max())}" for measured in known.values()]
    if len(known) > 1:
        said = [f"{title} {words}" for title, words in zip(known, said, strict=True)]
    return now, "; ".join(said)


def _of_step(cost: StepCost | None) -> tuple[str, str]:
    if cost is None:
        return "", ""
    waits = cost.seconds.get(FEED, 0.0)
    return short_time(cost.whole), f"wait for data {short_time(waits)}, {percentage(waits / cost.whole, 0)} of a step"


def _written(value: float) -> str:
    if value < 1:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}" if value >= FINE else f"{value:.1f}"
