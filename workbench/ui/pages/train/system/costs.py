"""What a step of a run costs and what bounds it, read from its stored curves. It does not use Qt."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from workbench.numerals import percentage
from workbench.ui.style.words import short_time

Curve = tuple[np.ndarray, np.ndarray]  # steps [n] rising, values [n]
FEED, MEMORY = "batch/feed_wait", "system/memory"
PARTS = {
    FEED: "Wait for data", "system/forward": "Forward", "system/loss": "Loss", "system/backward": "Backward",
    "system/optimiser": "Optimiser", "system/probe": "Probe",
}  # fmt: skip
NETWORK = ("system/forward", "system/backward", "system/optimiser")
LAST = 20  # points whose median counts
SLOW_FEED, SLOW_PROBE = 0.15, 0.25  # shares of a step


@dataclass(frozen=True, slots=True)
class StepCost:
    """Where the time of one step goes."""

    seconds: dict[str, float]  # by the names of PARTS, in their order; medians of the last points
    verdict: str  # "Bound by: the network (wait for data 2%)"
    advice: str  # one sentence on what would help

    @property
    def whole(self) -> float:
        """Seconds of the step."""
        return sum(self.seconds.values())


def read_costs(curves: Mapping[str, Curve]) -> StepCost | None:
    """What the stored times say; None before a step was timed, and for runs of versions that timed none.

    Args:
        curves: by the names of PARTS; missing ones are passed over.
    """
    nothing: Curve = (np.empty(0), np.empty(0))
    lasting = {name: _times(curves.get(name, nothing)[1]) for name in PARTS}
    seconds = {  # the probe is measured in few of the steps, which share its time
        name: float(np.mean(values) if name == "system/probe" else np.median(values))
        for name, values in lasting.items()
        if len(values)
    }
    whole = sum(seconds.values())
    if not any(name in seconds for name in NETWORK) or not 0 < whole < inf:
        return None
    shares = {name: spent / whole for name, spent in seconds.items()}
    waits = shares.get(FEED, 0.0)
    if waits > SLOW_FEED:
        bound, advice = "the data feed", "A larger batch would not help; smaller images or a faster disk would."
    elif shares.get("system/probe", 0.0) > SLOW_PROBE:
        bound, advice = "the probe", "Fewer probe images, or measuring them less often, would help."
    elif shares.get("system/loss", 0.0) > sum(shares.get(name, 0.0) for name in NETWORK):
        bound, advice = "the loss", "A smaller batch would help: the cost of a pair loss grows with its square."
    else:
        bound, advice = "the network", "A faster data feed would not help; a smaller network or image would."
    return StepCost(seconds, f"Bound by: {bound} (wait for data {percentage(waits, 0)})", advice)


def _times(values: np.ndarray) -> np.ndarray:
    """The last points that are times, in seconds: of a damaged curve they may be negative or not finite."""
    last: np.ndarray = values[-LAST:]
    times: np.ndarray = last[np.isfinite(last) & (last >= 0)]
    return times


def written(cost: StepCost) -> list[tuple[str, str]]:
    """Each part with its time in words."""
    return [(PARTS[name], short_time(spent)) for name, spent in cost.seconds.items()]
