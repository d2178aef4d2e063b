"""Confusions as a matrix: which classes are chosen, what the cells say, sorting, and what a cell lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from tests.ui.pointing import choose, click_cell, click_head
from workbench.results.explanations import ConfusedPair
from workbench.ui.pages.retrieval.classes.confusion_matrix import (
    SHARE,
    TIMES,
    ConfusionMatrix,
    most_confused,
    sentence_of,
)

NAMES = ("ant", "<b>bee</b>", "cat", "dog")


def pair(label, taken, times, share):
    return ConfusedPair(label, NAMES[label], taken, NAMES[taken], times, share)


PAIRS = [pair(0, 1, 5, 0.1), pair(1, 0, 3, 0.5), pair(2, 3, 2, 0.9), pair(2, 0, 1, 0.05)]


@pytest.fixture
def matrix(qtbot):
    made = qtbot.addWidget(ConfusionMatrix())
    made.show_pairs(PAIRS)
    return made


def cells(model):
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def heads(model, way):
    return [model.headerData(each, way) for each in range(model.rowCount())]


def test_the_most_confused_classes_stand_first(matrix):
    assert heads(matrix.model, Qt.Orientation.Vertical) == ["ant", "<b>bee</b>", "cat", "dog"]
    assert cells(matrix.model) == [["–", "5", "", ""], ["3", "–", "", ""], ["1", "", "–", "2"], ["", "", "", "–"]]
    choose(matrix.what, 1)
    assert heads(matrix.model, Qt.Orientation.Horizontal) == ["cat", "dog", "ant", "<b>bee</b>"]
    assert cells(matrix.model)[0] == ["–", "90.0", "5.0", ""]


def test_heads_sort_rows_and_columns(matrix):
    click_head(matrix.table.horizontalHeader(), 0)  # taken for ant
    assert heads(matrix.model, Qt.Orientation.Vertical) == ["<b>bee</b>", "cat", "ant", "dog"]
    click_head(matrix.table.verticalHeader(), 1)  # the cat
    assert heads(matrix.model, Qt.Orientation.Horizontal) == ["dog", "ant", "<b>bee</b>", "cat"]
    assert cells(matrix.model)[1] == ["2", "1", "", "–"]
    assert matrix.model.lines()[:3] == ["\tdog\tant\t<b>bee</b>\tcat", "<b>bee</b>\t0\t3\t\t0", "cat\t2\t1\t0\t"]
    matrix.order.click()
    assert heads(matrix.model, Qt.Orientation.Vertical) == heads(matrix.model, Qt.Orientation.Horizontal)


def test_no_name_is_a_formula_where_the_matrix_is_pasted(matrix):
    matrix.show_pairs([ConfusedPair(0, "=1+1", 1, "a\tb", 5, 0.1)])
    assert {cell for line in matrix.model.lines() for cell in line.split("\t")} >= {"'=1+1", "a b"}


def test_a_cell_names_its_queries(matrix, qtbot):
    index = matrix.model.index(2, 0)
    with qtbot.waitSignal(matrix.pair_chosen) as chosen:
        click_cell(matrix.table, index, twice=True)
    assert chosen.args == [PAIRS[3]]
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == sentence_of(PAIRS[3])
    assert sentence_of(PAIRS[3]) == "“cat” is taken for “ant” once, 5.0% of its queries"
    assert "&lt;b>bee" in matrix.model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    with qtbot.assertNotEmitted(matrix.pair_chosen):
        click_cell(matrix.table, matrix.model.index(3, 3), twice=True)


def test_the_greatest_value_is_the_hottest(matrix):
    colours = [matrix.model.index(*at).data(Qt.ItemDataRole.BackgroundRole) for at in ((0, 1), (1, 0), (2, 0), (0, 2))]
    assert colours[3] is None
    strength = [each.saturation() for each in colours[:3]]
    assert strength == sorted(strength, reverse=True)
    assert strength[0] > strength[2]


COUNTS = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda each: each[0] != each[1]), st.integers(1, 50)
)


@given(COUNTS, st.integers(1, 12))
def test_what_is_shown_is_what_was_counted(counts, most):
    pairs = [ConfusedPair(a, str(a), b, str(b), times, times / 100) for (a, b), times in counts.items()]
    grid = most_confused(pairs, TIMES, most)
    whole = np.zeros((10, 10))
    for (a, b), times in counts.items():
        whole[a, b] = times
    sums = whole.sum(0) + whole.sum(1)
    assert grid.classes == (sums > 0).sum()
    assert len(grid.labels) == min(most, grid.classes)
    assert sorted(sums[list(grid.labels)], reverse=True) == sorted(sums[sums > 0], reverse=True)[: len(grid.labels)]
    np.testing.assert_array_equal(grid.values(TIMES), whole[np.ix_(grid.labels, grid.labels)])
    np.testing.assert_allclose(grid.values(SHARE), grid.values(TIMES) / 100)
