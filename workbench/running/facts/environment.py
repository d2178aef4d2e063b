"""Facts of a run that a report needs to repeat it: versions, device, data, plug-ins, weights."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import __version__, files
from workbench.config import KINDS, RunConfig
from workbench.metric_names import metric_name
from workbench.progress import Progress
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.datasets.split import Split
    from workbench.registry import Entry
    from workbench.running.building import Data
    from workbench.running.engine import Engine

TRAINING_HALF, TEST_HALF = "the training set", "the test set"  # subjects of remarks
NAMED_VERSIONS = (
    "torch",
    "torchvision",
    "numpy",
    "umap-learn",
    "faiss-cpu",
    "PySide6-Essentials",
)


def environment(engine: "Engine", data: "Data", progress: Progress) -> dict[str, Any]:
    """The facts as plain values: what the column `environment` of a run holds. `progress` may raise Cancelled."""
    from workbench.datasets.cache.keeping import words_of
    from workbench.running.facts.remarks import engine_notes
    from workbench.training import device

    about_split = split_notes(engine.config, data.images.labels, data.split)
    return {
        "workbench": __version__,
        **device.describe(engine.parts.device),
        "precision": engine.parts.precision,
        "versions": {name: version(name) for name in NAMED_VERSIONS},
        "data": {
            "fingerprint": data.images.fingerprint,
            "stamp": data.images.stamp,
            "read_as": engine.config.dataset.model_dump(),
            "images": len(data.images.paths),
            "classes": len(data.images.class_names),
            "train": len(data.split.train),
            "test": len(data.split.test),
            "classes_disjoint": data.split.classes_disjoint,
            "note": data.split.note,
            "shared": shared_images(data, progress),
            "left_out": data.images.problems[:1000],
            "left_out_count": data.images.left_out,
            "unlike_published": data.images.unlike_published,
            "notes": [*data.notes, *about_split, *engine_notes(engine)],
            "kept": words_of(data.pixels),
        },
        "weights": _weights(engine),
        "plugins": _plugins(engine.config),
        "parameters": sum(weight.numel() for weight in engine.parts.weights),
        "steps_per_epoch": engine.sampler.steps_per_epoch,
    }


def changed_since(workspace: Workspace, run_id: int, data: "Data") -> str:
    """A sentence if an earlier run read other files from the same folder; else empty."""
    read_as = RunConfig.from_toml_text(workspace.run(run_id).config).dataset.model_dump()
    for run in workspace.runs():
        facts = run.environment.get("data", {})
        if run.id != run_id and facts.get("read_as") == read_as:
            same = facts["fingerprint"] == data.images.fingerprint
            return "" if same else f"The files of {data.images.name} are not those of run {run.id}: they have changed"
    return ""


def _plugins(config: RunConfig) -> dict[str, str]:
    """The origin of each plug-in entry of the config, with the hash of its file."""
    from workbench import registry

    chosen = [registry.entry(kind, config.choice(kind).name) for kind in KINDS]
    return {f"{entry.kind} {entry.name}": f"{entry.origin}, {_file_hash(entry)}" for entry in chosen if entry.origin}


def _file_hash(entry: "Entry") -> str:
    file = Path(sys.modules[entry.build.__module__].__file__ or "")
    return files.digest(file) if file.is_file() else "no file"


def _weights(engine: "Engine") -> str:
    """Hash of the file, the user's or in torch's cache, from which the backbone's weights were loaded; or empty."""
    path = getattr(engine.parts.model.backbone, "weights_path", None)
    return files.digest(path) if path is not None and path.is_file() else ""


def shared_images(data: "Data", progress: Progress) -> str:
    """A sentence about images that are in both sets, and about queries that find copies; empty without any."""
    from workbench.datasets import inspection

    in_both, themselves = inspection.shared_images(data.pixels, data.split, progress)
    sentences = [f"{_those(in_both, 'test image', 'test images')} in the training set"] if in_both else []
    sentences += [f"{_those(themselves, 'query', 'queries')} in the gallery"] if themselves else []
    return "; ".join(sentences)


def split_notes(config: RunConfig, labels: np.ndarray, split: "Split") -> list[tuple[str, str]]:
    """(subject, remark) on halves of a split that have one class, or on recall@k that is 100% with any network.

    Args:
        labels: [n], the class of each image of the data set.
    """
    one_class = [len(half) > 0 and len(np.unique(labels[half])) == 1 for half in (split.train, split.test)]
    notes = [(TRAINING_HALF, "has one class: the network cannot learn to distinguish classes")] if one_class[0] else []
    if one_class[1]:
        return [*notes, (TEST_HALF, "has one class: R@k and MAP@R are 100% with any network")]
    return [*notes, *recall_notes(config, split)]


def recall_notes(config: RunConfig, split: "Split") -> list[tuple[str, str]]:
    """(subject, remark) on the recall@k of a config whose k is the whole of what a query searches, or more."""
    searched = len(split.test) - 1 if split.is_query is None else int((~split.is_query).sum())
    sure = [metric_name(f"recall@{k}") for k in config.evaluation.ks if k >= searched]
    if not sure:
        return []
    several = len(sure) > 1
    subject = f"{', '.join(sure[:-1])} and {sure[-1]}" if several else sure[0]
    said = f"{'are' if several else 'is'} 100% with any network, for a query searches only {searched:,} images"
    return [(subject, f"{said}; ask for {'smaller k' if several else 'a smaller k'}")]


def _those(count: int, one: str, many: str) -> str:
    return f"1 {one} has an exact copy" if count == 1 else f"{count:,} {many} have an exact copy"
