"""The Retrieval page as a person meets it, for tests: opened, at rest, and what its list holds."""

from tests.ui.trained import trained_run
from workbench.ui.pages.retrieval import RetrievalPage


def at_rest(qtbot, page):
    """Return when the page has read what it was asked for."""
    qtbot.waitUntil(lambda: not page.browsing.waiting)


def open_page(qtbot, session, size=(880, 700)):
    """A page on the session, shown and at rest."""
    page = qtbot.shown(RetrievalPage(session), *size)
    at_rest(qtbot, page)
    return page


def open_trained(qtbot, session, workspace, folder):
    """A page on a trained run whose pixels are kept in a folder, shown and at rest."""
    run_id = trained_run(workspace, folder)
    page = open_page(qtbot, session, (960, 640))
    session.show_run(run_id)
    at_rest(qtbot, page)
    return page


def listed(page):
    """Sample ids in the order listed."""
    return page.browsing.listing.sample_ids.tolist()


def marked(page):
    """The sample id of the row that is marked in the list."""
    return page.browsing.listing.sample_id(page.queries.table.currentIndex().row())


def judged(card):
    """Whether a card says that its neighbour is right (True) or wrong (False); None where it says neither."""
    words = card.accessibleName().split(", ")
    return "right" in words if {"right", "wrong"} & set(words) else None
