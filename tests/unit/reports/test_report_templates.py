"""Templates: whole as they are offered, and kept as a person arranged them."""

import pytest

from workbench.problem import Problem
from workbench.report_command import TEMPLATES
from workbench.reports.sections import ONE_RUN, SECTIONS
from workbench.reports.templates import template, templates
from workbench.workspace import Workspace
from workbench.workspace.report_templates import arrangements, store_arrangement


def test_what_is_offered_names_known_sections_once():
    assert tuple(templates()) == TEMPLATES
    for each in templates().values():
        assert set(each.order) <= set(SECTIONS)
        assert len(set(each.order)) == len(each.order)
        assert each.sections
    assert template("one-run").sections == ONE_RUN
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
