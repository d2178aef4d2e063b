"""Maps read from the workspace, or made at once; not on the window's thread."""

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.projection.axes import COMPONENT, PROXIES, SAMPLES, Direction, axes
from workbench.projection.coordinates import has_coordinates
from workbench.projection.islands import cells_of, load
from workbench.projection.params import IN_SPACE, dimensions_of, in_words
from workbench.projection.pca import fit_pca
from workbench.projection.subset import among, rows_of, said_of
from workbench.projection.vectors import metric_of, prepared
from workbench.ui.pages.map.model.map_data import MapData, image_words, name_of
from workbench.ui.pages.map.model.method import METHODS
from workbench.ui.pages.map.model.point_classes import classes_of, means_of
from workbench.ui.pages.map.model.spatial import PointIndex
from workbench.ui.pages.map.model.turning import Space
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.workspace import Workspace
from workbench.workspace.measured.stored_maps import kept_neighbours, start_epoch
from workbench.workspace.rows import Projection

Only = list[int] | None  # ids of the samples that are mapped; None: all


def at_once(workspace: Workspace, evaluation_id: int, wanted: dict[str, Any]) -> MapData:
    """A map made without the analysis process: the plane or custom axes if requested, else PCA.

    Args:
        wanted: the request to the analysis process: method, params and seed, and optionally `only`, ids of samples.

    Raises:
        Problem: the embeddings are missing, not finite or, for the plane, not of two dimensions; or the custom axes
            cannot be used (see `projection.axes`).
    """
    if wanted["method"] == "axes":
        return by_axes(workspace, evaluation_id, wanted["params"], wanted.get("only"))
    metric, only = wanted["params"]["metric"], wanted.get("only")
    if wanted["method"] == "plane":
        return by_plane(workspace, evaluation_id, metric, only)
    return by_pca(workspace, evaluation_id, metric, only, dimensions_of(wanted["method"]))


def by_pca(
    workspace: Workspace, evaluation_id: int, metric: str = "", only: Only = None, dimensions: int = 2
) -> MapData:
    """The first two or three principal components of an evaluation's embeddings.

    `metric` is "cosine" or "l2"; empty means the one that the evaluation used.

    Raises:
        Problem: the embeddings are missing or not finite.
    """
    metric = metric or metric_of(workspace.evaluation(evaluation_id).distance)
    embeddings, rows, count = _embeddings(workspace, evaluation_id, only)
    vectors = prepared(embeddings, metric)
    fitted = fit_pca(vectors, dimensions)
    points = among(fitted.transform(vectors), rows, count)
    stars = _stars(workspace, evaluation_id, metric, vectors.shape[1])
    said = f"PCA ({metric}), {percentage(sum(fitted.share), 0)} of the variance"
    places = None if stars is None else fitted.transform(stars)
    method = f"pca{IN_SPACE}" if dimensions > 2 else "pca"
    return _data(workspace, evaluation_id, points, places, said, method, vectors.shape[1])


def by_plane(workspace: Workspace, evaluation_id: int, metric: str = "", only: Only = None) -> MapData:
    """Two-dimensional embeddings unchanged, or on the unit circle for "cosine". Raises Problem as `at_once`."""
    metric = metric or metric_of(workspace.evaluation(evaluation_id).distance)
    embeddings, rows, count = _embeddings(workspace, evaluation_id, only)
    if embeddings.shape[1] != 2:
        raise Problem(
            f"These embeddings have {embeddings.shape[1]:,} dimensions; the plane shows only embeddings with two.",
            todo="Choose PCA, UMAP or t-SNE.",
        )
    points = among(prepared(embeddings, metric), rows, count)
    stars = _stars(workspace, evaluation_id, metric, 2)
    how = "unit vectors" if metric == "cosine" else "as they are"
    return _data(workspace, evaluation_id, points, stars, f"the embeddings' own plane ({how})", "plane", 2)


def by_axes(workspace: Workspace, evaluation_id: int, params: dict[str, Any], only: Only = None) -> MapData:
    """The embeddings along the directions `x` and `y` of `params`, by its `metric`. Raises Problem as `at_once`."""
    metric, x, y = params["metric"], Direction(*params["x"]), Direction(*params["y"])
    embeddings, rows, count = _embeddings(workspace, evaluation_id, only)
    vectors, stored_proxies = prepared(embeddings, metric), workspace.proxies(evaluation_id)
    stars = _stars(workspace, evaluation_id, metric, vectors.shape[1])
    proxy_labels = np.empty(0, np.int64) if stored_proxies is None else stored_proxies[1]
    queries = workspace.queries(evaluation_id)
    labels, ids = queries.labels[rows], queries.sample_ids[rows]
    plane = axes(vectors, labels, stars, proxy_labels, x, y, ids)
    names, _ = class_names_of(workspace, evaluation_id)
    placed = zip(rows.tolist(), labels.tolist(), strict=True)  # row and label of each sample
    of_samples = dict(zip(ids.tolist(), placed, strict=True)) if SAMPLES in (x.kind, y.kind) else {}
    across, up = (_direction_words(direction, names, of_samples) for direction in (x, y))
    said = f"custom axes ({metric}): across {across}, up {up}; {plane.angle:.0f}° between them"
    points = among(plane.transform(vectors), rows, count)
    places = None if stars is None else plane.transform(stars)
    return _data(workspace, evaluation_id, points, places, said, "axes", vectors.shape[1])


def _direction_words(direction: Direction, names: tuple[str, ...], of_samples: dict[int, tuple[int, int]]) -> str:
    if direction.kind == COMPONENT:
        return f"principal component {direction.first + 1}"
    if direction.kind == SAMPLES:
        both = (of_samples[end] for end in (direction.first, direction.second))
        return " − ".join(image_words(name_of(names, label), row) for row, label in both)
    ends = " − ".join(name_of(names, label) for label in (direction.first, direction.second))
    return f"{ends} ({'class vectors' if direction.kind == PROXIES else 'class means'})"


def _embeddings(workspace: Workspace, evaluation_id: int, only: Only) -> tuple[np.ndarray, np.ndarray, int]:
    """The mapped vectors [m, d], their rows [m] among all embeddings, and the number of all embeddings."""
    vectors = workspace.vectors(evaluation_id)
    if only is None:
        return vectors, np.arange(len(vectors)), len(vectors)
    rows = rows_of(workspace.queries(evaluation_id).sample_ids, only)
    return vectors[rows], rows, len(vectors)


def stored(workspace: Workspace, evaluation_id: int, projection_id: int) -> MapData:
    """A map from the workspace, with its parameters in the caption. Raises Problem if it is no longer there."""
    candidates = {candidate.id: candidate for candidate in workspace.projections(evaluation_id)}
    projection = candidates.get(projection_id)
    if projection is None:
        raise Problem("This map is no longer in the workspace.", todo="Choose its method again to draw it again.")
    points, proxies = workspace.coordinates(projection_id)
    method = METHODS.get(projection.method, projection.method)
    said = f"{method} ({in_words(projection.params)}), seed {projection.seed}{_trusted(projection)}"
    start = start_epoch(workspace, projection)
    if start is not None:
        said += f", starts from epoch {start}"
    data = _data(workspace, evaluation_id, points, proxies, said, projection.method, params=projection.params)
    data = replace(data, made=projection, kept=kept_neighbours(workspace, projection.id))
    if data.space is None:
        return data
    return replace(data, space=replace(data.space, doubts=projection.doubts)).turned(data.space.view)


def _trusted(projection: Projection) -> str:
    """Trustworthiness and continuity, and the number of points if they were not measured on all."""
    parts = (("trustworthiness", projection.trustworthiness), ("continuity", projection.continuity))
    said = "".join(f", {name} {value:.4f}" for name, value in parts if value is not None)
    return said if projection.trust_queries is None else f"{said} (of {projection.trust_queries:,} points)"


def _stars(workspace: Workspace, evaluation_id: int, metric: str, width: int) -> np.ndarray | None:
    """Proxies [p, width], of length 1 for "cosine"; None without any."""
    proxies = workspace.proxies(evaluation_id)
    return None if proxies is None else prepared(proxies[0], metric, "class vectors", width)


def _data(
    workspace: Workspace,
    evaluation_id: int,
    points: np.ndarray,
    proxies: np.ndarray | None,
    said: str,
    method: str,
    width: int = 0,
    params: dict[str, Any] | None = None,
) -> MapData:
    queries, evaluation = workspace.queries(evaluation_id), workspace.evaluation(evaluation_id)
    run, stored_proxies = workspace.run(evaluation.run_id), workspace.proxies(evaluation_id)
    if len(points) != len(queries.sample_ids):
        raise Problem("The stored map does not belong to this evaluation.", todo="Evaluate the run again.")
    placed = has_coordinates(points)
    if stored_proxies is not None and proxies is not None and not placed.all():  # of classes that are not on this map
        proxies = np.where(np.isin(stored_proxies[1], queries.labels[placed])[:, None], proxies, np.nan)
    shown = said_of(params or {}, queries.sample_ids, placed)
    space = Space(points, proxies) if points.shape[1] > 2 else None
    load()
    names, unread = class_names_of(workspace, evaluation_id)
    index = PointIndex(points) if space is None else None
    counted = classes_of(queries.labels, names, None if index is None else index.order)
    made = MapData(
        points=points,
        proxies=proxies,
        proxy_labels=np.empty(0, np.int64) if stored_proxies is None or proxies is None else stored_proxies[1],
        ids=queries.sample_ids,
        labels=queries.labels,
        ap=queries.ap,
        right=queries.right,
        class_names=names,
        unread=unread,
        caption=f"{shown}   ·   {said}",
        shown=shown,
        method=method,
        index=index,
        rows=SampleRows(queries.sample_ids),
        gridded=cells_of(points, points),
        counted=counted,
        means=None if index is None else means_of(counted, points, queries.ap),
        width=width or workspace.vectors(evaluation_id).shape[1],
        evaluation=evaluation_id,
        title=f"Run {run.id}: {run.name}, {epoch_name(evaluation.epoch)}",
        space=space,
    )
    return made if space is None else made.turned(space.view)


def class_names_of(workspace: Workspace, evaluation_id: int) -> tuple[tuple[str, ...], str]:
    """Names by label, none if the data set is not known; and why they could not be read, empty if they could."""
    dataset = workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id
    try:
        return () if dataset is None else workspace.dataset(dataset).class_names, ""
    except Problem as problem:
        return (), f"{problem.what} Numbers are shown instead."


def epoch_name(epoch: int) -> str:
    """The title of an evaluation's epoch; the evaluation before epoch 1 is that of the untrained network."""
    return "untrained" if epoch == 0 else f"epoch {epoch}"
