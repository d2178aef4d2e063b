"""What tests of the Compare page do alike."""

from workbench.comparing.grouping.groups import group_of


def tick(qtbot, page, *runs):
    """Tick the groups of these runs and wait for what is said of them; the window may know of them a moment later."""
    session = page.session

    def all_ticked():
        known = session.runs()
        groups = (group_of(run, known, session.catalog) for run in runs)
        session.ticks.choose({*session.ticks.runs, *(run.id for group in groups for run in group)})
        return session.ticks.runs.issuperset(runs)

    def all_told():
        overview, ticked = page.model.overview, session.ticks.runs
        if overview is None or not ticked <= overview.measured.keys():
            return False
        return all(overview.measured[run].run.best == session.workspace.run(run).best for run in ticked)

    qtbot.waitUntil(all_ticked)
    qtbot.waitUntil(all_told)
