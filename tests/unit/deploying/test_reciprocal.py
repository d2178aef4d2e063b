"""k-reciprocal re-ranking against the rules of its paper and public code, written with whole matrices in float64."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.deploying.test_expansion import HALVES, own_row, plain_mean_precision
from tests.unit.deploying.test_stores import evaluation
from workbench.deploying.kinds import kind, no_rule, usual
from workbench.deploying.measure import measure, search_of
from workbench.deploying.ranking import squared_gaps
from workbench.deploying.reciprocal import reciprocal_sets
from workbench.deploying.stores import build

KIND = kind("float32+reciprocal")
K1, K2, LAMBDA = 20, 6, 0.3


def squared(vectors):
    return np.array([((vectors - vector) ** 2).sum(1) for vector in vectors])


def order_of(gaps):
    """All images by their distance to each, itself first, of equals the lower first."""
    rounded = np.round(gaps, 10)
    np.fill_diagonal(rounded, -1)
    return np.argsort(rounded, axis=1, kind="stable")


def mutual(order, k):
    """R(p, k) of each image: of its k nearest, and itself, those that have it among their own."""
    near = np.zeros(order.shape, bool)
    np.put_along_axis(near, order[:, : k + 1], True, axis=1)
    return [set(np.flatnonzero(row).tolist()) for row in near & near.T]


def expanded_sets(order):
    """R*(p, k1) of each image."""
    wholes, halves = mutual(order, K1), mutual(order, K1 // 2)
    return [
        own.union(*(halves[other] for other in own if len(halves[other] & own) > 2 / 3 * len(halves[other])))
        for own in wholes
    ]


def distances_by_the_paper(vectors):
    """The Jaccard and the final distance [n, n] of all images, as of one set."""
    gaps = squared(vectors)
    order = order_of(gaps)
    gaps = gaps / gaps.max(axis=1, keepdims=True)
    encoded = np.zeros_like(gaps)
    for image, expanded in enumerate(expanded_sets(order)):
        members = sorted(expanded)
        encoded[image, members] = np.exp(-gaps[image, members])
    encoded /= encoded.sum(axis=1, keepdims=True)
    averaged = np.array([encoded[order[image, :K2]].mean(axis=0) for image in range(len(gaps))])
    jaccard = np.zeros_like(gaps)
    for image, own in enumerate(averaged):
        jaccard[image] = 1 - np.minimum(own, averaged).sum(axis=1) / np.maximum(own, averaged).sum(axis=1)
    return jaccard, LAMBDA * gaps + (1 - LAMBDA) * jaccard


def ranking_by_the_paper(search):
    """Jaccard distances of each query to the gallery, and its rows by the final distance: each query is alone."""
    gallery = search.gallery.astype(np.float64)
    jaccards, rankings = [], []
    whole = distances_by_the_paper(gallery) if search.own is not None else None
    for number, query in enumerate(search.queries.astype(np.float64)):
        if whole is not None:  # the query takes the place of its own row: the set of images is the same for all
            own = int(search.own[number])
            jaccard, final = whole[0][own], whole[1][own]
        else:
            of_all = distances_by_the_paper(np.vstack([gallery, query]))
            jaccard, final = of_all[0][-1, :-1], of_all[1][-1, :-1]
        first = np.round(((gallery - query) ** 2).sum(1), 10)
        order = sorted(range(len(gallery)), key=lambda row: (round(final[row], 10), first[row], row))
        rankings.append([row for row in order if row not in own_row(search, number)])
        jaccards.append(jaccard)
    return jaccards, rankings


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("is_query", [None, HALVES])
def test_it_ranks_as_the_paper_does(distance, is_query):
    search = search_of(evaluation(31, distance=distance, is_query=is_query)[0])
    jaccards, rankings = ranking_by_the_paper(search)
    method = build(KIND, search.gallery, search.gallery, search.cosine).method
    ((_, all_gaps),) = squared_gaps(search.queries, search.gallery)
    for number, (query, gaps) in enumerate(zip(search.queries, all_gaps, strict=True)):
        itself = None if search.own is None else int(search.own[number])
        if itself is not None:
            gaps[itself] = np.inf
        rows = np.argsort(np.round(gaps, 10), kind="stable")[: len(gaps) - (itself is not None)]
        made = method.unshared(query, gaps, rows, itself)
        np.testing.assert_allclose(made, jaccards[number][rows], atol=1e-6)
    for part, rows in method.rankings(search.queries, search.own, 12, lambda: None):
        assert rows.tolist() == [order[:12] for order in rankings[part]]
    store = measure(search, [KIND])[1]
    assert store.metrics["MAP@R"] == pytest.approx(plain_mean_precision(search, rankings), abs=1e-12)


def test_the_expanded_sets_are_those_of_the_paper():
    gallery = search_of(evaluation(32)[0]).gallery.astype(np.float64)
    order = order_of(squared(gallery))
    images = np.array([0, 4, 17, 88])
    rows, members = reciprocal_sets(images, lambda rows: order[rows, : K1 + 1])
    for row, image in enumerate(images.tolist()):
        assert set(members[rows == row].tolist()) == expanded_sets(order)[image]
    grown = [expanded - own for expanded, own in zip(expanded_sets(order), mutual(order, K1), strict=True)]
    assert any(grown), "the sets of neighbours add something"


def test_only_the_nearest_are_ranked_again_and_the_others_stay():
    search = search_of(evaluation(33)[0])
    plain = build(kind("float32"), search.gallery, search.gallery, True)
    before = np.array([row[row != own] for row, own in zip(plain.search(search.queries, 90), search.own, strict=True)])
    method = replace(build(KIND, search.gallery, search.gallery, True).method, size=25)
    after = np.concatenate([rows for _, rows in method.rankings(search.queries, search.own, 60, lambda: None)])
    assert (np.sort(after[:, :25]) == np.sort(before[:, :25])).mean() > 0.99, "copies may change places"
    assert (after[:, 25:] == before[:, 25:60]).mean() > 0.99
    assert (after[:, :25] != before[:, :25]).any()


def test_what_it_stores_of_each_image_and_what_does_not_grow_is_said():
    search = search_of(evaluation(34, count=200)[0])
    store = measure(search, [KIND])[1]
    assert store.bytes == 64 + 20 * 8 + 4
    assert store.fixed_bytes == 0
    assert 0 < store.constant_ms <= store.ms


def test_it_is_refused_where_an_image_has_too_few_neighbours():
    assert no_rule(KIND, 21, False) == "it needs 20 neighbours of each image, the gallery has 21 images"
    assert no_rule(KIND, 22, False) == ""
    search = search_of(evaluation(35, count=21, classes=3)[0])
    assert measure(search, [KIND])[1].refused.startswith("it needs 20 neighbours")
    search = search_of(evaluation(35, count=22, classes=3)[0])
    assert not measure(search, [KIND])[1].refused


def test_images_that_are_all_alike_can_be_searched():
    search = search_of(evaluation(36, count=40, distance="l2", zero=range(40))[0])
    store = measure(search, [KIND])[1]
    assert store.metrics["MAP@R"] == measure(search, [])[0].metrics["MAP@R"]


def test_the_scan_of_one_query_has_the_distances_of_float64():
    search = search_of(evaluation(37, distance="l2")[0])
    method = build(KIND, search.gallery, search.gallery, False).method
    for query in search.queries[:9]:
        gaps, rows = method.scanned(query)
        exact = ((search.gallery.astype(np.float64) - query) ** 2).sum(1)
        np.testing.assert_allclose(gaps, exact, rtol=1e-5, atol=1e-5)
        assert (np.diff(gaps[rows]) >= 0).all()


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("is_query", [None, HALVES])
def test_among_the_nearest_it_ranks_as_the_paper_does_in_a_gallery_of_those(distance, is_query):
    search = search_of(evaluation(38, distance=distance, is_query=is_query)[0])
    method = build(kind("float32+candidates25"), search.gallery, search.gallery, search.cosine).method
    ((_, all_gaps),) = squared_gaps(search.queries, search.gallery)
    ((_, ranks),) = method.rankings(search.queries, search.own, 40, lambda: None)
    for number, (query, gaps) in enumerate(zip(search.queries.astype(np.float64), all_gaps, strict=True)):
        order = [row for row in np.argsort(np.round(gaps, 10), kind="stable") if row not in own_row(search, number)]
        near = np.sort(order[:25])
        _, final = distances_by_the_paper(np.vstack([search.gallery[near].astype(np.float64), query]))
        by_paper = sorted(range(25), key=lambda at: (round(final[-1, at], 6), round(gaps[near[at]], 10), at))
        made = ranks[number, :25].tolist()
        assert sorted(made) == near.tolist()
        places = {int(row): at for at, row in enumerate(near)}
        distances = [final[-1, places[row]] for row in made]
        np.testing.assert_allclose(distances, final[-1, by_paper], atol=2e-6)
        assert ranks[number, 25:].tolist() == order[25:40]


def test_a_single_query_finds_what_the_ranking_of_all_finds():
    search = search_of(evaluation(39, is_query=HALVES)[0])
    for name in ("float32+candidates30", "float32+reciprocal"):
        method = build(kind(name), search.gallery, search.gallery, True).method
        whole = np.concatenate([rows for _, rows in method.rankings(search.queries, search.own, 20, lambda: None)])
        assert (method.search(search.queries, 20) == whole).mean() > 0.99, "copies may change places"


def test_re_ranking_among_the_nearest_needs_no_lists_and_has_no_limit():
    wanted = kind("float32+candidates300")
    assert wanted.listed == 0
    assert wanted.name not in [store.name for store in usual(64, 5_000)]
    large = [store.name for store in usual(64, 5_001, cosine=False)]
    assert large[-1] == wanted.name
    assert KIND.name not in large
    search = search_of(evaluation(34, count=200)[0])
    store = measure(search, [wanted])[1]
    assert store.bytes == 64
    assert 0 < store.constant_ms <= store.ms
    assert 0 < store.pair_seconds < 1


def test_re_ranking_among_the_nearest_is_refused_where_it_cannot_be():
    assert no_rule(kind("float32+candidates21"), 100, True) == "22 to 1,000 images are re-ranked"
    assert no_rule(kind("float32+candidates1001"), 100, True) == "22 to 1,000 images are re-ranked"
    wanted = kind("float32+candidates1000")
    assert no_rule(wanted, 22, False) == "it needs 21 neighbours of each image, the gallery has 22 images"
    search = search_of(evaluation(35, count=23, classes=3)[0])
    assert not measure(search, [wanted])[1].refused
