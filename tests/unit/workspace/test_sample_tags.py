"""Tags on samples: put on, taken away, by data set, refused where they are no words."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from tests.unit.workspace.older import make_older
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.choices.label_decisions import UNSURE, Decision, decide
from workbench.workspace.choices.sample_tags import all_tags, attribute_names, change_tags, tag_sample


def test_tags_belong_to_samples_of_one_data_set(workspace):
    first = store_run(workspace, np.repeat(np.arange(2), 4))
    second = store_run(workspace, np.repeat(np.arange(3), 4), name="Other")
    one, two = (workspace.run(run.run_id).dataset_id for run in (first, second))
    tag_sample(workspace, one, int(first.ids[3]), "  label \n wrong ")
    tag_sample(workspace, one, int(first.ids[1]), "label wrong")
    tag_sample(workspace, one, int(first.ids[1]), "label wrong")
    tag_sample(workspace, one, int(first.ids[1]), "a <b>blur</b>; drop table")
    assert all_tags(workspace, one) == {
        "a <b>blur</b>; drop table": [first.ids[1]],
        "label wrong": [first.ids[1], first.ids[3]],
    }
    assert all_tags(workspace, two) == {}
    tag_sample(workspace, one, int(first.ids[1]), "label wrong", on=False)
    tag_sample(workspace, one, int(first.ids[1]), "never there", on=False)
    assert all_tags(workspace, one)["label wrong"] == [first.ids[3]]


def test_an_image_has_one_value_of_an_attribute(workspace):
    run = store_run(workspace, np.repeat(np.arange(2), 4))
    data, (one, two) = workspace.run(run.run_id).dataset_id, map(int, run.ids[:2])
    for sample, tag in ((one, "view=front"), (two, "view=front"), (one, "view of a lake"), (one, "viewer=A")):
        tag_sample(workspace, data, sample, tag)
    assert attribute_names(workspace, data) == ["view", "viewer"]
    tag_sample(workspace, data, one, "view=side")
    assert all_tags(workspace, data) == {
        "view of a lake": [one], "view=front": [two], "view=side": [one], "viewer=A": [one],
    }  # fmt: skip
    for tag in ("=x", "x=", "plain"):
        tag_sample(workspace, data, two, tag)
    assert attribute_names(workspace, data) == ["view", "viewer"]


def test_a_value_replaces_those_of_other_windows_too(workspace):
    run = store_run(workspace, np.repeat(np.arange(2), 4))
    data, (one, two) = workspace.run(run.run_id).dataset_id, map(int, run.ids[:2])
    change_tags(workspace, data, [(one, "view=front"), (one, "views=many"), (two, "view=front"), (one, "view")])
    change_tags(workspace, data, [(one, "view=side")])
    assert all_tags(workspace, data) == {
        "view": [one], "view=front": [two], "view=side": [one], "views=many": [one],
    }  # fmt: skip


def test_what_is_undone_does_not_replace_a_value_that_was_given_since(workspace):
    run = store_run(workspace, np.repeat(np.arange(2), 4))
    data, (one, two) = workspace.run(run.run_id).dataset_id, map(int, run.ids[:2])
    before, after = [(one, "view=side"), (two, "view=side")], [(one, "view=front"), (two, "view=front")]
    change_tags(workspace, data, before)
    change_tags(workspace, data, after)
    change_tags(workspace, data, before, after, only_over_removed=True)
    assert all_tags(workspace, data) == {"view=side": sorted([one, two])}
    change_tags(workspace, data, after, before, only_over_removed=True)
    change_tags(workspace, data, [(two, "view=top")])
    with pytest.raises(Problem, match=r"An image has another value of view since then\. No tag was changed"):
        change_tags(workspace, data, before, after, only_over_removed=True)
    assert all_tags(workspace, data) == {"view=front": [one], "view=top": [two]}


@pytest.mark.parametrize("tag", ["", " \t", "x" * 81])
def test_a_tag_is_some_words(workspace, tag):
    run = store_run(workspace, np.repeat(np.arange(2), 4))
    with pytest.raises(Problem, match="1 to 80 characters"):
        tag_sample(workspace, workspace.run(run.run_id).dataset_id, int(run.ids[0]), tag)


def test_an_older_workspace_gets_the_table_and_keeps_its_runs(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        run = store_run(made, np.repeat(np.arange(2), 4))
    make_older(made.database, "m004_sample_tags")
    with Workspace(tmp_path / "space") as again:
        assert all_tags(again, again.run(run.run_id).dataset_id) == {}
        assert len(again.evaluations(run.run_id)) == 2


def test_a_tag_or_decision_for_a_data_set_that_is_not_there_is_refused_in_a_sentence(workspace):
    with pytest.raises(Problem, match=r"There is no data set 7 in this workspace\. No tag was changed\."):
        tag_sample(workspace, 7, 1, "blurred")
    with pytest.raises(Problem, match=r"There is no data set 7 in this workspace\. No decision was changed\."):
        decide(workspace, 7, [Decision(1, UNSURE)])
