"""NaN and infinity as valid JSON: NaN as null, infinity as a number too large for a float."""

import json
from collections.abc import Mapping, Sequence
from math import isinf, isnan

INFINITE = "9e999"  # Python and SQLite read it as infinity; the word Infinity is no JSON


def as_json(value: float | None) -> str:
    """A number as JSON."""
    if value is None or isnan(value):
        return "null"
    if isinf(value):
        return INFINITE if value > 0 else f"-{INFINITE}"
    return json.dumps(value)


def metrics_json(metrics: Mapping[str, float]) -> str:
    """Metrics by name as a JSON object."""
    return "{" + ", ".join(f"{json.dumps(name)}: {as_json(value)}" for name, value in metrics.items()) + "}"


def points_json(points: Sequence[tuple[str, int, float | None]]) -> str:
    """Points (name, step, value) of curves as a JSON array of arrays."""
    return "[" + ", ".join(f"[{json.dumps(name)}, {step}, {as_json(value)}]" for name, step, value in points) + "]"
