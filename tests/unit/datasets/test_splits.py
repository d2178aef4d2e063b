"""Halves that share no image, and, where promised, no class."""

from dataclasses import replace

import numpy as np
import pytest

from workbench import registry
from workbench.datasets.split import notes, official_halves, rows_by_class
from workbench.problem import Problem


def split(name, image_set, seed=0, **fields):
    entry = registry.entry("split", name)
    return entry.build(entry.params(**fields), image_set, seed)


FOUR = [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]


def test_the_first_half_of_the_classes_trains(in_memory):
    found = split("classes", in_memory(FOUR))
    assert found.train.tolist() == [0, 1, 2, 3, 4]
    assert found.test.tolist() == [5, 6, 7, 8, 9]
    assert found.classes_disjoint
    assert (found.train.dtype, found.test.dtype) == (np.int64, np.int64)


def test_the_published_halves_have_the_published_sizes(in_memory):
    """CUB 100 of 200, Cars 98 of 196, Caltech 50 of 101 classes train."""
    for classes, trains in ((200, 100), (196, 98), (101, 50)):
        labels = np.repeat(np.arange(classes), 2).tolist()
        found = split("classes", in_memory(labels))
        assert len(found.train) == 2 * trains
        assert np.array(labels)[found.train].max() == trains - 1


@pytest.mark.parametrize(("classes", "apart"), [(200, 0), (196, 1)])
def test_the_folds_of_the_training_classes_are_those_of_ccp_s_code(in_memory, classes, apart):
    """yetigurbuz/ccp-dml framework/datasets/dataset_base.py: np.linspace(0, C, 5), numbered from the last one."""
    image_set = in_memory(np.repeat(np.arange(classes), 2).tolist())
    borders = np.linspace(0, classes // 2, 5).astype(int)
    for fold in range(1, 5):
        held_out = np.unique(image_set.labels[split("mlrc", image_set, fold=fold).validation])
        assert np.array_equal(held_out, np.arange(held_out[0], held_out[-1] + 1))
        assert 0 <= held_out[0] - borders[fold - 1] <= apart
        assert 0 <= held_out[-1] + 1 - borders[fold] <= apart


def test_a_fold_of_a_set_with_its_own_test_half_says_how_many_classes_are_searched(in_memory):
    halves = ["train"] * 8 + ["test"] * 6 + [""]
    image_set = in_memory([*np.repeat(np.arange(7), 2).tolist(), 0], official=halves)
    assert split("mlrc", image_set, fold=1).note == (
        "fold 1: 3 classes train, 3 are searched; the best epoch is chosen on 1 other"
    )


def test_folds_do_not_ask_anything_of_official_halves_that_share_classes(in_memory):
    image_set = in_memory(np.repeat(np.arange(16), 2).tolist(), official=["train", "test"] * 16)
    with pytest.raises(Problem, match="No class of the test set has two images"):
        split("official", image_set)
    fold = split("mlrc", image_set, fold=1)
    assert (len(fold.train), len(fold.validation), len(fold.test)) == (12, 4, 16)


def test_a_share_and_a_draw_of_the_classes(in_memory):
    labels = np.repeat(np.arange(20), 3)
    whole = in_memory(labels.tolist())
    assert len(np.unique(labels[split("classes", whole, train_fraction=0.25).train])) == 5
    drawn = [split("classes", whole, seed, shuffle=True).train.tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != split("classes", whole).train.tolist()
    assert split("classes", whole, 0).train.tolist() == split("classes", whole, 1).train.tolist()


@pytest.mark.parametrize(("labels", "share"), [([0, 0, 0], 0.5), ([0, 0, 1, 1], 0.1), ([0, 0, 1, 1], 0.9)])
def test_a_half_without_classes_is_a_problem_with_numbers(in_memory, labels, share):
    with pytest.raises(
        Problem, match=r"has \d class(es)?: with a training fraction of 0\.\d, \d would train and \d be searched"
    ):
        split("classes", in_memory(labels), train_fraction=share)


def test_the_official_split_is_taken_as_it_is(in_memory):
    whole = in_memory([0, 0, 1, 1, 0], official=["test", "train", "train", "", "test"])
    found = split("official", whole)
    assert (found.train.tolist(), found.test.tolist()) == ([1, 2], [0, 4])
    assert not found.classes_disjoint
    assert found.note == "the data set's own training and test images"
    assert notes(whole, found)[-1] == ("1 class", "has images in the training set only (c1)")
    assert ("1 image", "is in neither set") in notes(whole, found)
    apart = in_memory([0, 0, 1, 1], official=["train", "train", "test", "test"])
    assert split("official", apart).classes_disjoint


def test_an_official_split_that_is_not_there_is_a_problem(in_memory):
    with pytest.raises(Problem, match="The data set has no official split"):
        split("official", in_memory([0, 0, 1, 1]))
    with pytest.raises(Problem, match="The training set is empty"):
        split("official", in_memory([0, 0], official=["test", "test"]))
    with pytest.raises(Problem, match=r"The test set is empty\..*started\. Choose another split\."):
        split("official", in_memory([0, 0], official=["train", "train"]))
    unlabelled = replace(in_memory([0, 0], official=["train", "train"]), problems=[("split test", "has 2 rows")])
    with pytest.raises(Problem, match=r"set is empty\. 1 was left out: split test has 2 rows\.") as refused:
        split("official", unlabelled)
    assert refused.value.todo == "Correct what was left out, or choose another split."


def test_random_halves_hold_every_class(in_memory):
    labels = np.repeat(np.arange(6), [2, 3, 10, 10, 11, 40])
    for seed in range(3):
        found = split("random", in_memory(labels.tolist()), seed)
        assert np.bincount(labels[found.train]).tolist() == [1, 2, 5, 5, 6, 20]
        assert sorted([*found.train, *found.test]) == list(range(len(labels)))
    whole = in_memory(labels.tolist())
    assert np.bincount(labels[split("random", whole, train_fraction=0.9).train]).tolist() == [1, 2, 9, 9, 10, 36]


def test_random_halves_follow_the_seed(in_memory):
    whole = in_memory([0] * 20 + [1] * 20)
    drawn = [split("random", whole, seed).train.tolist() for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_class_with_one_image_trains(in_memory):
    found = split("random", in_memory([0, 1, 1, 1, 1]), train_fraction=0.1)
    assert 0 in found.train


def test_a_test_half_where_nothing_can_be_found_is_a_problem(in_memory):
    with pytest.raises(Problem, match="No class of the test set has two images"):
        split("random", in_memory([0, 0, 1, 1]))


def test_queries_need_a_gallery_that_has_one_of_their_classes(in_memory):
    halves = ["train", "train", "query", "gallery", "gallery"]
    found = split("official", in_memory([0, 0, 1, 1, 2], official=halves))
    assert found.is_query.tolist() == [True, False, False]
    with pytest.raises(Problem, match="No class of the test set has two images"):
        split("official", in_memory([0, 0, 1, 2, 2], official=halves))


@pytest.mark.parametrize(
    ("side", "said"), [("query", "has queries but no gallery"), ("gallery", "has a gallery but no queries")]
)
def test_one_side_alone_is_a_problem(in_memory, side, said):
    with pytest.raises(Problem, match=said):
        split("official", in_memory([0, 0, 1, 1], official=["train", "train", side, side]))


def test_every_word_for_a_half_is_understood():
    assert official_halves(["Train", "TEST", "query", "gallery"]) == ["train", "test", "query", "gallery"]
    assert official_halves(["training", "valid"]) == ["train", "test"]
    assert official_halves(["training", "validation", "testing"]) == ["train", "validation", "test"]


def test_the_best_epoch_is_chosen_on_the_validation_images_of_the_data_where_they_are_asked_for(in_memory):
    official = ["train", "train", "validation", "validation", "test", "test", ""]
    whole = in_memory([0, 1, 0, 0, 1, 1, 0], official=official)
    found = split("official", whole, validation=True)
    assert (found.train.tolist(), found.validation.tolist(), found.test.tolist()) == ([0, 1], [2, 3], [4, 5])
    assert found.note.endswith("the best epoch is chosen on 2 validation images")
    assert ("1 image", "is in neither set") in notes(whole, found)
    unused = split("official", whole)
    assert unused.validation is None
    assert (unused.train.tolist(), unused.test.tolist()) == ([0, 1], [4, 5])
    said = "are in neither set: Choose on validation (split.validation) uses them"
    assert [("2 validation images", said), ("1 image", "is in neither set")] == notes(whole, unused)[:2]


@pytest.mark.parametrize(
    ("official", "said"),
    [
        (["train", "train", "test", "test"], "has no validation images"),
        (["train", "validation", "test", "test"], "No class has two of the validation images"),
    ],
)
def test_validation_images_that_cannot_choose_an_epoch_are_a_problem(in_memory, official, said):
    with pytest.raises(Problem, match=said) as raised:
        split("official", in_memory([0, 1, 0, 0], official=official), validation=True)
    assert raised.value.field == "split.validation"


def test_a_random_split_holds_out_training_images_of_each_class(in_memory):
    labels = np.repeat([0, 1, 2], [20, 8, 2])
    whole = in_memory(labels.tolist())
    plain, found = split("random", whole, seed=3), split("random", whole, seed=3, validation=0.3)
    assert plain.validation is None
    assert np.array_equal(found.test, plain.test), "the images that are searched stay the same"
    assert np.array_equal(np.union1d(found.train, found.validation), plain.train)
    assert not np.isin(found.validation, found.train).any()
    assert np.bincount(labels[found.validation], minlength=3).tolist() == [3, 1, 0]
    assert found.note == (
        "all classes are in both sets; the best epoch is chosen on 4 training images that are held out"
    )


def test_a_random_split_that_holds_out_too_few_to_choose_an_epoch_is_a_problem(in_memory):
    with pytest.raises(Problem, match=r"A share of 0\.1 holds out two training images of no class") as raised:
        split("random", in_memory(np.repeat([0, 1], 8).tolist()), validation=0.1)
    assert raised.value.field == "split.validation"


def test_rows_by_class_are_those_of_a_plain_search():
    labels = np.random.default_rng(0).integers(0, 30, 200) * 3
    found = rows_by_class(labels)
    assert [rows.tolist() for rows in found] == [np.flatnonzero(labels == each).tolist() for each in np.unique(labels)]


def test_classes_in_one_half_only_are_told_where_the_halves_share_others(in_memory):
    official = ["train", "test", "train", "train", "test", "test", "test"]
    image_set = in_memory([0, 0, 1, 1, 2, 2, 3], official=official, remarks=[("list", "is old")])
    assert notes(image_set, split("official", image_set)) == [
        ("list", "is old"),
        ("1 class", "has one image: nothing can match it (c3)"),
        ("1 class", "has images in the training set only (c1)"),
        ("2 classes", "have images in the test set only (c2, c3)"),
    ]
    disjoint = in_memory(FOUR)
    assert notes(disjoint, split("classes", disjoint)) == [], "halves that share no class are meant so"
