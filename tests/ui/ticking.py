"""What tests of the Compare page do alike."""


def tick(qtbot, page, *runs):
    """Tick the groups of these runs and wait for what is said of them; the window may know of them a moment later."""

    def all_ticked():
        page.chooser.tick(runs)
        return set(runs) <= set(page.chooser.ticked())

    def all_told():
        found = page.overview
        return found is not None and set(runs) <= {run.id for group in found.groups for run in group.runs}

    qtbot.waitUntil(all_ticked)
    qtbot.waitUntil(all_told)
