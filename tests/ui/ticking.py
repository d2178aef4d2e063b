"""What tests of the Compare page do alike."""

from workbench.comparing.groups import group_of


def tick(qtbot, page, *runs):
    """Tick the groups of these runs and wait for what is said of them; the window may know of them a moment later."""
    session = page.session

    def all_ticked():
        known = session.runs()
        groups = (group_of(run, known, session.catalog) for run in runs)
        session.ticks.choose({*session.ticks.runs, *(run.id for group in groups for run in group)})
        return session.ticks.runs.issuperset(runs)

    def all_told():
        overview = page.model.overview
        return overview is not None and session.ticks.runs <= overview.measured.keys()

    qtbot.waitUntil(all_ticked)
    qtbot.waitUntil(all_told)
