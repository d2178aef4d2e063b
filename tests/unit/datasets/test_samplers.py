"""What a sampler refuses, and with which numbers; what it promises is in tests/property."""

import numpy as np
import pytest

from workbench import registry
from workbench.problem import Problem


def sampler(name, labels, batch_size, seed=0, **fields):
    entry = registry.entry("sampler", name)
    return entry.build(entry.params(**fields), labels=np.array(labels, np.int64), batch_size=batch_size, seed=seed)


def test_a_batch_larger_than_the_data_names_both_numbers():
    with pytest.raises(Problem, match="A batch of 65 is larger than the training set, which has 64 images") as refused:
        sampler("random", [0] * 64, 65)
    assert refused.value.fits == 64
    assert sampler("random", [0] * 64, 64).steps_per_epoch == 1


@pytest.mark.parametrize(
    ("labels", "batch", "each", "words", "advice"),
    [
        ([0, 0, 1, 1], 12, 4, r"3 classes x 4 images needs more classes than the 2 ", "Choose a batch of 8 or less"),
        ([0, 0, 1, 2], 8, 4, r"2 classes x 4 images needs more classes than the 1 ", "Choose another split"),
        (
            [0, 1, 1],
            3,
            1,
            r"image of each of 3 classes needs more than the 2 classes of the training set\.",
            "batch of 2 or less",
        ),
        (
            [0, 1, 2, 3],
            4,
            4,
            r"1 classes x 4 images needs more classes than the 0 ",
            "two images or more in each class",
        ),
        ([0, 0, 1, 1], 10, 4, "A batch of 10 is not a multiple of 4 images", "Choose a batch of 8 or 12."),
        ([0, 0, 1, 1], 2, 4, "A batch of 2 is not a multiple of 4 images", "Choose a batch of 4."),
    ],
)
def test_more_classes_and_images_than_there_are(labels, batch, each, words, advice):
    with pytest.raises(Problem, match=words) as told:
        sampler("classes_images", labels, batch, images_per_class=each)
    assert advice in told.value.todo
    if told.value.fits is not None:
        assert told.value.field == "training.batch_size"
        assert len(sampler("classes_images", labels, told.value.fits, images_per_class=each).batches(0)) == 1


def test_classes_with_one_image_are_left_out_and_counted():
    found = sampler("classes_images", [0, 1, 1, 2, 3, 3, 3], 4, images_per_class=2)
    assert found.left_out == 2
    assert {int(row) for epoch in range(20) for batch in found.batches(epoch) for row in batch} == {1, 2, 4, 5, 6}


def test_one_image_of_each_class_leaves_none_out():
    found = sampler("classes_images", [0, 1, 1, 2, 3, 3, 3], 4, images_per_class=1)
    assert found.left_out == 0
    labels = np.array([0, 1, 1, 2, 3, 3, 3])
    assert all(set(labels[batch]) == {0, 1, 2, 3} for epoch in range(9) for batch in found.batches(epoch))


def test_a_small_class_shows_all_its_images_before_any_twice():
    found = sampler("classes_images", [0, 0, 0, 1, 1, 1, 1, 1], 8, images_per_class=4)
    for epoch in range(10):
        for batch in found.batches(epoch):
            small = [row for row in batch if row < 3]
            assert (len(small), set(small)) == (4, {0, 1, 2})
            assert len({row for row in batch if row >= 3}) == 4


def test_a_small_class_is_drawn_as_in_earlier_versions():
    """A run that one of them began goes on with its own batches."""
    batches = sampler("classes_images", [0, 0, 0, 1, 1, 1, 1, 1], 8, images_per_class=4)
    assert batches.batches(1)[0].tolist() == [1, 2, 0, 2, 4, 6, 7, 5]
    assert batches.batches(2)[0].tolist() == [0, 2, 1, 0, 4, 6, 5, 3]


def test_a_data_set_smaller_than_a_batch_still_has_a_step():
    assert sampler("classes_images", [0, 0, 1, 1], 8, images_per_class=4).steps_per_epoch == 1


def test_many_classes_are_dealt():
    """Stanford Online Products' training set: 11,318 classes, 59,551 images."""
    labels = np.arange(59_551) % 11_318
    found = sampler("classes_images", labels, 64, images_per_class=4)
    batches = found.batches(0)
    assert len(batches) == found.steps_per_epoch == 59_551 // 64
    assert all(len(set(labels[batch].tolist())) == 16 for batch in batches)


def test_a_batch_that_spans_two_deals_holds_no_class_twice():
    """Five classes, two a batch: every third batch takes the last of one deal and the first of the next."""
    labels = np.repeat(np.arange(5), 6)
    found = sampler("classes_images", labels, 6, images_per_class=3)
    for epoch in range(30):
        for batch in found.batches(epoch):
            assert np.unique(labels[batch], return_counts=True)[1].tolist() == [3, 3]
            assert len(set(batch.tolist())) == 6


def test_a_long_tail_keeps_fewer_images_of_each_next_class():
    """The paper's rule on CIFAR-10-LT: n_max rho^(-i / (C - 1))."""
    labels = np.repeat(np.arange(10), 500)
    found = sampler("long_tailed", labels, 64, ratio=100.0)
    assert found.kept.tolist() == [int(500 * 100 ** (-i / 9)) for i in range(10)]
    seen = np.concatenate([np.concatenate(found.batches(epoch)) for epoch in range(20)])
    assert len(np.unique(seen)) == found.kept.sum()
    assert np.array_equal(np.bincount(labels[np.unique(seen)]), found.kept)
    again = np.concatenate(sampler("long_tailed", labels, 64, ratio=100.0).batches(0))
    assert np.array_equal(again, np.concatenate(found.batches(0)))


@pytest.mark.parametrize(
    ("classes", "ratio", "images"),
    [(10, 100, 12_406), (10, 50, 13_996), (10, 10, 20_431), (100, 100, 10_847), (100, 50, 12_608), (100, 10, 19_573)],
)
def test_a_long_tail_of_cifar_has_as_many_images_as_the_public_one(classes, ratio, images):
    """kaidic/LDAM-DRW imbalance_cifar.py: int(img_max * (imb_factor**(cls_idx / (cls_num - 1.0))))."""
    most = 50_000 // classes
    kept = sampler("long_tailed", np.repeat(np.arange(classes), most), 64, ratio=float(ratio)).kept
    assert kept.tolist() == [int(most * (1 / ratio) ** (place / (classes - 1.0))) for place in range(classes)]
    assert kept.sum() == images


def test_a_long_tail_leaves_no_class_empty():
    found = sampler("long_tailed", np.repeat(np.arange(4), 5), 2, ratio=1000.0)
    assert found.kept.tolist() == [5, 1, 1, 1]
