"""A data set knows its images by path: ids, fingerprint, what is left out."""

import os
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest

from workbench.datasets import image_set as module
from workbench.datasets.image_set import sample_id
from workbench.problem import Problem


def test_an_id_depends_on_the_path_alone(in_memory):
    one = in_memory([0, 0, 1])
    other = in_memory([1, 0, 1, 1], paths=["new.png", "1/002.png", "0/000.png", "0/001.png"])
    assert one.sample_ids.dtype == np.int64
    assert one.sample_ids.tolist() == other.sample_ids[[2, 3, 1]].tolist()
    assert sample_id("0/000.png") == one.sample_ids[0]
    assert sample_id("Größe/漢字.png") == 2703346452724523  # the same on every machine and in every release
    assert sample_id("a/b.png") == int(blake2b(b"a/b.png", digest_size=8).hexdigest()[:13], 16)
    assert all(0 <= number < 2**52 for number in map(sample_id, map(str, range(1000))))


def test_two_images_with_one_path_are_refused_by_name(in_memory):
    with pytest.raises(Problem, match=r"b\.png"):
        in_memory([0, 0, 0], paths=["a.png", "b.png", "b.png"])


def test_two_paths_with_one_number_are_refused(in_memory, monkeypatch):
    monkeypatch.setattr(module, "sample_id", lambda path: len(path))
    with pytest.raises(Problem, match="same path or number"):
        in_memory([0, 0], paths=["a.png", "b.png"])


def test_no_images_say_why(in_memory):
    with pytest.raises(Problem, match=r"no images in made\. 1 was left out: a\.png is empty"):
        in_memory([], paths=[], problems=[("a.png", "is empty")])


def test_the_fingerprint_changes_with_what_matters_and_with_nothing_else(in_memory):
    one = in_memory([0, 0, 1])
    same = [in_memory([0, 0, 1]), in_memory([0, 0, 1], read=lambda row: None)]
    assert {each.fingerprint for each in same} == {one.fingerprint}
    others = [
        in_memory([0, 1, 1], paths=one.paths),
        in_memory([0, 0, 1], paths=["a", "b", "c"]),
        in_memory([0, 0, 1], class_names=["x", "y"]),
        in_memory([0, 0, 1], content="another archive"),
    ]
    assert len({one.fingerprint, *(each.fingerprint for each in others)}) == 5


def test_files_count_by_size_in_the_fingerprint_and_by_time_in_the_stamp(tmp_path, in_memory):
    for folder in ("here", "there"):
        (tmp_path / folder / "0").mkdir(parents=True)
        (tmp_path / folder / "0" / "000.png").write_bytes(b"12345")
    here = in_memory([0], root=tmp_path / "here")
    assert replace(here, root=tmp_path / "there").fingerprint == here.fingerprint
    os.utime(tmp_path / "here" / "0" / "000.png", (1, 1))
    touched = replace(here)
    assert touched.fingerprint == here.fingerprint
    assert touched.stamp != here.stamp
    (tmp_path / "here" / "0" / "000.png").write_bytes(b"123456")
    assert replace(here).fingerprint != here.fingerprint
    (tmp_path / "here" / "0" / "000.png").unlink()
    assert replace(here).fingerprint not in (here.fingerprint, in_memory([0]).fingerprint)


def test_what_is_left_out_is_named_and_the_rest_keeps_its_images(in_memory):
    whole = in_memory([0, 0, 1, 1, 1], official=["train", "test", "train", "test", "test"], problems=[("z", "old")])
    rest = whole.without({0: "is empty", 3: "is truncated"})
    assert rest.paths == ["0/001.png", "1/002.png", "1/004.png"]
    assert rest.labels.tolist() == [0, 1, 1]
    assert rest.official == ["test", "train", "test"]
    assert [int(rest.read(row)[0, 0]) for row in range(3)] == [1, 2, 4]
    assert rest.sample_ids.tolist() == whole.sample_ids[[1, 2, 4]].tolist()
    assert rest.problems == [("z", "old"), ("0/000.png", "is empty"), ("1/003.png", "is truncated")]
    assert rest.notes == [("1 class", "has one image: nothing can match it (c0)")]
    assert [int(rest.without({1: "too"}).read(row)[0, 0]) for row in range(2)] == [1, 4]
    assert whole.without({}) is whole


def test_stanford_products_have_ids_of_their_own(in_memory):
    n = 120_000
    paths = [f"bicycle_final/{number // 5}_{number}.JPG" for number in range(n)]
    whole = in_memory([number // 5 for number in range(n)], paths=paths)
    assert len(np.unique(whole.sample_ids)) == n


def test_classes_that_are_worth_a_word_are_notes_and_nothing_is_left_out(in_memory):
    found = in_memory([0, 1, 2, 3, 4, 5, 6, 6], class_names=list("abcdefgh"), remarks=[("list", "is old")])
    assert found.problems == []
    assert found.notes == [
        ("list", "is old"),
        ("6 classes", "have one image each: nothing can match it (a, b, c, d, e, ...)"),
        ("1 class", "has no image left (h)"),
    ]


def test_classes_whose_names_are_nearly_the_same_are_named(in_memory):
    names = ["cat", "Cat", "caf\u00e9", "cafe\u0301", "two  words", "two words", "1", "1.0", "dog", "10"]
    labels = [label for label in range(len(names)) for _ in range(2)]
    ((subject, said),) = in_memory(labels, class_names=names).notes
    assert subject == "8 classes"
    assert said.startswith("have names that differ only by case, blanks, ways to write one letter, or a final .0")
    assert said.endswith("(cat, Cat, caf\u00e9, cafe\u0301, two  words, ...)")
    assert in_memory([0, 0, 1, 1], class_names=["1", "10"]).notes == []


def test_a_set_without_the_same_images_is_made_once(in_memory):
    """Its hashes take a look at each of millions of files."""
    images = in_memory([0, 0, 1, 1])
    kept = images.without({1: "is empty"})
    assert images.without({1: "is empty"}) is kept
    assert images.without({2: "is empty"}).paths == ["0/000.png", "0/001.png", "1/003.png"]
    assert images.without({1: "is empty"}).paths == ["0/000.png", "1/002.png", "1/003.png"]
