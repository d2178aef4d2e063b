"""The fields at the top of a config: how a run is called, its seeds and where it trains; and all that every run has."""

from typing import Any

from workbench.settings.sections import sections

Field = dict[str, Any]
RUN_FIELDS: dict[str, Field] = {
    "name": {"type": "string", "default": "Digits", "description": "Name of the run in lists and reports."},
    "seed": {
        "type": "integer",
        "default": 0,
        "minimum": 0,
        "exclusiveMaximum": 2**31,
        "description": "Seed of every random choice: the same seed and settings give the same run.",
    },
    "seeds": {
        "type": "integer",
        "default": 1,
        "minimum": 1,
        "maximum": 100,
        "label": "Seeds",
        "unit": "runs",
        "description": "Number of runs, with this seed and the following ones, reported as one experiment; "
        "3 or more give an interval.",
    },
    "device": {
        "type": "string",
        "suggestions": ["auto", "cpu", "cuda", "mps", *(f"cuda:{number}" for number in range(8))],
        "default": "auto",
        "label": "Devices",
        "description": "Where to train; auto takes CUDA, then MPS, then the CPU. cuda:1 is the second of several GPUs; "
        "0,1 trains one run on the first two together.",
    },
}


def common_fields() -> dict[str, Field]:
    """Every field that does not belong to a chosen entry, by its dotted name, such as "seed" or "training.lr"."""
    parts = {f"{part}.{name}": field for part, fields in sections().items() for name, field in fields.items()}
    return RUN_FIELDS | parts
