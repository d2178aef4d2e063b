"""Promises of samplers and splits that hold for any data: pure in seed and epoch, exact in composition, disjoint."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench import registry
from workbench.datasets.image_set import ImageSet, sample_id
from workbench.datasets.images.loader import display_name, square
from workbench.problem import Problem

registry.discover("workbench.datasets")
SEEDS = st.integers(0, 2**32)
LABELS = st.lists(st.integers(0, 12), min_size=1, max_size=120).map(lambda labels: np.array(labels, np.int64))


def made(labels, official=None):
    names = [str(label) for label in range(13)]
    paths = [f"{label}/{row}.png" for row, label in enumerate(labels)]
    return ImageSet("made", None, paths, labels, names, 1, 8, lambda row: np.zeros((8, 8), np.uint8), official)


def sampler(name, labels, batch_size, seed, **fields):
    entry = registry.entry("sampler", name)
    return entry.build(entry.params(**fields), labels=labels, batch_size=batch_size, seed=seed)


@given(n=st.integers(1, 300), batch=st.integers(1, 300), seed=SEEDS, epoch=st.integers(0, 1000))
def test_an_epoch_of_random_batches_shows_every_image_once(n, batch, seed, epoch):
    assume(batch <= n)
    found = sampler("random", np.zeros(n, np.int64), batch, seed)
    batches = found.batches(epoch)
    assert [len(each) for each in batches] == [batch] * found.steps_per_epoch
    rows = np.concatenate(batches)
    assert rows.dtype == np.int64
    assert len(np.unique(rows)) == len(rows) == n - n % batch
    assert 0 <= rows.min() <= rows.max() < n


@given(labels=LABELS, classes=st.integers(1, 6), each=st.integers(2, 5), seed=SEEDS, epoch=st.integers(0, 1000))
def test_every_batch_is_exactly_classes_times_images(labels, classes, each, seed, epoch):
    counts = np.bincount(labels)
    usable = np.flatnonzero(counts >= 2)
    if classes > len(usable):
        with pytest.raises(Problem, match=f"the {len(usable)} of the training set"):
            sampler("classes_images", labels, classes * each, seed, images_per_class=each)
        return
    found = sampler("classes_images", labels, classes * each, seed, images_per_class=each)
    batches = found.batches(epoch)
    assert len(batches) == found.steps_per_epoch == max(1, len(labels) // (classes * each))
    dealt = np.zeros(len(counts), int)
    for batch in batches:
        assert batch.dtype == np.int64
        shown, times = np.unique(labels[batch], return_counts=True)
        assert times.tolist() == [each] * classes
        dealt[shown] += 1
        for label in shown:  # as many different images as there are
            assert len(np.unique(batch[labels[batch] == label])) == min(each, counts[label])
    assert dealt[usable].max() - dealt[usable].min() <= 2  # classes are seen about equally
    assert dealt.sum() == dealt[usable].sum()
    if len(batches) * classes >= len(usable) + classes:
        assert dealt[usable].min() >= 1


@given(labels=LABELS, seed=SEEDS, epoch=st.integers(0, 50), name=st.sampled_from(["random", "classes_images"]))
def test_batches_are_a_pure_function_of_seed_and_epoch(labels, seed, epoch, name):
    """A resumed run draws what the first would have drawn: asking for other epochs before changes nothing."""
    labels = np.concatenate([labels, [0, 0, 1, 1]])  # so that two classes have two images
    straight, wandering = (sampler(name, labels, 4, seed, **_pairs(name)) for _ in range(2))
    state = np.random.get_state()[1].tobytes()  # numpy's global chance
    for other in (epoch + 1, 0, epoch + 7):
        wandering.batches(other)
    assert _plain(straight.batches(epoch)) == _plain(wandering.batches(epoch))
    assert np.random.get_state()[1].tobytes() == state


@pytest.mark.parametrize("name", ["random", "classes_images"])
def test_epochs_and_seeds_differ(name):
    labels = np.repeat(np.arange(10), 10)
    one, other = (sampler(name, labels, 20, seed, **_pairs(name)) for seed in (1, 2))
    orders = [_plain(one.batches(0)), _plain(one.batches(1)), _plain(other.batches(0)), _plain(other.batches(1))]
    assert len({str(order) for order in orders}) == 4


def _pairs(name):
    return {"images_per_class": 2} if name == "classes_images" else {}


def _plain(batches):
    return [batch.tolist() for batch in batches]


@given(
    labels=LABELS, seed=SEEDS, share=st.floats(0.05, 0.95), name=st.sampled_from(["classes", "random"]),
    draw=st.booleans(),
)  # fmt: skip
def test_halves_share_nothing_and_lose_nothing(labels, seed, share, name, draw):
    entry = registry.entry("split", name)
    params = entry.params(train_fraction=share, **({"shuffle": draw} if name == "classes" else {}))
    counts = np.bincount(labels)[np.unique(labels)]
    trains = round(len(counts) * share)
    rest = counts - np.clip(np.round(counts * share), 1, np.maximum(1, counts - 1))
    try:
        found = entry.build(params, made(labels), seed)
    except Problem:  # only where such halves cannot be, or hold no two images of a class to search among
        if name == "random":
            assert rest.max() < 2
        else:
            assert trains in (0, len(counts)) or counts.min() < 2
        return
    assert sorted([*found.train.tolist(), *found.test.tolist()]) == list(range(len(labels)))
    assert found.train.tolist() == sorted(found.train)
    assert found.test.tolist() == sorted(found.test)
    assert len(found.train)
    assert len(found.test)
    shared = np.intersect1d(labels[found.train], labels[found.test])
    if name == "classes":
        assert found.classes_disjoint
        assert not len(shared)
    else:
        repeated = np.flatnonzero(np.bincount(labels) >= 2)
        assert shared.tolist() == repeated.tolist()


@given(labels=LABELS, data=st.data())
def test_the_official_split_is_exactly_what_was_published(labels, data):
    words = st.sampled_from(["train", "test", ""])
    halves = data.draw(st.lists(words, min_size=len(labels), max_size=len(labels)))
    entry = registry.entry("split", "official")
    try:
        found = entry.build(entry.params(), made(labels, halves), 0)
    except Problem:
        tested = labels[[half == "test" for half in halves]]
        assert "train" not in halves or not len(tested) or np.bincount(tested).max() < 2
        return
    assert [halves[row] for row in found.train] == ["train"] * halves.count("train")
    assert [halves[row] for row in found.test] == ["test"] * halves.count("test")
    assert found.classes_disjoint == (not set(labels[found.train]) & set(labels[found.test]))


@given(st.lists(st.binary(min_size=1, max_size=8), unique=True, max_size=20))
def test_any_bytes_make_a_name_that_can_be_stored(names):
    """Names are shown as text; two that differ are shown apart, unless one spells out the other's escape."""
    shown = [display_name(name) for name in names]
    assert all(text.encode() for text in shown)
    if not any(b"\\x" in name for name in names):
        assert len(set(shown)) == len(names)
        assert all(0 <= sample_id(text) < 2**52 for text in shown)


@given(
    height=st.integers(2, 40), width=st.integers(2, 40), channels=st.sampled_from([1, 3]),
    size=st.integers(8, 24), value=st.integers(0, 255), grey=st.booleans(),
)  # fmt: skip
def test_a_flat_image_stays_flat_at_any_size(height, width, channels, size, value, grey):
    image = np.full((height, width) if grey else (height, width, 3), value, np.uint8)
    found = square(image, size, channels)
    assert (found.shape, found.dtype) == ((size, size, channels), np.uint8)
    assert (found == value).all()
