"""What the data set of a draft lacks, and what repairs its errors with one click."""

import os
from typing import Any

from workbench.entries import catalog as catalogs
from workbench.entries import dimensions
from workbench.files import typed_path
from workbench.numerals import with_point
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.fields import GROUPS

Repair = tuple[str, str, Any]  # words of its button, path to set, value


def missing(draft: Draft) -> dict[str, str]:
    """A sentence by path for every place of the data set that is not chosen or not there."""
    data = draft.values["dataset"]
    described = draft.catalog.get(f"dataset/{data['name']}", {"params": {}})
    sentences: dict[str, str] = {}
    for name, field in described["params"].items():
        chosen = str(data.get(name) or "")
        if not field.get("path") or (not chosen and field.get("optional")):
            continue
        if not chosen:
            kind = {"file": "file", "folder": "folder"}.get(field["path"], "folder or archive")
            sentences[f"dataset.{name}"] = f"Choose a {kind}."
        elif not os.path.exists(path := typed_path(chosen)):
            sentences[f"dataset.{name}"] = f"There is no {path.absolute()}. Choose it again."
    return sentences


def repairs(draft: Draft, errors: dict[str, str]) -> dict[str, Repair]:
    """One-click repairs of errors and warnings, by path."""
    offered = _with_points(draft, errors)
    samplers = catalogs.names(draft.catalog, "sampler")
    others = [name for name in samplers if catalogs.fact(draft.catalog, "sampler", name, "images_of_class")]
    if "sampler.name" in errors and draft.values["sampler"]["name"] in samplers and others:
        title = draft.catalog[f"sampler/{others[0]}"]["title"]
        offered["sampler.name"] = (f"Use {title}", "sampler.name", others[0])
    if "training.nesterov" in errors:
        offered["training.nesterov"] = ("Turn off", "training.nesterov", False)
    if "training.patience" in errors:
        offered["training.patience"] = ("Turn off", "training.patience", 0)
    backbone = draft.values["backbone"]
    if "backbone.weights_file" in errors and backbone.get("weights_file") and backbone["weights"] != "file":
        offered["backbone.weights_file"] = ("Use the file", "backbone.weights", "file")
    if "embedding.dim" in errors and (size := _fitting_size(draft)):
        offered["embedding.dim"] = (f"Use {size}", "embedding.dim", size)
    return offered


def _with_points(draft: Draft, errors: dict[str, str]) -> dict[str, Repair]:
    """A number with a decimal comma, as a German keyboard has it, with a point."""
    offered: dict[str, Repair] = {}
    for group in GROUPS if errors else ():
        for path, field in draft.fields(group).items():
            point = with_point(draft.value(path)) if path in errors and field.get("type") == "number" else ""
            if point:
                offered[path] = (f"Use {point}", path, float(point))
    return offered


def _fitting_size(draft: Draft) -> int:
    """The size of the embedding nearest to the one that is set that goes with loss and classes; 0 for none."""
    loss, size, classes = draft.values["loss"], draft.values["embedding"]["dim"], draft.classes
    rule, spans = (catalogs.fact(draft.catalog, "loss", loss["name"], of) for of in ("dimensions", "spans"))
    if classes is None or not isinstance(size, int):
        return 0
    fits = dimensions.nearest(rule, loss[rule["of"]], classes, size) if rule else size
    return fits if fits != size else classes if spans and classes < size else 0
