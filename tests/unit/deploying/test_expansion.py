"""Query expansion and database-side augmentation against the papers' formulas, by loops in float64."""

import numpy as np
import pytest

from tests.unit.deploying.test_stores import evaluation
from workbench.control import Cancelled
from workbench.deploying.expansion import Augmented, QueryExpansion, augmented, expanded
from workbench.deploying.kinds import kind, no_rule
from workbench.deploying.measure import measure, search_of
from workbench.deploying.neighbourhood import neighbourhood
from workbench.deploying.stores import build
from workbench.problem import Problem

HALVES = np.arange(90) % 3 == 0


def by_distance(query, gallery, without=()):
    """Gallery rows, nearest first, of equals the lower first, less those of `without`."""
    gaps = np.round(((gallery - query) ** 2).sum(1), 10)
    return [row for row in np.argsort(gaps, kind="stable").tolist() if row not in without]


def mean_of(vector, near):
    """(v + the sum of max(0, v.g)^3 g) / its length."""
    total = vector.copy()
    for image in near:
        total = total + max(0.0, float(vector @ image)) ** 3 * image
    return total / np.sqrt(total @ total)


def plain_mean_precision(search, rankings):
    """MAP@R of rankings by loops."""
    values = []
    for number, order in enumerate(rankings):
        hits = search.gallery_labels[order] == search.labels[number]
        r = int(search.r[number])
        values.append(sum(hits[: rank + 1].mean() for rank in range(min(r, len(hits))) if hits[rank]) / r)
    return np.mean(values)


def own_row(search, number):
    return () if search.own is None else (int(search.own[number]),)


@pytest.mark.parametrize("is_query", [None, HALVES])
def test_a_query_becomes_the_mean_with_its_nearest_by_their_cosine_to_the_third_power(is_query):
    search = search_of(evaluation(21, is_query=is_query)[0])
    gallery, queries = search.gallery.astype(np.float64), search.queries.astype(np.float64)
    rankings = []
    for number, query in enumerate(queries):
        near = by_distance(query, gallery, own_row(search, number))[:4]
        wanted = mean_of(query, gallery[near])
        made = expanded(search.queries[number : number + 1], search.gallery, np.array([near]))[0]
        np.testing.assert_allclose(made, wanted, atol=1e-6)
        rankings.append(by_distance(wanted, gallery, own_row(search, number)))
    made = build(kind("float32+aqe4"), search.gallery, search.gallery, True)
    assert isinstance(made.method, QueryExpansion)
    for part, rows in made.method.rankings(search.queries, search.own, 12, lambda: None):
        assert rows.tolist() == [order[:12] for order in rankings[part]]
    store = measure(search, [kind("float32+aqe4")])[1]
    assert store.metrics["MAP@R"] == pytest.approx(plain_mean_precision(search, rankings), abs=1e-12)
    assert store.bytes == 64


def test_an_image_at_a_right_angle_or_beyond_has_no_weight():
    vectors = np.array([[1, 0], [0, 1], [-1, 0], [-0.6, 0.8]], np.float32)
    assert expanded(vectors[:1], vectors, np.array([[1, 2, 3]])).tolist() == [[1, 0]]
    nearer = expanded(vectors[1:2], vectors, np.array([[3]]))[0]
    np.testing.assert_allclose(
        nearer, mean_of(vectors[1].astype(np.float64), vectors[3:].astype(np.float64)), atol=1e-7
    )


@pytest.mark.parametrize("is_query", [None, HALVES])
def test_no_mean_of_the_gallery_knows_the_query_that_searches_it(is_query):
    """For each query the means are made anew in a gallery from which its own row was taken."""
    search = search_of(evaluation(22, is_query=is_query)[0])
    gallery, queries = search.gallery.astype(np.float64), search.queries.astype(np.float64)
    rankings = []
    for number, query in enumerate(queries):
        own = own_row(search, number)
        means = np.full_like(gallery, np.nan)
        for row in range(len(gallery)):
            if row not in own:
                means[row] = mean_of(gallery[row], gallery[by_distance(gallery[row], gallery, (row, *own))[:5]])
        rankings.append(by_distance(query, means, own))
    made = build(kind("float32+dba5"), search.gallery, search.gallery, True)
    assert isinstance(made.method, Augmented)
    for part, rows in made.method.rankings(search.queries, search.own, 12, lambda: None):
        assert rows.tolist() == [order[:12] for order in rankings[part]]
    store = measure(search, [kind("float32+dba5")])[1]
    assert store.metrics["MAP@R"] == pytest.approx(plain_mean_precision(search, rankings), abs=1e-12)
    assert (store.bytes, store.kept < 1) == (64, True)


def test_the_means_of_a_gallery_are_of_its_own_nearest():
    gallery = search_of(evaluation(23)[0]).gallery
    near = neighbourhood(gallery, 6)
    wide = gallery.astype(np.float64)
    orders = [by_distance(vector, wide, (row,)) for row, vector in enumerate(wide)]
    assert near.rows.tolist() == [order[:6] for order in orders]
    np.testing.assert_allclose(near.farthest, [((wide - vector) ** 2).sum(1).max() for vector in wide], rtol=1e-9)
    wanted = [mean_of(vector, wide[order[:5]]) for vector, order in zip(wide, orders, strict=True)]
    np.testing.assert_allclose(augmented(gallery, near, 5), wanted, atol=1e-6)


@pytest.mark.parametrize("name", ["float32+aqe10", "float32+dba10"])
def test_means_are_refused_where_there_is_no_cosine_or_too_few_images(name):
    by_l2 = search_of(evaluation(24, distance="l2")[0])
    why = "its weights are powers of cosines, and this evaluation compares by L2"
    assert measure(by_l2, [kind(name)])[1].refused == why
    with pytest.raises(Problem, match=f"{kind(name).title} cannot be built: {why}"):
        build(kind(name), by_l2.gallery, by_l2.gallery, False)
    assert no_rule(kind(name), 11, True) == "it needs 10 neighbours of each image, the gallery has 11 images"
    assert no_rule(kind(name), 12, True) == ""
    most = kind(name.replace("10", "101"))
    assert no_rule(most, 10_000, True) == "its means are of 100 neighbours at most"
    assert measure(search_of(evaluation(24)[0]), [most])[1].refused == "its means are of 100 neighbours at most"


def test_a_measurement_can_be_cancelled_while_the_neighbours_are_looked_up():
    said = []

    def progress(text, done, total):
        said.append((text, done, total))
        if done == total:
            raise Cancelled

    search = search_of(evaluation(26)[0])
    with pytest.raises(Cancelled):
        measure(search, [kind("float32+dba5")], progress=progress)
    assert said[-1] == ("Looking up the neighbours of all images", 90, 90)


@pytest.mark.parametrize("name", ["float32+aqe4", "float32+dba4", "float32+reciprocal"])
def test_one_query_from_outside_is_searched_as_all_are(name):
    search = search_of(evaluation(25, is_query=HALVES)[0])
    built = build(kind(name), search.gallery, search.gallery, True)
    rows = np.concatenate([rows for _, rows in built.method.rankings(search.queries, None, 10, lambda: None)])
    distinct = np.unique(search.gallery, axis=0).shape[0] == len(search.gallery)
    one_by_one = [built.search(search.queries[at : at + 1], 10)[0] for at in range(len(rows))]
    same = np.mean([list(a) == list(b) for a, b in zip(rows, one_by_one, strict=True)])
    assert same == 1 or (not distinct and same > 0.5), "copies may change places"
