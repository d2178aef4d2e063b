"""The config of a run as flat fields, and the fields in which several runs differ."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from workbench.config import IMPORTED, KINDS, OWN_LOOP, RunConfig
from workbench.entries.catalog import Catalog
from workbench.files.unreadable import checked_nesting, refusing
from workbench.problem import Problem

# Fields in which the runs of one group may differ. What a run keeps of its evaluations changes none of its numbers.
REPEATED = ("name", "seed", "seeds", "split.fold", "evaluation.keep", "evaluation.neighbours")
# What is measured besides: runs that differ in it alone are trained alike, and one group.
MEASURED = (
    "evaluation.nmi", "evaluation.linear_probe", "evaluation.other_distance", "evaluation.store_training",
    "evaluation.recall_at", "evaluation.probe_size", "evaluation.probe_every", "evaluation.anatomy_every",
)  # fmt: skip
# Beginnings of what the config of imported embeddings has by default alone: nothing was trained or is known of it.
UNTRAINED = ("device", "embedding.", "training.", "evaluation.every", "evaluation.untrained")
KEPT = 20_000  # configs that stay read, 4 kB each; with fewer than are compared, each would be read again and again
TRAINED_ON = "trained_on"  # the part of the settings of a test that has the data set of the run that trained
EXACT = 2**53  # a float holds every whole number up to it
Settings = dict[str, Any]  # dotted field -> value


@dataclass(frozen=True, slots=True)
class Difference:
    """One field with its value in each group; None if the group has no such field."""

    field: str  # dotted: "training.lr"
    values: tuple[Any, ...]


def settings_of(config: str, known: Catalog) -> Settings:
    """Every field of a config by dotted name, defaults written out, without those in REPEATED and MEASURED.

    Of imported embeddings without those in UNTRAINED; of a user's own loop those that it gave.

    Args:
        config: TOML text. Unknown fields of an older Workbench are kept.
        known: the catalog; without an entry in it, its parameters are those that were given.

    Raises:
        Problem: text that is no TOML.
    """
    values = dict(_read(config))
    dataset = values.get("dataset")
    source = dataset.get("name") if isinstance(dataset, dict) else None
    for kind in KINDS:
        chosen = values.get(kind)
        if isinstance(chosen, dict):
            described = known.get(f"{kind}/{chosen.get('name')}", {"params": {}})["params"]
            defaults = {field: facts["default"] for field, facts in described.items() if "default" in facts}
            if source == OWN_LOOP:
                defaults = {}  # its loss may be called as one of ours, and have other defaults
            params = {
                field: _typed(value, described.get(field, {}).get("type"))
                for field, value in (defaults | chosen).items()
            }
            values[kind] = {"name": chosen.get("name"), **params}
    return {
        field: value
        for field, value in _flat(values)
        if field not in REPEATED + MEASURED and not (source == IMPORTED and field.startswith(UNTRAINED))
    }


def measuring_of(config: str) -> Settings:
    """The fields of MEASURED that a config has."""
    return {field: value for field, value in _flat(_read(config)) if field in MEASURED}


def _typed(value: Any, kind: object) -> Any:
    """A number as its field holds it: a scale of 16 and one of 16.0 are the same setting."""
    if isinstance(value, int) and not isinstance(value, bool) and kind == "number" and abs(value) <= EXACT:
        return float(value)
    return int(value) if isinstance(value, float) and kind == "integer" and value.is_integer() else value


@lru_cache(KEPT)
def fold_of(config: str) -> int:
    """The fold that a config asks for, from 1; 0 if its split has none."""
    split = _read(config).get("split")
    fold = split.get("fold", 0) if isinstance(split, dict) else 0
    return fold if isinstance(fold, int) else 0


def differing(settings: Sequence[Settings]) -> list[Difference]:
    """The fields that are not the same everywhere, in the order of `all_fields`.

    What imported embeddings do not have of UNTRAINED is no difference by itself.
    """
    rows = (
        Difference(field, tuple(group_settings.get(field) for group_settings in settings))
        for field in all_fields(settings)
    )
    return [row for row in rows if _unequal(row)]


def _unequal(row: Difference) -> bool:
    values = [value for value in row.values if value is not None or not row.field.startswith(UNTRAINED)]
    return any(value != values[0] for value in values)


def all_fields(settings: Sequence[Settings]) -> list[str]:
    """Every field that any of them has, in the order of the config, those of the loss together."""
    fields = dict.fromkeys(field for group_settings in settings for field in group_settings)
    parts = list(dict.fromkeys(field.partition(".")[0] for field in fields))
    return sorted(fields, key=lambda field: parts.index(field.partition(".")[0]))


def written(value: Any) -> str:
    """A setting in its written form; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


@lru_cache(KEPT)
def _read(config: str) -> dict[str, Any]:
    """Nested fields of a config; the same dictionary is returned each time and must not be changed."""
    with refusing(lambda why: Problem(f"Its config cannot be read ({why}).")):
        stored: dict[str, Any] = checked_nesting(tomllib.loads(config), config)
    try:
        read = RunConfig.model_validate(stored)
        return read.model_dump(exclude_unset=read.own_loop)
    except ValidationError:
        return stored


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{prefix}{name}.")
        else:
            pairs.append((f"{prefix}{name}", value))
    return pairs
