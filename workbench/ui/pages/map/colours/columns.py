"""One value for each test image, by which the map is coloured; read from the workspace when it is first needed."""

from dataclasses import dataclass

import numpy as np

from workbench.names import numbers_in_order, visible
from workbench.problem import Problem
from workbench.projection.vectors import metric_of, prepared
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import all_tags, attribute_of
from workbench.workspace.choices.sample_words import published_halves
from workbench.workspace.measured.ranking import read_first_hits, read_ranking, read_similarities

OF_ATTRIBUTE = "tag:"  # before the name of an attribute, as a colouring
AMONG = 10  # nearest neighbours that are counted for hubs, as in the metric "hubness" and on the Retrieval page


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values by sample id; safe on any thread."""

    title: str  # with the unit, as in the legend
    ids: np.ndarray  # [n] int64
    values: np.ndarray  # [n] float64, NaN if there is none; indices into `words` if these are not empty
    words: tuple[str, ...] = ()

    def of(self, ids: np.ndarray) -> np.ndarray:
        """The values [m] float64 of these samples; NaN for samples that the column does not know."""
        order = np.argsort(self.ids)
        if not len(order):
            return np.full(len(ids), np.nan)
        index = order[np.minimum(np.searchsorted(self.ids, ids, sorter=order), len(order) - 1)]
        return np.where(self.ids[index] == ids, self.values[index], np.nan)


def read_column(workspace: Workspace, evaluation_id: int, colouring: str) -> Column:
    """The column behind a colouring: "prediction", "first_hit", "radius", "similarity", "others", "hubness", "split",
    "tag", or OF_ATTRIBUTE and the name of an attribute.

    Raises:
        Problem: a file of the run is missing or damaged, or the data set has no published split.
    """
    if colouring.startswith(OF_ATTRIBUTE):
        return attribute(workspace, evaluation_id, colouring.removeprefix(OF_ATTRIBUTE))
    return READERS[colouring](workspace, evaluation_id)


def prediction(workspace: Workspace, evaluation_id: int) -> Column:
    """The label of the nearest neighbour."""
    ranking = read_ranking(workspace, evaluation_id)
    ids, labels, near = ranking.sample_ids, ranking.labels, ranking.neighbours
    predicted = labels[near[:, 0]].astype(float) if near.shape[1] else np.full(len(ids), np.nan)
    return Column("Class of the first neighbour", ids, predicted)


def first_hit(workspace: Workspace, evaluation_id: int) -> Column:
    """The rank of the first true neighbour, from 1."""
    ids, ranks = read_first_hits(workspace, evaluation_id)
    return Column("First-hit rank", ids, np.where(ranks > 0, ranks, np.nan).astype(float))


def others(workspace: Workspace, evaluation_id: int) -> Column:
    """R, the number of other images of its class that can be found."""
    ranking = read_ranking(workspace, evaluation_id)
    return Column("R, other images of its class", ranking.sample_ids, ranking.r.astype(float))


def similarity(workspace: Workspace, evaluation_id: int) -> Column:
    """Cosine similarity of the first neighbour, or its distance if the evaluation is by another measure."""
    ids, stored = read_similarities(workspace, evaluation_id)
    first = stored[:, 0] if stored.shape[1] else np.full(len(ids), np.nan)
    if workspace.evaluation(evaluation_id).distance != "cosine":  # stored as minus the distance
        return Column("Distance of the first neighbour", ids, -first)
    return Column("Cosine of the first neighbour", ids, first)


def hubness(workspace: Workspace, evaluation_id: int) -> Column:
    """How often an image is among the ten nearest neighbours of other images; for a hub, very often."""
    ranking = read_ranking(workspace, evaluation_id)
    times = np.bincount(ranking.neighbours[:, :AMONG].ravel(), minlength=len(ranking.sample_ids))
    return Column("Times among the ten nearest neighbours of others", ranking.sample_ids, times.astype(float))


def radius(workspace: Workspace, evaluation_id: int) -> Column:
    """Distance to the nearest class vector of the own class, or to the class mean if some class has none."""
    distance = metric_of(workspace.evaluation(evaluation_id).distance)
    ids, labels, embeddings = workspace.embeddings(evaluation_id)
    vectors = prepared(embeddings, distance).astype(np.float64)
    proxies = workspace.proxies(evaluation_id)
    if proxies is not None and np.isin(labels, proxies[1]).all():
        stars = prepared(proxies[0], distance, "class vectors", vectors.shape[1]).astype(np.float64)
        title = "Distance to the own class vector"
        centres = {label: stars[proxies[1] == label] for label in np.unique(labels)}
    else:
        title = "Distance to the class mean"
        centres = {label: vectors[labels == label].mean(0, keepdims=True) for label in np.unique(labels)}
    values = np.full(len(ids), np.nan)
    for label, middle in centres.items():
        own = np.flatnonzero(labels == label)
        apart = vectors[own][:, None] - middle
        values[own] = np.sqrt(np.einsum("nkd,nkd->nk", apart, apart)).min(1)
    return Column(f"{title} ({'unit vectors' if distance == 'cosine' else 'L2'})", ids, values)


def split(workspace: Workspace, evaluation_id: int) -> Column:
    """The published half of the data set that an image is in."""
    ids, words = published_halves(workspace, _dataset(workspace, evaluation_id))
    names = tuple(sorted({word for word in words if word}))
    if not names:
        raise Problem("This data set has no published split.", todo="Choose another colouring.")
    number = {name: float(index) for index, name in enumerate(names)}
    values = np.array([number.get(word, np.nan) for word in words])
    return Column("Published split", ids, values, tuple(name.capitalize() for name in names))


def attribute(workspace: Workspace, evaluation_id: int, name: str) -> Column:
    """The value of one attribute of an image."""
    by_value: dict[str, list[int]] = {}
    for word, ids in all_tags(workspace, _dataset(workspace, evaluation_id)).items():
        of_tag, value = attribute_of(word)
        if of_tag == name:
            by_value[value] = ids
    names = tuple(sorted(by_value, key=lambda value: (numbers_in_order(value), value)))
    members = [np.array(by_value[value], np.int64) for value in names]
    numbers = np.repeat(np.arange(len(names), dtype=float), [len(ids) for ids in members])
    return Column(visible(name), np.concatenate([np.empty(0, np.int64), *members]), numbers, tuple(map(visible, names)))


def tag(workspace: Workspace, evaluation_id: int) -> Column:
    """The tags of an image that are no attributes; several tags of one image are joined with commas."""
    of_sample: dict[int, list[str]] = {}
    for word, ids in all_tags(workspace, _dataset(workspace, evaluation_id)).items():
        for sample in ids if not attribute_of(word)[0] else ():
            of_sample.setdefault(sample, []).append(word)
    joined = [", ".join(words) for words in of_sample.values()]
    names = tuple(sorted(set(joined)))
    number = {name: float(index) for index, name in enumerate(names)}
    values = np.array([number[name] for name in joined])
    return Column("Tag", np.array(list(of_sample), np.int64), values, tuple(map(visible, names)))


READERS = {
    "prediction": prediction,
    "first_hit": first_hit,
    "radius": radius,
    "similarity": similarity,
    "others": others,
    "hubness": hubness,
    "split": split,
    "tag": tag,
}


def _dataset(workspace: Workspace, evaluation_id: int) -> int:
    dataset_id = workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id
    if dataset_id is None:
        raise Problem("This run has no data set.", todo="Choose another colouring.")
    return dataset_id
