"""The compact table of paths beside the sorted list of the same paths."""

import pickle

import numpy as np
import pytest

from workbench.datasets.images.path_table import PathCollector, SomePaths

TREES = {
    "classes": {"cat/": ["2.jpg", "10.jpg"], "ant/": ["1.jpg"], "bee/": ["1.jpg", "2.jpg", "3.jpg"]},
    "none": {},
    "only the root": {"": ["b.png", "a.png"]},
    "files between folders": {"": ["a.jpg", "m.jpg", "z.jpg"], "b/": ["1.jpg"], "n/": ["1.jpg"], "zz/": ["1.jpg"]},
    "nested": {
        "a/": ["b.jpg", "b", "ba.jpg", "z.jpg"],
        "a/b/": ["1.jpg", "9.jpg"],
        "a/b/c/": ["1.jpg"],
        "a/b/empty/": [],
        "a-b/": ["1.jpg"],
        "a.b/": ["1.jpg"],
        "a0/": ["1.jpg"],
    },
    "other scripts": {"naïve/": ["é.jpg", "e.jpg", "\U0001f426.jpg", "\uffee.jpg"], "\\xff/": ["\\xfe.jpg"]},
}


@pytest.fixture(params=list(TREES.values()), ids=list(TREES))
def tree(request):
    return request.param


def table_of(tree):
    collector = PathCollector()
    for folder, names in tree.items():
        collector.add(folder, names)
    return collector.table()


def sorted_paths(tree):
    return sorted(folder + name for folder, names in tree.items() for name in names)


def test_the_table_is_the_sorted_list(tree):
    table, expected = table_of(tree), sorted_paths(tree)
    assert list(table) == expected
    assert [table[row] for row in range(len(table))] == expected
    assert table == expected
    assert expected == table
    assert len(table) == len(expected)


def test_random_trees_are_sorted_as_strings_are():
    draws = np.random.default_rng(0)
    letters = list("ab-./0é")
    for _ in range(200):
        paths = {"".join(draws.choice(letters, draws.integers(1, 9))).strip("/") for _ in range(30)}
        parts = [path.rpartition("/") for path in paths if path and "//" not in path]
        tree = {}
        for folder, slash, name in parts:
            tree.setdefault(folder + slash, []).append(name)
        assert list(table_of(tree)) == sorted_paths(tree)


def test_rows_count_from_the_end_and_can_be_cut_as_those_of_a_list():
    table, expected = table_of(TREES["nested"]), sorted_paths(TREES["nested"])
    assert table[-1] == expected[-1]
    assert table[np.int64(2)] == expected[2]
    assert table[1:7:2] == expected[1:7:2]
    for row in (len(table), -len(table) - 1):
        with pytest.raises(IndexError, match="10 paths"):
            table[row]


def test_a_folder_that_is_added_twice_is_one():
    collector = PathCollector()
    for folder, names in (("a/", ["3", "1"]), ("b/", ["1"]), ("a/", ["2"])):
        collector.add(folder, names)
    assert list(collector.table()) == ["a/1", "a/2", "a/3", "b/1"]


def test_some_rows_of_it():
    table, expected = table_of(TREES["classes"]), sorted_paths(TREES["classes"])
    some = SomePaths(table, np.array([0, 3, 5]))
    assert some == [expected[0], expected[3], expected[5]]
    assert [some[row] for row in (0, 1, -1)] == list(some)
    assert some != expected
    assert some != "abc"


def test_it_goes_to_another_process():
    table = table_of(TREES["nested"])
    assert pickle.loads(pickle.dumps(table)) == table
    assert pickle.loads(pickle.dumps(SomePaths(table, np.array([1])))) == [table[1]]
