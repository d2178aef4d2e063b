"""Rows of a map by sample id, against NumPy's own set functions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.ui.state.selection import sample_rows
from workbench.ui.state.selection.sample_rows import SampleRows

numbers = st.lists(st.integers(-5, 40), unique=True, max_size=20).map(lambda some: np.array(some, np.int64))


@given(numbers, numbers)
def test_rows_are_those_that_isin_finds(ids, wanted):
    assert (SampleRows(ids).among(wanted) == np.isin(ids, wanted)).all()


ids_of_any_size = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), unique=True, max_size=20)


@given(ids_of_any_size, ids_of_any_size, st.sampled_from([0, 32]))
def test_rows_are_found_wherever_the_ids_lie(ids, wanted, longest):
    before, sample_rows.LONGEST = sample_rows.LONGEST, longest
    try:
        ids, wanted = (np.array(some, np.int64) for some in (ids, [*wanted, *ids[::2]]))
        assert SampleRows(ids).among(wanted).tolist() == [each in set(wanted.tolist()) for each in ids.tolist()]
    finally:
        sample_rows.LONGEST = before


def test_a_selection_is_found_without_sorting(monkeypatch):
    ids = np.random.default_rng(0).permutation(10_000)
    index = SampleRows(ids)
    for name in ("sort", "argsort", "isin", "unique"):
        monkeypatch.setattr(np, name, None)
    assert index.among(ids[::2]).tolist() == [True, False] * 5_000


@given(numbers, numbers, st.data())
def test_a_selection_is_replaced_added_to_and_removed_from(ids, now, data):
    rows = np.array(
        data.draw(st.lists(st.integers(0, max(0, len(ids) - 1)), unique=True)) if len(ids) else [], np.int64
    )
    index = SampleRows(ids)
    assert index.changed(now, rows, "replace").tolist() == ids[np.sort(rows)].tolist()
    assert set(index.changed(now, rows, "add")) == set(np.union1d(now, ids[rows]))
    assert set(index.changed(now, rows, "remove")) == set(np.setdiff1d(now, ids[rows]))
    assert len(index.changed(now, rows, "add")) == len(set(now) | set(ids[rows]))


def test_what_was_selected_last_is_known_without_a_search_and_stays_as_it_was():
    index = SampleRows(np.array([7, 3, 9, 5]))
    ids = index.changed(np.array([9, 100]), np.array([0]), "add")
    assert sorted(ids.tolist()) == [7, 9, 100]
    known = index.among(ids)
    assert known.tolist() == [True, False, True, False]
    index.changed(ids, np.array([0, 2]), "remove")
    assert known.tolist() == [True, False, True, False]
