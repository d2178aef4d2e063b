"""A run that another program trained, as its curves: what the readers of files give, whatever their form."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from workbench.names import visible_name
from workbench.workspace.paths import LARGEST

MOST_CURVES = 1_000  # of a run: each is read, sealed and offered by itself
MOST_POINTS = 10_000_000  # of a run: 16 bytes each while they are read
LONGEST_CURVE_NAME = 200  # letters
MOST_SAID = 3  # causes in a sentence about one run
TENSORBOARD, CSV = "TensorBoard", "CSV"
EARLIEST, LATEST = 1, 4_102_444_800  # seconds since 1970 that are taken for a moment of a run: up to the year 2100


class Points:
    """The points of one curve in the order in which they were written."""

    def __init__(self) -> None:
        self._steps, self._values = array("q"), array("d")

    def add(self, step: int, value: float) -> None:
        """Add a point; a later one at the same step replaces it."""
        self._steps.append(step)
        self._values.append(value)

    def extend(self, later: "Points") -> None:
        """Add the points of another curve behind these."""
        self._steps.extend(later._steps)
        self._values.extend(later._values)

    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps int64 [n], ascending, each once, and values float64 [n]: of two at one step the later one."""
        steps, values = np.array(self._steps, np.int64), np.array(self._values, np.float64)
        order = np.argsort(steps, kind="stable")
        steps, values = steps[order], values[order]
        last = np.ones(len(steps), bool)
        last[:-1] = steps[1:] != steps[:-1]
        return steps[last], values[last]


@dataclass(slots=True, eq=False)
class ForeignRun:
    """The curves of a run.

    Attributes:
        name: of the run, not empty.
        origin: the folder, or the file and the run in it: imported again, it is the same run.
        program: TENSORBOARD or CSV.
        left_out: how often something was left out, by its cause in words.
        began, ended: seconds since 1970 when its first and its last point were written; None where that is not known.
    """

    name: str
    origin: str
    program: str
    curves: dict[str, Points] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    points: int = 0
    began: float | None = None
    ended: float | None = None

    def written_at(self, seconds: float | None) -> None:
        """Widen the time of the run to this moment, unless no run has it, as where a clock was not set."""
        if seconds is not None and EARLIEST <= seconds <= LATEST:
            self.began = seconds if self.began is None else min(self.began, seconds)
            self.ended = seconds if self.ended is None else max(self.ended, seconds)

    def add(self, name: str, step: int, value: float) -> None:
        """Add a point of a curve, within the limits above; what is beyond them is counted as left out."""
        curve = self.curves.get(name)
        if not 0 <= step <= LARGEST:
            self.left_out["points without a possible step"] += 1
        elif self.points >= MOST_POINTS:
            self.left_out[f"points after the first {MOST_POINTS:,}"] += 1
        elif curve is None and len(self.curves) >= MOST_CURVES:
            self.left_out[f"points of other curves than the first {MOST_CURVES:,}"] += 1
        else:
            if curve is None:
                curve = self.curves[name] = Points()
            curve.add(step, value)
            self.points += 1

    def join(self, other: "ForeignRun") -> None:
        """Add the curves of the same run in another file; points of a curve that both have come behind its own."""
        for name, points in other.curves.items():
            if name in self.curves:
                self.curves[name].extend(points)
            else:
                self.curves[name] = points
        self.points += other.points
        self.left_out += other.left_out
        self.written_at(other.began)
        self.written_at(other.ended)

    def remarks(self) -> list[str]:
        """Sentences on what was left out."""
        said = [f"{cause} ({count:,})" for cause, count in self.left_out.most_common(MOST_SAID)]
        rest = len(self.left_out) - MOST_SAID
        said += [f"and {rest:,} more causes"] if rest > 0 else []
        return [f"“{self.name}”, left out: {'; '.join(said)}."] if said else []


def curve_name(text: str) -> str:
    """The name of a curve as it is stored: one line, without letters that steer a terminal, of bounded length."""
    return visible_name(" ".join(text.split()), LONGEST_CURVE_NAME) or "unnamed"
