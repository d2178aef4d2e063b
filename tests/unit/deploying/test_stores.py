"""Stores against NumPy in float64, metrics against loops, indexes against exact search."""

import faiss
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.deploying import kinds
from workbench.deploying.kinds import kind
from workbench.deploying.measure import measure, search_of
from workbench.deploying.ranking import nearest
from workbench.deploying.stores import build, held, serialised
from workbench.evaluation.retrieval import retrieve
from workbench.problem import Problem
from workbench.results.stored import Stored, rows_of


def evaluation(seed=0, *, distance="cosine", is_query=None, count=90, dim=16, classes=6, zero=()):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count) * 10
    vectors = (rng.normal(size=(classes, dim))[labels // 10] + 1.2 * rng.normal(size=(count, dim))).astype(np.float32)
    vectors[5:9] = vectors[4]  # copies: ranks go by id
    vectors[list(zero)] = 0
    ids = rng.permutation(10_000)[:count]
    stored = retrieve(vectors, labels, ids, k=15, distance=distance, is_query=is_query)
    return Stored(ids, labels, vectors, rows_of(ids, stored.neighbours), stored.first_hit, stored.r, distance), stored


def unit(vectors):
    vectors = vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def naive_scores(queries, gallery, search):
    """MAP@R and recall@1 by loops: float64, ties to the lower id."""
    precisions, first = [], []
    for number, query in enumerate(queries):
        gaps = np.round(((gallery - query) ** 2).sum(1), 10)
        if search.own is not None:
            gaps[search.own[number]] = np.inf
        order = np.argsort(gaps, kind="stable")
        hits = search.gallery_labels[order] == search.labels[number]
        r = int(search.r[number])
        precisions.append(sum(hits[: rank + 1].mean() for rank in range(r) if hits[rank]) / r)
        first.append(hits[0])
    return np.mean(precisions), np.mean(first)


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("halves", [False, True])
def test_the_baseline_is_the_stored_evaluation(distance, halves):
    is_query = np.arange(90) % 3 == 0 if halves else None
    stored, exact = evaluation(1, distance=distance, is_query=is_query)
    measured = measure(search_of(stored), [])[0]
    for name in ("MAP@R", "recall@1", "recall@8", "MAP@R/low", "MAP@R/high"):
        assert measured.metrics[name] == pytest.approx(exact.metrics[name], abs=1e-12), name
    assert measured.difference == (0, 0, 0)
    assert measured.kept == 1
    assert measured.bytes == 64


@pytest.mark.parametrize(
    ("zero", "words"), [([11], "1 of 90 embeddings has"), ([11, 12, 70], "3 of 90 embeddings have")]
)
def test_unit_vectors_cannot_be_made_of_zero_vectors(zero, words):
    """Its cosine with every image is 0, but to an index it would be nearer than the orthogonal ones."""
    with pytest.raises(Problem, match=f"{words} length zero"):
        search_of(evaluation(10, zero=zero)[0])
    stored, exact = evaluation(10, zero=zero, distance="l2")  # a point as any other
    assert measure(search_of(stored), [])[0].metrics["MAP@R"] == pytest.approx(exact.metrics["MAP@R"], abs=1e-12)


@pytest.mark.parametrize("is_query", [None, np.arange(90) % 3 == 0])
@pytest.mark.parametrize("zero", [[12], [13, 14]])
def test_dimensions_are_not_cut_off_where_an_embedding_has_no_others(is_query, zero):
    stored, _ = evaluation(11, is_query=is_query)
    stored.embeddings[zero, :5] = 0
    search, verb = search_of(stored), "has" if len(zero) == 1 else "have"
    cut, kept = measure(search, [kind("first5"), kind("first6")])[1:]
    assert cut.refused.endswith(f" embeddings {verb} length zero in the first 5 dimensions, and so no direction")
    assert not kept.refused
    if is_query is None:
        with pytest.raises(Problem, match="First 5 cannot be built: "):
            build(kind("first5"), search.gallery, search.gallery, search.cosine)
    stored, _ = evaluation(11, distance="l2", is_query=is_query)
    stored.embeddings[zero, :5] = 0
    assert not measure(search_of(stored), [kind("first5")])[1].refused


def numpy_stores(gallery):
    """What each store compares, written out in NumPy: vectors [n, e] by name, of queries and of the gallery."""
    low, high = gallery.min(0), gallery.max(0)
    codes = np.clip(np.floor((gallery - low) / (high - low) * 255), 0, 255)
    mean = gallery.mean(0, dtype=np.float64)
    axes = np.linalg.svd(gallery.astype(np.float64) - mean, full_matrices=False)[2][:6]
    signs = (gallery > mean.astype(np.float32)).astype(np.float64)
    wide = gallery.astype(np.float64)
    return {
        "float16": (wide, gallery.astype(np.float16).astype(np.float64)),
        "int8": (wide, low + (codes + 0.5) / 255 * (high - low)),
        "pca6": (wide @ axes.T, wide @ axes.T),
        "first5": (unit(wide[:, :5]), unit(wide[:, :5])),
        "binary": (signs, signs),
    }


@pytest.mark.parametrize("name", ["float16", "int8", "pca6", "first5", "binary"])
def test_a_store_ranks_as_numpy_does(name):
    search = search_of(evaluation(2)[0])
    queries, gallery = numpy_stores(search.gallery)[name]
    expected = naive_scores(queries[search.own], gallery, search)
    metrics = measure(search, [kind(name)])[1].metrics
    assert (metrics["MAP@R"], metrics["recall@1"]) == pytest.approx(expected, abs=1e-6)


def test_a_product_quantiser_holds_the_nearest_of_its_code_words():
    search = search_of(evaluation(3, count=300, dim=8)[0])
    built = build(kind("pq4"), search.gallery, search.gallery, True)
    words = faiss.vector_to_array(built.index.pq.centroids).reshape(4, 256, 2).astype(np.float64)
    for part in range(4):
        own = search.gallery[:, 2 * part : 2 * part + 2].astype(np.float64)
        gaps = ((own[:, None] - words[part]) ** 2).sum(2)
        held = ((own - built.decoded[:, 2 * part : 2 * part + 2]) ** 2).sum(1)
        assert held == pytest.approx(gaps.min(1), abs=1e-6)
    assert built.bytes_per_image == 4
    expected = naive_scores(search.queries.astype(np.float64), built.decoded.astype(np.float64), search)
    metrics = measure(search, [kind("pq4")])[1].metrics
    assert (metrics["MAP@R"], metrics["recall@1"]) == pytest.approx(expected, abs=1e-6)


def test_what_an_index_holds_is_an_array_where_faiss_was_taught_to_give_tensors():
    class Taught:
        def reconstruct_n(self, start, count):
            return torch.arange(2 * count, dtype=torch.float32).reshape(count, 2)[start:]

    decoded = held(Taught(), 3)
    assert isinstance(decoded, np.ndarray)
    assert decoded.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_signs_rescored_in_int8_are_int8_where_all_is_rescored():
    search = search_of(evaluation(4)[0])  # 90 images, of which 100 are rescored
    of_int8, of_both = measure(search, [kind("int8"), kind("binary+int8")])[1:]
    assert of_both.metrics["MAP@R"] == pytest.approx(of_int8.metrics["MAP@R"], abs=1e-3)
    assert of_both.bytes == of_int8.bytes + 2
    assert 0 < of_both.constant_ms <= of_both.ms, "what is rescored is as much in any gallery"
    assert of_int8.constant_ms == 0


@pytest.mark.parametrize("name", ["hnsw", "ivfpq8"])
def test_an_index_never_returns_the_query_and_says_what_it_keeps(name):
    stored, _ = evaluation(5, count=900, dim=8)
    search = search_of(stored)
    store = measure(search, [kind(name)])[1]
    assert 0.5 < store.kept <= 1
    assert store.metrics["MAP@R"] == pytest.approx(
        measure(search, [])[0].metrics["MAP@R"] + store.difference[0], abs=1e-12
    )
    assert store.difference[1] <= store.difference[0] <= store.difference[2]
    assert store.bytes > 8
    assert store.ms > 0


@pytest.mark.parametrize("name", ["float32", "float16", "int8", "pca8", "first8", "pq4", "binary", "hnsw", "ivfpq4"])
def test_a_store_is_read_back_and_searched(name, tmp_path):
    search = search_of(evaluation(6, count=600)[0])
    built = build(kind(name), search.gallery, search.gallery, True)
    path = tmp_path / "store.faiss"
    path.write_bytes(serialised(built.index))
    read = faiss.read_index_binary(str(path)) if name == "binary" else faiss.read_index(str(path))
    assert read.ntotal == 600
    asked = built.prepare(search.gallery[:5])
    asked = np.packbits(asked > 0, axis=1) if name == "binary" else search.gallery[:5]
    if name == "first8":
        asked = built.prepare(search.gallery[:5])
    assert read.search(asked, 10)[1].tolist() == built.search(search.gallery[:5], 10).tolist()


def test_code_words_are_not_ordered_for_a_search_that_is_not_made():
    """The order takes a second for each part, and changes no result."""
    search = search_of(evaluation(7, count=300)[0])
    index = build(kind("ivfpq1"), search.gallery, search.gallery, True).index
    assert (index.do_polysemous_training, index.polysemous_ht) == (False, 0)
    index.do_polysemous_training = True
    asked = search.gallery[:5]
    unordered = index.search(asked, 10)
    index.reset()
    index.train(search.gallery)
    index.add(search.gallery)
    for ordered, values in zip(index.search(asked, 10), unordered, strict=True):
        np.testing.assert_array_equal(ordered, values)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 50))
def test_exact_ranks_are_those_of_a_stable_sort(seed, count, depth):
    gallery = np.random.default_rng(seed).integers(-2, 3, size=(count, 3)).astype(np.float32)  # many ties
    own = np.arange(count)
    ranked = np.concatenate([rows for _, rows in nearest(gallery, gallery, own, depth)])
    for row in range(count):
        gaps = ((gallery - gallery[row]) ** 2).sum(1)
        gaps[row] = np.inf
        assert ranked[row].tolist() == np.argsort(gaps, kind="stable")[: min(depth, count - 1)].tolist()


@pytest.mark.parametrize("depth", [1, 7, 62, 63, 999])
def test_the_nearest_of_a_wide_gallery_are_those_of_a_stable_sort(depth):
    """Most columns are left out by the ranks of a sample of them."""
    rng = np.random.default_rng(40)
    gallery = rng.integers(-20, 20, size=(1000, 2)).astype(np.float32)  # many ties
    gallery[:500] = gallery[np.argsort((gallery[:500] ** 2).sum(1))]  # the near ones are not spread evenly
    own = np.arange(0, 1000, 9)
    ((_, ranked),) = nearest(gallery[own], gallery, own, depth)
    for row, itself in zip(ranked, own, strict=True):
        gaps = ((gallery - gallery[itself]) ** 2).sum(1)
        gaps[itself] = np.inf
        assert row.tolist() == np.argsort(gaps, kind="stable")[:depth].tolist()


def test_of_many_queries_some_are_drawn_the_same_each_time():
    stored, _ = evaluation(7)
    search = search_of(stored, most=20)
    assert len(search.queries) == 20
    assert search.drawn_from == int((stored.r > 0).sum())
    assert search.own.tolist() == search_of(stored, most=20).own.tolist()
    assert len(search.gallery) == 90


@pytest.mark.parametrize(
    "name", ["int9", "pca", "pca0", "pcaN", "hnsw4", "", "float32+aqe", "float32+aqe0", "aqe10", "float32+reciprocal5"]
)
def test_unknown_stores_are_named(name):
    with pytest.raises(Problem, match=r"There is no store named .* N is a number, as in pca32\."):
        kind(name)


def test_what_cannot_be_stored_is_said_and_the_others_are_measured():
    search = search_of(evaluation(8)[0])
    stores = measure(search, [kind("pca17"), kind("pq5"), kind("pq4"), kind("float16")])
    assert [store.refused for store in stores] == [
        "", "the embeddings have 16 dimensions", "16 dimensions cannot be cut into 5 equal parts",
        "its code words need 256 images, the gallery has 90", "",
    ]  # fmt: skip


@given(st.integers(1, 4096), st.integers(1, 100_000))
def test_the_usual_stores_can_all_be_built(dim, count):
    for cosine in (True, False):
        for wanted in kinds.usual(dim, count, cosine):
            assert not kinds.refusal(wanted, dim, count)
            assert not kinds.no_rule(wanted, count, cosine)


@pytest.mark.parametrize(
    ("count", "fitted", "sizes"),
    [(5_000, None, [256, 128]), (160, None, [128, 64]), (5_000, 40, [32, 16]), (1, None, [])],
)
def test_a_small_gallery_is_offered_as_many_components_as_it_can_have(count, fitted, sizes):
    usual = kinds.usual(512, count, fitted=fitted)
    assert [wanted.size for wanted in usual if wanted.family == "pca"] == sizes
    assert any(wanted.family == "pq" for wanted in usual) is (min(count, fitted or count) >= 256)


@pytest.mark.parametrize(
    ("count", "cosine", "names"),
    [
        (5_000, True, ["float32+aqe10", "float32+dba10", "float32+reciprocal"]),
        (65_000, True, ["float32+aqe10", "float32+dba10", "float32+candidates300"]),
        (65_001, True, ["float32+aqe10", "float32+candidates300"]),
        (5_000, False, ["float32+reciprocal"]),
        (5_001, False, ["float32+candidates300"]),
        (21, True, ["float32+aqe10", "float32+dba10"]),
        (11, True, []),
    ],
)
def test_the_usual_search_methods_are_those_that_the_gallery_allows(count, cosine, names):
    usual = [wanted.name for wanted in kinds.usual(64, count, cosine)]
    assert [name for name in usual if name.startswith("float32+")] == names
    assert usual[len(usual) - len(names) :] == names


def test_a_scan_grows_with_the_gallery_and_a_graph_with_its_logarithm():
    search = search_of(evaluation(9, count=300)[0])
    scan, graph = measure(search, [kind("hnsw")])
    assert (scan.grows, graph.grows) == ("linear", "log")
