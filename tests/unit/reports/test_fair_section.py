"""The fair ranking in a report: the numbers and words of the Compare page."""

from tests.unit.fair.test_table import PLAN, planted
from workbench.fair.table import HEAD, MEANING, compared, rows_of
from workbench.reports.templates import templates
from workbench.reports.writing.blocks import Paragraph, Plot, Table
from workbench.reports.writing.fair_blocks import NONE, fair_blocks, fair_drawings


def words(blocks):
    return [block.spans[0].text for block in blocks if isinstance(block, Paragraph)]


def test_the_section_has_the_rows_of_the_page_with_their_conditions_and_meaning():
    comparison = compared(PLAN, [planted("ice", 0.5, 1), planted("ce", 0.6, 2)], {"psc": "It broke."})
    blocks = fair_blocks([comparison])
    (table,) = [block for block in blocks if isinstance(block, Table)]
    assert table.head == HEAD
    assert [list(row) for row in table.rows] == rows_of(comparison)
    (picture,) = [block for block in blocks if isinstance(block, Plot)]
    assert [row[0] for row in fair_drawings([comparison])[picture.name].table[1]] == ["ce", "ice"]
    said = words(blocks)
    assert "40 queries" in said[0]
    assert "psc is left out. It broke." in said
    assert said[-1] == MEANING


def test_a_workspace_without_one_says_so():
    assert words(fair_blocks([])) == [NONE]


def test_reports_of_several_runs_offer_it():
    assert all("fair" in template.order for template in templates().values() if template.many)
