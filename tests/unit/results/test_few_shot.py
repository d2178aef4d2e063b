"""New classes: accuracy with few images stored of each, against references written out plainly."""

import numpy as np
import pytest

from workbench.results.few_shot import EPISODES, SHOTS, accuracies, few_shot_sentence, new_classes
from workbench.results.stored import Stored, comparable


def stored(labels, vectors, distance="cosine") -> Stored:
    count = len(labels)
    return Stored(
        np.arange(count), np.asarray(labels), np.asarray(vectors, np.float32), np.empty((count, 0), np.int64),
        np.zeros(count, np.int32), np.zeros(count, np.int32), distance,
    )  # fmt: skip


def clusters(labels, spread, width=8, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.normal(size=(max(labels) + 1, width))[labels] + spread * rng.normal(size=(len(labels), width))


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_accuracies_are_those_of_the_plain_rules(distance):
    rng = np.random.default_rng(3)
    kept = comparable(rng.normal(size=(4 * 5, 6)), distance).reshape(4, 5, 6)
    asking, truth = comparable(rng.normal(size=(50, 6)), distance), rng.integers(0, 4, 50)
    shots = [1, 2, 5]
    wanted = np.zeros((2, 3))
    for query, own in zip(asking, truth, strict=True):
        for at, images in enumerate(shots):
            gaps = [[np.linalg.norm(query - image) for image in of_class[:images]] for of_class in kept]
            wanted[1, at] += np.argmin([min(of_class) for of_class in gaps]) == own
            means = [sum(of_class[:images]) / images for of_class in kept]
            if distance == "cosine":
                means = [mean / np.sqrt(sum(mean**2)) for mean in means]
            wanted[0, at] += np.argmin([np.linalg.norm(query - mean) for mean in means]) == own
    assert 0.1 < (wanted / 50).min() < (wanted / 50).max() < 0.6
    np.testing.assert_array_equal(accuracies(asking, truth, kept, shots, distance), wanted / 50)


def test_a_block_of_queries_changes_nothing(monkeypatch):
    labels = np.repeat(np.arange(5), 30)
    of = stored(labels, clusters(labels, 4.0))
    whole = new_classes(of)
    monkeypatch.setattr("workbench.results.few_shot.BLOCK", 700)
    assert new_classes(of) == whole


def test_classes_that_are_apart_are_always_right():
    labels = np.repeat(np.arange(25), 22)
    measured = new_classes(stored(labels, clusters(labels, 0.01, width=32)))
    assert [point.images for point in measured.points] == list(SHOTS)
    assert (
        {point.by_mean for point in measured.points} == {point.by_nearest for point in measured.points} == {(1, 1, 1)}
    )
    assert [(one.ways, one.shots, one.accuracy, one.half_width) for one in measured.episodes] == [
        (ways, shots, 1.0, 0.0) for ways, shots in EPISODES
    ]
    assert (measured.classes, measured.classes_there, measured.queries) == (25, 25, 50)


def test_labels_that_say_nothing_are_guessed():
    labels = np.repeat(np.arange(10), 60)
    measured = new_classes(stored(labels, np.random.default_rng(0).normal(size=(600, 16))))
    assert all(low < 0.1 < high for point in measured.points for _, low, high in (point.by_mean, point.by_nearest))
    by_ways = {(one.ways, one.shots): one for one in measured.episodes}
    assert by_ways.keys() == {(5, 1), (5, 5)}, "20 classes are not there"
    for one in by_ways.values():
        assert abs(one.accuracy - 0.2) < 2 * one.half_width < 0.02


def test_many_noisy_images_have_a_better_mean_than_any_of_them():
    labels = np.repeat(np.arange(10), 60)
    measured = new_classes(stored(labels, clusters(labels, 5.0)))
    first, last = measured.points[0], measured.points[-1]
    assert first.by_mean == first.by_nearest, "one image is its own mean"
    assert last.by_mean[0] > last.by_nearest[0] > first.by_nearest[0]
    assert all(
        low <= mean <= high for point in measured.points for mean, low, high in (point.by_mean, point.by_nearest)
    )


@pytest.mark.parametrize(
    ("counts", "images", "classes"),
    [
        ((30, 30, 3, 1), SHOTS, 2),
        ((30, 3, 3, 3, 1), (1, 2), 4),
        ((2, 2), (1,), 2),
        ((9, 1, 1), (), 0),
        ((1, 1), (), 0),
    ],
)  # fmt: skip
def test_at_least_half_of_the_classes_take_part(counts, images, classes):
    labels = np.repeat(np.arange(len(counts)), counts)
    measured = new_classes(stored(labels, clusters(labels, 1.0)))
    assert tuple(point.images for point in measured.points) == tuple(images)
    assert (measured.classes, measured.classes_there) == (classes, len(counts))


def test_it_can_be_cancelled():
    labels = np.repeat(np.arange(4), 12)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new_classes(stored(labels, clusters(labels, 1.0)), stop)


@pytest.mark.parametrize(
    ("trained_on", "said"),
    [
        (False, "stored images."),
        (True, "These classes were in training: new ones will do worse."),
        (None, "It is not known whether these classes were in training."),
    ],
)
def test_the_sentence_says_whether_the_classes_are_new(trained_on, said):
    facts = {"points": [1], "classes": 3, "classes_there": 4, "queries": 1000, "draws": 20, "trained_on": trained_on}
    sentence = few_shot_sentence(facts)
    assert sentence.startswith("A few images of each of 3 of 4 classes are stored, and 1,000 others are classified.")
    assert sentence.endswith(said)
    assert few_shot_sentence({"points": []}) == "New classes were not measured: no two classes have two images."
