"""The geometry watch: its numbers against NumPy and SciPy formulas in float64, planted collapses, classes that fall."""

import numpy as np
import pytest
from scipy.linalg import svdvals
from scipy.stats import entropy

from tests.ui.small_run import blobs
from workbench.evaluation import health
from workbench.evaluation.geometry import alignment_uniformity, effective_rank
from workbench.evaluation.health import BAD, DEAD_ONES, NOTE, OK, alarms, dead_dimensions, falling_classes, look

LABELS = np.repeat(np.arange(6), 15)


def healthy(seed=0):
    return blobs(LABELS, 0.4, seed, width=10)


def levels(vectors, labels=LABELS):
    said = alarms(look(vectors, labels).numbers)
    return {alarm.title: alarm.level for alarm in said}


def test_numbers_are_those_of_formulas():
    vectors = healthy()
    seen = look(vectors, LABELS)
    wide = vectors.astype(np.float64)
    values = svdvals(wide - wide.mean(0))
    assert seen.numbers["spectral_rank"] == pytest.approx(np.exp(entropy(values / values.sum())), rel=1e-9)
    assert seen.numbers["spectral_rank"] == pytest.approx(effective_rank(vectors), rel=1e-9)
    np.testing.assert_allclose(seen.spectrum, values / values[0], atol=1e-9)
    alignment, uniformity = alignment_uniformity(vectors, LABELS)
    assert seen.numbers["pairs_alignment"] == pytest.approx(alignment, rel=1e-9)
    assert seen.numbers["pairs_uniformity"] == pytest.approx(uniformity, rel=1e-9)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    cosines, margins, listed = unit @ unit.T, [], np.zeros(len(unit))
    for row in range(len(unit)):
        others = np.arange(len(unit)) != row
        own = cosines[row, others & (LABELS[row] == LABELS)].max()
        margins.append(own - cosines[row, LABELS[row] != LABELS].max())
        listed[[at for at in np.argsort(-cosines[row], kind="stable") if at != row][:10]] += 1
    assert seen.numbers["foreign_margin"] == pytest.approx(np.median(margins), abs=1e-12)
    assert seen.numbers["largest_hub"] == listed.max()
    assert seen.numbers["mean_norm"] == pytest.approx(np.linalg.norm(wide, axis=1).mean(), rel=1e-12)
    same = LABELS[:, None] == LABELS
    pairs = np.triu(np.ones_like(same), 1).astype(bool)
    positive, negative = (np.histogram(cosines[pairs & which], seen.edges)[0] for which in (same, ~same))
    overlap = np.minimum(positive / positive.sum(), negative / negative.sum()).sum()
    assert seen.numbers["overlap"] == pytest.approx(overlap, abs=1e-12)
    assert (seen.positives.sum(), seen.negatives.sum()) == pytest.approx((1, 1))
    assert seen.numbers["positive_cosine"] == pytest.approx(cosines[pairs & same].mean(), abs=1e-12)
    assert seen.numbers["negative_cosine"] == pytest.approx(cosines[pairs & ~same].mean(), abs=1e-12)


def test_lengths_and_sizes_are_counted():
    vectors = healthy()[:, :7] * np.linspace(0.5, 3, 90)[:, None]
    numbers = look(vectors, np.repeat([2, 3, 9], 30)).numbers
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert numbers["norm_spread"] == pytest.approx(lengths.std() / lengths.mean(), rel=1e-12)
    assert (numbers["classes"], numbers["dimensions"]) == (3, 7)


NUMBERS = {
    "spectral_rank": 5.0, "classes": 6.0, "dimensions": 10.0, "negative_cosine": 0.1, "dead_dimensions": 0.0,
    "overlap": 0.1, "largest_hub": 20.0, "mean_norm": 2.0, "norm_spread": 0.1, "foreign_margin": 0.3,
}  # fmt: skip
MANY = {"classes": 61.0, "dimensions": 64.0}  # 60 directions tell so many classes apart


@pytest.mark.parametrize(
    ("changes", "level", "title", "words"),
    [
        ({}, OK, "No collapse", "Effective rank 5.0 of 10. It was 8.0 untrained."),
        ({"spectral_rank": 2.0}, OK, "No collapse", "Effective rank 2.0 of 10. It was 8.0 untrained."),
        ({"spectral_rank": 1.5, "classes": 2.0}, OK, "No collapse", "Effective rank 1.5 of 10. It was 8.0 untrained."),
        (
            {"spectral_rank": 1.9}, BAD, "The embedding has collapsed",
            "Images of two classes have a mean cosine of 0.100; the effective rank is 1.9. It was 8.0 untrained.",
        ),
        (
            {"negative_cosine": 0.98}, BAD, "The embedding has collapsed",
            "Images of two classes have a mean cosine of 0.980; the effective rank is 5.0. It was 8.0 untrained.",
        ),
        (
            MANY | {"spectral_rank": 5.9}, NOTE, "The embedding is narrow",
            "Effective rank 5.9; 60 tell classes apart. It was 8.0 untrained.",
        ),
        (MANY | {"spectral_rank": 6.0}, OK, "No collapse", "Effective rank 6.0 of 64. It was 8.0 untrained."),
        (
            {"overlap": 0.25}, OK, "Positives and negatives are separated",
            "Overlap of their similarities 25.0%, it was 50% untrained.",
        ),
        (
            {"overlap": 0.26}, NOTE, "Positives and negatives overlap",
            "Overlap of their similarities 26.0%, it was 50% untrained.",
        ),
        ({"largest_hub": 100.0}, OK, "No large hub", "The largest is in 100 lists of ten nearest; the mean is 10."),
        (
            {"largest_hub": 101.0}, NOTE, "An image is near everything",
            "One is in 101 lists of ten nearest; the mean is 10.",
        ),
        (
            {"norm_spread": 0.6}, NOTE, "The norms differ widely",
            "Their standard deviation is 60% of their mean, 2; cosines ignore norms.",
        ),
        (
            {"mean_norm": 101.0, "norm_spread": 0.6}, NOTE, "The norms have grown",
            "Their mean is 101, it was 1 untrained: a softmax of longer embeddings is more confident.",
        ),
        (
            {"foreign_margin": -0.1}, NOTE, "Most images are nearest to another class",
            "Median cosine to the nearest image of the class minus that to the nearest other: −0.100.",
        ),
    ],
)  # fmt: skip
def test_each_alarm_is_raised_beyond_its_limit_and_says_its_numbers(changes, level, title, words):
    before = NUMBERS | {"spectral_rank": 8.0, "overlap": 0.5, "mean_norm": 1.0}
    said = alarms(NUMBERS | changes, before)
    assert (level, words) in [(alarm.level, alarm.words) for alarm in said if alarm.title == title]
    assert [alarm.title for alarm in said if alarm.level != OK] == ([] if level == OK else [title])


def test_what_is_at_its_limit_or_unknown_raises_no_alarm():
    grown = NUMBERS | {"mean_norm": 1e6, "norm_spread": 0.5, "foreign_margin": 0.0}
    for before in (None, NUMBERS | {"mean_norm": 0.0}, NUMBERS | {"mean_norm": 1e4}):
        assert [alarm.level for alarm in alarms(grown, before, 1.0, None)] == [OK] * 4
    unknown = NUMBERS | {"norm_spread": float("nan"), "foreign_margin": float("nan")}
    assert [alarm.level for alarm in alarms(unknown, None, 0.99, 0.8)] == [OK] * 4
    (*_, sure) = alarms(NUMBERS, None, 0.99, 0.75)
    assert sure.words == "Training accuracy 99.0%, MAP@R 75.0%."


def test_the_largest_hub_is_by_the_distance_of_the_run():
    vectors = healthy() * np.random.default_rng(1).uniform(0.2, 3, size=(90, 1))
    listed = np.zeros(90)
    for row in range(90):
        apart = np.linalg.norm(vectors - vectors[row], axis=1)
        apart[row] = np.inf
        listed[np.argsort(apart)[:10]] += 1
    by_l2 = look(vectors, LABELS, distance="l2").numbers["largest_hub"]
    assert by_l2 == listed.max()
    assert by_l2 != look(vectors, LABELS).numbers["largest_hub"]


def test_a_healthy_embedding_raises_no_alarm():
    assert set(levels(healthy()).values()) == {OK}


def test_norms_that_grew_or_differ_and_images_nearest_to_another_class_are_said():
    vectors = healthy()
    before, longer = look(vectors, LABELS).numbers, look(200 * vectors, LABELS).numbers
    grown = [alarm for alarm in alarms(longer, before) if alarm.level != OK]
    assert [(alarm.level, alarm.title) for alarm in grown] == [(NOTE, "The norms have grown")]
    assert f"Their mean is {longer['mean_norm']:.3g}, it was {before['mean_norm']:.3g}" in grown[0].words
    lengths = np.where(np.arange(len(vectors)) % 2, 0.1, 3.0)[:, None]
    assert levels(vectors * lengths)["The norms differ widely"] == NOTE
    mixed = np.random.default_rng(0).normal(size=(90, 10))
    assert levels(mixed)["Most images are nearest to another class"] == NOTE


def test_a_point_and_a_line_have_collapsed():
    rng = np.random.default_rng(0)
    point = np.ones(10) + 1e-3 * rng.normal(size=(90, 10))
    line = np.outer(rng.normal(size=90), np.ones(10)) + 1e-6 * rng.normal(size=(90, 10))
    for vectors in (point, line, np.ones((90, 10))):
        assert levels(vectors)["The embedding has collapsed"] == BAD


def test_dead_dimensions_are_counted():
    vectors = healthy()
    vectors[:, 3] = 0.5
    vectors[:, 7] *= 1e-3
    assert levels(vectors)["2 of 10 dimensions are dead"] == NOTE
    vectors[:, :4] = 1
    assert levels(vectors)["5 of 10 dimensions are dead"] == NOTE, "half is not most"
    vectors[:, :6] = 1
    assert levels(vectors)["7 of 10 dimensions are dead"] == BAD


def test_as_many_dimensions_are_dead_where_more_images_are_seen():
    """The Geometry page looks at more images than an evaluation stores numbers of."""
    labels = np.repeat(np.arange(40), 60)
    vectors = np.random.default_rng(0).normal(size=(len(labels), 3))
    seen_beside = np.setdiff1d(health.thinned(labels, 2_000), health.thinned(labels, 1_000))
    vectors[:, 2] = np.isin(np.arange(len(labels)), seen_beside)
    counts = {most: look(vectors, labels, most).numbers["dead_dimensions"] for most in (1_000, 2_000)}
    assert counts == {1_000: 1.0, 2_000: 1.0}


def test_dead_dimensions_are_named_and_only_their_alarm_offers_to_show_them():
    vectors = healthy()
    vectors[:, 3] = 0.5
    vectors[:, 7] *= 1e-3
    seen = look(vectors, LABELS)
    assert dead_dimensions(seen.variances).tolist() == [3, 7]
    assert seen.numbers["dead_dimensions"] == 2
    assert [alarm.about for alarm in alarms(seen.numbers)] == ["", DEAD_ONES, "", ""]
    assert {alarm.about for alarm in alarms(look(healthy(), LABELS).numbers)} == {""}
    assert dead_dimensions(np.zeros(3)).tolist() == [0, 1, 2]
    assert dead_dimensions(np.empty(0)).tolist() == []
    assert dead_dimensions(np.array([1.0] * 9 + [0.002, 0.0005])).tolist() == [10], "1/1000 of the mean, not of the sum"


def test_random_embeddings_do_not_part():
    vectors = np.random.default_rng(0).normal(size=(90, 10))
    assert levels(vectors)["Positives and negatives overlap"] == NOTE


def test_a_hub_near_everything_is_told():
    rng = np.random.default_rng(0)
    spread = np.eye(150) + 0.02 * rng.normal(size=(150, 150))  # all far apart
    spread[0] = 1 / np.sqrt(150)  # and one in the middle
    numbers = look(spread, np.repeat(np.arange(15), 10)).numbers
    assert numbers["largest_hub"] > 100
    assert alarms(numbers)[3].level == NOTE


@pytest.mark.parametrize(
    ("accuracy", "score", "told"), [(0.999, 0.4, 1), (0.999, 0.9, 0), (0.7, 0.2, 0), (None, 0.2, 0)]
)
def test_over_confidence_is_told_beside_the_score(accuracy, score, told):
    said = alarms(look(healthy(), LABELS).numbers, None, accuracy, score)
    assert sum("Overconfident" in alarm.title for alarm in said) == told


def test_classes_that_fall_while_the_mean_rises():
    rising = np.linspace(0.3, 0.8, 5)
    scores = np.stack([rising, rising[::-1], rising, np.full(5, np.nan), [0.3, 0.7, 0.72, 0.7, 0.69]], axis=1)
    assert falling_classes(scores).tolist() == [1, 4]
    assert falling_classes(scores[::-1]).tolist() == []
    assert falling_classes(scores[:1]).tolist() == []
    assert falling_classes(np.array([[0.3, 0.7, 0.5], [0.9, 0.6, 0.5]])).tolist() == [1], "two epochs are enough"
    hardly = np.stack([rising, [0.3, 0.7, 0.7, 0.7, 0.69]], axis=1)
    assert falling_classes(hardly).tolist() == [], "a hundredth is noise"
    assert falling_classes(np.stack([rising, [0.3, 0.7, 0.7, 0.7, 0.67]], axis=1)).tolist() == [1]


def test_of_many_images_some_of_each_class_are_seen():
    labels = np.repeat(np.arange(40), 100)
    rows = health.thinned(labels, 400)
    assert len(rows) == 400
    assert np.bincount(labels[rows]).tolist() == [10] * 40
    many = np.arange(5000) // 2
    assert len(health.thinned(many, 400)) == 400, "two of each of 200 classes"
    rare = np.repeat([0, 1], [5000, 3])
    assert np.bincount(rare[health.thinned(rare, 1000)]).tolist() == [999, 2], "at least two of each"


def test_an_evaluation_stores_the_numbers():
    assert set(health.stored_numbers(look(healthy(), LABELS))) == {
        f"geometry/{name}"
        for name in ("dead_dimensions", "mean_norm", "norm_spread", "overlap", "foreign_margin", "largest_hub")
    }


def test_a_single_class_has_no_pairs_between_classes_and_lone_images_none_within():
    single, lone = (look(healthy(), labels).numbers for labels in (np.zeros(90, int), np.arange(90)))
    assert np.isnan([single["negative_cosine"], single["foreign_margin"], lone["positive_cosine"]]).all()
    assert np.isnan([lone["pairs_alignment"], lone["foreign_margin"]]).all()
    assert np.isfinite([single["positive_cosine"], single["pairs_alignment"], lone["negative_cosine"]]).all()


def test_pairs_of_one_direction_are_in_the_last_bin():
    seen = look(np.random.default_rng(0).uniform(1, 2, (40, 1)) * healthy()[:1], np.repeat([0, 1], 20))
    assert (len(seen.edges), len(seen.positives)) == (61, 60)
    assert (seen.positives[-1], seen.negatives[-1], seen.numbers["overlap"]) == (1, 1, 1)


@pytest.mark.parametrize("count", [1, 2])
def test_few_images_are_no_error(count):
    assert len(alarms(look(np.ones((count, 3)), np.arange(count)).numbers)) == 4
