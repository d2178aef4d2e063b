"""What was seen of a data set, in lines: what there is none of has no line, and what is cut is counted."""

import numpy as np
import pytest

from workbench.datasets.inspection import Copy, Inspection
from workbench.datasets.near_duplicates import Member, NearDuplicate, NearDuplicates
from workbench.running.facts.inspected import lines_of

NONE_ALIKE = NearDuplicates([], 0, 0, 0)


@pytest.fixture
def seen():
    """Three images of two classes, without faults or copies."""
    counts = np.array([[2], [1]])
    return Inspection(3, 4, ("train",), counts, ["a", "b"], [], np.empty((0, 2)), [], [], [])


def test_what_there_is_none_of_has_no_line_of_its_own(seen):
    assert list(lines_of(seen, NONE_ALIKE, 20)) == [
        "Images: 3, classes: 2",
        "In train: 3, classes: 2",
        "Left out: 0",
        "Groups of images with the same pixels: 0",
        "Pairs of near-duplicates: 0",
    ]


def test_copies_of_one_class_and_of_two_are_told_apart(seen):
    one = [Copy("a/1.png", "train", "a"), Copy("a/2.png", "train", "a")]
    seen.copies.extend([one, [Copy("a/3.png", "test", "a"), Copy("b/1.png", "test", "b")]])
    assert list(lines_of(seen, None, 20))[3:] == [
        "Groups of images with the same pixels: 2",
        "  a/1.png (train), a/2.png (train)",
        "  a/3.png (test), b/1.png (test)",
        "Test images with a copy in the training set: 0",
        "Groups whose images have different labels: 1",
    ]


def test_pairs_that_are_not_known_by_name_are_counted(seen):
    picture = np.zeros((4, 4, 3), np.uint8)
    trained, left_out = Member("a/1.png", "a", "train", picture), Member("b/1.png", "b", "", picture)
    lines = list(lines_of(seen, NearDuplicates([NearDuplicate(0.9876, trained, left_out)], 1_500, 0, 700), 20))
    assert lines[4:] == [
        "Pairs of near-duplicates: 1,500",
        "  0.988  a/1.png (train), b/1.png",
        "Only the 1 most similar are known by name.",
        "Test images with a near-duplicate in the training set: 0",
        "Pairs of two classes: 700",
    ]


def test_a_list_as_long_as_is_printed_is_not_cut(seen):
    seen.notes.extend([("a/1.png", "is small"), ("b", "has one image")])
    assert list(lines_of(seen, None, 2))[3:] == [
        "Notes: 2",
        "  a/1.png: is small",
        "  b: has one image",
        "Groups of images with the same pixels: 0",
    ]
    assert list(lines_of(seen, None, 1))[3:6] == [
        "Notes: 2",
        "  a/1.png: is small",
        "  ... and 1 more; --most and --json print them",
    ]
