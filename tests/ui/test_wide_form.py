"""Set up in a wide window: Advanced stands beside Essentials and is unfolded there, a heading in each turn."""

import pytest

from tests.ui.test_setup import CATALOG, found_images, looked, page, shown_fields, typed  # noqa: F401
from workbench.ui.pages.setup import SetupPage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
WIDE, NARROW, HEIGHT = 2200, 1200, 900  # px


@pytest.fixture
def wide(session, qtbot, looked):  # noqa: F811
    """The page in a wide window, before the catalog is there."""
    session.catalog = {}
    made = qtbot.shown(SetupPage(session), WIDE, HEIGHT)
    yield made
    made.runner.drop()


def sides(page):  # noqa: F811
    """Left, top, width of both cards."""
    page.layout().activate()
    page.groups.widget().layout().activate()
    return [(card.x(), card.y(), card.width()) for card in (page.groups.essentials, page.groups.advanced)]


def test_advanced_stands_beside_essentials_and_below_them_again(wide, session, qtbot):
    session.set_catalog(CATALOG)
    qtbot.waitUntil(lambda: {"seed", "evaluation.probe_every"} <= shown_fields(wide))
    (left, top, width), (right, other_top, other_width) = sides(wide)
    assert top == other_top
    assert left + width < right
    assert abs(width - other_width) <= 1
    wide.resize(NARROW, HEIGHT)
    qtbot.waitUntil(lambda: sides(wide)[0][0] == sides(wide)[1][0])
    (_, top, width), (_, below, other_width) = sides(wide)
    assert top < below
    assert width == other_width
    assert "seed" not in shown_fields(wide), "it is folded as before"


def test_the_rows_are_made_in_several_turns_and_at_once_for_a_field_that_is_wanted(wide, session):
    session.set_catalog(CATALOG)
    assert "seed" not in shown_fields(wide)
    assert "evaluation.probe_every" not in shown_fields(wide)
    wide.groups.show_field("evaluation.probe_every")
    assert {"seed", "evaluation.probe_every"} <= shown_fields(wide)


def test_what_the_user_unfolds_stays_unfolded_below_essentials(wide, session, qtbot):
    session.set_catalog(CATALOG)
    for _ in range(2):
        wide.groups.unfold.click()
    wide.resize(NARROW, HEIGHT)
    qtbot.waitUntil(lambda: sides(wide)[0][0] == sides(wide)[1][0])
    qtbot.waitUntil(lambda: "evaluation.probe_every" in shown_fields(wide))


def test_what_the_user_folds_stays_folded(wide, session, qtbot):
    session.set_catalog(CATALOG)
    qtbot.waitUntil(lambda: "evaluation.probe_every" in shown_fields(wide))
    wide.groups.unfold.click()
    typed(wide, "training.epochs", "3")
    wide.resize(WIDE + 100, HEIGHT)
    wide.layout().activate()
    assert "evaluation.probe_every" not in shown_fields(wide)


def test_folding_before_all_rows_are_made_ends_it(wide, session, qtbot):
    session.set_catalog(CATALOG)
    wide.groups.unfold.click()
    qtbot.waitUntil(lambda: found_images(wide))
    assert "seed" not in shown_fields(wide)


def test_a_heading_of_the_contents_is_at_the_top_after_its_click(wide, session, qtbot):
    session.set_catalog(CATALOG)
    wide.resize(WIDE, 420)
    wide.contents.lines["Training"].click()
    assert wide.groups.heading == "Training"
    wide.contents.lines["Essentials"].click()
    assert wide.groups.heading == "Essentials"
    assert wide.groups.verticalScrollBar().value() == 0


def test_essentials_stay_in_sight_beside_advanced_where_they_have_room(wide, session, qtbot):
    session.set_catalog(CATALOG)
    qtbot.waitUntil(lambda: {"seed", "evaluation.probe_every"} <= shown_fields(wide))
    groups = wide.groups
    qtbot.settle(wide)
    around = wide.height() - groups.viewport().height()
    wide.resize(WIDE, (groups.essentials.height() + groups.advanced.height()) // 2 + around)
    qtbot.settle(wide)
    bar, card = groups.verticalScrollBar(), groups.essentials
    assert bar.maximum() > 0
    assert card.height() <= groups.viewport().height()
    bar.setValue(bar.maximum())
    assert card.y() == min(bar.value(), groups.advanced.geometry().bottom() + 1 - card.height())
    groups.widget().layout().invalidate()
    qtbot.settle(wide)
    assert card.y() > 0, "a new layout leaves it where it is in sight"
    wide.resize(WIDE, card.height() // 2)
    qtbot.settle(wide)
    assert card.y() == groups.advanced.y(), "a card that has no room scrolls with the other"
    wide.resize(NARROW, HEIGHT)
    qtbot.waitUntil(lambda: sides(wide)[0][0] == sides(wide)[1][0])
    groups.verticalScrollBar().setValue(50)
    assert sides(wide)[0][1] < sides(wide)[1][1]
