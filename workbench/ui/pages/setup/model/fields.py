"""The fields of the Set up form: under which heading they stand, which most runs need, how they are described."""

from collections.abc import Callable, Mapping
from typing import Any

from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog

Field = dict[str, Any]
TITLES = {
    "dataset": "Data set",
    "split": "Split",
    "backbone": "Backbone",
    "loss": "Loss",
    "sampler": "Sampler",
    "augmentation": "Augmentation",
}
# The fields under each heading: "*" is a choice with its parameters, "embedding" and the like all fields of a part.
GROUPS: dict[str, tuple[str, ...]] = {
    "Run": ("name", "seed", "seeds", "device"),
    "Data": ("*dataset",),
    "Split": ("*split",),
    "Backbone": ("*backbone",),
    "Embedding": ("embedding",),
    "Loss": ("*loss",),
    "Training": ("training", "*sampler", "*augmentation"),
    "Evaluation": ("evaluation",),
}
OTHERS = "Other losses"
ESSENTIAL = ("dataset", "split.name", "backbone.name", "backbone.model", "backbone.weights", "backbone.weights_file",
             "backbone.download", "loss", "embedding.dim", "training.epochs", "training.batch_size", "training.lr",
             "seeds", "name")  # fmt: skip
# Fields that are essential only where another field has this value: (field, value).
ONLY_WITH = {
    "backbone.weights_file": ("backbone.weights", "file"),
    "backbone.download": ("backbone.weights", "cache"),
}


def of_choice(known: Catalog, kind: str, name: str, default: str) -> dict[str, Field]:
    """The choice of a kind and the parameters of the entry that is chosen, by path; `default` is the preset's entry."""
    names = catalogs.names(known, kind)
    of_losses = _of_losses(known, names) if kind == "loss" else {}
    entry = known.get(f"{kind}/{name}", {"help": "", "source": "", "params": {}})
    batches = entry.get("facts", {}).get("batch", "")
    batches = f" Batches: {batches}." if batches else ""
    origin = f" A plug-in: {entry['origin']}." if entry.get("origin") else ""
    choice = {
        "enum": names,
        "titles": [_title(known[f"{kind}/{choice}"]) for choice in names],
        "type": "string",
        "default": default,
        "label": TITLES[kind],
        "description": f"{entry['help']}{batches}{origin}",
        "source": entry["source"],
        "formula": entry.get("facts", {}).get("formula", ""),
        **of_losses,
    }
    source = {"source": entry["source"]}
    params = {f"{kind}.{field}": {**described, **source} for field, described in entry["params"].items()}
    return {f"{kind}.name": choice} | params


def _of_losses(known: Catalog, names: list[str]) -> dict[str, list[str]]:
    """What the list of losses says of each: family, formula and which batches it needs; each family together."""
    families = {name: catalogs.fact(known, "loss", name, "family") or OTHERS for name in names}
    ordered = sorted(names, key=lambda name: (families[name] == OTHERS, families[name]))
    return {
        "enum": ordered,
        "titles": [_title(known[f"loss/{name}"]) for name in ordered],
        "groups": [families[name] for name in ordered],
        "formulas": [catalogs.fact(known, "loss", name, "formula") or "" for name in ordered],
        "asides": [_batches_of(known, name) for name in ordered],
    }


def _batches_of(known: Catalog, loss: str) -> str:
    if catalogs.fact(known, "loss", loss, "of_images"):
        return "needs two views of an image"
    return "needs several images of a class" if catalogs.fact(known, "loss", loss, "needs_pairs") else "any batch"


def essential_of(fields: Mapping[str, Field], value_of: Callable[[str], Any]) -> dict[str, Field]:
    """The fields that most runs need, in the order of ESSENTIAL: of a data set the choice and its places.

    Args:
        fields: by path. value_of: the value of such a field; a field of ONLY_WITH depends on it.
    """
    return {
        path: field
        for wanted in ESSENTIAL
        if wanted not in ONLY_WITH or _has(fields, value_of, *ONLY_WITH[wanted])
        for path, field in fields.items()
        if path == wanted or (path.startswith(f"{wanted}.") and (wanted != "dataset" or _is_of_place(path, field)))
    }


def _has(fields: Mapping[str, Field], value_of: Callable[[str], Any], path: str, value: str) -> bool:
    return path in fields and value_of(path) == value


def _is_of_place(path: str, field: Field) -> bool:
    return path == "dataset.name" or bool(field.get("path"))


def _title(entry: Mapping[str, Any]) -> str:
    """An entry's title in a list, marked where the entry is a plug-in's."""
    return f"{entry['title']}{' · plug-in' if entry.get('origin') else ''}"
