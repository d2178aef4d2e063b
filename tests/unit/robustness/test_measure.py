"""Scores of changed queries against the definition, with the image of a query left out of its own neighbours."""

import numpy as np
import pytest

from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.results.stored import Stored
from workbench.robustness import measure
from workbench.robustness.changing import changed
from workbench.robustness.kinds import change_named
from workbench.robustness.measure import Network, Search, changed_scores, differences, drawn, means, unchanged_scores

LABELS = np.repeat(np.arange(5), 7)
IDS = np.random.default_rng(3).permutation(1000)[: len(LABELS)].astype(np.int64)
SIDE = 12


def images():
    """Noisy squares around one picture for each class, by sample id."""
    random = np.random.default_rng(0)
    centres = random.integers(30, 220, (5, SIDE, SIDE, 3))
    noisy = centres[LABELS] + random.normal(0, 60, (len(LABELS), SIDE, SIDE, 3))
    return dict(zip(IDS.tolist(), np.clip(noisy, 0, 255).astype(np.uint8), strict=True))


PICTURES = images()
WEIGHTS = np.random.default_rng(1).normal(size=(SIDE * SIDE * 3, 6))


def embed(pixels):
    return (np.tanh(pixels.reshape(len(pixels), -1) / 255 @ WEIGHTS / 8)).astype(np.float32)


NETWORK = Network(PICTURES.__getitem__, embed, SIDE)


def stored(distance="cosine", is_query=None):
    """An evaluation of the images; with `is_query`, the others are the gallery."""
    is_query = np.ones(len(LABELS), bool) if is_query is None else is_query
    searched = np.ones(len(LABELS), bool) if is_query.all() else ~is_query
    same = (LABELS[:, None] == LABELS) & searched
    np.fill_diagonal(same, False)
    r = np.where(is_query, same.sum(1), 0).astype(np.int32)
    nothing = np.zeros((len(LABELS), 1), np.int64)
    vectors = embed(np.stack([PICTURES[number] for number in IDS.tolist()]))
    return Stored(IDS, LABELS, vectors, nothing, nothing[:, 0], r, distance)


def by_definition(vector, row, evaluation):
    """(recall@1, AP at R) of one query, by a loop over its ranking."""
    gallery = [at for at in np.flatnonzero(evaluation.searched()) if at != row]
    if evaluation.distance == "cosine":
        unit = [at / np.linalg.norm(at) for at in (vector.astype(float), *evaluation.embeddings.astype(float))]
        apart = {at: 1 - unit[0] @ unit[1 + at] for at in gallery}
    else:
        apart = {at: np.linalg.norm(vector.astype(float) - evaluation.embeddings[at]) for at in gallery}
    ranking = sorted(gallery, key=lambda at: (round(apart[at], 9), evaluation.sample_ids[at]))
    wanted, precision, hits = int(evaluation.r[row]), 0.0, 0
    for rank, at in enumerate(ranking[:wanted], start=1):
        if LABELS[at] == LABELS[row]:
            hits += 1
            precision += hits / rank
    return float(LABELS[ranking[0]] == LABELS[row]), precision / wanted


SPLITS = {"all": None, "query and gallery": np.arange(len(LABELS)) % 7 < 3}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_scores_of_changed_queries_are_those_of_the_definition(distance, split):
    evaluation, noise = stored(distance, SPLITS[split]), change_named("noise")
    rows = drawn(evaluation, 100)
    tables = changed_scores(noise, evaluation, rows, NETWORK, Search(evaluation))
    assert len(tables) == len(noise.strengths)
    for level in (0, 4):
        pixels = [changed(PICTURES[int(IDS[row])], noise, level, SIDE, int(IDS[row])) for row in rows]
        wanted = [
            by_definition(vector, row, evaluation) for vector, row in zip(embed(np.stack(pixels)), rows, strict=True)
        ]
        np.testing.assert_allclose(tables[level], wanted, atol=1e-12)


def test_a_changed_query_does_not_find_its_own_image():
    """Were it not left out, a weak change would find it first, and recall@1 would be 1."""
    evaluation = stored()
    rows = drawn(evaluation, 100)
    weak = changed_scores(change_named("dark"), evaluation, rows, NETWORK, Search(evaluation))[0]
    assert weak[:, 0].mean() < 1


def test_unchanged_queries_have_the_scores_of_the_evaluation():
    evaluation = stored()
    rows = drawn(evaluation, 100)
    table, apart = unchanged_scores(evaluation, rows, NETWORK, Search(evaluation))
    assert apart < 1e-6
    wanted = [by_definition(evaluation.embeddings[row], row, evaluation) for row in rows]
    np.testing.assert_allclose(table, wanted, atol=1e-12)


def test_other_images_are_refused_with_the_difference():
    evaluation = stored()
    rows = drawn(evaluation, 100)
    other = Network(lambda number: 255 - PICTURES[number], embed, SIDE)
    with pytest.raises(Problem, match=r"35 of 35 differ by more than 1% of their length, the largest difference is \d"):
        unchanged_scores(evaluation, rows, other, Search(evaluation))
    wider = Network(PICTURES.__getitem__, lambda pixels: np.zeros((len(pixels), 9), np.float32), SIDE)
    with pytest.raises(Problem, match="have 9 dimensions, the stored ones 6"):
        unchanged_scores(evaluation, rows, wider, Search(evaluation))
    broken = Network(PICTURES.__getitem__, lambda pixels: np.full((len(pixels), 6), np.nan, np.float32), SIDE)
    with pytest.raises(Problem, match="Unchanged: the network gives embeddings that are not finite"):
        unchanged_scores(evaluation, rows, broken, Search(evaluation))
    with pytest.raises(Problem, match="JPEG: the network gives embeddings that are not finite"):
        changed_scores(change_named("jpeg"), evaluation, rows, broken, Search(evaluation))


def test_batches_and_the_order_of_samples_do_not_matter(monkeypatch):
    evaluation, change = stored(), change_named("cover")
    rows = drawn(evaluation, 100)
    whole = changed_scores(change, evaluation, rows, NETWORK, Search(evaluation))
    monkeypatch.setattr(measure, "AT_ONCE", 3)
    np.testing.assert_array_equal(whole, changed_scores(change, evaluation, rows, NETWORK, Search(evaluation)))


def test_some_queries_are_drawn_and_always_the_same_images():
    evaluation = stored()
    some = drawn(evaluation, 10)
    assert len(set(some.tolist())) == 10
    order = np.random.default_rng(5).permutation(len(IDS))
    shuffled = Stored(
        IDS[order], LABELS[order], evaluation.embeddings[order], evaluation.near, evaluation.first_hit,
        evaluation.r[order],
    )  # fmt: skip
    assert set(shuffled.sample_ids[drawn(shuffled, 10)]) == set(IDS[some])
    alone = Stored(IDS, LABELS, evaluation.embeddings, evaluation.near, evaluation.first_hit, 0 * evaluation.r)
    with pytest.raises(Problem, match="anything to find"):
        drawn(alone, 10)


def test_cancel_is_heard_between_two_batches(monkeypatch):
    monkeypatch.setattr(measure, "AT_ONCE", 8)
    evaluation, said = stored(), []

    def progress(text, done, total):
        said.append((text, done, total))
        if done >= 24:
            raise Cancelled

    with pytest.raises(Cancelled):
        unchanged_scores(evaluation, drawn(evaluation, 100), NETWORK, Search(evaluation), progress, 35)
    assert said == [("Unchanged", done, 35) for done in (0, 8, 16, 24)]


def test_a_difference_is_paired_by_query():
    before = np.column_stack([np.zeros(40), np.linspace(0, 0.9, 40)])
    after = before + np.array([0.0, 0.1])
    assert differences(after, before)["MAP@R"] == pytest.approx([0.1, 0.1, 0.1])
    assert differences(before, before)["recall@1"] == [0, 0, 0]
    assert means(before)["MAP@R/low"] < means(before)["MAP@R"] < means(before)["MAP@R/high"]
