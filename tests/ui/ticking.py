"""What tests of the Compare page do alike."""

from workbench.comparing.grouping.groups import grouped
from workbench.ui.pages.compare.page import ComparePage


def compare_page(qtbot, session, width=1200, height=800):
    """The page, on screen in the window's style."""
    session.theme.apply()
    return qtbot.shown(ComparePage(session), width, height)


def similarity_panel(qtbot, page, *runs):
    """The tab Similarity of these runs, once it shows how similar they are."""
    tick(qtbot, page, *runs)
    page.tabs.open("Similarity")
    qtbot.waitUntil(lambda: page.tabs.similarity.similarity is not None)
    return page.tabs.similarity


def tick(qtbot, page, *runs):
    """Tick the groups of these runs and wait for what is said of them; the window may know of them a moment later."""
    session = page.session

    def all_ticked():
        groups = ({run.id for run in group.runs} for group in grouped(session.runs(), session.catalog))
        session.ticks.choose(session.ticks.runs.union(*(group for group in groups if group.intersection(runs))))
        return session.ticks.runs.issuperset(runs)

    def all_told():
        overview, ticked = page.model.overview, session.ticks.runs
        if overview is None or not ticked <= overview.measured.keys():
            return False
        return all(overview.measured[run].run.best == session.workspace.run(run).best for run in ticked)

    qtbot.waitUntil(all_ticked)
    qtbot.waitUntil(all_told)
