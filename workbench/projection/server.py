"""The analysis process: `python -m workbench.projection.server`; jobs/serving.py describes its protocol.

Ops: project, project_epochs, project_arrays, nmi, warm.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from workbench import files
from workbench.entries.catalog import cache_folder
from workbench.files.unreadable import NO_ARRAY
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.projection.maps import Map, make_map
from workbench.projection.subset import MOST_POINTS


def project(request: Message, progress: Progress) -> Message:
    """Map an evaluation of a workspace and store it there: workspace, evaluation, method, params, seed.

    It starts from the newest such map of the nearest earlier evaluation of the run that has one, and is aligned with
    it. With `only`, ids of samples, these alone are mapped; the others are stored without a place. So are, by UMAP and
    t-SNE, those beyond `most` points: what is mapped then is a sample, stratified by class.
    """
    from workbench.projection.chain import Wanted, draw, latest_before
    from workbench.workspace import Workspace

    started = time.monotonic()
    evaluation, wanted = field(request, "evaluation", int), Wanted(*_wanted(request), _only(request), _most(request))
    with Workspace(field(request, "workspace", str)) as workspace:
        number, projected = draw(workspace, evaluation, wanted, latest_before(workspace, evaluation, wanted), progress)
    return {"projection": number, **_answer_of(projected, started)}


def project_epochs(request: Message, progress: Progress) -> Message:
    """Map every evaluation of a run, each from the one before: workspace, evaluation (any of them), method, params,
    seed. Maps that are stored already are kept as far as each started from the one before."""
    from workbench.projection.chain import Wanted, draw_all
    from workbench.workspace import Workspace

    started = time.monotonic()
    wanted = Wanted(*_wanted(request), _only(request), _most(request))
    with Workspace(field(request, "workspace", str)) as workspace:
        numbers, count = draw_all(workspace, field(request, "evaluation", int), wanted, progress)
    return {"projections": numbers, "made": count, "seconds": time.monotonic() - started}


def project_arrays(request: Message, progress: Progress) -> Message:
    """Map embeddings.npy (and proxies.npy) into the folder `out`: points.npy and, with proxies, proxies.npy."""
    started = time.monotonic()
    embeddings, (method, params, seed) = _array(field(request, "embeddings", str)), _wanted(request)
    proxies = _array(field(request, "proxies", str)) if request.get("proxies") is not None else None
    folder = Path(field(request, "out", str))
    projected = make_map(embeddings, proxies, method, params, seed, progress)
    answer = _answer_of(projected, started)
    for name, array in (("points", projected.points), ("proxies", projected.proxies)):
        if array is not None:
            answer[name] = _save(folder / f"{name}.npy", array)
    return answer


def nmi(request: Message, progress: Progress) -> Message:
    """k-means and NMI of embeddings.npy and labels.npy: embeddings, labels, metric, seed."""
    progress("Clustering", 0, 0)
    from workbench.projection.clustering import nmi as measure

    embeddings, labels = _array(field(request, "embeddings", str)), _array(field(request, "labels", str))
    return {"nmi": measure(embeddings, labels, request.get("metric", "cosine"), _seed(request))}


def warm(request: Message, progress: Progress) -> Message:
    """Load and compile what UMAP needs, so that the first map is not the slow one."""
    started = time.monotonic()
    progress("Loading UMAP", 0, 0)
    from workbench.projection.umap_map import warm_up

    warm_up(progress)
    return {"seconds": time.monotonic() - started}


OPS: Ops = {
    "project": project,
    "project_epochs": project_epochs,
    "project_arrays": project_arrays,
    "nmi": nmi,
    "warm": warm,
}


def _wanted(request: Message) -> tuple[str, dict[str, Any], int]:
    """Method, params and seed of a request."""
    return field(request, "method", str), field({"params": {}, **request}, "params", dict), _seed(request)


def _only(request: Message) -> list[int] | None:
    """Ids of the samples that are mapped; None for all."""
    return field(request, "only", list) if request.get("only") is not None else None


def _most(request: Message) -> int:
    """Points of a map at most."""
    most = field({"most": MOST_POINTS, **request}, "most", int)
    if not 1 <= most <= MOST_POINTS:
        raise Problem(f"A map has 1 to {MOST_POINTS:,} points, not {most:,}.")
    return most


def _seed(request: Message) -> int:
    seed = field({"seed": 0, **request}, "seed", int)
    if not 0 <= seed < 2**32:
        raise Problem(f"The seed must lie between 0 and 4,294,967,295, not at {seed}.")
    return seed


def _array(path: str) -> np.ndarray:
    """A memory-mapped .npy file. Raises Problem when it is not one."""
    try:
        table: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except NO_ARRAY as error:
        raise Problem(f"{path} cannot be read as an array.") from error
    return table


def _save(path: Path, array: np.ndarray) -> str:
    with files.atomic_write(path) as file:
        np.save(file, array, allow_pickle=False)
    return str(path)


def _answer_of(projected: Map, started: float) -> Message:
    measured = projected.trust
    return {
        "trustworthiness": measured and measured.trustworthiness,
        "continuity": measured and measured.continuity,
        "trust_neighbours": measured and measured.neighbours,
        "trust_queries": measured and measured.queries,
        "points_count": len(projected.points),
        "seconds": time.monotonic() - started,
    }


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "numba"))  # else it writes beside the program
    serving.run(OPS)
