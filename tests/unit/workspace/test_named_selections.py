"""Named selections: stored by data set, one name each, changed and taken back, refused where they have no name."""

from dataclasses import replace

import numpy as np
import pytest

from tests.ui.small_run import store_run
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.choices.selections import Selection, all_selections, put


@pytest.fixture
def space(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        run = store_run(made, np.repeat(np.arange(2), 4))
        yield made, made.run(run.run_id).dataset_id, run.ids.tolist()


def test_a_selection_belongs_to_its_data_set_and_keeps_its_samples(space):
    workspace, dataset, ids = space
    other = workspace.run(store_run(workspace, np.repeat(np.arange(3), 4), name="Other").run_id).dataset_id
    put(workspace, None, Selection(dataset, "  odd \n ones; drop table ", (ids[3], ids[1], ids[3]), "=1"))
    put(workspace, None, Selection(dataset, "All", tuple(ids)))
    put(workspace, None, Selection(other, "All", ()))
    first, second = all_selections(workspace, dataset)
    assert (second.name, second.samples, second.note) == ("odd ones; drop table", (ids[1], ids[3]), "=1")
    assert (first.name, first.samples) == ("All", tuple(ids))
    assert first.created
    assert [each.samples for each in all_selections(workspace, other)] == [()]


def test_swapped_arguments_take_a_change_back(space):
    workspace, dataset, ids = space
    put(workspace, None, Selection(dataset, "a", tuple(ids[:2])))
    (before,) = all_selections(workspace, dataset)
    after = replace(before, name="b", note="why")
    put(workspace, before, after)
    assert all_selections(workspace, dataset) == [after]
    put(workspace, after, before)
    assert all_selections(workspace, dataset) == [before]
    put(workspace, before, None)
    assert all_selections(workspace, dataset) == []
    put(workspace, None, before)
    assert all_selections(workspace, dataset) == [before], "with its number and day"


def test_a_name_is_given_once_and_a_refused_change_changes_nothing(space):
    workspace, dataset, ids = space
    for name in "ab":
        put(workspace, None, Selection(dataset, name, tuple(ids[:2])))
    before = all_selections(workspace, dataset)
    with pytest.raises(Problem, match="“b” already"):
        put(workspace, before[0], replace(before[0], name="b"))
    assert all_selections(workspace, dataset) == before
    with pytest.raises(Problem, match="“c” any more"):
        put(workspace, replace(before[0], name="c"), None)


@pytest.mark.parametrize("name", ["", " \t", "x" * 81])
def test_a_name_is_some_words(space, name):
    with pytest.raises(Problem, match="1 to 80 characters"):
        put(space[0], None, Selection(space[1], name, ()))


def test_a_note_has_an_end(space):
    with pytest.raises(Problem, match="2,000"):
        put(space[0], None, Selection(space[1], "a", (), "x" * 2_001))
