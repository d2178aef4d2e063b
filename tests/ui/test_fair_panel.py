"""The fair comparison on the Compare page: the ranking with its intervals, and what they mean."""

import pytest

from tests.ui.plot_files import write_plot
from tests.unit.fair.test_table import PLAN, planted
from workbench.fair.stored import FairComparisons
from workbench.fair.table import compared
from workbench.ui.pages.compare import page as compare_page
from workbench.ui.pages.compare.fair.panel import FairPanel
from workbench.ui.pages.compare.page import ComparePage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def comparison():
    return compared(PLAN, [planted("ice", 0.5, 1), planted("ce", 0.6, 2)], {"psc": "It broke."})


def test_each_method_has_a_row_with_its_rank_and_the_text_says_what_it_means(qtbot, comparison):
    panel = qtbot.addWidget(FairPanel())
    panel.show_comparisons([comparison])
    rows = [[panel.model.index(row, column).data() for column in range(2)] for row in range(panel.model.rowCount())]
    assert rows == [["ce", "1 (1 to 1)"], ["ice", "2 (2 to 2)"]]
    assert "40 queries" in panel.conditions.text()
    for words in ("bootstrap", "1 of 1 pairs differ", "psc is left out. It broke."):
        assert words in panel.notes.text()
    assert panel.box.isHidden(), "there is one comparison"
    panel.show_comparisons([])
    assert panel.model.rowCount() == 0


def tabs_shown(page):
    """The titles of the tabs that can be opened."""
    return [page.tabs.tabText(at) for at in range(page.tabs.count()) if page.tabs.isTabVisible(at)]


def test_it_is_shown_before_anything_is_ticked_and_as_a_tab(qtbot, session, comparison, monkeypatch):
    read = FairComparisons(((1, "done"),), (comparison,))
    monkeypatch.setattr(compare_page, "read_comparisons", lambda *_: read)
    page = qtbot.addWidget(ComparePage(session))
    assert "Fair ranking" not in tabs_shown(page)
    page.show()
    qtbot.waitUntil(lambda: page.content.currentWidget() is page.ranking)
    assert "Fair ranking" in tabs_shown(page)
    session.workspace_changed.emit()
    assert page.content.currentWidget() is not page.result


def test_the_ranking_is_shown_as_a_picture_too(qtbot, comparison, tmp_path):
    panel = qtbot.addWidget(FairPanel())
    panel.show_comparisons([comparison])
    panel.resize(700, 400)
    panel.show()
    assert panel.view.isVisible()
    assert not panel.ranks.isVisible()
    panel.shown_as.buttons["picture"].click()
    assert panel.ranks.isVisible()
    assert panel.ranks.rows()[1:] == [
        [method.name, method.rank, method.low, method.high] for method in comparison.placed
    ]
    assert "ce 1.0, ice 2.0" in panel.ranks.picture.accessibleDescription()
    image = panel.ranks.image()
    colours = {image.pixelColor(x, y).name() for x in range(0, 800, 3) for y in range(60, 160, 3)}
    assert len(colours) > 3, "lines, names and means"
    write_plot(panel.ranks, tmp_path / "ranks.svg")
    assert "Mean rank over seeds" in (tmp_path / "ranks.svg").read_text("utf-8")
