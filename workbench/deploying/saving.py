"""A store written for a search service: the faiss file, the ids of its rows, and a note that says how it was built."""

import json
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from workbench import __version__, files
from workbench.deploying.expansion import ALPHA
from workbench.deploying.kinds import Kind, no_rule
from workbench.deploying.measure import Measured, Search, measure
from workbench.deploying.neighbourhood import neighbourhood
from workbench.deploying.pairs import Limit
from workbench.deploying.reciprocal import AVERAGED, ORIGINAL
from workbench.deploying.stores import build, serialised, version
from workbench.files.new_files import NewFiles
from workbench.files.spreadsheet import csv_text
from workbench.numerals import finite
from workbench.progress import Progress, quiet
from workbench.results.open_set import RULES
from workbench.results.search_methods import (
    AUGMENTATION,
    CANDIDATES,
    QUERY_EXPANSION,
    RECIPROCAL,
    REORDERED,
    SHARED,
)
from workbench.workspace import Workspace
from workbench.workspace.measured.deployments import newest_deployment
from workbench.workspace.rows import Evaluation

FORM = {
    True: "float32 of unit length: divide an embedding by its Euclidean length before it is added or searched",
    False: "float32 as the network gives them",
}
SEARCHES = {
    QUERY_EXPANSION: (
        "Search the index for the {size} nearest of an embedding. Add each of them to the embedding, times its cosine "
        f"to the power of {ALPHA}, or 0 where the cosine is negative. Divide the sum by its Euclidean length, and "
        "search the index with that."
    ),
    AUGMENTATION: (
        "The index holds the mean of each embedding with its {size} nearest others, each weighted by its cosine to the "
        f"power of {ALPHA}, or 0 where the cosine is negative, and brought to unit length. Search it with an embedding "
        "as it is. An image that is added changes the means of its neighbours."
    ),
    RECIPROCAL: (
        f"Search the index for the {REORDERED} nearest of an embedding, and rank these again by k-reciprocal encoding "
        f"(Zhong et al., CVPR 2017) with k1 = {SHARED}, k2 = {AVERAGED} and lambda = {ORIGINAL}. The index holds the "
        f"plain embeddings: look up the {SHARED} nearest of each of them once, which the encoding needs."
    ),
    CANDIDATES: (
        "Search the index for the {size} nearest of an embedding, and rank these again by k-reciprocal encoding (Zhong "
        f"et al., CVPR 2017) with k1 = {SHARED}, k2 = {AVERAGED} and lambda = {ORIGINAL}, as if they were the whole "
        "gallery."
    ),
}


def save(
    workspace: Workspace, evaluation: Evaluation, search: Search, wanted: Kind, limit: Limit | None, folder: Path,
    progress: Progress = quiet,
) -> list[Path]:  # fmt: skip
    """Write a store of the evaluation's gallery into `folder`, which is made; files of the same name are replaced.

    Returns:
        The faiss file (two for a store that compares the nearest again), ids.csv with the sample id and path of each
        row, signs.csv where signs are taken about a mean, and note.json, which has the thresholds that were measured,
        and says how to search where one scan is not all.

    Raises:
        Problem: embeddings of this dimension or number cannot be stored this way, or the folder cannot be written.
    """
    progress(f"Building {wanted.title}", 0, 2)
    is_listed = wanted.listed and not no_rule(wanted, len(search.gallery), search.cosine)
    near = neighbourhood(search.gallery, wanted.listed, progress) if is_listed else None
    built = build(wanted, search.gallery, search.fitted_on, search.cosine, near)
    name = wanted.name.replace("+", "-")
    contents = {f"{name}.faiss": serialised(built.index)}
    if built.fine is not None:
        contents[f"{name}-fine.faiss"] = serialised(built.fine.index)
    if built.kind.family.startswith("binary"):
        middle = search.gallery.mean(axis=0, dtype=np.float64).astype(np.float32)
        contents["signs.csv"] = ("mean\n" + "".join(f"{value:.9g}\n" for value in middle)).encode()
    contents["ids.csv"] = _ids(workspace, evaluation, search)
    progress(f"Measuring {wanted.title}", 1, 2)
    note = _note(
        workspace, evaluation, search, wanted, limit, measure(search, [wanted], progress=progress, near=near)[-1]
    )
    if wanted.family in SEARCHES:
        note["index"]["search"] = SEARCHES[wanted.family].format(size=wanted.size)
    note["files"] = {file: blake2b(content, digest_size=16).hexdigest() for file, content in contents.items()}
    contents["note.json"] = (json.dumps(finite(note), indent=2) + "\n").encode()
    with NewFiles() as new:
        for file, content in contents.items():
            new.add(folder / file)
            workspace.make_folder(folder)
            with files.atomic_write(folder / file) as out:
                out.write(content)
    return [folder / file for file in contents]


def _ids(workspace: Workspace, evaluation: Evaluation, search: Search) -> bytes:
    """Row of the index, sample id and path, as CSV."""
    samples = workspace.samples(workspace.run(evaluation.run_id).dataset_id)
    paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    rows = [[row, number, paths.get(number, "")] for row, number in enumerate(search.gallery_ids.tolist())]
    return csv_text(["row", "sample_id", "path"], rows).encode()


def _open_set(workspace: Workspace, evaluation_id: int) -> dict[str, Any] | None:
    """The thresholds of the newest measurement, above which a query is of a stored class; None where it has none."""
    measured = (newest_deployment(workspace, evaluation_id) or {}).get("open_set")
    if measured is None:
        return None
    thresholds = [
        {
            "images_stored_of_a_class": "all" if point["images"] is None else point["images"],
            "class_of": RULES[rule].lower(),
            "false_identifications_wanted": at["fpir"],
            "similarity": at["threshold"][0],
            "range": list(at["threshold"][1:]),
            "identified": at["dir"][0],
        }
        for point in measured["points"]
        for rule in RULES
        for at in point[rule]["rates"]
    ]
    about = {name: measured[name] for name in ("classes", "stored_classes", "draws", "trained_on")}
    return {**about, "thresholds": thresholds} if thresholds else None


def _note(
    workspace: Workspace,
    evaluation: Evaluation,
    search: Search,
    wanted: Kind,
    limit: Limit | None,
    measured: Measured,
) -> dict[str, Any]:
    run = workspace.run(evaluation.run_id)
    return {
        "store": {"name": wanted.name, "title": wanted.title, "detail": wanted.detail},
        "run": {"number": run.id, "name": run.name, "dataset": run.dataset, "loss": run.loss, "backbone": run.backbone},
        "evaluation": {"number": evaluation.id, "epoch": evaluation.epoch, "step": evaluation.step},
        "embeddings": {
            "dimensions": int(search.gallery.shape[1]),
            "form": FORM[search.cosine],
            "distance": "cosine" if search.cosine else "l2",
            "blake2b": files.digest(workspace.file(run.id, f"embeddings-{evaluation.epoch}.npy")),
        },
        "index": {
            "metric": "squared Euclidean distance", "images": len(search.gallery), "fitted_on": search.fitted_words,
        },
        "measured": asdict(measured),
        "same_or_different": None if limit is None else {
            "similarity": limit.similarity, "range": limit.similarity_range, "false_accepts_wanted": limit.wanted,
            "false_accepts": limit.false_accepts, "accepts": limit.accepts,
        },
        "open_set": _open_set(workspace, evaluation.id),
        "versions": {"workbench": __version__, "faiss": version()},
    }  # fmt: skip
