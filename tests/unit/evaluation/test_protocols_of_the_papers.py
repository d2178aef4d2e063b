"""Metrics of random embeddings are those of the public evaluation code of the papers, written out in NumPy."""

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieve

COUNT = 240


@pytest.fixture
def images():
    """Unit vectors [n, d], labels [n] with six images of each class, and queries [n] bool, two thirds of each."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(COUNT // 6), 6)
    vectors = rng.normal(size=(COUNT // 6, 5))[labels] + 0.9 * rng.normal(size=(COUNT, 5))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), labels, np.arange(COUNT) % 3 > 0


def test_in_shop_is_measured_as_by_hyp_vit(images):
    """htdt/hyp_metric helpers.py, get_recall_inshop: fewer than k wrong ones are nearer than the nearest right one."""
    vectors, labels, is_query = images
    ks = (1, 10, 20, 30, 40, 50)
    found = retrieve(vectors, labels, np.arange(COUNT), ks=ks, is_query=is_query).metrics
    cosines = vectors[is_query] @ vectors[~is_query].T
    same = labels[is_query][:, None] == labels[~is_query]
    nearest = np.where(same, cosines, -np.inf).max(1)
    nearer = (np.where(same, -np.inf, cosines) > nearest[:, None]).sum(1)
    wanted = [(nearer < k).mean() for k in ks]
    assert [found[f"recall@{k}"] for k in ks] == pytest.approx(wanted)
    assert 0.1 < wanted[0] < wanted[-1] < 1, "or the ranks say nothing"


def test_in_shop_has_the_map_at_r_of_ccp(images):
    """yetigurbuz/ccp-dml framework/metrics/metric_functions.py, atKMetrics, with queries apart from the gallery."""
    vectors, labels, is_query = images
    found = retrieve(vectors, labels, np.arange(COUNT), distance="l2", is_query=is_query).metrics
    apart = ((vectors[is_query][:, None] - vectors[~is_query]) ** 2).sum(2)
    matches = labels[is_query][:, None] == labels[~is_query]
    positives = matches.sum(1)
    matches = np.take_along_axis(matches, np.argsort(apart, axis=1), 1)
    precision = matches.cumsum(1) / np.arange(1, matches.shape[1] + 1)
    summed = (precision * matches).cumsum(1)[np.arange(len(matches)), positives - 1]
    assert found["MAP@R"] == pytest.approx((summed / positives).mean())
    assert found["P@R"] == pytest.approx(precision[np.arange(len(matches)), positives - 1].mean())


@pytest.mark.parametrize("ks", [(1, 5), (1, 4, 16, 32)])
def test_vehicles_and_species_are_measured_as_by_smooth_ap(images, ks):
    """Andrew-Brown1/Smooth_AP src/auxiliaries.py, eval_metrics_one_dataset: among themselves, the first left out."""
    vectors, labels, _ = images
    found = retrieve(vectors, labels, np.arange(COUNT), ks=ks).metrics
    apart = ((vectors[:, None] - vectors) ** 2).sum(2)
    near = labels[np.argsort(apart, axis=1)[:, 1 : max(ks) + 1]]
    wanted = [(near[:, :k] == labels[:, None]).any(1).mean() for k in ks]
    assert [found[f"recall@{k}"] for k in ks] == pytest.approx(wanted)


def test_an_image_without_another_of_its_class_is_left_out(images):
    """Smooth-AP's code counts it as a miss, CCP's leaves it out."""
    vectors, labels, _ = images
    lonely = labels.copy()
    lonely[0] = labels.max() + 1
    found = retrieve(vectors, lonely, np.arange(COUNT)).metrics
    apart = ((vectors[:, None] - vectors) ** 2).sum(2)
    right = lonely[np.argsort(apart, axis=1)[:, 1]] == lonely
    assert found["recall@1"] == pytest.approx(right.sum() / (COUNT - 1))
    assert (found["queries"], found["queries/left_out"]) == (COUNT - 1, 1)
