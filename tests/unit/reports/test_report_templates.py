"""Templates: whole as they are offered, and kept as a person arranged them."""

import pytest

from workbench.commands.results.report import TEMPLATES
from workbench.problem import Problem
from workbench.reports.sections import ONE_RUN, SECTIONS
from workbench.reports.templates import offered, template, templates
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import arrangements, choice, store_arrangement, store_choice


def test_what_is_offered_names_known_sections_once():
    assert tuple(templates()) == TEMPLATES
    for each in templates().values():
        assert set(each.order) <= set(SECTIONS)
        assert len(set(each.order)) == len(each.order)
        assert each.sections
    assert set(template("one-run").order) == set(ONE_RUN)
    assert set(ONE_RUN) - set(template("one-run").sections) == {"deployment", "robustness"}, "unticked"
    with pytest.raises(Problem, match="no report template 'thesis'"):
        template("thesis")


def test_an_arrangement_comes_back_from_the_workspace(tmp_path):
    shipped = template("comparison")
    mine = shipped.arranged({"order": ["runs", "groups"], "ticked": ["runs"], "text": "**é**"})
    assert mine.order[:2] == ("runs", "groups")
    assert set(mine.order) == set(shipped.order)
    assert "groups" not in mine.sections
    assert "guards" in mine.sections, "a section that was not known then is as it is offered"
    with Workspace(tmp_path, create=True) as workspace:
        assert arrangements(workspace) == {}
        store_arrangement(workspace, mine.key, mine.arrangement())
        assert shipped.arranged(arrangements(workspace)[mine.key]) == mine
        store_arrangement(workspace, mine.key, None)
        assert arrangements(workspace) == {}


def test_an_arrangement_with_unknown_sections_does_no_harm():
    mine = template("one-run").arranged({"order": ["gone", 3, "map"], "ticked": ["gone", "map"]})
    assert mine.order[0] == "map"
    assert set(mine.order) == set(ONE_RUN)


def test_a_template_of_ones_own_is_kept_beside_those_that_are_brought(tmp_path):
    mine = template("comparison").arranged({"order": ["runs"], "ticked": ["runs"], "text": "mine"})
    own = mine.copied("  For   <b>Ana</b> ", templates().values())
    assert (own.title, own.base, own.many, own.text) == ("For <b>Ana</b>", "comparison", True, "mine")
    with Workspace(tmp_path, create=True) as workspace:
        store_arrangement(workspace, own.key, own.arrangement())
        store_choice(workspace, {"template": own.key, "runs": [1], "metric": "P@R", "at": 3})
        stored = arrangements(workspace)
        assert choice(workspace)["at"] == 3
    assert list(offered(stored).values()) == [*templates().values(), own]
    assert template("for <B>ana</b>", stored) == own
    assert own.copied("Second", offered(stored).values()).base == "comparison"
    with pytest.raises(Problem, match="Known: one-run, comparison, paper-appendix, For <b>Ana</b>"):
        template("thesis", stored)
    with pytest.raises(Problem, match=r"2 report templates are named “For <b>Ana</b>”. Rename all but one"):
        template("For <b>Ana</b>", {**stored, "own-2": own.arrangement()})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("  ", "needs a name"),
        ("x" * 81, "at most 80"),
        ("ONE run", "named “ONE run” already"),
        ("comparison", "already"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused(name, said):
    with pytest.raises(Problem, match=said):
        template("one-run").copied(name, templates().values())


def test_a_template_keeps_its_name_when_it_is_renamed_to_itself():
    own = template("one-run").copied("Mine", templates().values())
    every = [*templates().values(), own]
    assert own.renamed("mine", every).title == "mine"
    with pytest.raises(Problem, match="already"):
        own.renamed("Paper appendix", every)


def test_a_template_of_something_that_is_not_brought_any_more_is_left_out():
    assert list(offered({"own-1": {"title": "Old", "base": "gone"}, "odd": {}})) == list(TEMPLATES)
