"""The Retrieval page as a person meets it, for tests: opened, at rest, and what its list holds."""

from workbench.ui.pages.retrieval import RetrievalPage


def at_rest(qtbot, page):
    """Return when the page has read what it was asked for."""
    qtbot.waitUntil(lambda: not page.browsing.waiting)


def open_page(qtbot, session, size=(880, 700)):
    """A page on the session, shown and at rest."""
    page = RetrievalPage(session)
    qtbot.addWidget(page)
    page.resize(*size)
    with qtbot.waitExposed(page):
        page.show()
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
